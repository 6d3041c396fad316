"""Witnesses about ``iteration-sgd``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
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
    root_up,
    upper_tail,
)


class IterationBatches(Witness, frozen=True, kw_only=True):
    """``B_t = ⌈2√d/(κ√(T − t + 1))⌉`` gives (α, ακ²/2)-RDP for all T, d, κ, and a constant below 2 does not.

    Amplification by iteration spreads the shift 2Lη/B_t over the ``T − t + 1`` steps from t on, each with noise
    ``N(0, η²L²/d)``: the divergence is at most ``α (2Lη/B_t)²/(2(T − t + 1)η²L²/d) ≤ ακ²/2``. For t = 1 and linear
    losses the last iterate is Gaussian with just this divergence, where nothing is projected.
    """

    readings: ClassVar[dict[str, Fraction]] = {"printed": Fraction(199, 100)}
    """The least constant in place of 2 that is shown not to do."""
    claim_id: ClassVar[str] = "iteration-sgd-privacy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every T, d, κ and η <= 2/β"
    argument: ClassVar[str] = (
        "amplification by iteration (Feldman, Koren and Talwar 2020); computed is one instance, which attains"
        " its bound"
    )
    dimension: Count
    kappa: Rational
    steps: Count
    below: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        kappa, below = rational("kappa", self.kappa), rational("below", self.below)
        least = self.readings[reading]
        require(
            holds=kappa > 0 and least <= below < 2, reason=f"kappa must be positive and below in [{least}, 2)"
        )
        d, T = self.dimension, self.steps
        printed, less = (root_up(c * c * d / (kappa * kappa * T)) for c in (Fraction(2), below))
        require(
            holds=Fraction(4 * d, printed**2 * T) == kappa**2,
            reason="2 sqrt(d)/(kappa sqrt(T)) is no integer; the printed batch has room there",
        )
        words = (
            f"4d/(B^2 T) > kappa^2 at d = {d}, T = {T}, kappa = {kappa} for the batch B = {less} that {below} in place "
            f"of 2 gives, and = kappa^2 for the printed one"
        )
        return ball(Fraction(4 * d, less**2 * T)), ball(kappa**2), words


class IterationStepViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > δ`` for two steps of size ``η = factor/β > 2/β`` with the printed batches.

    κ is that of (ε, δ). In units of ηL. f is a Huber loss of ``w₁ − z``, β-smooth and L-Lipschitz; W is a segment
    along the first axis, η its length over ``L√2``. The first of batch 1 is beyond ``w ± L/β``, its gradient ∓L; all
    other points are 0, where the walk begins. So ``w₂ = ±1/B₁ + N(0, 1/d)``, and unless |w₂| > 1/factor, step 2 takes
    it to ``−(factor − 1)w₂ + N(0, 1/d)``. E says that the output is below −threshold, inside W.
    """

    readings: ClassVar[dict[str, int]] = {"any-step-size": 0}
    claim_id: ClassVar[str] = "iteration-sgd-privacy"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = "the second step takes the first to −(factor − 1) w₂ wherever |w₂| <= 1/factor"
    dimension: Count
    factor: Rational
    epsilon: Rational
    delta: Rational
    threshold: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, epsilon, delta, threshold = (
            rational(k, getattr(self, k)) for k in ("factor", "epsilon", "delta", "threshold")
        )
        require(holds=factor > 2, reason=f"factor={factor} is not above 2")
        require(holds=epsilon > 0 and 0 < delta < 1, reason="epsilon must be positive, and delta in (0, 1)")
        require(holds=0 < threshold < Fraction(7, 10), reason=f"threshold={threshold} is outside (0, 7/10)")
        d = self.dimension
        edge = -2 * ball(delta).log()
        kappa = (edge + 2 * ball(epsilon)).sqrt() - edge.sqrt()
        batch = (2 * ball(d).sqrt() / (kappa * ball(2).sqrt())).ceil().unique_fmpz()
        if batch is None:
            return flint.arb("nan"), ball(delta), ""
        expansion = factor - 1
        shift = ball(expansion / int(batch))
        deviation = ball((expansion**2 + 1) / d).sqrt()
        outside = 2 * upper_tail((ball(1 / factor) - ball(Fraction(1, int(batch)))) * ball(d).sqrt())
        first = upper_tail((ball(threshold) - shift) / deviation) - outside
        second = upper_tail((ball(threshold) + shift) / deviation) + outside
        words = (
            f"P(E|S) - exp(epsilon) P(E|S') > delta at d = {d}, eta = {factor}/beta, epsilon = {epsilon}, "
            f"E at {threshold}"
        )
        return first - ball(epsilon).exp() * second, ball(delta), words
