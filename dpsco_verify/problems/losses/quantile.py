"""The quantile (pinball) loss of the residual ``b − <w, a>``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import PiecewiseLinearLoss
from dpsco_verify.validation import require_open_interval


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
