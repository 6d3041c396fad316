"""Figures about composition: what the constants need, against the exact composition of randomised response."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import flint

from dpsco_verify.papers.dwork2014.composition.certificates import revealed
from dpsco_verify.privacy.balls import ball, decide, enclose

PLACE = (1000, Fraction(1, 100), Fraction(1, 10**6))
"""k, ε and δ' at which the bounds are compared."""


def advanced_epsilon(
    k: int, epsilon: Fraction, delta: Fraction | None = None, *, spread: Fraction, drift: Fraction
) -> flint.arb:
    """Return ``√(spread k ln(1/δ')) ε + drift k ε(e^ε − 1)``; δ' is `delta`, or e^{−32} if that is None."""
    log = ball(32) if delta is None else -ball(delta).log()
    e = ball(epsilon)
    return (ball(spread * k) * log).sqrt() * e + ball(drift * k) * e * e.expm1()


def exact_delta(k: int, epsilon: Fraction, total: Fraction) -> flint.arb:
    """Return the largest δ at `total` of a k-fold adaptive composition of ε-DP mechanisms."""
    first = math.floor((k + total / epsilon) / 2) + 1
    return flint.arb(0) if first > k else revealed(k, ball(epsilon), ball(total), first)


@dataclass(frozen=True, kw_only=True)
class AdvancedFigures:
    """What is needed for the 2 under the root and for the 1 before kε(e^ε − 1), and three figures.

    Attributes
    ----------
    radicand
        What is under the root at k = 1, δ' = 2.
    bound, exact
        ε' at PLACE, by the theorem and exactly.
    """

    spread: float
    drift: float
    radicand: float
    bound: float
    exact: float


def advanced_figures(*, spread: Fraction, drift: Fraction) -> AdvancedFigures:
    """Compute the figures; `spread` and `drift` are those of the bound."""
    k, epsilon, delta = PLACE
    low, high = Fraction(0), k * epsilon
    for _ in range(24):
        middle = (low + high) / 2
        above = decide(partial(exact_delta, k, epsilon, middle), partial(ball, delta))
        low, high = (middle, high) if above else (low, middle)
    return AdvancedFigures(
        spread=enclose(_spread_needed)[0],
        drift=enclose(_drift_needed)[0],
        radicand=enclose(lambda: -ball(spread) * ball(2).log())[1],
        bound=enclose(lambda: advanced_epsilon(k, epsilon, delta, spread=spread, drift=drift))[1],
        exact=float(high),
    )


def _spread_needed() -> flint.arb:
    """Return the spread at which the bound is ε' = 10⁴ for k = 10¹⁸ mechanisms of ε = 10⁻⁹, and a δ' below the true δ.

    The event is that exactly `agree` answers are 0, with a loss of ε' + 1: its probability alone gives δ.
    """
    k, epsilon, total = 10**18, Fraction(1, 10**9), 10**4
    agree = (k + (total + 1) * 10**9) // 2
    choose = ball(k + 1).lgamma() - ball(agree + 1).lgamma() - ball(k - agree + 1).lgamma()
    likely = choose + ball(agree * epsilon) - k * ball(epsilon).exp().log1p()
    log = -likely - (-ball(-1).exp()).log1p()
    rest = ball(total) - ball(k * epsilon) * ball(epsilon).expm1()
    return (rest / ball(epsilon)) ** 2 / (k * log)


def _drift_needed() -> flint.arb:
    """Return the drift at which the bound is too small for k = 10¹⁸ mechanisms of ε = 10⁻⁵ at δ' = 1/2.

    The loss is above its mean less three times √k ε but with probability ``e^{−9/2}`` (Hoeffding), so at an ε' that
    is 5 less than that, δ is above ``(1 − e^{−5})(1 − e^{−9/2}) > 1/2``.
    """
    k, epsilon = 10**18, Fraction(1, 10**5)
    e = ball(epsilon)
    total = k * e * (e / 2).tanh() - 3 * ball(k).sqrt() * e - 5
    return (total - (2 * k * ball(2).log()).sqrt() * e) / (k * e * e.expm1())


@dataclass(frozen=True, kw_only=True)
class CorollaryFigures:
    """The least δ' at which the corollary was found false, at which k; and both second terms of its proof."""

    delta: float
    k: int
    square: float
    theorem: float


def corollary_figures() -> CorollaryFigures:
    """Look for the least δ' at ε' = 99/100, in steps of 10⁻⁴, and evaluate the proof's sum at δ' = 7/10, k = 1."""
    epsilon = Fraction(99, 100)
    found = [
        (delta, k)
        for k in (1, 16, 128)
        for delta in (Fraction(n, 10**4) for n in range(9950, 9990))
        if decide(partial(_corollary_delta, k, epsilon, delta), partial(ball, delta))
    ]
    least, k = min(found)
    each = 1 / (2 * math.sqrt(-2 * math.log(0.7)))
    return CorollaryFigures(delta=float(least), k=k, square=each**2, theorem=each * math.expm1(each))


def _corollary_delta(k: int, epsilon: Fraction, delta: Fraction) -> flint.arb:
    each = ball(epsilon) / (2 * (-2 * k * ball(delta).log()).sqrt())
    return revealed(k, each, ball(epsilon), k // 2 + 1)


@dataclass(frozen=True, kw_only=True)
class ExampleFigures:
    """ε' of Theorem 3.20 at ε_0 = 1/801; the fewest parts that the theorem allows, and that the truth allows."""

    total: float
    by_theorem: int
    exact: int


def example_figures(*, parts: int) -> ExampleFigures:
    """Compute the figures of Example 3.7: k = 10,000, δ' = e^(−32)."""
    k = 10_000

    def total(n: int) -> flint.arb:
        return advanced_epsilon(k, Fraction(1, n), spread=Fraction(2), drift=Fraction(1))

    def suffices(n: int) -> bool:
        return bool(decide(lambda: ball(-32).exp(), lambda: exact_delta(k, Fraction(1, n), Fraction(1))))

    low, exact = 500, 801
    while exact - low > 1:
        middle = (low + exact) // 2
        low, exact = (low, middle) if suffices(middle) else (middle, exact)
    theorem = next(n for n in range(800, 2000) if enclose(partial(total, n))[1] <= 1.0)
    return ExampleFigures(total=enclose(partial(total, parts))[0], by_theorem=theorem, exact=exact)
