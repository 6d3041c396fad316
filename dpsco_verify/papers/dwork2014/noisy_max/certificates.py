"""Witnesses about noisy maxima, as the independent checker evaluates them."""

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
)

MAX_GAP = 10**6
NEAR_ONE = Fraction(999, 1000)
"""The least part of what is stated that is shown not to do in its place."""
LARGEST_ABOVE = Fraction(501, 500)
"""Of the rate, what is shown not to do in its place: no more than this."""


def behind(gap: Fraction) -> flint.arb:
    """Return the probability that the count that is `gap` ≥ 0 behind wins, both with noise Lap(1)."""
    return ball(-gap).exp() * ball(2 + gap) / 4


def _require_places(epsilon: Fraction, gap: int, moved: int) -> None:
    require(holds=0 < epsilon <= 100, reason=f"epsilon={epsilon} is outside (0, 100]")
    require(holds=moved <= gap <= MAX_GAP, reason=f"gap={gap} is outside [{moved}, {MAX_GAP}]")


class NoisyMaxScale(Witness, frozen=True, kw_only=True):
    """The index of the largest of m counts with ``Lap(scale/ε)`` is ε-DP for all m; with `below` of it, it is not.

    All counts move one way, so each moves by at most 1 against another, and scale = 1. Given the other counts' noise,
    an index wins if its noise exceeds a number that moves by as much, which changes the probability by at most
    ``e^{ε/scale}``. The event: of two counts the one that is `gap` behind on D' wins; on D it is ``gap − 1`` behind.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 1}
    claim_id: ClassVar[str] = "report-noisy-max"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every m and ε"
    argument: ClassVar[str] = (
        "given the others' noise, an index wins if its noise exceeds a number that moves by as much as the "
        "counts; computed is one instance"
    )
    scale: Rational
    below: Rational
    epsilon: Rational
    gap: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        scale, below, epsilon = (rational(k, getattr(self, k)) for k in ("scale", "below", "epsilon"))
        moved = self.readings[reading]
        require(holds=scale == moved, reason=f"scale={scale} is not the statement's {moved}")
        require(holds=NEAR_ONE <= below < 1, reason=f"below={below} is outside [{NEAR_ONE}, 1)")
        _require_places(epsilon, self.gap, moved)
        rate = epsilon / (scale * below)
        words = (
            f"P(E|D) > exp(epsilon) P(E|D') at epsilon = {epsilon}, gap {self.gap}, with {below} of the scale"
        )
        return behind(rate * (self.gap - moved)), ball(epsilon).exp() * behind(rate * self.gap), words


class NoisyMaxViolation(Witness, frozen=True, kw_only=True):
    """``P(E|D) > e^ε P(E|D')`` for noise Lap(1/ε) and two queries of sensitivity 1 that move in opposite directions.

    E says that the one that is `gap` behind on D', and ``gap − 2`` on D, wins.
    """

    readings: ClassVar[dict[str, int]] = {"general": 2}
    claim_id: ClassVar[str] = "report-noisy-max"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    epsilon: Rational
    gap: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, moved = rational("epsilon", self.epsilon), self.readings[reading]
        _require_places(epsilon, self.gap, moved)
        words = f"P(E|D) > exp(epsilon) P(E|D') at epsilon = {epsilon}, gap {self.gap}"
        left = behind(epsilon * (self.gap - moved))
        return left, ball(epsilon).exp() * behind(epsilon * self.gap), words


class ArgMaxRate(Witness, frozen=True, kw_only=True):
    """Exponential noise of parameter ``rate ε/Δu`` on utilities gives an ε-DP arg-max; `above` in its place does not.

    One utility moves by at most 2Δu against another, and the tail of the noise is exactly exponential, so rate = 1/2
    suffices. The event: of two outputs the one that is `gap` behind on D' and ``gap − 2`` on D wins, on D' with
    probability ``e^{−above ε gap}/2``.
    """

    readings: ClassVar[dict[str, int]] = {"later-printing": 2}
    claim_id: ClassVar[str] = "one-sided-noisy-arg-max"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every range and ε"
    argument: ClassVar[str] = (
        "given the others' noise, an index wins if its noise exceeds a number that moves by as much as the "
        "utilities; computed is one instance"
    )
    rate: Rational
    above: Rational
    epsilon: Rational
    gap: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        rate, above, epsilon = (rational(k, getattr(self, k)) for k in ("rate", "above", "epsilon"))
        moved = self.readings[reading]
        require(holds=rate * moved == 1, reason=f"rate={rate} is not the statement's 1/{moved}")
        require(
            holds=rate < above <= rate * LARGEST_ABOVE,
            reason=f"above={above} is outside ({rate}, {rate * LARGEST_ABOVE}]",
        )
        _require_places(epsilon, self.gap, moved)
        words = f"P(E|D) > exp(epsilon) P(E|D') at epsilon = {epsilon}, gap {self.gap}, with the rate {above}"
        left = ball(-above * epsilon * (self.gap - moved)).exp() / 2
        return left, ball(epsilon - above * epsilon * self.gap).exp() / 2, words


class ArgMaxDistribution(Witness, frozen=True, kw_only=True):
    """The exponential mechanism gives the worse of two outputs more often than exponential noise of parameter ε/2Δu.

    With utilities `gap` Δu apart: ``e^{−x}/(1 + e^{−x})`` against ``e^{−x}/2``, ``x = ε gap/2``.
    """

    readings: ClassVar[dict[str, int]] = {"first-printing": 0}
    claim_id: ClassVar[str] = "one-sided-noisy-arg-max"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    epsilon: Rational
    gap: Count

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon = rational("epsilon", self.epsilon)
        _require_places(epsilon, self.gap, 1)
        weight = ball(-epsilon * self.gap / 2).exp()
        words = f"P(worse output) of the exponential mechanism > noisy arg-max at epsilon = {epsilon}, gap {self.gap}"
        return weight / (1 + weight), weight / 2, words
