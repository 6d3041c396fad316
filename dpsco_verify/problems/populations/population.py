"""The interface of a population: a law of data points together with a loss and the exact risk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_finite_array, require_integer, require_non_negative

if TYPE_CHECKING:
    from dpsco_verify.arrays import ArrayLike, FloatArray
    from dpsco_verify.geometry import ConvexSet
    from dpsco_verify.problems.losses import Loss
    from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum


class Population(ABC):
    """A distribution 𝒟 of data points, a loss ``f`` and the risk ``F(w) = E_{z∼𝒟} f(w, z)``, known exactly.

    A population does not change once it is built.

    Parameters
    ----------
    name
        What reports call it.
    loss
        The loss ``f``.
    dimension
        ``d``, the length of the parameter.
    data_radius
        A bound on the Euclidean norm of the features of every data point that can occur.
    """

    def __init__(self, *, name: str, loss: Loss, dimension: int, data_radius: SupportsFloat) -> None:
        self._name = name
        self._loss = loss
        self._dimension = require_integer("dimension", dimension, minimum=1)
        self._data_radius = require_non_negative("data_radius", data_radius)
        self._lipschitz = loss.lipschitz(self._data_radius)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}, d={self.dimension}, L={self.lipschitz:g}>"

    @property
    def name(self) -> str:
        """What reports call the population."""
        return self._name

    @property
    def loss(self) -> Loss:
        """The loss ``f``."""
        return self._loss

    @property
    def dimension(self) -> int:
        """``d``, the length of the parameter."""
        return self._dimension

    @property
    def data_dimension(self) -> int:
        """``k``, the length of a data point."""
        return self._loss.data_dimension(self._dimension)

    @property
    def data_radius(self) -> float:
        """A bound on the Euclidean norm of the features of every data point that can occur."""
        return self._data_radius

    @property
    def lipschitz(self) -> float:
        """``L = loss.lipschitz(data_radius)``, a Lipschitz constant of ``f(·, z)`` for every possible ``z``."""
        return self._lipschitz

    @abstractmethod
    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...]) -> FloatArray:
        """Return independent data points, shape ``(*size, k)``."""

    def risk(self, w: ArrayLike) -> FloatArray:
        """Return ``F(w)``, shape ``(...)``, for `w` of shape ``(..., d)``.

        A row has the same bits alone and in a batch where the loss is bitwise
        (:attr:`~dpsco_verify.problems.losses.Loss.is_bitwise`).

        Raises
        ------
        InputError
            If an entry is not finite or the last axis is not ``d`` long.
        """
        points = require_finite_array("w", w)
        if points.ndim == 0 or points.shape[-1] != self._dimension:
            raise InputError(
                f"w.shape={points.shape} does not fit; give points of shape (..., {self._dimension})"
            )
        return self._risk(np.asarray(points, order="C"))

    def minimum(self, convex_set: ConvexSet) -> CertifiedMinimum:
        """Return ``min F`` over the set, between a feasible point's value and a certified lower bound.

        Raises
        ------
        InputError
            If the set's dimension is not the population's, or the set is unbounded and no minimum is known there.
        """
        if convex_set.dimension != self._dimension:
            raise InputError(
                f"convex_set.dimension={convex_set.dimension} does not fit; "
                f"{self.name} needs a set of dimension {self._dimension}"
            )
        return self._minimum(convex_set)

    @abstractmethod
    def _risk(self, w: FloatArray) -> FloatArray:
        """Return the risk at checked points in C order."""

    @abstractmethod
    def _minimum(self, convex_set: ConvexSet) -> CertifiedMinimum:
        """Return the minimum over a set of the right dimension."""


def shape_of(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return `size` as a shape."""
    return size if isinstance(size, tuple) else (size,)
