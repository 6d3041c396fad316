"""The Euclidean ball."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet, require_coordinates, require_length, shown
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm, summation_error


class L2Ball(ConvexSet):
    """``{w : ||w - c||_2 <= r}``.

    Parameters
    ----------
    center
        c, shape (d,).
    radius
        r > 0.

    Notes
    -----
    Projection: ``c + r (x - c) / ||x - c||_2`` outside, x itself inside. Rounding: the direction is known to
    a relative error of ``summation_error(d) + 4u``, the final sum to u per coordinate, which together stay
    below ``(summation_error(d) + 6u) (||c||_2 + r)`` whatever the size of x.
    """

    def __init__(self, center: ArrayLike, radius: float) -> None:
        self.center = require_coordinates("center", center)
        super().__init__(self.center.shape[0])
        self.radius = require_length("radius", radius)
        self._is_centred = not self.center.any()
        self._reach = float(euclidean_norm(self.center)) + self.radius
        self._slack = (summation_error(self.dimension) + 6 * UNIT_ROUNDOFF) * self._reach

    def __repr__(self) -> str:
        return f"L2Ball(center={shown(self.center)}, radius={self.radius!r})"

    @property
    def diameter(self) -> float:
        """``2 r``."""
        return 2 * self.radius

    @property
    def max_norm(self) -> float:
        """``||c||_2 + r``."""
        return self._reach

    def _project(self, x: FloatArray) -> FloatArray:
        offset = x if self._is_centred else x - self.center
        distance = euclidean_norm(offset)
        outside = distance > self.radius
        if not outside.any():
            return x.copy()
        divisor = np.where(outside, distance, 1.0)[..., np.newaxis]
        # Divide first: r / distance may underflow.
        moved = offset / divisor * self.radius
        if not self._is_centred:
            moved += self.center
        return np.where(outside[..., np.newaxis], moved, x)

    def _violation(self, x: FloatArray) -> FloatArray:
        return np.maximum(euclidean_norm(x - self.center) - self.radius, 0.0)

    def _rounding(self, x: FloatArray) -> float:  # noqa: ARG002  the bound is the same everywhere
        return self._slack
