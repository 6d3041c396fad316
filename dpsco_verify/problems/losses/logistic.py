"""The logistic loss ``log(1 + exp(-y·<w, a>))``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import entr, expit, xlog1py

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses.linear_predictor import ClassificationLoss, Smoothing

# From the start of Logistic.smoothing the steps converge quadratically; the last ones change nothing.
_NEWTON_STEPS = 10


@dataclass(frozen=True)
class Logistic(ClassificationLoss):
    """``f(w, (a, y)) = log(1 + exp(-y·<w, a>))`` with ``y`` in {−1, +1}; differentiable everywhere.

    Finite for every finite margin. The slope's bound 1 is a supremum that no margin attains, yet no smaller constant
    is a Lipschitz constant.
    """

    name = "logistic"
    is_bitwise = False  # value and slope are made of exp and log
    slope_bound = 1.0
    curvature_bound = 0.25  # at margin 0

    def score_value(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``log(e⁰ + e^{-y·s})``."""
        value: FloatArray = np.logaddexp(0.0, -target * score)
        return value

    def score_slope(self, score: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``-y/(1 + e^{y·s})``."""
        slope: FloatArray = -target * expit(-target * score)
        return slope

    def conjugate_domain(self, target: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ``(min(0, -y), max(0, -y))``."""
        return np.minimum(0.0, -target), np.maximum(0.0, -target)

    def conjugate(self, slope: FloatArray, target: FloatArray) -> FloatArray:
        """Return ``p·log p + (1 − p)·log(1 − p)`` for ``p = -yθ`` in [0, 1], to full relative accuracy."""
        p = -target * slope
        conjugate: FloatArray = xlog1py(1.0 - p, -p) - entr(p)
        return conjugate

    def smoothing(self, score: FloatArray, target: FloatArray, weight: FloatArray) -> Smoothing:
        """Return ``max_q {-qm + H(q) + μ·log q + μ·log(1 − q)}`` for the margin ``m``, with the entropy ``H``.

        For ``m ≥ 0`` the maximiser ``p ≤ 1/2`` solves ``log((1 − p)/p) + μ(1 − 2p)/(p(1 − p)) = m``, whose left side is
        convex and falling, and for ``m < 0`` it is ``1 − p`` with ``-m``. The roots without one of the two terms
        are smaller; from the larger of them Newton's steps rise to the solution.
        """
        margin = target * score
        distance = np.abs(margin)
        without_entropy = 2.0 * weight / (distance + 2.0 * weight + np.hypot(distance, 2.0 * weight))
        p = np.maximum(expit(-distance), without_entropy)
        for _ in range(_NEWTON_STEPS):
            other = 1.0 - p
            product = p * other
            excess = np.log(other / p) + weight * (1.0 - 2.0 * p) / product - distance
            p = np.minimum(p + excess / (1.0 / product + weight / p**2 + weight / other**2), 0.5)
        other = 1.0 - p
        entropy = entr(p) + entr(other)
        return Smoothing(
            value=np.maximum(0.0, -margin) - distance * p + entropy + weight * np.log(p * other),
            slope=-target * np.where(margin < 0, other, p),
            curvature=1.0 / (1.0 / (p * other) + weight / p**2 + weight / other**2),
        )
