"""Witnesses about ``minibatch``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    ByReading,
    Count,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
    root_up,
)
from dpsco_verify.evidence.checker.sampling import check_claim, least_gap


class MinibatchViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for T steps with the mean gradient of m points and the printed ``N(0, σ²I)``.

    ``T = ⌊min(n/8, ε²n²/(32d log(1/δ)))⌋``, ``m = ⌈max(n√(ε/(4T)), 1)⌉``, ``σ² = 8TL² log(1/δ)/(n²ε²)``.

    * ``output-before``, ε ≤ 1, δ ≤ 1/n², T = 2: the output ``(w₁ + w₂)/2`` tells the first step. W is a segment of
      length D that begins at w₁, where gradients −L lead into it by ``η = D/(L√2)``. E says that m times the first
      noisy gradient, less −mL, exceeds `threshold` L, which is that ``w₂ < (1 − threshold/m) D/√2``, inside W.
    * ``output-after``, ε ≤ 1, δ ≤ 1/n², T = 1: the output is w₂, with ``η = D/L``, and W the same segment.
    * ``every-epsilon``, T ≥ 100: all noisy gradients are released. E says the same of their sum.
    """

    readings: ClassVar[dict[str, int | None]] = {"output-before": 2, "output-after": 1, "every-epsilon": None}
    """T, where the output tells the first step; None where all noisy gradients are released."""
    claim_id: ClassVar[str] = "minibatch-sgd-privacy"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[ByReading] = {
        "output-before": "inside W the output tells the first noisy gradient",
        "output-after": "inside W the output tells the first noisy gradient",
        "every-epsilon": (
            "the noisy gradients are released, or W is so large that they can be read off the iterates"
        ),
    }
    n: Count
    dimension: Count
    epsilon: Rational
    delta: Rational
    threshold: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta, threshold = (rational(k, getattr(self, k)) for k in ("epsilon", "delta", "threshold"))
        check_claim(epsilon, delta, threshold)
        n, d = self.n, self.dimension
        logarithm = -ball(delta).log()
        by_privacy = (ball((epsilon * n) ** 2) / (32 * d * logarithm)).floor().unique_fmpz()
        if by_privacy is None:
            return flint.arb("nan"), ball(delta), ""
        steps = min(n // 8, int(by_privacy))
        require(holds=steps >= 1, reason=f"T={steps} is below 1")
        batch = max(root_up(n * n * epsilon / (4 * steps)), 1)
        tells = self.readings[reading]
        if tells is not None:
            require(holds=epsilon <= 1, reason=f"epsilon={epsilon} is above 1, the end of this reading")
            require(holds=delta * n * n <= 1, reason=f"delta={delta} is above 1/n², the end of this reading")
            require(
                holds=steps == tells,
                reason=f"T={steps} is not {tells}, where the output tells the first step",
            )
            require(
                holds=threshold < batch, reason=f"threshold={threshold} is outside W, which ends at {batch}"
            )
            seen, what = 1, "the output"
        else:
            require(holds=steps >= 100, reason=f"T={steps} is below 100")
            seen, what = steps, "the noisy gradients"
        variance = 8 * steps * logarithm / ball((n * epsilon) ** 2)
        gap = least_gap(batch * seen, n, seen * batch**2 * variance, epsilon=epsilon, threshold=threshold)
        words = (
            f"P(E|S) - exp(epsilon) P(E|S') > delta for {what} at n = {n}, d = {d}, epsilon = {epsilon}, T = {steps}, "
            f"m = {batch}, E at {threshold}"
        )
        return gap, ball(delta), words


class SmoothedMinibatchViolation(MinibatchViolation, frozen=True, kw_only=True):
    """The same with gradients of Moreau envelopes: those of a linear loss are the loss's own."""

    readings: ClassVar[dict[str, int | None]] = {"noise-for-l": 2}
    claim_id: ClassVar[str] = "smoothed-minibatch-sgd-privacy"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[ByReading] = "inside W the output tells the first noisy gradient"
