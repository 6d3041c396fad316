"""Losses of a linear predictor that are made of two lines."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import LinearPredictorLoss, Smoothing


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
