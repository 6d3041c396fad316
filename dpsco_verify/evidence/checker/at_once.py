"""Counts of an event under two data sets, of numbers of runs that were fixed before and are looked at once."""

from __future__ import annotations

import itertools
import math
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker.arithmetic import (
    Cell,
    Count,
    Rational,
    Rejected,
    ball,
    rational,
    require,
    require_terms,
    shown,
)
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.statistical import (
    Evidence,
    checked_level,
    event_factor,
    event_words,
    one_over,
)
from dpsco_verify.evidence.checker.witness import Sides

_STEPS_OF_LOGIT = 8
_BEYOND = 8.0
_TILTS = ("1", "5/4", "3/2", "2", "3")
_LARGEST_WEIGHT = 1000


class EventAtOnce(Evidence, frozen=True, kw_only=True):
    """Counts ``a`` and ``b`` of n runs each whose p-value against ``P − e^ε P' ≤ δ`` is below alpha.

    ``T = u a − v b`` with weights u, v > 0, `first_weight` and `second_weight`. With p = P and q = P' the law of T is
    largest where ``p = e^ε q + δ``, and for every θ > 0

        ``P(T ≥ t) ≤ e^{−θt} (1 + p(e^{θu} − 1))^n (1 − q(1 − e^{−θv}))^n F``

    where F is the least of 1, ``1/(sqrt(2e n p̃(1 − p̃))(1 − e^{−θu}))`` and the same of q̃ and v, with p̃ and q̃ the
    probabilities under the law tilted by e^{θT} (a binomial probability is at most ``1/sqrt(2e n r(1 − r))``; Herzog
    1947). In each cell of q log M is below its tangents at both ends, as it is concave, and ``r(1 − r)`` above its
    value at one of them.
    """

    argument: ClassVar[str] = (
        "that these counts were drawn, of the mechanism that the null hypothesis names, with the number of runs and "
        "the weights fixed before"
    )
    epsilon: Rational
    delta: Rational
    samples: Count
    first_weight: Rational
    second_weight: Rational
    first: Cell
    second: Cell

    def require_admitted(self, null: Null) -> None:
        """Refuse an (ε, δ) that the claim does not imply."""
        null.require_event(self.null_hypothesis, epsilon=self.epsilon, delta=self.delta)

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return one over the p-value, one over alpha, and the inequality in words."""
        alpha, delta, epsilon = (
            checked_level(self.alpha),
            rational("delta", self.delta),
            rational("epsilon", self.epsilon),
        )
        factor = event_factor(epsilon, delta)
        for name in ("first", "second"):
            require(
                holds=getattr(self, name) <= self.samples,
                reason=f"{name}={getattr(self, name)} is more than samples={self.samples}",
            )
        weights = rational("first_weight", self.first_weight), rational("second_weight", self.second_weight)
        for name, weight in zip(("first_weight", "second_weight"), weights, strict=True):
            require(
                holds=0 < weight <= _LARGEST_WEIGHT,
                reason=f"{name}={shown(weight)} is outside (0, {_LARGEST_WEIGHT}]",
            )
        u, v = (ball(weight) for weight in weights)
        largest = _largest_log_tail(
            u * self.first - v * self.second, weights=(u, v), n=self.samples, factor=factor, delta=ball(delta)
        )
        words = f"1/p-value > 1/alpha against {event_words(epsilon, delta, alpha, self.null_hypothesis)}"
        return (-largest).exp(), one_over(alpha), words


class OwnMechanismAtOnce(EventAtOnce, frozen=True, kw_only=True):
    """The same of a mechanism of the user's own, whose guarantee is no paper's claim: its claim is ``own:NAME``."""

    argument: ClassVar[str] = (
        "that these counts were drawn, and of which mechanism, with the number of runs and the weights fixed before"
    )

    def require_admitted(self, null: Null) -> None:
        """Refuse a paper's claim: this kind speaks of none."""
        raise Rejected(f"this kind speaks of a mechanism of the user's own, and not of {null.name!r}")


_End = tuple[flint.arb, flint.arb, flint.arb, flint.arb]


def _largest_log_tail(
    t: flint.arb, *, weights: tuple[flint.arb, flint.arb], n: int, factor: flint.arb, delta: flint.arb
) -> flint.arb:
    """Return the largest over cells of q of the least bound, over θ, of ``log P(T ≥ t)``."""
    one = flint.arb(1)
    most = ((1 - delta) / factor).min(one)
    steps = math.ceil((math.log(n) + _BEYOND) * _STEPS_OF_LOGIT)
    require_terms(2 * steps, "the p-value")
    inner = [most / (1 + (-flint.arb(k) / _STEPS_OF_LOGIT).exp()) for k in range(-steps, steps + 1)]
    places = [(q, (factor * q + delta).min(one)) for q in (flint.arb(0), *inner, most)]
    tails: list[flint.arb] = []
    for text in _TILTS:
        theta = ball(rational("theta", text))
        u, v = (theta * weight for weight in weights)
        gain, loss = u.expm1(), -(-v).expm1()
        ends: list[_End] = []
        for q, p in places:
            up, down = 1 + p * gain, 1 - q * loss
            first, second = p * (1 - p) * u.exp() / up**2, q * (1 - q) * (-v).exp() / down**2
            ends.append((n * (up.log() + down.log()), n * (factor * gain / up - loss / down), first, second))
        widest = 2 * one.exp() * n
        scales = (widest * gain**2 * (-2 * u).exp(), widest * loss**2)
        of_theta = [
            _height(left, right, after[0] - before[0]) + _log_factor(left, right, scales) - theta * t
            for (left, right), (before, after) in zip(
                itertools.pairwise(ends), itertools.pairwise(places), strict=True
            )
        ]
        tails = of_theta if not tails else [x.min(y) for x, y in zip(tails, of_theta, strict=True)]
    largest = tails[0]
    for tail in tails[1:]:
        largest = largest.max(tail)
    return largest


def _height(left: _End, right: _End, width: flint.arb) -> flint.arb:
    """Return what a concave function is at most between two ends, of which its values and slopes are known."""
    nothing = flint.arb(0)
    return (left[0] + left[1].max(nothing) * width).min(right[0] - right[1].min(nothing) * width)


def _log_factor(left: _End, right: _End, scales: tuple[flint.arb, flint.arb]) -> flint.arb:
    """Return what log F is at most between two ends, by the variances of one run there."""
    least = flint.arb(1)
    for k, scale in enumerate(scales, start=2):
        squared = scale * left[k].min(right[k])
        if squared > 1:
            least = least.min(1 / squared)
    return least.log() / 2
