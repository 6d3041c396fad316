"""The half-space."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.convex_set import LARGEST_SCALE, ConvexSet, require_coordinates, shown
from dpsco_verify.geometry.norms import SMALLEST_NORMAL, UNIT_ROUNDOFF, euclidean_norm, summation_error
from dpsco_verify.validation import require_finite


class HalfSpace(ConvexSet):
    """``{w : <a, w> <= b}``.

    Parameters
    ----------
    normal
        a, shape (d,), not zero.
    offset
        b.

    Notes
    -----
    With ``u = a / ||a||_2`` and ``beta = b / ||a||_2``: projection ``x - max(0, <u, x> - beta) u``. One step
    leaves an error relative to ``||x||_2``, which may dwarf the projection; the step is repeated until the
    constraint holds to ``rounding(w) = (2 summation_error(d) + 12u) (||w||_2 + |beta|)`` at the result w
    itself.
    """

    diameter = math.inf
    max_norm = math.inf

    def __init__(self, normal: ArrayLike, offset: float) -> None:
        self.normal = require_coordinates("normal", normal)
        super().__init__(self.normal.shape[0])
        self.offset = require_finite("offset", offset)
        length = float(euclidean_norm(self.normal))
        if length == 0:
            raise InputError(f"normal={shown(self.normal)} is zero; give a direction")
        # Dividing first by the largest entry keeps subnormal normals accurate.
        direction = self.normal / np.abs(self.normal).max()
        self.unit_normal = direction / euclidean_norm(direction)
        self.unit_normal.setflags(write=False)
        self.distance_offset = math.inf if abs(self.offset) > LARGEST_SCALE * length else self.offset / length
        if math.isinf(self.distance_offset):
            raise InputError(
                f"offset={offset!r} puts the half-space further than {LARGEST_SCALE:g} from the origin; "
                "rescale the problem"
            )
        self._relative_slack = 2 * summation_error(self.dimension) + 12 * UNIT_ROUNDOFF

    def __repr__(self) -> str:
        return f"HalfSpace(normal={shown(self.normal)}, offset={self.offset!r})"

    def _project(self, x: FloatArray) -> FloatArray:
        projected = x.copy()
        excess = self._signed_distance(projected)
        outside = excess > 0
        while outside.any():
            moved = projected - excess[..., np.newaxis] * self.unit_normal
            projected = np.where(outside[..., np.newaxis], moved, projected)
            excess = self._signed_distance(projected)
            # Each pass leaves at most rounding(previous point), some 1e-14 of its norm, so that the passes end.
            outside = excess > self._rounding(projected)
        return projected

    def _violation(self, x: FloatArray) -> FloatArray:
        return np.maximum(self._signed_distance(x), 0.0)

    def _signed_distance(self, x: FloatArray) -> FloatArray:
        return np.asarray(np.sum(x * self.unit_normal, axis=-1) - self.distance_offset)

    def _rounding(self, x: FloatArray) -> FloatArray:
        return np.asarray(
            self._relative_slack * (euclidean_norm(x) + abs(self.distance_offset)) + SMALLEST_NORMAL
        )
