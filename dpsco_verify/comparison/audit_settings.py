"""The data sets on which systems are audited: small, and near the worst for each."""

from __future__ import annotations

import enum
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import ConvexSet, L2Ball, Simplex
from dpsco_verify.problems import Linear, Logistic, Loss
from dpsco_verify.related import Task


class Statistic(enum.StrEnum):
    """What is judged beside the solution."""

    SUM = "sum"
    """The sum of the transcript: where every step tells a little."""
    FIRST = "first"
    """Its first vector: where all else is a function of it and of noise."""
    SOLUTION = "solution"
    """Nothing."""


@dataclass(frozen=True, kw_only=True)
class AuditSetting:
    """A task of L = 1, and data sets of n points that differ in the first.

    Attributes
    ----------
    n, dimension
        Number of points, and of parameters.
    others
        The first coordinate of the points that both data sets share: −1, or 0 where they should not hide the first.
    loss
        ``linear`` or ``logistic``.
    simplex
        Whether W is the simplex; by default it is the ball of diameter 1.
    statistic
        What is judged beside the solution.
    """

    n: int
    dimension: int = 1
    others: float = -1.0
    loss: str = "linear"
    simplex: bool = False
    statistic: Statistic = Statistic.SUM

    @property
    def words(self) -> str:
        """The pair in words."""
        return (
            f"n = {self.n}, d = {self.dimension}, {self.loss} loss; the first point is 1 in one data set and −1 in the "
            f"other, all others are {self.others:g} (in the first coordinate)"
        )

    def task(self) -> Task:
        """Return the task."""
        convex_set: ConvexSet = (
            Simplex(self.dimension) if self.simplex else L2Ball(np.zeros(self.dimension), 0.5)
        )
        return Task(self._loss(), convex_set, 1.0)

    def pair(self) -> tuple[FloatArray, FloatArray]:
        """Return the two data sets, each of shape (n, k)."""
        width = self._loss().data_dimension(self.dimension)
        shared = np.zeros((self.n, width))
        shared[:, 0] = self.others
        if self.loss == "logistic":
            shared[:, -1] = 1.0
        first, second = shared.copy(), shared.copy()
        first[0, 0], second[0, 0] = 1.0, -1.0
        return first, second

    def _loss(self) -> Loss:
        return Linear() if self.loss == "linear" else Logistic()


_SETTINGS: dict[str, AuditSetting] = {
    "algorithm-1": AuditSetting(n=8, statistic=Statistic.SOLUTION),
    "phased-sgd": AuditSetting(n=8, others=0.0, statistic=Statistic.FIRST),
    "phased-sgd-tight": AuditSetting(n=8, others=0.0, statistic=Statistic.FIRST),
    "phased-erm": AuditSetting(n=8, others=0.0, statistic=Statistic.FIRST),
    "output-perturbation": AuditSetting(n=8, others=0.0, statistic=Statistic.FIRST),
    "estimator-batches": AuditSetting(n=128),
    "estimator-passes": AuditSetting(n=8),
    "noisy-sgd-erm": AuditSetting(n=8),
    "noisy-sgd-erm-short": AuditSetting(n=8),
    "noisy-sgd-erm-short-scaled": AuditSetting(n=8),
    "minibatch-sgd": AuditSetting(n=128),
    "smoothed-minibatch-sgd": AuditSetting(n=128),
    "smoothed-minibatch-sgd-2l": AuditSetting(n=128),
    "objective-perturbation-sharp": AuditSetting(n=8, others=0.0, loss="logistic", statistic=Statistic.FIRST),
    "phased-erm-sharp": AuditSetting(n=8, others=0.0, statistic=Statistic.FIRST),
    "objective-perturbation": AuditSetting(n=8, others=0.0, loss="logistic", statistic=Statistic.FIRST),
    "iteration-sgd": AuditSetting(n=30, others=0.0),
    "iteration-sgd-halving": AuditSetting(n=30, others=0.0),
    "subsampled-one-pass": AuditSetting(n=30),
    "subsampled-one-pass-scaled": AuditSetting(n=30),
    "private-mirror-descent-entropic": AuditSetting(n=8, dimension=2, simplex=True),
    "algorithm-1-printed": AuditSetting(n=238, statistic=Statistic.SOLUTION),
    "private-mirror-descent-p-norm": AuditSetting(n=8, dimension=2, simplex=True),
}
_DEFAULT = AuditSetting(n=8)


def setting_for(system: str) -> AuditSetting:
    """Return the data sets for a system, by its id."""
    return _SETTINGS.get(system, _DEFAULT)
