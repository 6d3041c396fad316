"""Witnesses about the Laplace mechanism, as the independent checker evaluates them."""

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

NEAR_ONE = Fraction(999, 1000)
"""The least part of what is stated that is shown not to do in its place."""


class LaplaceScale(Witness, frozen=True, kw_only=True):
    """Noise ``Lap(scale Δf/ε)``, scale = 1, is ε-DP for all f, k and ε; with `below` < 1 in place of 1 it is not.

    The privacy loss at z is ``Σ_i(|f(y)_i − z_i| − |f(x)_i − z_i|) ε/Δf ≤ ‖f(x) − f(y)‖₁ ε/Δf ≤ ε``. For ``k = 1``,
    ``f(x) − f(y) = Δf`` and the event that the output is above f(x), the probabilities are 1/2 and ``e^{−ε/below}/2``.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "laplace-mechanism"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every f, k and ε"
    argument: ClassVar[str] = (
        "the triangle inequality bounds the privacy loss by ε; computed is one instance, which attains it"
    )
    scale: Rational
    below: Rational
    epsilon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        scale, below, epsilon = (rational(k, getattr(self, k)) for k in ("scale", "below", "epsilon"))
        require(holds=scale == 1, reason=f"scale={scale} is not the statement's 1")
        require(holds=NEAR_ONE <= below < 1, reason=f"below={below} is outside [{NEAR_ONE}, 1)")
        require(holds=0 < epsilon <= 100, reason=f"epsilon={epsilon} is outside (0, 100]")
        words = f"P(E|x) > exp(epsilon) P(E|y) at epsilon = {epsilon} with {below} of the scale; <= with all of it"
        return ball(Fraction(1, 2)), ball(epsilon - epsilon / below).exp() / 2, words


class LaplaceAccuracyFactor(Witness, frozen=True, kw_only=True):
    """``P(‖f(x) − y‖_∞ ≥ factor ln(k/δ)Δf/ε) ≤ δ`` with factor = 1 for all f, k, ε and δ ≤ 1; with `below` < 1 not.

    The probability is ``1 − (1 − (δ/k)^factor)^k``, at most ``k (δ/k)^factor = δ``.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "laplace-accuracy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every f, k, ε and δ <= 1"
    argument: ClassVar[str] = "the union bound over k coordinates; computed is one instance"
    factor: Rational
    below: Rational
    dimension: Count
    delta: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, below, delta = (rational(k, getattr(self, k)) for k in ("factor", "below", "delta"))
        k = self.dimension
        require(holds=factor == 1, reason=f"factor={factor} is not the statement's 1")
        require(holds=NEAR_ONE <= below < 1, reason=f"below={below} is outside [{NEAR_ONE}, 1)")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        require(holds=k <= 10**6, reason=f"dimension={k} is above 10^6")
        words = f"P(error >= {below} ln(k/delta) Delta/epsilon) > delta at k = {k}; <= delta with 1"
        one = (ball(below) * ball(delta / k).log()).exp()
        return 1 - (1 - one) ** k, ball(delta), words
