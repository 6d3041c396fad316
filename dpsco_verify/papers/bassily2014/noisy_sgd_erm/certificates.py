"""Witnesses about ``noisy-sgd-erm``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Count,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
    require_terms,
    upper_tail,
)
from dpsco_verify.evidence.checker.sampling import check_claim


class NoisySgdViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for the last of n² iterates with ``n∇f(w, z_i) + N(0, σ²)``, i uniform.

    ``σ² = 32L²n² log(n/δ) log(1/δ)/ε²`` and ``η_t = D/√(t(n²L² + σ²))`` in one dimension; L = D = 1. W is a segment,
    w₁ its upper end, and all gradients are −L but one, which is L in S. E says that the last iterate lies more than
    `threshold` below the upper end.

    * Under S the last step, with the differing point, leads there from anywhere: ``P(E|S) ≥ P(η(n + b) >
      threshold)/n``.
    * Under S' the distance y from the upper end obeys ``y' ≤ max(0, y + η(b − n))``, so at the end it is at most the
      largest sum of the last increments, of s of them or none, and P(E|S') at most the sum of their tails.
    """

    readings: ClassVar[dict[str, int]] = {"every-epsilon": 0}
    claim_id: ClassVar[str] = "noisy-sgd-erm-privacy"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "projected onto a segment the walk is reflected, and ends no further from its wall than some of its last "
        "increments lead"
    )
    n: Count
    epsilon: Rational
    delta: Rational
    threshold: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta, threshold = (rational(k, getattr(self, k)) for k in ("epsilon", "delta", "threshold"))
        check_claim(epsilon, delta, threshold)
        n = self.n
        require(holds=n >= 2, reason=f"n={n} is below 2")
        steps = n * n - 1
        require_terms(steps, "the sum over the last steps")
        sigma = n * (32 * (ball(n) / ball(delta)).log() * -ball(delta).log()).sqrt() / ball(epsilon)
        scale = (n * n + sigma * sigma).sqrt()
        there = upper_tail((ball(threshold) * scale * ball(steps).sqrt() - n) / sigma) / n
        without, drift, spread = flint.arb(0), flint.arb(0), flint.arb(0)
        for t in range(steps, 0, -1):
            drift += n / (scale * ball(t).sqrt())
            spread += 1 / (scale * scale * t)
            without += upper_tail((ball(threshold) + drift) / (sigma * spread.sqrt()))
        words = (
            f"P(E|S) - exp(epsilon) P(E|S') > delta for the last iterate at n = {n}, epsilon = {epsilon}, "
            f"E at {threshold}"
        )
        return there - ball(epsilon).exp() * without, ball(delta), words
