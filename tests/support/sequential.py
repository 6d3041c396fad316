"""Rates held to bounds by Wald's sequential test, which takes as many runs as the decision needs and no more."""

from __future__ import annotations

import math
from collections.abc import Iterable


def rate_holds(
    outcomes: Iterable[bool],
    *claims: tuple[float, float],
    alarm: float = 1e-9,
    missed: float = 1e-3,
    most: int = 2000,
) -> bool:
    """Say whether each claim holds of the rate at which outcomes are true; none after the decision is looked at.

    A claim (right, wrong) says that the rate is `right` or lies beyond it, away from `wrong`. The likelihood ratio of
    `wrong` against `right` is a supermartingale where it does, and its inverse where the rate is `wrong` or beyond. So
    (Ville 1939; Wald 1945) a right rate is refused with probability at most `alarm`, and a wrong one passes with
    probability at most `missed`: also if each outcome has a probability of its own, on that side of `right` or `wrong`.
    What `most` outcomes do not decide does not hold.
    """
    ratios = [0.0] * len(claims)
    undecided = set(range(len(claims)))
    for _, outcome in zip(range(most), outcomes, strict=False):
        for i in tuple(undecided):
            right, wrong = claims[i]
            ratios[i] += math.log(wrong / right if outcome else (1.0 - wrong) / (1.0 - right))
            if ratios[i] >= -math.log(alarm):
                return False
            if ratios[i] <= math.log(missed):
                undecided.remove(i)
        if not undecided:
            return True
    return False
