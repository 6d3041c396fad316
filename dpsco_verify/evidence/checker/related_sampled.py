"""Witnesses about systems whose steps draw points with replacement.

One point has gradient L in S and −L in S', all others −L. Drawn K ~ Bin(N, 1/n) times in N draws, it moves the sum of
the noisy gradients, which is a function of what is released, by 2L a draw: in units of L the sum is, up to the same
shift, ``N(2K, v)`` under S and ``N(0, v)`` under S'.
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker.arithmetic import Count, Rational, ball, rational, require, upper_tail
from dpsco_verify.evidence.checker.elementary import Proof, Sides

_LARGEST_MEAN = 10_000


class NoisySgdViolation(Proof, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for n² − 1 steps with ``n∇f(w, z_i) + N(0, σ²I)``, i uniform, and the printed σ.

    ``σ² = 32L²n² log(n/δ) log(1/δ)/ε²``. E says that the sum of the noisy gradients over n, less that of gradients −L,
    exceeds `threshold` L.
    """

    readings: ClassVar[dict[str, int]] = {"every-epsilon": 0}
    claim_id: ClassVar[str] = "noisy-sgd-erm-privacy"
    n: Count
    epsilon: Rational
    delta: Rational
    threshold: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta, threshold = (rational(k, getattr(self, k)) for k in ("epsilon", "delta", "threshold"))
        _check(epsilon, delta, threshold)
        n = self.n
        require(holds=n >= 2, reason=f"n={n} is below 2")
        draws = n * n - 1
        per_step = 32 * (ball(n) / ball(delta)).log() * -ball(delta).log() / ball(epsilon) ** 2
        gap = _gap(draws, n, draws * per_step, epsilon=epsilon, threshold=threshold)
        words = f"P(E|S) - exp(epsilon) P(E|S') > delta at n = {n}, epsilon = {epsilon}, E at {threshold}"
        return gap, ball(delta), words


class MinibatchViolation(Proof, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for T steps with the mean gradient of m points and the printed ``N(0, σ²I)``.

    ``T = ⌊min(n/8, ε²n²/(32d log(1/δ)))⌋``, ``m = ⌈max(n√(ε/(4T)), 1)⌉``, ``σ² = 8TL² log(1/δ)/(n²ε²)``.

    * ``output-before``, ε ≤ 1, T = 2: the output ``(w₁ + w₂)/2`` tells the first step. W is a segment of length D that
      begins at w₁, where gradients −L lead into it by ``η = D/(L√2)``. E says that m times the first noisy gradient,
      less −mL, exceeds `threshold` L, which is that ``w₂ < (1 − threshold/m) D/√2``, inside W.
    * ``output-after``, ε ≤ 1, T = 1: the output is w₂, with ``η = D/L``, and W the same segment.
    * ``every-epsilon``, T ≥ 100: all noisy gradients are released. E says the same of their sum.
    """

    readings: ClassVar[dict[str, int]] = {"output-before": 1, "output-after": 1, "every-epsilon": 100}
    claim_id: ClassVar[str] = "minibatch-sgd-privacy"
    n: Count
    dimension: Count
    epsilon: Rational
    delta: Rational
    threshold: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta, threshold = (rational(k, getattr(self, k)) for k in ("epsilon", "delta", "threshold"))
        _check(epsilon, delta, threshold)
        n, d = self.n, self.dimension
        logarithm = -ball(delta).log()
        by_privacy = (ball((epsilon * n) ** 2) / (32 * d * logarithm)).floor().unique_fmpz()
        if by_privacy is None:
            return flint.arb("nan"), ball(delta), ""
        steps = min(n // 8, int(by_privacy))
        require(holds=steps >= 1, reason=f"T={steps} is below 1")
        batch = max(_root_up(n * n * epsilon / (4 * steps)), 1)
        if reading != "every-epsilon":
            tells = 1 if reading == "output-after" else 2
            require(holds=epsilon <= 1, reason=f"epsilon={epsilon} is above 1, the end of this reading")
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
        gap = _gap(batch * seen, n, seen * batch**2 * variance, epsilon=epsilon, threshold=threshold)
        words = (
            f"P(E|S) - exp(epsilon) P(E|S') > delta for {what} at n = {n}, d = {d}, epsilon = {epsilon}, T = {steps}, "
            f"m = {batch}, E at {threshold}"
        )
        return gap, ball(delta), words


class SmoothedMinibatchViolation(MinibatchViolation, frozen=True, kw_only=True):
    """The same with gradients of Moreau envelopes: those of a linear loss are the loss's own."""

    readings: ClassVar[dict[str, int]] = {"noise-for-l": 1}
    claim_id: ClassVar[str] = "smoothed-minibatch-sgd-privacy"


def _check(epsilon: Fraction, delta: Fraction, threshold: Fraction) -> None:
    require(holds=epsilon > 0, reason=f"epsilon={epsilon} is not positive")
    require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
    require(holds=threshold > 0, reason=f"threshold={threshold} is not positive")


def _gap(draws: int, n: int, variance: flint.arb, *, epsilon: Fraction, threshold: Fraction) -> flint.arb:
    """Return a lower bound on ``P(N(2K, v) > t) − e^ε P(N(0, v) > t)``: terms beyond 10 times the mean are left out."""
    mean = Fraction(draws, n)
    require(holds=n >= 2, reason=f"n={n} is below 2")
    require(holds=mean <= _LARGEST_MEAN, reason=f"the mean number of draws {mean} is above {_LARGEST_MEAN}")
    deviation = variance.sqrt()
    odds = ball(Fraction(1, n - 1))
    weight = ball(Fraction(n - 1, n)) ** draws
    total = flint.arb(0)
    for k in range(min(draws, 50 + 10 * int(mean)) + 1):
        total += weight * upper_tail((ball(threshold) - 2 * k) / deviation)
        weight = weight * (draws - k) / (k + 1) * odds
    return total - ball(epsilon).exp() * upper_tail(ball(threshold) / deviation)


def _root_up(square: Fraction) -> int:
    """Return ``⌈√square⌉``."""
    root = int(flint.fmpz(square.numerator // square.denominator).isqrt())
    return root if Fraction(root * root) >= square else root + 1
