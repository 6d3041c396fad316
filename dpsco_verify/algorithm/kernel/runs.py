"""Algorithm 1, many runs, block by block; compiled.

The runs of a block go step by step together: first all draws and the look-ups which of them are fresh, whose waits for
memory overlap; then the noise of all; then each run's step. A run that stops leaves its block, and no more is drawn
for it. Every operation on a run is that of the oracle, in the same order.

All arrays are flat: places are computed, since a view costs more than a step of a short run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsco_verify.algorithm.kernel.arithmetic import bounded
from dpsco_verify.algorithm.kernel.compilation import (
    EntryPoint,
    doubles,
    inlined,
    integers,
    prefetch,
    words_at,
)
from dpsco_verify.algorithm.kernel.projections import project
from dpsco_verify.algorithm.kernel.random_numbers import draw_batches, fill_normals
from dpsco_verify.algorithm.kernel.stream import WordArray
from dpsco_verify.algorithm.kernel.subgradients import subgradients
from dpsco_verify.arrays import FloatArray, IntArray

DONE, PAUSED, FULL, LONG_SUBGRADIENT, BAD_POINT, NOT_FINITE = range(6)
"""How a call ends: all runs are done; the step sizes or the recording are used up; or what went wrong."""

# Places in `resume`: the block's first run, its iteration and its active runs. A call begins and ends there.
RUN, TIME, ACTIVE = range(3)

_SIX, _BIT_MASK, _ONE, _ZERO = np.uint64(6), np.uint64(63), np.uint64(1), np.uint64(0)
_LARGEST_DOUBLE = float(np.finfo(np.float64).max)
_LINE = 8  # doubles in a line of cache
_LONGEST_FETCH = 128  # doubles of a point that are asked for; the processor foresees the rest of a long one


@inlined
def _look_up(
    seen: WordArray, rows: IntArray, count: int, m: int, batches: IntArray, fresh: IntArray, news: IntArray
) -> None:
    """See which of the drawn points are fresh and mark them; `news` counts them."""
    for k in range(count):
        news[k] = 0
    for j in range(m):
        for k in range(count):
            index = np.uint64(batches[j * count + k])
            at = rows[k] + np.int64(index >> _SIX)
            bit = _ONE << (index & _BIT_MASK)
            word = seen[at]
            seen[at] = word | bit
            is_fresh = np.int64((word & bit) == _ZERO)
            fresh[j * count + k] = is_fresh
            news[k] += is_fresh


@inlined
def _fetch(
    data: FloatArray, bases: IntArray, width: int, count: int, m: int, batches: IntArray, fresh: IntArray
) -> None:
    """Ask for the points that the steps will need: they come while the noise is drawn."""
    reach = min(width, _LONGEST_FETCH)
    for j in range(m):
        for k in range(count):
            # A short point that is not needed costs less than a branch that is guessed wrong.
            if width <= _LINE or fresh[j * count + k]:
                first = bases[k] + batches[j * count + k] * width
                for i in range(first, first + reach, _LINE):
                    prefetch(data, i)
                if reach > 1:
                    prefetch(data, first + reach - 1)


@inlined
def _accumulate(means: FloatArray, g: FloatArray, count: int, d: int, news: IntArray, j: int, m: int) -> None:
    """Add the subgradients at the j-th points of the batches; at the last, put the means over the fresh ones in `g`."""
    for k in range(count):
        for i in range(k * d, (k + 1) * d):
            total = (0.0 if j == 0 else means[i]) + g[i]
            means[i] = total
            if j == m - 1:
                g[i] = total / news[k] if news[k] > 0 else -0.0


@inlined
def _move(
    w: FloatArray, size: int, g: FloatArray, normals: FloatArray, noise_scale: float, eta: float
) -> None:
    """Take the step before its projection."""
    for i in range(size):
        w[i] = w[i] - eta * (g[i] + noise_scale * normals[i])


@inlined
def _count(news: IntArray, count: int, stop_at: int, distinct: IntArray, updates: IntArray) -> int:
    """Count the points and the iterations that found one; return how many runs stop."""
    stopping = 0
    for k in range(count):
        distinct[k] += news[k]
        updates[k] += news[k] > 0
        stopping += distinct[k] >= stop_at
    return stopping


@inlined
def _retire(
    w: FloatArray,
    count: int,
    d: int,
    t: int,
    stop_at: int,
    distinct: IntArray,
    updates: IntArray,
    counts: IntArray,
    sums: FloatArray,
    outputs: FloatArray,
    places: IntArray,
    rows: IntArray,
    bases: IntArray,
) -> int:
    """Write out the averages of the runs that stop, and close the ranks; return how many go on."""
    left = 0
    for k in range(count):
        place = places[k]
        if distinct[k] < stop_at:
            if left < k:
                places[left], rows[left], bases[left] = place, rows[k], bases[k]
                distinct[left], updates[left] = distinct[k], updates[k]
                for i in range(d):
                    w[left * d + i] = w[k * d + i]
                    sums[left * d + i] = sums[k * d + i]
            left += 1
        else:
            counts[3 * place], counts[3 * place + 1], counts[3 * place + 2] = t, distinct[k], updates[k]
            for i in range(d):
                outputs[place * d + i] = sums[k * d + i] / updates[k]
    return left


@inlined
def _pair_batches(count: int, m: int, batches: IntArray) -> None:
    """Give the batch of each run to two neighbours; from the last to the first, as they lie in one array."""
    half = count // 2
    for j in range(m - 1, -1, -1):
        for k in range(half - 1, -1, -1):
            index = batches[j * half + k]
            batches[j * count + 2 * k], batches[j * count + 2 * k + 1] = index, index


@inlined
def _pair_normals(count: int, d: int, normals: FloatArray) -> None:
    """Give the noise of each run to two neighbours, to the second negated."""
    for k in range(count // 2 - 1, -1, -1):
        for i in range(d - 1, -1, -1):
            normal = normals[k * d + i]
            normals[(2 * k + 1) * d + i] = -normal
        for i in range(d):
            normals[2 * k * d + i] = -normals[(2 * k + 1) * d + i]


@inlined
def _record(
    count: int,
    d: int,
    m: int,
    first: int,
    places: IntArray,
    batches: IntArray,
    normals: FloatArray,
    recorded_indices: IntArray,
    recorded_normals: FloatArray,
) -> None:
    """Write down the draws of an iteration, of which `first` runs' draws lie before."""
    for k in range(count):
        at = first + places[k]
        for j in range(m):
            recorded_indices[at * m + j] = batches[j * count + k]
        for i in range(d):
            recorded_normals[at * d + i] = normals[k * d + i]


def _make(kernel_version: int) -> Callable[..., Any]:  # noqa: C901, PLR0915  as below
    def run_blocks(  # noqa: C901, PLR0912, PLR0915  half of it unpacks arguments; its steps are parts already
        sizes: IntArray, scales: FloatArray, addresses: IntArray
    ) -> int:
        kernel_version  # noqa: B018  part of the cache's key: see EntryPoint
        last = sizes[0]
        block = sizes[1]
        n = sizes[2]
        d = sizes[3]
        m = sizes[4]
        width = sizes[5]
        stride = sizes[6]
        stop_at = sizes[7]
        loss_kind = sizes[8]
        set_kind = sizes[9]
        steps = sizes[10]
        capacity = sizes[11]
        all_runs = sizes[12]
        paired = sizes[13]  # 1 where two neighbours share their draws, with opposite noise; else 0
        loss_number = scales[0]
        noise_scale = scales[1]
        longest = scales[2]
        resume = integers(addresses[0])
        lanes = words_at(addresses[1])
        words = words_at(addresses[2])
        position = integers(addresses[3])
        edges = doubles(addresses[4])
        heights = doubles(addresses[5])
        widths = doubles(addresses[6])
        data = doubles(addresses[7])
        set_numbers = doubles(addresses[8])
        set_vectors = doubles(addresses[9])
        start = doubles(addresses[10])
        step_sizes = doubles(addresses[11])
        outputs = doubles(addresses[12])
        counts = integers(addresses[13])
        w = doubles(addresses[14])
        sums = doubles(addresses[15])
        means = doubles(addresses[16])
        seen = words_at(addresses[17])
        places = integers(addresses[18])
        rows = integers(addresses[19])
        bases = integers(addresses[20])
        news = integers(addresses[21])
        distinct = integers(addresses[22])
        updates = integers(addresses[23])
        batches = integers(addresses[24])
        fresh = integers(addresses[25])
        normals = doubles(addresses[26])
        unsettled = integers(addresses[27])
        room = doubles(addresses[28])
        distances = doubles(addresses[29])
        g = doubles(addresses[30])
        recorded_indices = integers(addresses[31])
        recorded_normals = doubles(addresses[32])
        bit_words = (n + 63) // 64
        while resume[RUN] < last:
            run = resume[RUN]
            runs = min(block, last - run)
            if resume[TIME] == 0:
                if stride > 0 and not bounded(
                    data, (run >> paired) * stride, (runs >> paired) * stride, _LARGEST_DOUBLE
                ):
                    return NOT_FINITE
                resume[ACTIVE] = runs
                for k in range(runs):
                    places[k], rows[k], bases[k] = run + k, k * bit_words, ((run + k) >> paired) * stride
                    distinct[k], updates[k] = 0, 0
                    for i in range(d):
                        w[k * d + i], sums[k * d + i] = start[i], 0.0
                for i in range(runs * bit_words):
                    seen[i] = _ZERO
            count = resume[ACTIVE]
            t = resume[TIME]
            while count > 0:
                resume[TIME], resume[ACTIVE] = t, count
                if t == capacity:
                    return FULL
                if t == steps:
                    return PAUSED
                eta = step_sizes[t] if steps >= 0 else step_sizes[0]
                drawn = count >> paired
                draw_batches(lanes, words, position, n, batches, drawn, m)
                if paired:
                    _pair_batches(count, m, batches)
                _look_up(seen, rows, count, m, batches, fresh, news)
                _fetch(data, bases, width, count, m, batches, fresh)
                fill_normals(lanes, words, position, edges, heights, widths, drawn * d, normals, unsettled)
                if paired:
                    _pair_normals(count, d, normals)
                wrong = 0
                for j in range(m):
                    wrong = subgradients(
                        loss_kind,
                        loss_number,
                        w,
                        d,
                        data,
                        bases,
                        width,
                        batches,
                        fresh,
                        news,
                        j * count,
                        count,
                        longest,
                        g,
                        sums,
                        room,
                    )
                    if wrong > 0:
                        return LONG_SUBGRADIENT
                    if m > 1:
                        _accumulate(means, g, count, d, news, j, m)
                if capacity >= 0:
                    _record(
                        count,
                        d,
                        m,
                        t * all_runs,
                        places,
                        batches,
                        normals,
                        recorded_indices,
                        recorded_normals,
                    )
                _move(w, count * d, g, normals, noise_scale, eta)
                if not project(w, count, d, set_kind, set_numbers, set_vectors, room, distances):
                    return BAD_POINT
                t += 1
                if _count(news, count, stop_at, distinct, updates) > 0:
                    count = _retire(
                        w, count, d, t, stop_at, distinct, updates, counts, sums, outputs, places, rows, bases
                    )
            resume[RUN] = run + runs
            resume[TIME] = 0
        return DONE

    return run_blocks


run_blocks = EntryPoint(_make)
"""Run Algorithm 1 from `resume` to run `last`; returns how it ended. The driver calls it."""
