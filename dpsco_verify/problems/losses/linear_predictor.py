"""Losses of a linear predictor: ``f(w, (a, t)) = φ(<w, a>, t)``."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.loss import Loss, inner_product
from dpsco_verify.validation import require_non_negative


class Smoothing(NamedTuple):
    """A smooth convex stand-in for ``φ(·, t)`` at some scores: its value, slope and curvature, each of one shape."""

    value: FloatArray
    slope: FloatArray
    curvature: FloatArray


class LinearPredictorLoss(Loss):
    """A loss ``f(w, (a, t)) = φ(<w, a>, t)`` with features ``a`` in ``R^d``, a target ``t`` and ``φ(·, t)`` convex.

    A data point is the row ``(a_1, …, a_d, t)``. Its subgradient is ``φ'(<w, a>, t)·a``, so that the smallest
    Lipschitz constant over ``‖a‖₂ ≤ r`` is ``r·sup|φ'|``. A score is the number ``s = <w, a>``.
    """

    @property
    @abstractmethod
    def slope_bound(self) -> float:
        """The supremum of ``|φ'(s, t)|`` over all scores and targets."""

    @property
    def curvature_bound(self) -> float | None:
        """The smallest Lipschitz constant of ``φ'(·, t)`` for all targets; None where the slope jumps."""
        return None

    @abstractmethod
    def score_value(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``φ(s, t)``."""

    @abstractmethod
    def score_slope(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return one element of the subdifferential of ``φ(·, t)`` at ``s``."""

    @abstractmethod
    def conjugate_domain(self, target: FloatArray) -> tuple[FloatArray | float, FloatArray | float]:
        """Return the ends ``(l, h)`` of the closed interval of slopes on which the conjugate is finite."""

    @abstractmethod
    def conjugate(self, slope: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``φ*(θ, t) = sup_s {θs − φ(s, t)}`` for slopes in its domain.

        By Fenchel and Young ``φ(s, t) ≥ θs − φ*(θ, t)`` for every such ``θ``: the source of lower bounds.
        """

    def conjugate_size(self, slope: FloatArray, target: FloatArray) -> FloatArray:
        """Return a number of which the rounding error of :meth:`conjugate` is at most a few units in the last place.

        It is the sum of the absolute values of the terms that the conjugate adds up; by default there is but one.
        """
        return np.abs(self.conjugate(slope, target))

    @abstractmethod
    def smoothing(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> Smoothing:
        """Return ``φ_μ(s, t) = max_θ {θs − φ*(θ, t) + μ·log(θ − l) + μ·log(h − θ)}`` with ``μ = weight > 0``.

        The logarithmic barrier keeps the slopes inside the domain ``[l, h]`` of the conjugate; ``φ_μ`` tends to ``φ``
        with the weight, and a problem made of such terms has all the properties of an interior-point method.
        """

    def data_dimension(self, dimension: int) -> int:
        """Return ``dimension + 1``: the features, then the target."""
        return dimension + 1

    def features(self, z: FloatArray) -> FloatArray:
        """Return all but the last entry of each data point."""
        return z[..., :-1]

    def value(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``φ(<w, a>, t)``, shape ``(...)``."""
        return self.score_value(inner_product(w, z[..., :-1]), z[..., -1])

    def subgradient(self, w: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``φ'(<w, a>, t)·a``, shape ``(..., d)``."""
        a = z[..., :-1]
        slope = self.score_slope(inner_product(w, a), z[..., -1])
        gradient: FloatArray = slope[..., None] * a
        return gradient

    def lipschitz(self, data_radius: float) -> float:
        """Return ``sup|φ'|·data_radius``."""
        return self.slope_bound * require_non_negative("data_radius", data_radius)

    def smoothness(self, data_radius: float) -> float | None:
        """Return ``curvature_bound·data_radius²``; None where the slope jumps."""
        radius = require_non_negative("data_radius", data_radius)
        return None if self.curvature_bound is None else self.curvature_bound * radius**2
