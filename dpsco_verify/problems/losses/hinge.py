"""The hinge loss ``max(0, 1 − y·<w, a>)``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import ClassificationLoss, PiecewiseLinearLoss


@dataclass(frozen=True)
class Hinge(ClassificationLoss, PiecewiseLinearLoss):
    """``f(w, (a, y)) = max(0, 1 − y·<w, a>)`` with ``y`` in {−1, +1}; the subgradient at the kink is 0.

    As ``y² = 1``, the kink lies at the score ``s = y``, and the slopes are −1 and 0 for ``y = 1``, 0 and 1 for
    ``y = -1``.
    """

    name = "hinge"
    slope_bound = 1.0

    def conjugate_domain(self, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``(min(0, -y), max(0, -y))``."""
        return np.minimum(0.0, -target), np.maximum(0.0, -target)

    def score_value(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``max(0, 1 − y·s)``."""
        value: FloatArray = np.maximum(0.0, 1.0 - target * score)
        return value

    def score_slope(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``-y`` where ``y·s < 1``, else 0."""
        slope: FloatArray = -target * np.less(target * score, 1.0)
        return slope
