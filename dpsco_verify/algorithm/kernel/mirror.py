"""Mirror descent, many runs at once; compiled.

The updates with a closed form: the Euclidean potential on the sets of the kernel; the negative entropy on the simplex
(exponentiated gradient), on a box, by clipping, and on all of R^d; the squared p-norm on all of R^d.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from dpsco_verify.algorithm.kernel.arithmetic import bounded, pairwise_sum
from dpsco_verify.algorithm.kernel.compilation import EntryPoint, doubles, part
from dpsco_verify.algorithm.kernel.kinds import ROOM, PotentialKind, SetKind
from dpsco_verify.algorithm.kernel.projections import project
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.geometry.convex_set import LARGEST_COORDINATE

_EUCLIDEAN, _ENTROPY = int(PotentialKind.EUCLIDEAN), int(PotentialKind.NEGATIVE_ENTROPY)
_SIMPLEX, _BOX = int(SetKind.SIMPLEX), int(SetKind.BOX)
_START, _ONE_ROW = cast("int", np.int64(0)), cast("int", np.int64(1))  # as for ROOM


@part
def _entropy_step(
    x: FloatArray, d: int, set_kind: int, numbers: FloatArray, vectors: FloatArray, room: FloatArray
) -> bool:
    """Take the tilt x to the minimiser: the softmax on the simplex, elsewhere ``exp(x − 1)``, clipped to a box."""
    if set_kind == _SIMPLEX:
        largest = x[0]
        for i in range(1, d):
            largest = max(largest, x[i])
        for i in range(d):
            x[i] = math.exp(x[i] - largest)
        scale = numbers[0] / pairwise_sum(x, _START, d, room)
        for i in range(d):
            x[i] *= scale
        return True
    for i in range(d):
        x[i] = math.exp(x[i] - 1.0)
        if set_kind == _BOX:
            x[i] = min(max(x[i], vectors[i], 0.0), vectors[d + i])
    return bounded(x, _START, d, np.finfo(np.float64).max)


@part
def _half_square_gradient(x: FloatArray, d: int, exponent: float, power: float, room: FloatArray) -> bool:
    """Take x to the gradient of ``½‖x‖²`` in the norm of an exponent; `power` is ``exponent − 1``."""
    largest = 0.0
    for i in range(d):
        largest = max(largest, abs(x[i]))
    divisor = largest if largest > 0 else 1.0
    for i in range(d):
        room[ROOM + i] = (abs(x[i]) / divisor) ** exponent
    norm = largest * pairwise_sum(room, ROOM, d, room) ** (1.0 / exponent)
    divisor = norm if norm > 0 else 1.0
    for i in range(d):
        sign = 0.0 if x[i] == 0.0 else math.copysign(1.0, x[i])
        x[i] = norm * (abs(x[i]) / divisor) ** power * sign
    return bounded(x, _START, d, LARGEST_COORDINATE)


@part
def _dual_point(x: FloatArray, d: int, kind: int, p: float, room: FloatArray) -> bool:
    """Take w to ``∇Φ(w)``, or return False off the domain's interior."""
    if kind == _EUCLIDEAN:
        return True
    if kind != _ENTROPY:
        return _half_square_gradient(x, d, p, p - 1.0, room)
    fine = True
    for i in range(d):
        fine &= x[i] > 0.0
        x[i] = 1.0 + math.log(x[i]) if x[i] > 0.0 else x[i]
    return fine


def _make(kernel_version: int) -> Callable[..., Any]:  # noqa: C901  one loop, and each potential's branch in it
    def mirror_runs(sizes: IntArray, scales: FloatArray, addresses: IntArray) -> int:
        kernel_version  # noqa: B018  part of the cache's key: see EntryPoint
        runs = sizes[0]
        steps = sizes[1]
        d = sizes[2]
        kind = sizes[3]
        set_kind = sizes[4]
        eta = scales[0]
        p = scales[1]
        q = scales[2]
        gradients = doubles(addresses[0])
        iterates = doubles(addresses[1])
        numbers = doubles(addresses[2])
        vectors = doubles(addresses[3])
        x = doubles(addresses[4])
        room = doubles(addresses[5])
        distances = doubles(addresses[6])
        for run in range(runs):
            for t in range(steps):
                at = (run * (steps + 1) + t) * d
                slope = (run * steps + t) * d
                for i in range(d):
                    x[i] = iterates[at + i]
                fine = _dual_point(x, d, kind, p, room)
                for i in range(d):
                    x[i] = x[i] - eta * gradients[slope + i]
                fine = fine and bounded(x, _START, d, LARGEST_COORDINATE)
                if fine and kind == _EUCLIDEAN:
                    fine = project(x, _ONE_ROW, d, set_kind, numbers, vectors, room, distances)
                elif fine and kind == _ENTROPY:
                    fine = _entropy_step(x, d, set_kind, numbers, vectors, room)
                elif fine:
                    fine = _half_square_gradient(x, d, q, 1.0 / (p - 1.0), room)
                if not fine:
                    return int(run * steps + t)
                for i in range(d):
                    iterates[at + d + i] = x[i]
        return -1

    return mirror_runs


mirror_runs = EntryPoint(_make)
"""Run mirror descent; returns -1, or the number ``run * steps + step`` of a step that numpy does not take either."""
