"""The affine subspace."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import qr, solve_triangular

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.convex_set import LARGEST_SCALE, ConvergenceError, ConvexSet, shown
from dpsco_verify.geometry.norms import SMALLEST_NORMAL, UNIT_ROUNDOFF, euclidean_norm, maximum_norm
from dpsco_verify.validation import require_finite_array

_MAX_PASSES = 50


class AffineSubspace(ConvexSet):
    """``{w : A w = b}``.

    Parameters
    ----------
    matrix
        A, shape (m, d); rows may repeat or depend on one another.
    rhs
        b, shape (m,).

    Notes
    -----
    The rows are scaled to length 1 and factorised by QR with pivoting, ``A' = Q R P'``; the numerical rank k
    counts diagonal entries of R above ``8 max(m, d) u |R_00|``. Projection: ``x - Q (Q'x - y)`` where ``Q y``
    is the point of W of least norm, repeated until the equations hold to half of
    ``rounding(w) = 8 (m + d) u (||w||_2 + ||Q y||_2)`` at the result w.

    Raises
    ------
    InputError
        When the shapes do not fit, or the equations contradict each other.
    """

    def __init__(self, matrix: ArrayLike, rhs: ArrayLike) -> None:
        self.matrix = np.array(require_finite_array("matrix", matrix, shape=(None, None)))
        rows, columns = self.matrix.shape
        super().__init__(columns)
        self.rhs = np.array(require_finite_array("rhs", rhs, shape=(rows,)))
        lengths = euclidean_norm(self.matrix) if rows else np.zeros(0)
        with np.errstate(over="ignore"):
            distances = self.rhs / np.where(lengths > 0, lengths, 1.0)
        if (np.abs(distances) > LARGEST_SCALE).any():
            raise InputError(
                f"rhs puts a plane further than {LARGEST_SCALE:g} from the origin; rescale the problem"
            )
        if ((lengths == 0) & (self.rhs != 0)).any():
            position = int(np.argmax((lengths == 0) & (self.rhs != 0)))
            raise InputError(
                f"rhs[{position}]={self.rhs[position]!r} stands against a row of zeros; no point fits"
            )
        self._rows = self.matrix[lengths > 0] / lengths[lengths > 0, np.newaxis]
        self._distances = distances[lengths > 0]
        self.basis, self._coordinates = self._factorise()
        self.least_norm_point: FloatArray = self.basis @ self._coordinates
        for array in (self.matrix, self.rhs, self.basis, self.least_norm_point):
            array.setflags(write=False)
        self._relative_slack = 8 * (rows + columns) * UNIT_ROUNDOFF
        self._reach = float(euclidean_norm(self.least_norm_point))
        misfit = float(self._violation(self.least_norm_point))
        if misfit > self._rounding(self.least_norm_point) / 2:
            raise InputError(
                f"rhs contradicts itself: the best point misses a plane by {misfit:g}; give rhs = matrix @ w"
            )

    def __repr__(self) -> str:
        return f"AffineSubspace(matrix={shown(self.matrix)}, rhs={shown(self.rhs)})"

    @property
    def rank(self) -> int:
        """Numerical rank k of A, where the subspace has dimension d - k."""
        return int(self.basis.shape[1])

    @property
    def diameter(self) -> float:
        """Infinite, or 0 for the single point that is left when A has rank d."""
        return 0.0 if self.rank == self.dimension else math.inf

    @property
    def max_norm(self) -> float:
        """Infinite, or the norm of the single point that is left when A has rank d."""
        return self._reach if self.rank == self.dimension else math.inf

    def _factorise(self) -> tuple[FloatArray, FloatArray]:
        """Return Q, shape (d, k), with orthonormal columns that span the rows, and y, shape (k,)."""
        if not self._rows.size:
            return np.zeros((self.dimension, 0)), np.zeros(0)
        q, r, order = qr(self._rows.T, mode="economic", pivoting=True)
        diagonal = np.abs(np.diagonal(r))
        rank = int((diagonal > 8 * max(self._rows.shape) * UNIT_ROUNDOFF * diagonal[0]).sum())
        y = solve_triangular(r[:rank, :rank], self._distances[order[:rank]], trans="T")
        return np.ascontiguousarray(q[:, :rank]), y

    def _project(self, x: FloatArray) -> FloatArray:
        projected = x.copy()
        off = np.ones(x.shape[:-1], dtype=np.bool_)
        for _ in range(_MAX_PASSES):
            moved = projected - (projected @ self.basis - self._coordinates) @ self.basis.T
            projected = np.where(off[..., np.newaxis], moved, projected)
            off = np.asarray(self._violation(projected) > self._rounding(projected) / 2)
            if not off.any():
                return projected
        raise ConvergenceError(
            f"{self!r} is too badly conditioned to project onto; give rows that are further from dependent"
        )

    def _violation(self, x: FloatArray) -> FloatArray:
        if not self._rows.size:
            return np.zeros(x.shape[:-1])
        return maximum_norm(x @ self._rows.T - self._distances)

    def _rounding(self, x: FloatArray) -> FloatArray:
        return np.asarray(self._relative_slack * (euclidean_norm(x) + self._reach) + SMALLEST_NORMAL)
