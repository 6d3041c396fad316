"""The empirical risk of Euclidean distances: a geometric median with a regulariser."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm, summation_error
from dpsco_verify.related.solvers.predictor_terms import rows_of
from dpsco_verify.related.solvers.terms import Evaluation

_FIRST_TAU = 0.1


@dataclass(frozen=True, eq=False)
class DistanceTerms:
    """``(1/m) Σ ‖w − z_i‖₂ = (1/m) Σ max {<u, w − z_i> : ‖u‖₂ ≤ 1}``.

    Attributes
    ----------
    points
        ``z``, shape ``(R, m, d)``, or with 1 for R where all runs share one sample.
    """

    points: FloatArray

    is_smooth = False  # a distance has a kink at its data point
    lipschitz = 1.0
    resolution = 1e-9  # the part of L/λ below which distances are not told apart

    @property
    def count(self) -> int:
        """``m``."""
        return int(self.points.shape[1])

    @property
    def certificate_queries(self) -> int:
        """Each point's distance is needed."""
        return self.count

    def take(self, rows: IntArray) -> DistanceTerms:
        """Return the terms of some of the runs."""
        return DistanceTerms(rows_of(self.points, rows))

    def anchor(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the unit vectors towards `w`, and the typical distance."""
        offset = w[:, None, :] - self.points
        length = euclidean_norm(offset)
        unit = offset / np.where(length > 0.0, length, 1.0)[..., None]
        reach = np.max(np.abs(self.points), axis=(1, 2)) + np.max(np.abs(w), axis=-1)
        typical = np.maximum(np.mean(length, axis=-1), 1e-12 * reach + 1e-100)
        return unit, _FIRST_TAU * typical

    def evaluate(self, w: FloatArray, anchor: FloatArray, tau: FloatArray) -> Evaluation:
        """Return the smoothed risk: ``u`` is the projection of ``u⁰ + (w − z)/τ`` onto the unit ball."""
        offset = w[:, None, :] - self.points
        free = anchor + offset / tau[:, None, None]
        length = euclidean_norm(free)
        cut = np.maximum(length, 1.0)
        unit = free / cut[..., None]
        moved = unit - anchor
        values = np.einsum("rmd,rmd->rm", unit, offset) - 0.5 * tau[:, None] * np.einsum(
            "rmd,rmd->rm", moved, moved
        )
        curvature = np.stack([1.0 / (tau[:, None] * cut), np.where(length > 1.0, 1.0, 0.0)], axis=-1)
        return Evaluation(np.mean(values, axis=-1), np.mean(unit, axis=1), unit, curvature)

    def hessian(self, at: Evaluation) -> FloatArray:
        """Return the mean of ``(I − uuᵀ)/(τ·‖u⁰ + (w − z)/τ‖)`` outside the ball, ``I/τ`` inside."""
        d = self.points.shape[-1]
        scale, outside = at.curvature[..., 0], at.curvature[..., 1]
        turned = np.matmul(np.swapaxes((scale * outside)[..., None] * at.dual, -1, -2), at.dual)
        hessian: FloatArray = np.mean(scale, axis=-1)[:, None, None] * np.eye(d) - turned / self.count
        return hessian

    def exact_gradient(self, at: Evaluation) -> FloatArray:
        """Return the mean of the dual variables, by pairwise sums."""
        columns = np.ascontiguousarray(np.swapaxes(at.dual, -1, -2))
        gradient: FloatArray = np.add.reduce(columns, axis=-1) / self.count
        return gradient

    def gradient_error(self, w: FloatArray) -> FloatArray:
        """Bound the rounding of a mean of m vectors of the unit ball, each of which is rounded itself."""
        d = self.points.shape[-1]
        return np.full(w.shape[0], 2.0 * (np.sqrt(d) * summation_error(self.count) + (d + 8) * UNIT_ROUNDOFF))

    def duality_gap(self, w: FloatArray, at: Evaluation, point: FloatArray, error: FloatArray) -> FloatArray:  # noqa: ARG002  the interface
        """Bound the mean of ``‖r‖ − <u, r>`` for ``r = w − z``, each term at least 0, without cancellation.

        A term is ``(‖r‖/2)(‖q‖² + 1 − ‖u‖²)`` with ``q = r/‖r‖ − u``; if r is off by a vector of length e it grows
        by at most ``‖q‖e + min(2e, e²/‖r‖)``. A u that was cut to length 1 stands for the exact unit vector.
        """
        d = self.points.shape[-1]
        offset = point[:, None, :] - self.points
        length = euclidean_norm(offset)
        unit = offset / np.where(length > 0.0, length, 1.0)[..., None]
        turned = euclidean_norm(unit - at.dual) + 2.0 * (d + 8) * UNIT_ROUNDOFF
        room = (
            np.maximum(1.0 - np.einsum("rmd,rmd->rm", at.dual, at.dual), 0.0) + 2.0 * (d + 4) * UNIT_ROUNDOFF
        )
        inside = np.where(at.curvature[..., 1] > 0.0, 0.0, room)
        reach = error[:, None] + 2.0 * UNIT_ROUNDOFF * length
        terms = 0.5 * length * (np.square(turned) + inside) + turned * reach
        terms += np.minimum(2.0 * reach, np.square(reach) / np.maximum(length, 0.25 * reach + 1e-300))
        return np.asarray(np.mean(terms, axis=-1) * (1.0 + 1e-9))
