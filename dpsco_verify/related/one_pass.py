"""Steps over many runs at once: the mean gradient of a batch, and the average of a pass."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss


def mean_gradient(loss: Loss, w: FloatArray, points: FloatArray) -> FloatArray:
    """Return ``(1/B) Σ_j ∇f(w_r, z_{r,j})``, shape (R, d), for `w` of shape (R, d) and `points` of shape (R, B, k)."""
    if points.shape[-2] == 1:
        return loss.subgradient(w, points[..., 0, :])
    gradients = loss.subgradient(w[..., np.newaxis, :], points)
    mean: FloatArray = np.add.reduce(gradients, axis=-2) / float(points.shape[-2])
    return mean


def average_of_pass(
    points: FloatArray, start: FloatArray, *, loss: Loss, convex_set: ConvexSet, step_size: float
) -> FloatArray:
    """Return ``w̄ = (1/m) Σ_{t=1}^m w_t`` of one pass ``w_{t+1} = P(w_t − η∇f(w_t, z_t))``, shape (R, d).

    The average is over the points at which a gradient was taken, so that for i.i.d. points and any u in W, which
    may depend on `start`, ``E F(w̄) − F(u) ≤ E‖w_1 − u‖²/(2ηm) + ηL²/2``.

    **Sensitivity.** Where ``w ↦ w − η∇f(w, z)`` is non-expansive for all z (η ≤ 2/β), replacing z_j moves w_{j+1}
    by at most 2Lη and no later iterate further, so w̄ moves by at most ``2Lη(m − 1)/m``, the case j = 1.

    Parameters
    ----------
    points
        Shape (R, m, k), taken in order.
    start
        ``w_1``, shape (R, d).
    """
    w = start
    total = np.zeros_like(start)
    m = points.shape[1]
    for t in range(m):
        total += w
        w = convex_set.project(w - step_size * loss.subgradient(w, points[:, t]))
    average: FloatArray = total / float(m)
    return average


def repeated(point: FloatArray, runs: int) -> FloatArray:
    """Return `point` once for each run, shape (R, d), to be written to."""
    return np.tile(point, (runs, 1))
