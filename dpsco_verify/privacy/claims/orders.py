"""The orders at which an audit looks at a claim that is a curve, and the point of it that reports name."""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.optimize import brentq

LARGEST_ORDER = 40.0
"""At larger orders a test asks for events rarer under D' than any sample can show: e^−40 is 4e-18."""
SMALLEST_DELTA = 1e-9
"""From here on a δ is no different from 0 to any sample."""
SMALLEST_ORDER = 1e-9
HEADLINE_DELTA = 1e-6
_FRACTIONS = (0.8, 0.6, 0.4, 0.2, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6)
_NORMAL_QUANTILES = (-2.4, -1.6, -0.8, 0.0, 0.6, 1.2, 1.8, 2.4, 3.0, 3.6, 4.2, 5.0, 6.0)
_SMALLEST_LOG = 1e-18
_LOOKS_A_LEVEL = 3
"""Values of δ looked at for each level, at most."""
_NEARLY = 1.01
"""A δ within this factor of its last value has all but reached it."""
_CLOSE = 0.3
"""In the logarithm: the levels need not be met, only spread."""
_LARGEST_HEADLINE = 700.0
_DIGITS = 4


def gaussian_orders(mu: float) -> tuple[float, ...]:
    """Return 0 and ``μ²/2 + zμ`` for thirteen z from −2.4 to 6, without the negative and those above 40.

    Where μ is at most 1e-9, so that no δ is larger, 0 alone.
    """
    if mu <= SMALLEST_DELTA:
        return (0.0,)
    found = {min(0.5 * mu * mu + z * mu, LARGEST_ORDER) for z in _NORMAL_QUANTILES}
    return (0.0, *sorted(order for order in found if order > 0.0))


def spread_orders(delta: Callable[[float], float]) -> tuple[float, ...]:
    """Return 0 and the orders at which δ is about 0.8, 0.6, …, 1e-6 of δ(0), and where it is 1e-9.

    A curve that does not fall so far below the order 40 is followed to where it has all but reached its value there.

    Parameters
    ----------
    delta
        The curve; taken to decrease.
    """
    start, end = delta(0.0), delta(LARGEST_ORDER)
    lowest = max(SMALLEST_DELTA, _NEARLY * end)
    if start <= lowest:
        return (0.0,)
    knots = [(LARGEST_ORDER, end)]
    while knots[0][1] < 0.9 * start and knots[0][0] > SMALLEST_ORDER:
        order = 0.5 * knots[0][0]
        knots.insert(0, (order, delta(order)))
    knots.insert(0, (0.0, start))
    levels = sorted({max(fraction * start, lowest) for fraction in (*_FRACTIONS, 0.0)}, reverse=True)
    found = {_order_of(delta, knots, level) for level in levels}
    return (0.0, *sorted(order for order in found if order > 0.0))


def _order_of(delta: Callable[[float], float], knots: list[tuple[float, float]], level: float) -> float:
    """Return an order at which δ is about `level`, by inverse interpolation; what it looks at joins the knots."""
    for step in range(_LOOKS_A_LEVEL + 1):
        i = next(i for i, (_, value) in enumerate(knots) if value <= level)
        if i == 0:
            return knots[0][0]
        left, right = knots[i - 1], knots[i]
        order = _interpolated(left, right, level)
        if step == _LOOKS_A_LEVEL or not left[0] < order < right[0]:
            break
        knots.insert(i, (order, delta(order)))
        if abs(math.log(max(knots[i][1], _SMALLEST_LOG) / level)) < _CLOSE:
            break
    return order


def _interpolated(left: tuple[float, float], right: tuple[float, float], level: float) -> float:
    (a, high), (b, low) = left, right
    if high <= level:
        return a
    fall = math.log(high / max(low, _SMALLEST_LOG))
    return a + (b - a) * min(math.log(high / level) / fall, 1.0)


def spoken_of(delta: Callable[[float], float]) -> tuple[float, float]:
    """Return (ε, 1e-6) with the smallest ε of four digits at which δ is at most that.

    Where δ(0) is already smaller it is (0, δ(0)). A curve that has not fallen so far at the order 700 is spoken of
    where it has all but reached its value at 40.
    """
    start = delta(0.0)
    target = HEADLINE_DELTA if delta(_LARGEST_HEADLINE) <= HEADLINE_DELTA else _NEARLY * delta(LARGEST_ORDER)
    if start <= target:
        return 0.0, start
    high = 1.0
    while delta(high) > target:
        high *= 2.0
    root = brentq(lambda order: math.log(max(delta(order), _SMALLEST_LOG) / target), 0.0, high, rtol=1e-6)
    digits = _DIGITS - 1 - math.floor(math.log10(root))
    units = math.floor(root * 10.0**digits)
    while delta(epsilon := round(units * 10.0**-digits, digits)) > target:
        units += 1
    return epsilon, HEADLINE_DELTA if target == HEADLINE_DELTA else delta(epsilon)
