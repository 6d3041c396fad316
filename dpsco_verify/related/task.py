"""What a system may know before it sees the data: the convex set, the loss, and a bound on the features."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss, Population
from dpsco_verify.validation import require_non_negative


@dataclass(frozen=True, eq=False)
class Task:
    """Minimise ``F(w) = E f(w, z)`` over W, for data whose features have norm at most `data_radius`.

    All of it is public: no number here comes from the data, so noise may be scaled by it.

    Attributes
    ----------
    loss, convex_set
        ``f`` and ``W``.
    data_radius
        A bound on the Euclidean norm of the features of every data point that can occur.
    """

    loss: Loss
    convex_set: ConvexSet
    data_radius: float

    def __post_init__(self) -> None:
        """Check the radius."""
        object.__setattr__(self, "data_radius", require_non_negative("data_radius", self.data_radius))

    @classmethod
    def of(cls, population: Population, convex_set: ConvexSet) -> Task:
        """Return the task that a population sets."""
        return cls(population.loss, convex_set, population.data_radius)

    @property
    def dimension(self) -> int:
        """``d``."""
        return self.convex_set.dimension

    @property
    def lipschitz(self) -> float:
        """``L``, a Lipschitz constant of ``f(·, z)`` for every possible z."""
        return self.loss.lipschitz(self.data_radius)

    @property
    def smoothness(self) -> float | None:
        """``β``, a Lipschitz constant of the gradient of ``f(·, z)``; None where there is none."""
        return self.loss.smoothness(self.data_radius)

    @property
    def diameter(self) -> float:
        """``D``, the diameter of W; infinite where W is unbounded."""
        return self.convex_set.diameter

    @property
    def is_bounded(self) -> bool:
        """Whether W is bounded."""
        return math.isfinite(self.diameter)

    @property
    def initial_point(self) -> FloatArray:
        """The point of W nearest to the origin, shape ``(d,)``: where every system begins."""
        return self.convex_set.project(np.zeros(self.dimension))
