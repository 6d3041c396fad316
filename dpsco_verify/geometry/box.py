"""The box."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.convex_set import ConvexSet, require_coordinates, shown
from dpsco_verify.geometry.norms import euclidean_norm


class Box(ConvexSet):
    """``{w : low_i <= w_i <= high_i}``.

    Parameters
    ----------
    low, high
        Bounds of shape (d,), finite, ``low <= high``.

    Notes
    -----
    Projection: clipping, which is exact (rounding 0).
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        self.low = require_coordinates("low", low)
        super().__init__(self.low.shape[0])
        self.high = require_coordinates("high", high, dimension=self.dimension)
        if (self.low > self.high).any():
            position = int(np.argmax(self.low > self.high))
            raise InputError(
                f"low[{position}]={self.low[position]!r} is above high[{position}]={self.high[position]!r}; "
                "give low <= high in every coordinate"
            )

    def __repr__(self) -> str:
        return f"Box(low={shown(self.low)}, high={shown(self.high)})"

    @property
    def diameter(self) -> float:
        """``||high - low||_2``."""
        return float(euclidean_norm(self.high - self.low))

    @property
    def max_norm(self) -> float:
        """``||max(|low|, |high|)||_2``."""
        return float(euclidean_norm(np.maximum(np.abs(self.low), np.abs(self.high))))

    def _project(self, x: FloatArray) -> FloatArray:
        # Which of -0.0 and 0.0 is the larger depends on the vector unit; adding 0.0 leaves only 0.0.
        clipped: FloatArray = np.minimum(np.maximum(x, self.low), self.high) + 0.0
        return clipped

    def _violation(self, x: FloatArray) -> FloatArray:
        return euclidean_norm(np.maximum(np.maximum(self.low - x, x - self.high), 0.0))

    def _rounding(self, x: FloatArray) -> float:  # noqa: ARG002  clipping is exact everywhere
        return 0.0
