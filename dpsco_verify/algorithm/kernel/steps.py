"""Projected gradient steps at given points with given noise, many runs at once; compiled.

The random numbers are numpy's, drawn by whoever calls, so that a run has the bits that it has in numpy wherever the
loss is bitwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from dpsco_verify.algorithm.kernel.arithmetic import pairwise_sum
from dpsco_verify.algorithm.kernel.compilation import EntryPoint, doubles, integers, part
from dpsco_verify.algorithm.kernel.projections import project
from dpsco_verify.algorithm.kernel.subgradients import subgradients
from dpsco_verify.arrays import FloatArray, IntArray

_START = cast("int", np.int64(0))  # as for ROOM


@part
def _mean(
    means: FloatArray, g: FloatArray, terms: FloatArray, count: int, d: int, j: int, m: int, room: FloatArray
) -> None:
    """Take in the j-th of m subgradients of each run as numpy adds: one by one, a column of numbers by pairs."""
    if d == 1:
        for k in range(count):
            terms[k * m + j] = g[k]
            if j == m - 1:
                means[k] = pairwise_sum(terms, k * m, m, room) / m
        return
    for i in range(count * d):
        total = g[i] if j == 0 else means[i] + g[i]
        means[i] = total / m if j == m - 1 else total


def _make(kernel_version: int) -> Callable[..., Any]:  # noqa: C901  one loop, most of which unpacks arguments
    def step_runs(sizes: IntArray, scales: FloatArray, addresses: IntArray) -> int:
        kernel_version  # noqa: B018  part of the cache's key: see EntryPoint
        count = sizes[0]
        steps = sizes[1]
        d = sizes[2]
        width = sizes[3]
        loss_kind = sizes[4]
        set_kind = sizes[5]
        columns = sizes[6]  # of the order: one for each run, or 1 for all
        noisy = sizes[7]
        loss_number = scales[0]
        scale = scales[1]
        longest = scales[2]
        data = doubles(addresses[0])
        bases = integers(addresses[1])
        order = integers(addresses[2])
        batches = integers(addresses[3])
        step_sizes = doubles(addresses[4])
        noise = doubles(addresses[5])
        numbers = doubles(addresses[6])
        vectors = doubles(addresses[7])
        w = doubles(addresses[8])
        totals = doubles(addresses[9])
        moved = doubles(addresses[10])
        g = doubles(addresses[11])
        means = doubles(addresses[12])
        terms = doubles(addresses[13])
        room = doubles(addresses[14])
        distances = doubles(addresses[15])
        drawn = integers(addresses[16])
        fresh = integers(addresses[17])
        news = integers(addresses[18])
        unused = doubles(addresses[19])
        first = 0
        for t in range(steps):
            m = batches[t]
            for j in range(m):
                for k in range(count):
                    drawn[k] = order[(first + j) * columns + (k if columns > 1 else 0)]
                wrong = subgradients(
                    loss_kind,
                    loss_number,
                    w,
                    d,
                    data,
                    bases,
                    width,
                    drawn,
                    fresh,
                    news,
                    _START,
                    count,
                    longest,
                    g,
                    unused,
                    room,
                )
                if wrong > 0:
                    return int(t)
                if m > 1:
                    _mean(means, g, terms, count, d, j, m, room)
            at = t * count * d if noisy else 0
            for i in range(count * d):
                slope = scale * (means[i] if m > 1 else g[i])
                g[i] = slope + noise[at + i] if noisy else slope
                moved[i] = w[i] - step_sizes[t] * g[i]
            if not project(moved, count, d, set_kind, numbers, vectors, room, distances):
                return int(t)
            for i in range(count * d):
                totals[i] += w[i]
                w[i] = moved[i]
                if noisy:
                    noise[at + i] = g[i]
            first += m
        return int(steps)

    return step_runs


step_runs = EntryPoint(_make)
"""Take the steps; returns how many were taken: fewer than asked for where numpy has to look at the next one."""
