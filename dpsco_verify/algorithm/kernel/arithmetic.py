"""Sums and norms as numpy and the geometry package compute them, to the last bit; compiled."""

from __future__ import annotations

import math

from dpsco_verify.algorithm.kernel.compilation import inlined, part
from dpsco_verify.algorithm.kernel.kinds import ROOM
from dpsco_verify.arrays import FloatArray

_BLOCK = 128

SQUARE_LOW, SQUARE_HIGH = 1e-280, 1e300
"""The range of squared norms that need no scaling, as in ``geometry.norms``."""

SHORT = 8
"""Below this many terms numpy adds them one by one."""


@part
def _block_sum(terms: FloatArray, first: int, count: int) -> float:
    """Return the sum of at most 128 terms: eight accumulators, paired, then what is left over."""
    if count < SHORT:
        total = 0.0
        for i in range(first, first + count):
            total += terms[i]
        return total
    a, b, c, d = terms[first], terms[first + 1], terms[first + 2], terms[first + 3]
    e, f, g, h = terms[first + 4], terms[first + 5], terms[first + 6], terms[first + 7]
    whole = count - count % 8
    for i in range(first + 8, first + whole, 8):
        a += terms[i]
        b += terms[i + 1]
        c += terms[i + 2]
        d += terms[i + 3]
        e += terms[i + 4]
        f += terms[i + 5]
        g += terms[i + 6]
        h += terms[i + 7]
    whole_sum: float = ((a + b) + (c + d)) + ((e + f) + (g + h))
    for i in range(first + whole, first + count):
        whole_sum += terms[i]
    return whole_sum


@part
def pairwise_sum(terms: FloatArray, first: int, count: int, room: FloatArray) -> float:
    """Return the sum of `count` terms from `first` on, in the order of ``np.sum`` along a contiguous axis.

    numpy halves ranges of more than 128 terms, the first part rounded down to a multiple of 8, and adds the sums.
    Here the leaves of that tree come from left to right, each reached from the root; the sums that wait for their right
    neighbours lie at the beginning of `room`, one a level.
    """
    if count <= _BLOCK:
        return _block_sum(terms, first, count)
    done = 0
    while True:
        begin, size, level, is_right = 0, count, 0, 0
        while size > _BLOCK:
            half = size // 2
            half -= half % 8
            is_right *= 2
            if done < begin + half:
                size = half
            else:
                begin += half
                size -= half
                is_right += 1
            level += 1
        total = _block_sum(terms, first + begin, size)
        done = begin + size
        while is_right % 2 == 1:
            level -= 1
            total = room[level] + total
            is_right //= 2
        if done == count:
            return total
        room[level - 1] = total


@part
def inner_product(x: FloatArray, at: int, y: FloatArray, first: int, d: int, room: FloatArray) -> float:
    """Return ``np.sum(x * y)`` of ``x[at:at + d]`` and ``y[first:first + d]``; ``room[:ROOM + d]`` is overwritten."""
    if d < SHORT:
        total = 0.0
        for i in range(d):
            total += x[at + i] * y[first + i]
        return total
    for i in range(d):
        room[ROOM + i] = x[at + i] * y[first + i]
    return pairwise_sum(room, ROOM, d, room)


@part
def bounded(x: FloatArray, at: int, d: int, limit: float) -> bool:
    """Return whether no entry of ``x[at:at + d]`` is NaN or larger than `limit`."""
    over = 0
    for i in range(d):
        over += not abs(x[at + i]) <= limit
    return over == 0


@inlined
def _scaled_norm(x: FloatArray, at: int, d: int, room: FloatArray) -> float:
    """Return ``euclidean_norm(x)`` of ``x[at:at + d]`` where its squares leave the doubles: scaled by powers of two."""
    largest = 0.0
    for i in range(d):
        largest = max(largest, abs(x[at + i]))
    _, exponent = math.frexp(largest)
    half = exponent // 2
    for i in range(d):
        scaled = math.ldexp(math.ldexp(x[at + i], -half), half - exponent)
        room[ROOM + i] = scaled * scaled
    return math.ldexp(math.sqrt(pairwise_sum(room, ROOM, d, room)), exponent)


@part
def euclidean_norm(x: FloatArray, at: int, d: int, room: FloatArray) -> float:
    """Return ``euclidean_norm(x)`` of ``x[at:at + d]``."""
    squares = inner_product(x, at, x, at, d, room)
    if SQUARE_LOW < squares < SQUARE_HIGH:
        return math.sqrt(squares)
    return _scaled_norm(x, at, d, room)


@inlined
def sort(x: FloatArray, at: int, count: int) -> None:
    """Sort ``x[at:at + count]`` in place (heapsort: no memory, never quadratic)."""
    start = count // 2
    end = count
    while end > 1:
        if start > 0:  # build the heap from its last parent on
            start -= 1
        else:  # take off the largest
            end -= 1
            x[at], x[at + end] = x[at + end], x[at]
        root = start
        value = x[at + root]
        child = 2 * root + 1
        while child < end:
            if child + 1 < end and x[at + child + 1] > x[at + child]:
                child += 1
            if x[at + child] <= value:
                break
            x[at + root] = x[at + child]
            root = child
            child = 2 * root + 1
        x[at + root] = value
