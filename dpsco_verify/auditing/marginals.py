"""Likelihood ratios of many coordinates that are learned from one or two coordinates at a time.

Counts in cells of one coordinate give the ratio of its two densities there. What a composition or a product leaks is
spread over its coordinates, and the ratios are put together as its law asks for:

- independent coordinates: the sum of the logarithms, of the entries, of their differences (the noise of prefix sums)
  or of their partial sums (that of a random walk);
- a sequence in which each answer depends on the one before: the sum of the logarithms of the ratios of neighbours'
  joint laws less that of the entries between (a Markov chain's, which the sparse vector technique with one answer is);
- coordinates that are alike: one ratio r for all, learned from all at once, and the sum of log r. Where one record sits
  in an unknown one of n shuffled coordinates the likelihood ratio is the mean of its own ratio over the coordinates,
  and so, since ``r = 1 + (own − 1)/n``, the sum of r but for a constant.

A cell's log ratio has a standard error; a coordinate's are shrunk by what of their variance that explains (James and
Stein), so that coordinates which tell nothing add no noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.features import Feature, entries
from dpsco_verify.auditing.outputs import Outputs

_FEWEST_COORDINATES = 3
"""Of two, the entries' difference and the regression see all that is here."""
_CELLS = 16
_POOLED_CELLS = 64
_PAIR_CELLS = 6
_BLOCK = 1 << 15
_ROWS = 1 << 12
"""Outputs that are scored at once, so that their coordinates are in cache."""
_MOST_VALUES = 1 << 22
"""Entries that the learning looks at, at most."""
_MOST_ALONE = 1024
_MOST_ALIKE = 1 << 14
"""Coordinates that are looked at one by one, and as being alike: the first ones."""

CellArray = NDArray[np.uint8]
View = Callable[[FloatArray], FloatArray]


def _as_they_are(numbers: FloatArray) -> FloatArray:
    return numbers


def _differences(numbers: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.diff(numbers, axis=1, prepend=0.0)


def _partial_sums(numbers: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", over="ignore"):
        return np.cumsum(numbers, axis=1)


VIEWS: dict[str, View] = {
    "entries": _as_they_are,
    "differences": _differences,
    "partial sums": _partial_sums,
}


def marginal_features(first: Outputs, second: Outputs) -> Iterator[Feature]:
    """Yield the features that `first`, outputs on d, and `second`, on d_prime, give; they are used for nothing else."""
    width = min(first.width, second.width, _MOST_ALIKE)
    if width < _FEWEST_COORDINATES:
        return
    rows = max(_MOST_VALUES // width, 64)
    a, b = first.numbers[:rows, :width], second.numbers[:rows, :width]
    few = min(width, _MOST_ALONE)
    for words, view in VIEWS.items():
        seen = view(a), view(b)
        product = _product(*(_by_coordinate(x[:, :few]) for x in seen))
        yield Feature(
            name=f"learned log-likelihood ratio, {words} independent", values=_OfNumbers(few, view, product)
        )
        alike = _Alike.of(*seen, width, view)
        yield Feature(
            name=f"learned log-likelihood ratio, {words} alike", values=_Additive(alike, alike.logs)
        )
        yield Feature(
            name=f"learned sum of likelihood ratios, {words} alike",
            values=_Additive(alike, np.exp(alike.logs)),
        )
    chain = _chain(*(_by_coordinate(x[:, :few]) for x in (a, b)))
    yield Feature(
        name="learned log-likelihood ratio, entries a chain", values=_OfNumbers(few, _as_they_are, chain)
    )


@dataclass(frozen=True)
class _OfNumbers:
    width: int
    view: View
    score: Callable[[FloatArray], FloatArray]

    def __call__(self, outputs: Outputs) -> FloatArray:
        numbers = entries(outputs, self.width)
        found = np.empty(len(numbers))
        for start in range(0, len(numbers), _ROWS):
            rows = slice(start, start + _ROWS)
            found[rows] = self.score(_by_coordinate(self.view(numbers[rows])))
        return found


def _by_coordinate(numbers: FloatArray) -> FloatArray:
    """Return the coordinates one after the other, each of which is then read as it lies in memory."""
    return np.ascontiguousarray(numbers.T)


def _edges(values: FloatArray, cells: int) -> FloatArray:
    """Return the lower ends of cells that hold about equal parts of the values, the lowest left out; NaN is apart."""
    present = np.sort(values[~np.isnan(values)])
    if present.size == 0:
        return np.empty(0)
    ends = np.unique(present[(np.arange(cells) * present.size) // cells])
    largest = present[-1]
    # Where an atom is at the top, what lies below it in its cell is told from it.
    return np.unique(np.append(ends[1:] if ends.size > 1 else ends, largest))


def _cells(edges: FloatArray, values: FloatArray) -> CellArray:
    """Return in which cell each value lies, by comparing all with each edge: few edges are faster so than by search."""
    flat = values.ravel()
    found = np.empty(flat.size, dtype=np.uint8)
    for start in range(0, flat.size, _BLOCK):
        part, count = flat[start : start + _BLOCK], found[start : start + _BLOCK]
        count[:] = np.isnan(part)
        count *= edges.size + 1
        for edge in edges:
            count += part >= edge
    return found.reshape(values.shape)


def _log_ratios(count_a: FloatArray, count_b: FloatArray) -> FloatArray:
    """Return the log ratios of the cells' frequencies, shrunk by the part of their variance that is noise."""
    n_a, n_b = count_a.sum(), count_b.sum()
    logs = np.log((count_a + 0.5) / (n_a + 0.5)) - np.log((count_b + 0.5) / (n_b + 0.5))
    noise = 1.0 / (count_a + 0.5) + 1.0 / (count_b + 0.5)
    weight = np.where(count_a + count_b > 0, 1.0 / noise, 0.0)
    free = np.count_nonzero(weight) - 1
    if free < 1:
        return np.zeros_like(logs)
    centred = logs - (weight * logs).sum() / weight.sum()
    statistic = float((weight * centred**2).sum())
    return np.asarray(max(0.0, 1.0 - free / max(statistic, 1e-300)) * logs)


@dataclass(frozen=True)
class _Product:
    """The sum over the coordinates of a score of the cell in which each lies."""

    edges: tuple[FloatArray, ...]
    scores: tuple[FloatArray, ...]

    def __call__(self, numbers: FloatArray) -> FloatArray:
        total = np.zeros(numbers.shape[1])
        for edges, scores, column in zip(self.edges, self.scores, numbers, strict=True):
            if scores.any():
                total += scores[_cells(edges, column)]
        return total


def _product(a: FloatArray, b: FloatArray) -> _Product:
    edges, scores = [], []
    for columns in zip(a, b, strict=True):
        ends = _edges(np.concatenate(columns), _CELLS)
        counts = (_counted(_cells(ends, x), ends.size + 2) for x in columns)
        edges.append(ends)
        scores.append(_log_ratios(*counts))
    return _Product(tuple(edges), tuple(scores))


def _counted(cells: NDArray[Any], number: int) -> FloatArray:
    return np.bincount(cells.ravel(), minlength=number).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Alike:
    """Cells that are the same for all coordinates, and their log ratios."""

    width: int
    view: View
    edges: FloatArray
    logs: FloatArray
    found: WeakKeyDictionary[Outputs, CellArray]

    @classmethod
    def of(cls, a: FloatArray, b: FloatArray, width: int, view: View) -> _Alike:
        """Learn them from what is viewed of both."""
        rows = max(_MOST_VALUES // 8 // a.shape[1], 64)
        edges = _edges(np.concatenate([a[:rows].ravel(), b[:rows].ravel()]), _POOLED_CELLS)
        counts = (_counted(_cells(edges, x), edges.size + 2) for x in (a, b))
        return cls(width, view, edges, _log_ratios(*counts), WeakKeyDictionary())

    def cells(self, outputs: Outputs) -> CellArray:
        """Return the cells of all entries; they are kept, for two features ask for them."""
        if outputs not in self.found:
            self.found[outputs] = _cells(self.edges, self.view(entries(outputs, self.width)))
        return self.found[outputs]


@dataclass(frozen=True)
class _Additive:
    """The sum over all coordinates of one score."""

    alike: _Alike
    scores: FloatArray

    def __call__(self, outputs: Outputs) -> FloatArray:
        return np.asarray(self.scores[self.alike.cells(outputs)].sum(axis=1))


@dataclass(frozen=True)
class _Chain:
    """The log-likelihood ratio of a Markov chain."""

    edges: tuple[FloatArray, ...]
    alone: tuple[FloatArray, ...]
    pairs: tuple[FloatArray, ...]

    def __call__(self, numbers: FloatArray) -> FloatArray:
        width = len(self.edges)
        total = np.zeros(numbers.shape[1])
        before = _cells(self.edges[0], numbers[0])
        for j in range(1, width):
            here = _cells(self.edges[j], numbers[j])
            total += self.pairs[j - 1][_pair(before, here, self.edges[j].size + 2)]
            if j < width - 1:
                total -= self.alone[j][here]
            before = here
        return total


def _pair(before: CellArray, here: CellArray, size: int) -> NDArray[np.int16]:
    return before.astype(np.int16) * np.int16(size) + here


def _chain(a: FloatArray, b: FloatArray) -> _Chain:
    edges, alone, pairs = [], [], []
    before: tuple[CellArray, CellArray] | None = None
    sizes: list[int] = []
    for columns in zip(a, b, strict=True):
        ends = _edges(np.concatenate(columns), _PAIR_CELLS)
        here = _cells(ends, columns[0]), _cells(ends, columns[1])
        size = ends.size + 2
        edges.append(ends)
        alone.append(_log_ratios(*(_counted(x, size) for x in here)))
        if before is not None:
            joint = (_counted(_pair(x, y, size), sizes[-1] * size) for x, y in zip(before, here, strict=True))
            pairs.append(_log_ratios(*joint))
        before = here
        sizes.append(size)
    return _Chain(tuple(edges), tuple(alone), tuple(pairs))
