"""The shipped losses' subgradients, operation by operation as in ``problems.losses``; compiled.

Every one is a slope times the data point's features: for the linear loss the slope is −1. A run's subgradient stands
in ``g[k * d:(k + 1) * d]``; where no point is fresh that is −0, to which noise is added without a change.
"""

from __future__ import annotations

import math

from dpsco_verify.algorithm.kernel.arithmetic import SHORT, inner_product
from dpsco_verify.algorithm.kernel.compilation import inlined, part
from dpsco_verify.algorithm.kernel.kinds import LossKind
from dpsco_verify.arrays import FloatArray, IntArray

_LINEAR, _ABSOLUTE, _QUANTILE = int(LossKind.LINEAR), int(LossKind.ABSOLUTE), int(LossKind.QUANTILE)
_HUBER, _HINGE = int(LossKind.HUBER), int(LossKind.HINGE)

_SURELY_SHORTER = 1.0 - 2.0**-48
"""Squares below this part of the square are below it whatever is rounded."""


@inlined
def _slope(  # noqa: PLR0911  a table of cases
    kind: int, number: float, score: float, target: float
) -> float:
    """Return ``φ'(score, target)``; NaN stays NaN where numpy's operations let it."""
    residual = score - target
    if kind == _ABSOLUTE:
        if residual > 0.0:
            return 1.0
        if residual < 0.0:
            return -1.0
        return residual  # 0, or NaN
    if kind == _QUANTILE:
        return 1.0 - number if score > target else 0.0 - number
    if kind == _HUBER:
        if residual < -number:
            return -number
        if residual > number:
            return number
        return residual
    if kind == _HINGE:
        return -target * (1.0 if target * score < 1.0 else 0.0)
    return -target * (1.0 / (1.0 + math.exp(target * score)))


@part
def subgradients(  # noqa: C901  loops over runs and coordinates, once each for short and long points
    kind: int,
    number: float,
    w: FloatArray,
    d: int,
    data: FloatArray,
    bases: IntArray,
    width: int,
    batches: IntArray,
    fresh: IntArray,
    news: IntArray,
    first_draw: int,
    count: int,
    longest: float,
    g: FloatArray,
    sums: FloatArray,
    room: FloatArray,
) -> int:
    """Write the subgradients of `count` runs, each at one point that it drew; return how many are too long, or NaN.

    With the first points of the batches the iterates of the runs that found a fresh one go to their sums.
    Short points are read and multiplied whether they are fresh or not: the branch would be guessed wrong too often.
    """
    wrong = 0
    for k in range(count):
        at = k * d
        first = bases[k] + batches[first_draw + k] * width
        new = fresh[first_draw + k] != 0
        weight = 1.0 if first_draw == 0 and news[k] > 0 else 0.0
        if new or d < SHORT:
            slope = -1.0
            if kind != _LINEAR:
                slope = _slope(kind, number, inner_product(w, at, data, first, d, room), data[first + d])
            squares = 0.0
            if d < SHORT:
                for i in range(d):
                    s = 0.0 + slope * data[first + i]
                    g[at + i] = s if new else -0.0
                    squares += s * s
                    sums[at + i] += weight * w[at + i]
            else:
                for i in range(d):
                    g[at + i] = 0.0 + slope * data[first + i]
                squares = inner_product(g, at, g, at, d, room)
            # The root is taken only where it may matter.
            if not squares < longest * longest * _SURELY_SHORTER:
                wrong += new and not math.sqrt(squares) <= longest
        else:
            for i in range(d):
                g[at + i] = -0.0
        if d >= SHORT and weight > 0.0:
            for i in range(d):
                sums[at + i] += w[at + i]
    return wrong
