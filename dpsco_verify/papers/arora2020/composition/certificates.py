"""Witnesses about ``composition``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpsco_verify.evidence.checker import (
    Count,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
    upper_tail,
)


class CompositionViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > τδ/n + δ'`` with Theorem 5.1's ε and ``σ = √(3 log(1/δ))/ε̃`` (L = 1).

    All gradients are −1, but the differing point's, which is 1 in S. E says that the first increment, gradient plus
    noise, exceeds `threshold`; the first draw is fresh, and is the differing point with probability 1/n. E is an event
    of w₂: W is a segment from w₁ down that is longer than η times `threshold`, and E says ``w₂ < w₁ − η threshold``.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "composition"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = "projected onto a segment that begins at w₁, the first iterate tells the event"
    n: Count
    tau: Count
    epsilon_tilde: Rational
    delta: Rational
    delta_prime: Rational
    threshold: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        scale, delta, prime, threshold = (
            rational(k, getattr(self, k)) for k in ("epsilon_tilde", "delta", "delta_prime", "threshold")
        )
        require(holds=0 < scale <= Fraction(157, 125), reason=f"epsilon_tilde={scale} is outside (0, 1.256]")
        for name, value in (("delta", delta), ("delta_prime", prime)):
            require(holds=0 < value < 1, reason=f"{name}={value} is outside (0, 1)")
        n, tau = self.n, self.tau
        sigma = (-3 * ball(delta).log()).sqrt() / ball(scale)
        spread = (-2 * tau * ball(prime).log()).sqrt()
        epsilon = 2 * ball(scale) * spread / n + ball(Fraction(4 * tau, n * n) * scale * scale)
        with_it = upper_tail(ball(threshold - 1) / sigma)
        without = upper_tail(ball(threshold + 1) / sigma)
        left = with_it / n - (epsilon.exp() - ball(Fraction(n - 1, n))) * without
        words = f"P(E|S) - exp(epsilon) P(E|S') > (tau/n) delta + delta' for n = {n}, tau = {tau}"
        return left, ball(Fraction(tau, n) * delta + prime), words
