"""A minimum between two bounds, and the law whose risk is minimised."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.problems.losses import Loss


class FiniteLaw(Protocol):
    """What the minimisers ask of a finite population; see :class:`dpsco_verify.problems.FinitePopulation`."""

    @property
    def loss(self) -> Loss:
        """The loss f."""
        ...

    @property
    def dimension(self) -> int:
        """d, the length of the parameter."""
        ...

    @property
    def lipschitz(self) -> float:
        """L."""
        ...

    @property
    def data(self) -> FloatArray:
        """The points, a row each."""
        ...

    @property
    def probabilities(self) -> FloatArray:
        """How likely each is."""
        ...

    def risk(self, w: ArrayLike) -> FloatArray:
        """Return F(w)."""
        ...


@dataclass(frozen=True, eq=False)
class CertifiedMinimum:
    """``lower_bound ≤ min_{u∈W} F(u) ≤ value``.

    Attributes
    ----------
    w
        A point of ``W``, shape ``(d,)``, read-only.
    value
        ``F(w)``.
    lower_bound
        A number that no point of ``W`` undercuts. From a closed form it equals `value`, up to the rounding of ``F``
        itself; from a solver it is a dual value with its own rounding error taken off.
    method
        How both were found: ``"closed form"``, or the solver and its certificate.
    """

    w: FloatArray
    value: float
    lower_bound: float
    method: str

    def __post_init__(self) -> None:
        """Keep a copy of the point that nobody can write to."""
        point = np.array(self.w, dtype=np.float64)
        point.setflags(write=False)
        object.__setattr__(self, "w", point)

    @property
    def gap(self) -> float:
        """``value − lower_bound``, at least 0: the most by which `value` can exceed the minimum."""
        return self.value - self.lower_bound
