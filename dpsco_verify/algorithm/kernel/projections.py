"""The closed-form projections, operation by operation as the sets in ``geometry`` do them; compiled.

Points are the rows of ``x``, shape (count, d) in one line, projected in place; `numbers` and `vectors` are those of
:class:`~dpsco_verify.algorithm.kernel.kinds.SetPlan`; `room` holds ``ROOM + 2d`` numbers, `distances` one a row.
"""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np

from dpsco_verify.algorithm.kernel.arithmetic import (
    SHORT,
    SQUARE_HIGH,
    SQUARE_LOW,
    bounded,
    euclidean_norm,
    inner_product,
    pairwise_sum,
    sort,
)
from dpsco_verify.algorithm.kernel.compilation import inlined, part
from dpsco_verify.algorithm.kernel.kinds import ROOM, SetKind
from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.convex_set import LARGEST_COORDINATE
from dpsco_verify.geometry.norms import SMALLEST_NORMAL

_WHOLE_SPACE, _L2_BALL, _BOX = int(SetKind.WHOLE_SPACE), int(SetKind.L2_BALL), int(SetKind.BOX)
_HALF_SPACE, _L1_BALL = int(SetKind.HALF_SPACE), int(SetKind.L1_BALL)
_START = cast("int", np.int64(0))  # as for ROOM


@part
def _l2_ball(  # noqa: C901, PLR0912  loops over runs and coordinates, once each for short and long points
    x: FloatArray,
    count: int,
    d: int,
    numbers: FloatArray,
    center: FloatArray,
    room: FloatArray,
    distances: FloatArray,
) -> bool:
    """Move to ``c + r (x − c)/‖x − c‖`` from outside.

    Only where the squares are no doubles x may be no point at all.
    """
    radius, centred = numbers[0], numbers[1] != 0.0
    for k in range(count):
        squares = 0.0
        if d < SHORT:
            for i in range(d):
                offset = x[k * d + i] - center[i]
                squares += offset * offset
        else:
            for i in range(d):
                offset = x[k * d + i] - center[i]
                room[ROOM + i] = offset * offset
            squares = pairwise_sum(room, ROOM, d, room)
        distances[k] = squares
    unsafe = 0
    for k in range(count):
        unsafe += not (distances[k] > SQUARE_LOW) & (distances[k] < SQUARE_HIGH)
        distances[k] = math.sqrt(distances[k])
    if unsafe > 0:
        for k in range(count):
            if not bounded(x, k * d, d, LARGEST_COORDINATE):
                return False
            for i in range(d):
                room[ROOM + d + i] = x[k * d + i] - center[i]
            distances[k] = euclidean_norm(room, ROOM + d, d, room)
    for k in range(count):
        if distances[k] > radius:
            for i in range(d):
                moved = (x[k * d + i] - center[i]) / distances[k] * radius
                x[k * d + i] = moved if centred else moved + center[i]
    return True


@inlined
def _box(x: FloatArray, count: int, d: int, bounds: FloatArray) -> None:
    for at in range(0, count * d, d):
        for i in range(d):
            x[at + i] = min(max(x[at + i], bounds[i]), bounds[d + i]) + 0.0


@part
def _half_space(
    x: FloatArray, at: int, d: int, numbers: FloatArray, normal: FloatArray, room: FloatArray
) -> None:
    slack = 0.0
    while True:
        excess = inner_product(x, at, normal, _START, d, room) - numbers[0]
        if not excess > slack:
            return
        for i in range(d):
            x[at + i] = x[at + i] - excess * normal[i]
        norm = euclidean_norm(x, at, d, room)
        slack = numbers[1] * (norm + abs(numbers[0])) + SMALLEST_NORMAL


@part
def _simplex(x: FloatArray, at: int, d: int, total: float, room: FloatArray) -> None:
    """Project onto ``{w ≥ 0, Σ w = total}`` by sorting, with the two corrections of ``project_onto_simplex``."""
    largest = x[at]
    for i in range(1, d):
        largest = max(largest, x[at + i])
    for i in range(d):
        x[at + i] = min(largest - x[at + i], 2 * total)  # the gaps below the largest
        room[ROOM + i] = x[at + i]
    sort(room, ROOM, d)
    running = 0.0
    theta = math.inf
    for k in range(d):
        running += room[ROOM + k]
        theta = min(theta, (running + total) / (k + 1.0))
    size = 0
    for i in range(d):
        inside = x[at + i] < theta
        room[ROOM + i] = x[at + i] if inside else 0.0
        size += inside
    theta = (pairwise_sum(room, ROOM, d, room) + total) / size
    size = 0
    for i in range(d):
        x[at + i] = max(theta - x[at + i], 0.0)
        size += x[at + i] > 0
    missing = (total - pairwise_sum(x, at, d, room)) / size
    for i in range(d):
        x[at + i] = max(x[at + i] + missing, 0.0) if x[at + i] > 0 else 0.0


@inlined
def _simplex_or_l1_ball(
    x: FloatArray, at: int, d: int, signed: Any, total: float, center: FloatArray, room: FloatArray
) -> None:
    """Project onto the simplex, or (`signed`) the magnitudes about the centre, where they are outside."""
    for i in range(d):
        room[ROOM + d + i] = abs(x[at + i] - center[i]) if signed else x[at + i]
    if signed and not pairwise_sum(room, ROOM + d, d, room) > total:
        return
    _simplex(room, ROOM + d, d, total, room)
    for i in range(d):
        weight = room[ROOM + d + i]
        x[at + i] = center[i] + math.copysign(weight, x[at + i] - center[i]) if signed else weight


@inlined
def project(
    x: FloatArray,
    count: int,
    d: int,
    kind: int,
    numbers: FloatArray,
    vectors: FloatArray,
    room: FloatArray,
    distances: FloatArray,
) -> bool:
    """Project the rows, or return False if no set takes one of them (NaN, above 1e300), which then is as it was."""
    if kind == _L2_BALL:
        return _l2_ball(x, count, d, numbers, vectors, room, distances)
    if not bounded(x, _START, count * d, LARGEST_COORDINATE):
        return False
    if kind == _BOX:
        _box(x, count, d, vectors)
    elif kind != _WHOLE_SPACE:
        for at in range(0, count * d, d):
            if kind == _HALF_SPACE:
                _half_space(x, at, d, numbers, vectors, room)
            else:
                _simplex_or_l1_ball(x, at, d, kind == _L1_BALL, numbers[0], vectors, room)
    return True
