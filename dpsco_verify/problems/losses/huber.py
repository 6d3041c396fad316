"""Huber's loss of the residual ``<w, a> − b``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import LinearPredictorLoss, Smoothing
from dpsco_verify.validation import require_positive

# From the start of Huber.smoothing the steps converge quadratically; the last ones change nothing.
_NEWTON_STEPS = 8


@dataclass(frozen=True)
class Huber(LinearPredictorLoss):
    """``f(w, (a, b)) = r²/2`` where ``|r| ≤ T``, else ``T·(|r| − T/2)``, with ``r = <w, a> − b``, ``T = threshold``.

    Differentiable everywhere. Source: Huber (1964).
    """

    threshold: float

    curvature_bound = 1.0

    def __post_init__(self) -> None:
        """Check the threshold."""
        object.__setattr__(self, "threshold", require_positive("threshold", self.threshold))

    @property
    def name(self) -> str:
        """Return ``"huber(T)"``."""
        return f"huber({self.threshold:g})"

    @property
    def slope_bound(self) -> float:
        """Return the threshold."""
        return self.threshold

    def score_value(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``c·(r − c/2)`` where ``c`` is ``r`` clipped to ``[-T, T]``, never ``r²`` of a large ``r``."""
        residual = score - target
        clipped = np.minimum(np.maximum(residual, -self.threshold), self.threshold)
        value: FloatArray = clipped * (residual - 0.5 * clipped)
        return value

    def score_slope(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``r`` clipped to ``[-T, T]``."""
        slope: FloatArray = np.minimum(np.maximum(score - target, -self.threshold), self.threshold)
        return slope

    def conjugate_domain(self, target: FloatArray) -> tuple[float, float]:
        """Return ``(-T, T)``."""
        del target
        return -self.threshold, self.threshold

    def conjugate(self, slope: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``θb + θ²/2``, for ``|θ| ≤ T``."""
        conjugate: FloatArray = slope * (target + 0.5 * slope)
        return conjugate

    def conjugate_size(self, slope: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``|θb| + θ²/2``."""
        size: FloatArray = np.abs(slope) * (np.abs(target) + 0.5 * np.abs(slope))
        return size

    def smoothing(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> Smoothing:
        """Return ``max_θ {θr − θ²/2 + μ·log(T − θ) + μ·log(T + θ)}`` and its derivatives in ``r``.

        For ``r ≥ 0`` the distance ``y = T − θ`` solves ``r − T + y = μ/y − μ/(2T − y)``, whose right side is convex and
        falling. With ``1/T`` for ``1/(2T − y)`` it is a quadratic equation with a smaller root; from there Newton's
        steps rise to the solution and keep the relative accuracy of ``y``.
        """
        residual = score - target
        beyond = np.abs(residual) - self.threshold
        linear = beyond + weight / self.threshold
        root = np.hypot(linear, 2.0 * np.sqrt(weight))
        y = np.where(linear > 0, 2.0 * weight / (np.abs(linear) + root), 0.5 * (root - linear))
        y = np.minimum(y, self.threshold)
        for _ in range(_NEWTON_STEPS):
            other = 2.0 * self.threshold - y
            excess = weight / y - weight / other - (beyond + y)
            y = np.minimum(y + excess / (weight / y**2 + weight / other**2 + 1.0), self.threshold)
        other = 2.0 * self.threshold - y
        theta = self.threshold - y
        return Smoothing(
            value=theta * (np.abs(residual) - 0.5 * theta) + weight * np.log(y * other),
            slope=np.copysign(theta, residual),
            curvature=1.0 / (1.0 + weight / y**2 + weight / other**2),
        )
