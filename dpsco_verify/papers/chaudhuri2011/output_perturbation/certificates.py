"""Witnesses about ``output-perturbation``, as the independent checker evaluates them."""

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
)


class OutputPerturbationRate(Witness, frozen=True, kw_only=True):
    """Noise of density ∝ exp(−(nΛε/2)‖b‖) gives ε for L = 1, and one with a constant below 2 does not.

    The minimiser of ``(1/n)Σf + (Λ/2)‖w‖²`` moves by at most 2/(nΛ), and by as much where ``f = −wz``, z = ±1 (d = 1).
    The ratio of the densities of ``w + b`` is at most e to the rate times that, for all n, Λ, ε, and equal to it beyond
    both minimisers.
    """

    readings: ClassVar[dict[str, Fraction]] = {"unit-lipschitz": Fraction(199, 100)}
    """The least constant in place of 2 that is shown not to do."""
    claim_id: ClassVar[str] = "output-perturbation-privacy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n, Λ, ε and 1-Lipschitz convex loss"
    argument: ClassVar[str] = (
        "the minimiser moves by at most 2/(nΛ); computed is one instance, which attains it"
    )
    n: Count
    regularisation: Rational
    epsilon: Rational
    below: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        regularisation, epsilon, below = (
            rational(k, getattr(self, k)) for k in ("regularisation", "epsilon", "below")
        )
        require(
            holds=regularisation > 0 and epsilon > 0, reason="regularisation and epsilon must be positive"
        )
        least = self.readings[reading]
        require(holds=least <= below < 2, reason=f"below={below} is outside [{least}, 2)")
        strength = self.n * regularisation
        moved = 2 / strength
        require(
            holds=moved * (strength * epsilon / 2) == epsilon, reason="the printed rate does not give epsilon"
        )
        words = (
            f"the printed noise has loss {epsilon} at n = {self.n}, Lambda = {regularisation}, and so for all; with "
            f"{below} for 2 the loss > {epsilon}"
        )
        return ball(moved * (strength * epsilon / below)), ball(epsilon), words


class OutputPerturbationViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) > e^ε P(E|S')`` with the printed noise at a Lipschitz constant L > 1.

    d = 1, ``f = −Lwz``; one point is 1 in S and −1 in S', the others are 0, and the minimisers are ``±L/(nΛ)``. E says
    that the output exceeds the larger one.
    """

    readings: ClassVar[dict[str, int]] = {"any-lipschitz": 0}
    claim_id: ClassVar[str] = "output-perturbation-privacy"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    lipschitz: Rational
    n: Count
    regularisation: Rational
    epsilon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        lipschitz, regularisation, epsilon = (
            rational(k, getattr(self, k)) for k in ("lipschitz", "regularisation", "epsilon")
        )
        require(
            holds=min(lipschitz, regularisation, epsilon) > 0,
            reason="lipschitz, regularisation and epsilon must be positive",
        )
        rate = self.n * regularisation * epsilon / 2
        apart = 2 * lipschitz / (self.n * regularisation)
        words = (
            f"P(E|S) > exp(epsilon) P(E|S') at L = {lipschitz}, n = {self.n}, Lambda = {regularisation}, "
            f"epsilon = {epsilon}"
        )
        return ball(Fraction(1, 2)), (ball(epsilon) - ball(rate * apart)).exp() / 2, words
