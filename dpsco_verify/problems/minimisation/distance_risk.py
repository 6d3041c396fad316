"""The mean distance to finitely many points, its lower bounds from dual directions, and its smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.problems.losses.euclidean_distance import EuclideanDistance
from dpsco_verify.problems.minimisation.smoothed_risk import DualBound, SmoothedRisk
from dpsco_verify.problems.minimisation.support import support

if TYPE_CHECKING:
    from dpsco_verify.geometry import ConvexSet
    from dpsco_verify.problems.minimisation.domain import Domain

_SMALLEST_PROBABILITY = 1e-12
_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False)
class DistanceRisk:
    """``F(w) = Σ p_i ‖w − z_i‖₂``.

    Attributes
    ----------
    points, probabilities
        ``z`` and ``p``, shapes ``(N, d)`` and ``(N,)``.
    """

    points: FloatArray
    probabilities: FloatArray

    def lower_bound(self, directions: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return a bound that ``F`` does not undercut on the set, from any ``u_i`` with ``‖u_i‖₂ ≤ 1`` to rounding.

        ``‖w − z_i‖ ≥ <u_i, w − z_i>``, so that ``F(w) ≥ <g, w> − Σ p_i <u_i, z_i>`` with ``g = Σ p_i u_i``, and
        ``min_{w∈W} <g, w> = -h_W(-g)`` with the set's support function ``h_W``.

        A sum of ``n`` terms, each rounded ``c`` times, is off by at most ``(n + c)u/(1 − (n + c)u)`` times the sum
        of their absolute values (Higham, *Accuracy and Stability of Numerical Algorithms*, Sec. 3.1), ``u`` the unit
        roundoff; with ``‖u_i‖ ≤ 1`` these come to at most ``max_W ‖w‖ + Σ p_i ‖z_i‖``. A direction that is longer than
        1 by ``c`` roundings costs ``c·u`` times the same. Twice that, with a generous ``c``, is taken off.
        """
        count, dimension = self.points.shape
        weighted = self.probabilities[:, None] * directions
        g = np.add.reduce(weighted, axis=0)
        upper_bound = support(convex_set, -g).upper_bound
        lengths = euclidean_norm(self.points)
        size = float(convex_set.max_norm + np.add.reduce(self.probabilities * lengths))
        underflow = count * dimension * _TINY * (1.0 + convex_set.max_norm + float(np.max(lengths)))
        margin = 2.0 * (count + dimension + 64) * UNIT_ROUNDOFF * size + underflow
        constant = math.fsum((weighted * self.points).ravel())
        return DualBound(float(-constant - upper_bound - margin), margin)


@dataclass(frozen=True, eq=False)
class SmoothedDistanceRisk(SmoothedRisk):
    """``Σ p_i φ_{μ/p_i}(w − z_i)`` with ``φ_μ(r) = max_{‖u‖<1} {<u, r> + μ·log(1 − ‖u‖²)}``, ``w = origin + Mv``.

    With ``s = √(μ² + ‖r‖²)`` the maximiser is ``u = r/(μ + s)``, ``1 − ‖u‖² = 2μ/(μ + s)``, and the Hessian of ``φ_μ``
    is ``(I − rrᵀ/(s(μ + s)))/(μ + s)``.

    No sum is a matrix product, so that the result does not depend on the number of threads.
    """

    risk: DistanceRisk
    matrix: FloatArray
    origin: FloatArray

    @classmethod
    def build(cls, risk: DistanceRisk, domain: Domain) -> SmoothedDistanceRisk:
        """Return the risk in the domain's own coordinates."""
        return cls(risk, domain.matrix, domain.origin)

    @property
    def count(self) -> int:
        """``N``."""
        return self.risk.probabilities.size

    @property
    def parameter(self) -> float:
        """``N``: each ``-log(1 − ‖u‖²)`` has the parameter 1."""
        return float(self.count)

    @property
    def scale(self) -> float:
        """The longest column of ``M``."""
        columns = np.ascontiguousarray(self.matrix.T)
        return float(np.max(euclidean_norm(columns))) if columns.shape[0] else 0.0

    def value(self, v: FloatArray, mu: float) -> float:
        """Return ``Σ p_i φ_{μ/p_i}(w − z_i)``."""
        _, norm, weight, root = self._parts(v, mu)
        largest = norm * (norm / (weight + root)) + weight * np.log(2.0 * weight / (weight + root))
        return float(np.add.reduce(self.risk.probabilities * largest))

    def derivatives(self, v: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        """Return ``Mᵀ Σ p_i u_i`` and ``Mᵀ(Σ p_i ∇²φ)M``."""
        difference, _, weight, root = self._parts(v, mu)
        inverse = 1.0 / (weight + root)
        share = self.risk.probabilities * inverse
        slope = np.einsum("nd,n->d", difference, share)
        rank_one = difference * (share * inverse / root)[:, None]
        curvature = np.add.reduce(share) * np.eye(self.origin.size) - np.einsum(
            "ni,nj->ij", rank_one, difference
        )
        half = np.einsum("ij,jm->im", curvature, self.matrix)
        return np.einsum("dm,d->m", self.matrix, slope), np.einsum("il,im->lm", self.matrix, half)

    def plain_bound(self, v: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return the bound from the distance's own subgradients."""
        return self.risk.lower_bound(
            EuclideanDistance().subgradient(self._point(v), self.risk.points), convex_set
        )

    def bound(self, v: FloatArray, mu: float, step: FloatArray, convex_set: ConvexSet) -> DualBound:
        """Return the bound from the smoothed directions, moved along the step and back into the unit ball."""
        difference, _, weight, root = self._parts(v, mu)
        inverse = 1.0 / (weight + root)
        moved = np.einsum("dm,m->d", self.matrix, step)
        along = np.einsum("nd,d->n", difference, moved) * inverse / root
        directions = (difference + moved - along[:, None] * difference) * inverse[:, None]
        directions /= np.maximum(1.0, euclidean_norm(directions))[:, None]
        return self.risk.lower_bound(directions, convex_set)

    def _point(self, v: FloatArray) -> FloatArray:
        point: FloatArray = self.origin + np.einsum("dm,m->d", self.matrix, v)
        return point

    def _parts(self, v: FloatArray, mu: float) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return ``r``, ``‖r‖``, ``μ/p_i`` and ``s``."""
        difference = self._point(v) - self.risk.points
        norm = euclidean_norm(difference)
        # Points that hardly count are smoothed less than they could be.
        weight = mu / np.maximum(self.risk.probabilities, _SMALLEST_PROBABILITY)
        return difference, norm, weight, np.hypot(weight, norm)
