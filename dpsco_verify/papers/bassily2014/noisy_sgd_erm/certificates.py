"""Witnesses about ``noisy-sgd-erm``, as the independent checker evaluates them."""

from __future__ import annotations

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
from dpsco_verify.evidence.checker.sampling import check_claim, least_gap


class NoisySgdViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for n² − 1 steps with ``n∇f(w, z_i) + N(0, σ²I)``, i uniform, and the printed σ.

    ``σ² = 32L²n² log(n/δ) log(1/δ)/ε²``. E says that the sum of the noisy gradients over n, less that of gradients −L,
    exceeds `threshold` L.
    """

    readings: ClassVar[dict[str, int]] = {"every-epsilon": 0}
    claim_id: ClassVar[str] = "noisy-sgd-erm-privacy"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "the noisy gradients are released, or W is so large that they can be read off the iterates"
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
        draws = n * n - 1
        per_step = 32 * (ball(n) / ball(delta)).log() * -ball(delta).log() / ball(epsilon) ** 2
        gap = least_gap(draws, n, draws * per_step, epsilon=epsilon, threshold=threshold)
        words = f"P(E|S) - exp(epsilon) P(E|S') > delta at n = {n}, epsilon = {epsilon}, E at {threshold}"
        return gap, ball(delta), words
