"""The simplex, and the projection onto it that the l1 ball shares."""

from __future__ import annotations

import math
from typing import SupportsIndex

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet, require_length
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm, summation_error


def project_onto_simplex(x: FloatArray, total: float) -> FloatArray:
    """Project the rows of `x`, shape (..., d), onto ``{w >= 0, sum w = total}``.

    The projection is ``max(theta - a, 0)`` with ``a = max(x) - x`` (adding a constant to a row changes nothing,
    and the gaps below the maximum are what matters) and ``theta = min_k (a_(1) + ... + a_(k) + total) / k`` over
    the gaps in rising order. Two steps of Newton's method on ``sum max(theta - a, 0) = total`` then remove the
    rounding of the running sums.
    """
    # Gaps of `total` and more have weight 0: capping them loses nothing and keeps the sums on the scale of `total`.
    gaps = np.minimum(x.max(axis=-1, keepdims=True) - x, 2 * total)
    counts = np.arange(1.0, x.shape[-1] + 1)
    theta = ((np.cumsum(np.sort(gaps, axis=-1), axis=-1) + total) / counts).min(axis=-1, keepdims=True)
    support = gaps < theta
    size = support.sum(axis=-1, keepdims=True)
    theta = (np.sum(np.where(support, gaps, 0.0), axis=-1, keepdims=True) + total) / size
    weights: FloatArray = np.maximum(theta - gaps, 0.0)
    support = weights > 0
    missing = (total - np.sum(weights, axis=-1, keepdims=True)) / support.sum(axis=-1, keepdims=True)
    return np.where(support, np.maximum(weights + missing, 0.0), 0.0)


def simplex_error(dimension: int) -> float:
    """Bound on the l2 error of :func:`project_onto_simplex`, relative to `total`.

    After the Newton steps the sum is right to ``summation_error(d)``; the gaps and their differences from
    theta, all at most `total` where the weight is positive, are rounded three times, which adds 3u to each
    coordinate.
    """
    return 2 * summation_error(dimension) + 3 * math.sqrt(dimension) * UNIT_ROUNDOFF


class Simplex(ConvexSet):
    """``{w : w_i >= 0, sum_i w_i = total}``.

    Parameters
    ----------
    dimension
        d, at least 1.
    total
        Sum of the coordinates, positive; 1 gives the probability simplex.

    Notes
    -----
    Projection by sorting (Held, Wolfe & Crowder 1974). Rounding: ``simplex_error(d) * total``, whatever the
    size of x.
    """

    def __init__(self, dimension: SupportsIndex, total: float = 1.0) -> None:
        super().__init__(dimension)
        self.total = require_length("total", total)
        self._slack = simplex_error(self.dimension) * self.total

    def __repr__(self) -> str:
        return f"Simplex({self.dimension}, total={self.total!r})"

    @property
    def diameter(self) -> float:
        """``sqrt(2) total``, the distance of two vertices; 0 when d = 1."""
        return math.sqrt(2) * self.total if self.dimension > 1 else 0.0

    @property
    def max_norm(self) -> float:
        """``total``, at the vertices."""
        return self.total

    def _project(self, x: FloatArray) -> FloatArray:
        return project_onto_simplex(x, self.total)

    def _violation(self, x: FloatArray) -> FloatArray:
        excess = np.abs(np.sum(x, axis=-1) - self.total) / math.sqrt(self.dimension)
        return np.asarray(np.maximum(euclidean_norm(np.minimum(x, 0.0)), excess))

    def _rounding(self, x: FloatArray) -> float:  # noqa: ARG002  the bound is the same everywhere
        return self._slack
