"""Losses of a linear predictor that are made of two lines: the absolute deviation, quantiles, the hinge."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import ClassificationLoss, PiecewiseLinearLoss
from dpsco_verify.validation import require_open_interval


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


@dataclass(frozen=True)
class Quantile(PiecewiseLinearLoss):
    """``f(w, (a, b)) = max(q·r, (q − 1)·r)`` with ``r = b − <w, a>`` and ``q = level`` in (0, 1).

    The subgradient at the kink ``<w, a> = b`` is ``-q·a``. Source: Koenker and Bassett (1978).
    """

    level: float

    def __post_init__(self) -> None:
        """Check the level."""
        object.__setattr__(self, "level", require_open_interval("level", self.level, 0.0, 1.0))

    @property
    def name(self) -> str:
        """Return ``"quantile(q)"``."""
        return f"quantile({self.level:g})"

    @property
    def slope_bound(self) -> float:
        """Return ``max(q, 1 − q)``."""
        return max(self.level, 1.0 - self.level)

    def conjugate_domain(self, target: FloatArray) -> tuple[float, float]:
        """Return ``(-q, 1 − q)``, the slopes in the score."""
        del target
        return -self.level, 1.0 - self.level

    def score_value(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``max(q·(b − s), (1 − q)·(s − b))``."""
        residual = target - score
        value: FloatArray = np.maximum(self.level * residual, (self.level - 1.0) * residual)
        return value

    def score_slope(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``1 − q`` where ``s > b``, else ``-q``."""
        slope: FloatArray = np.greater(score, target) - self.level
        return slope


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
