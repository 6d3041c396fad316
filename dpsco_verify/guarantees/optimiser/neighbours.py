"""The neighbouring data sets on which an optimiser's privacy is audited, and data that show an order; d = L = 1.

A record's gradient is ±1 whatever w is, or 0: so two data sets differ by as much as the bound L allows. With one record
all noise that hides it is in sight; with more, what the order and the sampling of the records do shows too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import L2Ball, Simplex
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Loss, Quantile
from dpsco_verify.related import Task

SIZES = (1, 2, 8, 32, 128)
OUTLIER = 10.0

_LOSSES: dict[str, tuple[Loss, tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = {
    # The loss; a record that pulls up, one that pulls down, and one that does not pull.
    "Linear": (Linear(), (1.0,), (-1.0,), (0.0,)),
    "Logistic": (Logistic(), (1.0, 1.0), (1.0, -1.0), (0.0, 1.0)),
    "Hinge": (Hinge(), (1.0, 1.0), (1.0, -1.0), (0.0, 1.0)),
    "AbsoluteDeviation": (AbsoluteDeviation(), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
    "Huber": (Huber(0.25), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
    "Quantile": (Quantile(0.5), (1.0, 1.0), (1.0, -1.0), (0.0, 0.0)),
}


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
        padding = (0.0,) if simplex else ()
        self._up, self._down, self._rest = (
            np.array((record[0], *padding, *record[1:])) for record in records
        )

    def task(self, dimension: int = 1) -> Task:
        """Return the task; the dimension is the ball's."""
        convex_set = Simplex(2) if self._simplex else L2Ball(np.zeros(dimension), 0.5)
        return Task(self._loss, convex_set, 1.0)

    def pairs(self, n: int) -> list[tuple[FloatArray, FloatArray]]:
        """Return pairs that differ in the first or the last of n records, the others resting or pulling down."""
        places = (0,) if n == 1 else (0, n - 1)
        shared = (self._rest,) if n == 1 else (self._rest, self._down)
        return [self._pair(n, place, others) for others in shared for place in places]

    def outliers(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Return a pair whose first record is ten times as long as it may be."""
        first, second = self._pair(n, 0, self._rest)
        for one in (first, second):
            one[0, 0] *= OUTLIER
        return first, second

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
