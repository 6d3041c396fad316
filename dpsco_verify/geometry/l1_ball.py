"""The l1 ball."""

from __future__ import annotations

import math
from typing import SupportsIndex

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet, require_center, require_length, shown
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, absolute_norm, euclidean_norm, maximum_norm
from dpsco_verify.geometry.simplex import project_onto_simplex, simplex_error


class L1Ball(ConvexSet):
    """``{w : ||w - c||_1 <= r}``.

    Parameters
    ----------
    dimension
        d, at least 1.
    radius
        r > 0.
    center
        c, shape (d,); the origin when left out.

    Notes
    -----
    Projection: outside, ``|x - c|`` is projected onto the simplex of sum r and gets its signs back (Duchi et
    al. 2008). Rounding: ``simplex_error(d) r + 2u (||c||_2 + r)``, whatever the size of x.
    """

    def __init__(self, dimension: SupportsIndex, radius: float, center: ArrayLike | None = None) -> None:
        super().__init__(dimension)
        self.radius = require_length("radius", radius)
        self.center = require_center(center, dimension=self.dimension)
        reach = float(euclidean_norm(self.center)) + self.radius
        self._slack = simplex_error(self.dimension) * self.radius + 2 * UNIT_ROUNDOFF * reach

    def __repr__(self) -> str:
        return f"L1Ball({self.dimension}, radius={self.radius!r}, center={shown(self.center)})"

    @property
    def diameter(self) -> float:
        """``2 r``, the distance of opposite vertices."""
        return 2 * self.radius

    @property
    def max_norm(self) -> float:
        """``max_i ||c ± r e_i||_2``, at a vertex."""
        vertex = np.abs(self.center)
        vertex[int(np.argmax(vertex))] += self.radius
        return float(euclidean_norm(vertex))

    def _project(self, x: FloatArray) -> FloatArray:
        offset = x - self.center
        magnitude = np.abs(offset)
        outside = np.sum(magnitude, axis=-1) > self.radius
        if not outside.any():
            return x.copy()
        moved = self.center + np.copysign(project_onto_simplex(magnitude, self.radius), offset)
        return np.where(outside[..., np.newaxis], moved, x)

    def _violation(self, x: FloatArray) -> FloatArray:
        offset = x - self.center
        # ||v||_2 is at least each of ||v||_1 / sqrt(d) and ||v||_inf.
        excess = (absolute_norm(offset) - self.radius) / math.sqrt(self.dimension)
        return np.maximum(np.maximum(excess, maximum_norm(offset) - self.radius), 0.0)

    def _rounding(self, x: FloatArray) -> float:  # noqa: ARG002  the bound is the same everywhere
        return self._slack
