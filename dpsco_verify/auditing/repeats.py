"""Notice outputs that repeat as recorded values do when drawn with replacement, and those of which nothing is seen.

A mechanism that hands out recorded values, such as the scores of trained models, is a different one from what made the
values: few values are told apart by being those of one recording, whatever they are, and an audit then finds a
violation that is the recording's. Values that are drawn with replacement from K equally likely ones show it by how they
repeat: of n draws ``n(n − 1)/(2K)`` pairs are expected to be equal and ``K(1 − (1 − 1/K)^n)`` values to be seen. Laws
with likely and unlikely values, such as discrete noise, show another number of values for as many equal pairs; and the
outputs that a mechanism chooses among are much the same on both data sets.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable

import numpy as np

from dpsco_verify.arrays import IntArray
from dpsco_verify.auditing.outputs import Outputs, untold

_FEWEST_VALUES = 16
_FEWEST_EQUAL_PAIRS = 32
_MOST_COMPARED = 100_000
"""Outputs a data set that are compared: enough equal pairs for recordings of a hundred million values."""
_TOLERANCE = 0.1
"""The relative difference, at most, between the number of values seen and that expected of equally likely ones."""
_UNSEEN = 0.1
"""The part of the outputs, at most, that may be texts of which nothing is seen."""
_MOST_READ = 20_000
_SHARED = 0.05
"""The part, at most, of the values that both data sets would have if theirs were the same, of those seen on each."""


def repeats(first: Outputs, second: Outputs) -> str | None:
    """Return a sentence on outputs that repeat like recorded values, different ones on each data set, or None."""
    first, second = (outputs.take(slice(0, _MOST_COMPARED)) for outputs in (first, second))
    # Sorted by hand: numpy finds unique values by hashing, which takes several times as long where most are.
    ordered = [np.sort(outputs.fingerprints) for outputs in (first, second)]
    starts = [np.flatnonzero(np.append(True, prints[1:] != prints[:-1])) for prints in ordered]
    found = [_support(np.diff(at, append=len(prints))) for at, prints in zip(starts, ordered, strict=True)]
    sizes = [size for size in found if size is not None]
    if len(sizes) < len(found):
        return None
    values = [prints[at] for at, prints in zip(starts, ordered, strict=True)]
    shared = int(np.isin(values[0], values[1]).sum())
    if shared > _SHARED * values[0].size * values[1].size / max(sizes):
        return None
    return (
        f"the outputs repeat as if they were drawn with replacement from about {sizes[0]:.0f} values on the one data "
        f"set and {sizes[1]:.0f} on the other, {shared or 'none'} of them in common: if they were recorded, this "
        "speaks of the recording and not of the mechanism that made it; draw fresh outputs"
    )


def _support(counts: IntArray) -> float | None:
    """Return from about how many equally likely values come those seen so often, or None where they do not look so."""
    n = int(counts.sum())
    equal_pairs = float((counts * (counts - 1.0)).sum()) / 2.0
    if counts.size < _FEWEST_VALUES or equal_pairs < _FEWEST_EQUAL_PAIRS:
        return None
    size = n * (n - 1.0) / (2.0 * equal_pairs)
    expected = -size * math.expm1(n * math.log1p(-1.0 / size))
    return size if abs(counts.size - expected) <= _TOLERANCE * expected else None


def unseen(first: Outputs, second: Outputs) -> str | None:
    """Return a sentence on texts that hardly ever repeat and hold no number, or None: no feature sees what they say."""
    part = max(_unseen(first), _unseen(second))
    if part < _UNSEEN:
        return None
    return (
        f"{100.0 * part:.0f} % of the outputs have a text that occurs once, also without its numbers, or a number "
        "beyond the range of doubles: of what they say nothing was looked at"
    )


def _unseen(outputs: Outputs) -> float:
    """Return the part of the outputs of which a text, or number, says what no entry tells and no other output says."""
    if isinstance(outputs.raw, np.ndarray) and outputs.raw.dtype.kind in "biuf":
        return 0.0
    size = min(outputs.size, _MOST_READ)
    said: dict[int, Counter[Hashable]] = {}
    for item in outputs.raw[:size]:
        for place, words in enumerate(untold(item)):
            if words is not None:
                said.setdefault(place, Counter())[words] += 1
    alone = [sum(times == 1 for times in counts.values()) for counts in said.values()]
    return max(alone, default=0) / size
