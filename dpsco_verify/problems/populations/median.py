"""Absolute deviations on the line, minimised by a median."""

from __future__ import annotations

from typing import TYPE_CHECKING, SupportsFloat

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.problems.losses import AbsoluteDeviation
from dpsco_verify.problems.minimisation import CertifiedMinimum
from dpsco_verify.problems.populations.finite import FinitePopulation
from dpsco_verify.validation import require_finite_array, require_positive

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet


class Median(FinitePopulation):
    """``f(w, b) = L·|w − b|`` on the line with ``b`` from a finite law; a data point is ``z = (L, L·b)``.

    The risk's minimum over an interval lies at a median of the law, clipped to the interval: at the best of the
    law's clipped points.

    Parameters
    ----------
    points
        The values of ``b``, shape ``(N,)``.
    probabilities
        Their probabilities, shape ``(N,)``; by default ``1/N`` each.
    lipschitz
        ``L``, positive.
    """

    def __init__(
        self,
        points: ArrayLike,
        probabilities: ArrayLike | None = None,
        *,
        lipschitz: SupportsFloat = 1.0,
        name: str = "median",
    ) -> None:
        values = require_finite_array("points", points, shape=(None,))
        if values.size == 0:
            raise InputError(f"points.shape={values.shape} is empty; give at least one point")
        constant = require_positive("lipschitz", lipschitz)
        data = np.stack([np.full_like(values, constant), constant * values], axis=-1)
        super().__init__(data, AbsoluteDeviation(), probabilities, name)
        self._points = values

    @property
    def points(self) -> FloatArray:
        """The values of ``b``, shape ``(N,)``."""
        return self._points

    def _minimum(self, convex_set: ConvexSet) -> CertifiedMinimum:
        # On an interval, a convex piecewise linear function has its minimum at a kink or at an end, and the ends
        # that matter are projections of kinks. Comparing the risks needs no running sums of probabilities.
        candidates = convex_set.project(self._points[:, None])
        risks = self.risk(candidates)
        best = int(np.argmin(risks))
        value = float(risks[best])
        return CertifiedMinimum(candidates[best], value, value, "closed form")
