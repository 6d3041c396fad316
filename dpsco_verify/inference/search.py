"""Searches for the smallest violation and the smallest sample size that a sound power bound accepts."""

from __future__ import annotations

import math
from collections.abc import Callable

_LARGEST_SAMPLE = 2**50
_RELATIVE_TOLERANCE = 1e-6


def smallest_violation(accepted: Callable[[float], bool], *, largest: float) -> float:
    """Return the smallest v in ``[0, largest]`` with ``accepted(v)``, or ``math.inf`` when `largest` is not accepted.

    `accepted` is monotone. The result is 0 when a power is wanted that the level alone provides; otherwise it is
    itself accepted, and at most 1 + 1e-6 times the smallest such number.
    """
    if largest <= 0.0 or not accepted(largest):
        return math.inf
    if accepted(0.0):
        return 0.0
    high = largest
    low = 0.0
    while high - low > _RELATIVE_TOLERANCE * high:
        middle = 0.5 * (low + high)
        if accepted(middle):
            high = middle
        else:
            low = middle
    return high


def smallest_integer(accepted: Callable[[int], bool]) -> int | None:
    """Return an accepted n in 1, …, 2^50 whose bisection predecessor is refused, or None when doubling finds none.

    Where `accepted` is monotone it is the smallest accepted n; where discreteness makes it ragged, it is one of the
    first. The result is itself accepted.
    """
    high = 1
    while not accepted(high):
        if high >= _LARGEST_SAMPLE:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if accepted(middle):
            high = middle
        else:
            low = middle
    return high
