"""Where the kernel's random numbers are kept: sixteen SFC64 generators side by side.

Lane k's i-th output is word ``16 i + k`` of the stream. Each lane is SFC64 of C. Doty-Humphrey's PractRand, which
numpy ships as well, begun at a random state of 192 bits with its counter at 1: its period is at least 2⁶⁴ words,
and two lanes would meet only by a coincidence among 2¹⁹² states. Side by side they fill vector registers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpsco_verify.arrays import IntArray

WordArray = np.ndarray[Any, np.dtype[np.uint64]]
"""An array of 64-bit words."""

LANES = 16
"""Generators side by side."""

WORDS = 1024
"""Words that are made at a time."""


class Stream(NamedTuple):
    """The state: `lanes`, holds SFC64's a of each lane, then b, c and the counter; `words[position:]` are next."""

    lanes: WordArray
    words: WordArray
    position: IntArray


def open_stream(rng: np.random.Generator) -> Stream:
    """Return a stream begun at 48 words that `rng` draws."""
    lanes = np.ones(4 * LANES, dtype=np.uint64)
    lanes[: 3 * LANES] = rng.integers(0, 2**64, size=3 * LANES, dtype=np.uint64)
    return Stream(lanes, np.zeros(WORDS, dtype=np.uint64), np.full(1, WORDS, dtype=np.int64))


def copy_stream(stream: Stream) -> Stream:
    """Return a stream that will give the same words."""
    return Stream(stream.lanes.copy(), stream.words.copy(), stream.position.copy())
