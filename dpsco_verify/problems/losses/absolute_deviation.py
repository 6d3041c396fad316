"""The absolute deviation ``|<w, a> − b|``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import PiecewiseLinearLoss


@dataclass(frozen=True)
class AbsoluteDeviation(PiecewiseLinearLoss):
    """``f(w, (a, b)) = |<w, a> − b|``; the subgradient at the kink ``<w, a> = b`` is 0."""

    name = "absolute"
    slope_bound = 1.0

    def conjugate_domain(self, target: FloatArray) -> tuple[float, float]:
        """Return ``(-1, 1)``."""
        del target
        return -1.0, 1.0

    def score_value(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``|s − b|``."""
        return np.abs(score - target)

    def score_slope(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return the sign of ``s − b``."""
        return np.sign(score - target)
