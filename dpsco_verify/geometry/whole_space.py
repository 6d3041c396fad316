"""All of R^d."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet


class WholeSpace(ConvexSet):
    """``R^d``: the projection is the identity, exactly.

    Parameters
    ----------
    dimension
        d, at least 1.
    """

    diameter = math.inf
    max_norm = math.inf

    def __repr__(self) -> str:
        return f"WholeSpace({self.dimension})"

    def _project(self, x: FloatArray) -> FloatArray:
        return x.copy()

    def _violation(self, x: FloatArray) -> FloatArray:
        return np.zeros(x.shape[:-1])

    def _rounding(self, x: FloatArray) -> float:  # noqa: ARG002  the identity is exact
        return 0.0
