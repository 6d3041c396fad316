"""The convex set, smoothed by a proximal term in its multiplier."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import Box, ConvexSet, L1Ball, L2Ball, Simplex, WholeSpace
from dpsco_verify.geometry.norms import euclidean_norm

_DIFFERENCE = 1e-6
"""The step of differences of projections, relative to the point."""


def penalty(
    convex_set: ConvexSet, w: FloatArray, anchor: FloatArray, tau: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``max_p {<p, w> − h_W(p) − (τ/2)‖p − p⁰‖²}``, its gradient in w, and where it was projected from.

    With ``x = w + τp⁰`` it is ``‖x − Π(x)‖²/(2τ)`` up to a constant, and the gradient ``p = (x − Π(x))/τ``.

    Parameters
    ----------
    convex_set
        W, with support function ``h_W`` and projection ``Π``.
    w, anchor
        Points and ``p⁰``, shape ``(R, d)``.
    tau
        Shape ``(R,)``.
    """
    x = w + tau[:, None] * anchor
    outward = x - convex_set.project(x)
    value = np.einsum("rd,rd->r", outward, outward) / (2.0 * tau)
    return value, outward / tau[:, None], x


def projection_jacobian(convex_set: ConvexSet, x: FloatArray) -> FloatArray:
    """Return a generalised Jacobian ``J`` of the projection, shape ``(R, d, d)``, symmetric with ``0 ⪯ J ⪯ I``.

    Differences of projections where no formula is known: a step with a wrong J still descends, if less well.
    """
    runs, d = x.shape
    if isinstance(convex_set, WholeSpace):
        return np.broadcast_to(np.eye(d), (runs, d, d))
    if isinstance(convex_set, L2Ball):
        offset = x - convex_set.center
        length = euclidean_norm(offset)
        outside = length > convex_set.radius
        safe = np.where(outside, length, 1.0)
        unit = np.where(outside[:, None], offset / safe[:, None], 0.0)
        shrink = np.where(outside, convex_set.radius / safe, 1.0)
        ball: FloatArray = shrink[:, None, None] * (np.eye(d) - unit[:, :, None] * unit[:, None, :])
        return ball
    if isinstance(convex_set, Box):
        inside = (x > convex_set.low) & (x < convex_set.high)
        box: FloatArray = inside[:, :, None] * np.eye(d)
        return box
    if isinstance(convex_set, Simplex | L1Ball):
        centre = convex_set.center if isinstance(convex_set, L1Ball) else 0.0
        projected = convex_set.project(x) - centre
        signs = np.sign(projected)
        support = np.abs(signs)
        number = np.maximum(np.add.reduce(support, axis=-1), 1.0)
        face: FloatArray = (
            support[:, :, None] * np.eye(d) - signs[:, :, None] * signs[:, None, :] / number[:, None, None]
        )
        if isinstance(convex_set, L1Ball):
            within = np.add.reduce(np.abs(x - centre), axis=-1) <= convex_set.radius
            face[within] = np.eye(d)
        return face
    return _by_differences(convex_set, x)


def _by_differences(convex_set: ConvexSet, x: FloatArray) -> FloatArray:
    """Return central differences of the projection, made symmetric with eigenvalues in [0, 1]."""
    d = x.shape[-1]
    width = _DIFFERENCE * (1.0 + np.max(np.abs(x), axis=-1))[:, None, None]
    shifts = width * np.eye(d)
    middle = x[:, None, :]
    raw = (convex_set.project(middle + shifts) - convex_set.project(middle - shifts)) / (2.0 * width)
    values, vectors = np.linalg.eigh(0.5 * (raw + np.swapaxes(raw, -1, -2)))
    jacobian: FloatArray = np.einsum("rij,rj,rkj->rik", vectors, np.clip(values, 0.0, 1.0), vectors)
    return jacobian
