"""The neighbouring data sets on which an optimiser's privacy is audited, and data that show an order; d = L = 1.

A record's gradient is ±1 whatever w is, or 0: so two data sets differ by as much as the bound L allows. With one record
all noise that hides it is in sight; with more, what the order and the sampling of the records do shows too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball, Simplex
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Loss, Quantile
from dpsco_verify.related import Task

SIZES = (1, 2, 8, 32, 128)
OUTLIER = 10.0

_SCALES = (4.0, 0.25, 1.0)
"""L on the first data sets, the next, and the next; D is its inverse, so that LD and the predictions stay."""

_OBLIQUE = 4
"""The dimension in which a record along no axis is as long as one on the line, and exactly so."""

_LOSSES: dict[str, tuple[Loss, tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = {
    # The loss; a record that pulls up, one that pulls down, and one that does not pull.
    "Linear": (Linear(), (1.0,), (-1.0,), (0.0,)),
    "Hinge": (Hinge(), (1.0, 1.0), (1.0, -1.0), (0.0, 1.0)),
    "AbsoluteDeviation": (AbsoluteDeviation(), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
    "Huber": (Huber(0.25), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
    "Quantile": (Quantile(0.5), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
    # Last, as its gradients are not quite as long as L.
    "Logistic": (Logistic(), (1.0, 1.0), (1.0, -1.0), (0.0, 1.0)),
}


@dataclass(frozen=True, kw_only=True)
class Group:
    """Pairs of neighbouring data sets for one task, with `n` records each; `words` say what is special about them."""

    n: int
    task: Task
    pairs: list[tuple[FloatArray, FloatArray]]
    words: str = ""


class Instances:
    """The data sets for one loss, on the line or on the simplex of two corners.

    Parameters
    ----------
    loss
        A loss that has such data.
    simplex
        Whether W is the simplex; by default it is the ball of diameter 1.
    """

    def __init__(self, loss: str, *, simplex: bool = False) -> None:
        self._loss, *records = _LOSSES[loss]
        self._simplex = simplex
        self._up, self._down, self._rest = (self._record(record, 1) for record in records)
        self._records = records

    def task(self, dimension: int = 1, *, scale: float = 1.0) -> Task:
        """Return the task in a ball of this dimension, with L multiplied by `scale` and D divided by it."""
        convex_set = Simplex(2) if self._simplex else L2Ball(np.zeros(dimension), 0.5 / scale)
        return Task(self._loss, convex_set, scale)

    def groups(self, sizes: Sequence[int]) -> list[Group]:
        """Return the pairs for each number of records; one differs from another in L/D too, which noise may mistake."""
        found = []
        for n, scale in zip(sizes, _SCALES, strict=False):
            pairs = [self._scaled(pair, scale) for pair in self.pairs(n)]
            found.append(Group(n=n, task=self.task(scale=scale), pairs=pairs))
        return found

    def pairs(self, n: int) -> list[tuple[FloatArray, FloatArray]]:
        """Return pairs that differ in the first or the last of n records, the others resting or pulling down.

        A single record is replaced by its opposite, or by one that does not pull: noise that was scaled to the data
        shows there.
        """
        if n == 1:
            return [self._pair(1, 0, self._rest), (self._up[np.newaxis], self._rest[np.newaxis])]
        return [self._pair(n, place, others) for others in (self._rest, self._down) for place in (0, n - 1)]

    def outliers(self, sizes: Sequence[int]) -> list[Group]:
        """Return pairs of which the first record is ten times as long as it may be.

        With the fewest records it points along no axis, so that it matters how it is clipped; with the most, it
        outweighs the others, so that it matters when.
        """
        found = []
        for n, dimension in ((sizes[0], 1 if self._simplex else _OBLIQUE), (sizes[-1], 1)):
            up, down, rest = (self._record(record, dimension) for record in self._records)
            first, second = np.tile(rest, (n, 1)), np.tile(rest, (n, 1))
            first[0], second[0] = up, down
            for one in (first, second):
                one[0, :dimension] *= OUTLIER
            found.append(
                Group(
                    n=n, task=self.task(dimension), pairs=[(first, second)], words="gradients longer than L"
                )
            )
        return found

    def ordered(self, n: int) -> FloatArray:
        """Return records that first pull up and then down: reversed, they pull down and then up."""
        return np.stack([self._up] * (n - n // 2) + [self._down] * (n // 2))

    def plane(self, n: int) -> FloatArray | None:
        """Return records of a linear loss in the plane; None for another loss, and on the simplex."""
        if self._simplex or not isinstance(self._loss, Linear):
            return None
        # Norm 1 from below.
        return np.tile(np.array([0.8, 0.6]) * (1.0 - 2.0**-50), (n, 1))

    def _pair(self, n: int, place: int, others: FloatArray) -> tuple[FloatArray, FloatArray]:
        first, second = np.tile(others, (n, 1)), np.tile(others, (n, 1))
        first[place], second[place] = self._up, self._down
        return first, second

    def _record(self, record: tuple[float, ...], dimension: int) -> FloatArray:
        """Return a record whose features are as long as those of the one on the line, and alike in all directions."""
        features = np.full(dimension, record[0] / math.sqrt(dimension))
        return np.array((*features, *((0.0,) if self._simplex else ()), *record[1:]))

    @staticmethod
    def _scaled(pair: tuple[FloatArray, FloatArray], scale: float) -> tuple[FloatArray, FloatArray]:
        """Return a pair on the line with its features multiplied."""
        first, second = (one.copy() for one in pair)
        first[:, 0] *= scale
        second[:, 0] *= scale
        return first, second


def candidates(losses: Sequence[str] | None, *, any_set: bool) -> Iterator[Instances]:
    """Yield the data sets for each of an optimiser's losses, on the line first, and on the simplex if it is told W.

    Raises
    ------
    InputError
        If no loss has such.
    """
    known = [name for name in _LOSSES if losses is None or name in losses]
    if not known:
        raise InputError(
            f"losses={losses!r} have no neighbouring data sets of one dimension; give one of {', '.join(_LOSSES)}"
        )
    for simplex in (False, True) if any_set else (False,):
        for name in known:
            yield Instances(name, simplex=simplex)
