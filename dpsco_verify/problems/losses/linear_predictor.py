"""Losses of linear predictors, and what those for two classes and those made of two lines share."""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
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


class ClassificationLoss(LinearPredictorLoss):
    """A loss of the margin ``y·<w, a>`` with a label ``y`` that is −1 or +1."""

    def require_data(self, data: ArrayLike, *, dimension: int | None = None) -> FloatArray:
        """Return `data` checked, labels included.

        Raises
        ------
        InputError
            As for every loss, and if a label is neither −1 nor +1.
        """
        array = super().require_data(data, dimension=dimension)
        labels = array[..., -1]
        wrong = np.abs(labels) != 1.0
        if wrong.any():
            raise InputError(
                f"label={labels[wrong].flat[0]!r} is not a class; {self.name} takes labels -1 and +1"
            )
        return array


class PiecewiseLinearLoss(LinearPredictorLoss):
    """``φ(s, t) = max(l·(s − t), h·(s − t))`` with slopes ``l < h`` and the kink at the target.

    Its conjugate is ``φ*(θ, t) = θt`` on ``[l, h]``.
    """

    def conjugate(self, slope: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``θt``."""
        return slope * target

    def smoothing(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> Smoothing:
        """Return ``max_θ {θr + μ·log(θ − l) + μ·log(h − θ)}`` and its derivatives in ``r = s − t``.

        With the middle ``m`` and the half-width ``b`` of ``[l, h]``, the maximiser is ``θ = m + x`` where
        ``x = rb²/(μ + √(μ² + r²b²))``, a form without cancellation.
        """
        low, high = self.conjugate_domain(target)
        middle, half_width = 0.5 * (low + high), 0.5 * (high - low)
        residual = score - target
        denominator = weight + np.hypot(weight, residual * half_width)
        x = residual * half_width**2 / denominator
        room = 2.0 * weight * half_width**2 / denominator  # b² − x²
        return Smoothing(
            value=(middle + x) * residual + weight * np.log(room),
            slope=np.clip(middle + x, low, high),
            curvature=room**2 / (2.0 * weight * (half_width**2 + x**2)),
        )
