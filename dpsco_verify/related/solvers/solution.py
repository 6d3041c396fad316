"""What a certified solver answers, the error when it cannot, and what both solvers end with: a projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm

UNDERFLOW = 1e-300
"""More than all products in a certificate's sums can lose by underflow together."""


class SolverError(RuntimeError):
    """A solver that could not certify the accuracy that was asked for; nothing may be released then."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CertifiedPoint:
    """For each run a point near the minimiser ``w*`` of its objective, and how near.

    Attributes
    ----------
    point
        ``w``, shape ``(R, d)``.
    gap
        An upper bound on ``G(w) − min_W G``, rounding included, shape ``(R,)``.
    distance
        An upper bound on ``‖w − w*‖₂``, rounding included, shape ``(R,)``.
    gradient_queries
        The evaluations of a loss and its derivatives at one data point, shape ``(R,)``.
    """

    point: FloatArray
    gap: FloatArray
    distance: FloatArray
    gradient_queries: FloatArray


class Offset(NamedTuple):
    """How far a computed ``Π(v)`` may be off, each of shape ``(R,)``.

    Attributes
    ----------
    rounding
        A bound on the distance of the computed point from W.
    total
        A bound on its distance from the exact ``Π(v)``.
    outside
        A bound on the distance of the exact v from W.
    """

    rounding: FloatArray
    total: FloatArray
    outside: FloatArray


def projected(
    convex_set: ConvexSet,
    weight: float,
    middle: FloatArray,
    rounding: FloatArray,
    gradient: FloatArray,
    gradient_error: FloatArray,
) -> tuple[FloatArray, Offset]:
    """Return ``Π(v)`` for ``v = middle − gradient/λ``, where both may be off by as much as stated."""
    v = middle - gradient / weight
    moved = rounding + gradient_error / weight
    moved = moved + 4.0 * UNIT_ROUNDOFF * (euclidean_norm(gradient) / weight + euclidean_norm(v))
    point = convex_set.project(v)
    error = convex_set.projection_error(v)
    outside = euclidean_norm(v - point) * (1.0 + 1e-12) + moved + error
    return point, Offset(error, moved + error, outside)


def projection_gap(weight: float, off: FloatArray, outside: FloatArray) -> FloatArray:
    """Bound ``(λ/2)(‖u − v‖² − ‖Π(v) − v‖²)`` for a u within `off` of ``Π(v)``, v within `outside` of W."""
    return weight * off * (0.5 * off + outside) + UNDERFLOW
