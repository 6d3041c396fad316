"""The kernel's random numbers: words, uniform indices, normals; compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpsco_verify.algorithm.kernel.compilation import inlined, part
from dpsco_verify.algorithm.kernel.stream import LANES, WORDS, WordArray
from dpsco_verify.algorithm.kernel.ziggurat import LAYERS, MANTISSA_BITS
from dpsco_verify.arrays import FloatArray, IntArray

# Unsigned and signed integers must not mix: their sum would be a double.
_ONE, _EIGHT, _MASK32 = np.uint64(1), np.uint64(8), np.uint64(2**32 - 1)
_B, _C, _LEFT, _RIGHT = np.uint64(11), np.uint64(3), np.uint64(24), np.uint64(40)
_HALF_WORD = np.uint64(32)
_LAYER_MASK = np.uint64(LAYERS - 1)
_PLACE_SHIFT = np.int64(63 - MANTISSA_BITS)
_UNIFORM_SHIFT = np.uint64(64 - MANTISSA_BITS)
_UNIFORM_UNIT = 2.0**-MANTISSA_BITS


@part
def refill(lanes: WordArray, words: WordArray) -> None:
    """Make the next WORDS words."""
    for first in range(0, WORDS, LANES):
        for k in range(LANES):
            a, b, c, counter = lanes[k], lanes[LANES + k], lanes[2 * LANES + k], lanes[3 * LANES + k]
            word = a + b + counter
            lanes[3 * LANES + k] = counter + _ONE
            lanes[k] = b ^ (b >> _B)
            lanes[LANES + k] = c + (c << _C)
            lanes[2 * LANES + k] = ((c << _LEFT) | (c >> _RIGHT)) + word
            words[first + k] = word


@part
def next_word(lanes: WordArray, words: WordArray, position: IntArray) -> Any:
    """Return the next word."""
    at = position[0]
    if at == WORDS:
        refill(lanes, words)
        at = 0
    position[0] = at + 1
    return words[at]


@inlined
def next_below(lanes: WordArray, words: WordArray, position: IntArray, bound: int) -> Any:
    """Return a uniform integer in ``0..bound-1``, 1 ≤ bound < 2³², without bias (Lemire 2019)."""
    size = np.uint64(bound)
    product = (next_word(lanes, words, position) >> _HALF_WORD) * size
    low = product & _MASK32
    if low < size:
        least = (np.uint64(2**32) - size) % size
        while low < least:
            product = (next_word(lanes, words, position) >> _HALF_WORD) * size
            low = product & _MASK32
    return np.int64(product >> _HALF_WORD)


@part
def next_uniform(lanes: WordArray, words: WordArray, position: IntArray) -> float:
    """Return a uniform number on the grid ``(k + 1/2)/2⁵²``, inside (0, 1)."""
    return (np.float64(next_word(lanes, words, position) >> _UNIFORM_SHIFT) + 0.5) * _UNIFORM_UNIT


@part
def draw_batches(
    lanes: WordArray, words: WordArray, position: IntArray, n: int, batches: IntArray, count: int, m: int
) -> None:
    """Draw `count` uniform subsets of m of ``0..n-1``: all first members, then all second ones (Floyd, as the tape)."""
    for drawn in range(m):
        j = n - m + drawn
        for k in range(count):
            t = next_below(lanes, words, position, j + 1)
            for earlier in range(k, drawn * count, count):
                if batches[earlier] == t:
                    t = j
                    break
            batches[drawn * count + k] = t


@inlined
def _tail(lanes: WordArray, words: WordArray, position: IntArray, r: float) -> float:
    """Return a normal given that it exceeds r (Marsaglia 1964)."""
    while True:
        beyond = -math.log(next_uniform(lanes, words, position)) / r
        if -2.0 * math.log(next_uniform(lanes, words, position)) > beyond * beyond:
            return r + beyond


@part
def _settle(
    lanes: WordArray,
    words: WordArray,
    position: IntArray,
    edges: FloatArray,
    heights: FloatArray,
    widths: FloatArray,
    x: float,
    layer: Any,
) -> float:
    """Return a normal for the point `x` of a layer that lies outside the layer's inner rectangle."""
    while True:
        if layer == 0:
            return math.copysign(_tail(lanes, words, position, edges[1]), x)
        height = heights[layer] + next_uniform(lanes, words, position) * (heights[layer + 1] - heights[layer])
        if height < math.exp(-0.5 * x * x):
            return x
        word = next_word(lanes, words, position)
        layer = np.int64(word & _LAYER_MASK)
        x = (np.float64(np.int64(word) >> _PLACE_SHIFT) + 0.5) * widths[layer]
        if abs(x) < edges[layer + 1]:
            return x


@part
def fill_normals(
    lanes: WordArray,
    words: WordArray,
    position: IntArray,
    edges: FloatArray,
    heights: FloatArray,
    widths: FloatArray,
    count: int,
    normals: FloatArray,
    unsettled: IntArray,
) -> None:
    """Write `count` standard normals: one word each, then more words for those few that one does not settle.

    A word's lowest 8 bits choose the layer, its upper 53 the place, symmetric about 0. `unsettled` is room for
    ``count + 1`` integers.
    """
    done = 0
    missing = 0
    while done < count:
        if position[0] == WORDS:
            refill(lanes, words)
            position[0] = 0
        first = position[0]
        taken = min(count - done, WORDS - first)
        for i in range(taken):
            word = words[first + i]
            layer = word & _LAYER_MASK
            x = (np.float64(np.int64(word) >> _PLACE_SHIFT) + 0.5) * widths[layer]
            normals[done + i] = x
            # Written always and kept only where it counts: a branch here would be guessed wrong too often.
            unsettled[missing] = ((done + i) << 8) | np.int64(layer)
            missing += int(not abs(x) < edges[layer + _ONE])
        done += taken
        position[0] = first + taken
    for k in range(missing):
        at = unsettled[k] >> 8
        normals[at] = _settle(
            lanes, words, position, edges, heights, widths, normals[at], unsettled[k] & (LAYERS - 1)
        )
