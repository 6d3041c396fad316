"""Support functions: linear functions maximised over a convex set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, L1Ball, L2Ball, Simplex
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm
from dpsco_verify.problems.losses.loss import inner_product

if TYPE_CHECKING:
    from dpsco_verify.arrays import FloatArray
    from dpsco_verify.geometry import ConvexSet

# Steps of the proximal point method where nothing but the projection is known, and their length in radii of the set.
_STEPS = 200
_STEP_LENGTH = 4.0


@dataclass(frozen=True, eq=False)
class Support:
    """A maximiser of ``<g, u>`` over ``u ∈ W``, and a number that the maximum does not exceed.

    `closed_form` says whether the point is the maximiser up to rounding; else it is near it, and the bound says how
    near.
    """

    point: FloatArray
    upper_bound: float
    closed_form: bool


def support(convex_set: ConvexSet, direction: FloatArray) -> Support:
    """Return the support of the set in a direction, shape ``(d,)``.

    Closed forms for the Euclidean ball, the l1 ball, the box and the simplex; see :func:`_support_by_projections` for
    any other bounded set.

    Raises
    ------
    InputError
        If the set is unbounded and the direction is not 0.
    """
    if not direction.any():
        return Support(convex_set.project(np.zeros_like(direction)), 0.0, closed_form=True)
    if not np.isfinite(convex_set.max_norm):
        raise InputError(
            f"max_norm={convex_set.max_norm!r}: the set is unbounded and so may be the risk; give a bounded set"
        )
    # Scaling by a power of two is exact, and takes directions near the ends of the doubles out of danger.
    _, exponent = np.frexp(np.max(np.abs(direction)))
    found = _support_of_moderate(convex_set, np.ldexp(direction, -exponent))
    # Only a result below the normal doubles is rounded here, by less than the smallest double.
    upper_bound = np.nextafter(np.ldexp(found.upper_bound, exponent), np.inf)
    return replace(found, upper_bound=float(upper_bound))


def _support_of_moderate(convex_set: ConvexSet, direction: FloatArray) -> Support:
    """Return the support of a bounded set in a direction whose largest entry is in [1/2, 1)."""
    reach = convex_set.max_norm
    match convex_set:
        case L2Ball():
            point = convex_set.center + convex_set.radius * (direction / euclidean_norm(direction))
        case L1Ball():
            point = np.array(convex_set.center)
            largest = np.argmax(np.abs(direction))
            point[largest] += np.copysign(convex_set.radius, direction[largest])
        case Box():
            point = np.where(direction > 0, convex_set.high, convex_set.low)
        case Simplex():
            point = np.zeros_like(direction)
            point[np.argmax(direction)] = convex_set.total
        case _:
            return _support_by_projections(convex_set, direction)
    return Support(
        point, float(inner_product(direction, point)) + _rounding(direction, reach), closed_form=True
    )


def _support_by_projections(convex_set: ConvexSet, direction: FloatArray) -> Support:
    """Return the support from the projection alone, by the proximal point method ``w' = Π(w + t·g)``.

    The projection's inequality ``<w + t·g − w', u − w'> ≤ 0`` gives ``<g, u> ≤ <g, w'> + ‖w' − w‖·D/t`` for all ``u``
    in the set. On polyhedra the steps end after finitely many, with a bound that is tight.
    """
    reach, diameter, length = convex_set.max_norm, convex_set.diameter, float(euclidean_norm(direction))
    t = _STEP_LENGTH * reach / length
    w = convex_set.project(np.zeros_like(direction))
    best = Support(w, length * reach, closed_form=False)
    for _ in range(_STEPS if t > 0.0 else 0):
        target = w + t * direction
        error = float(convex_set.projection_error(target))
        following = convex_set.project(target)
        moved = float(euclidean_norm(following - w))
        w = following
        upper_bound = float(inner_product(direction, w)) + error * length + (moved + error) * diameter / t
        if upper_bound < best.upper_bound:
            best = Support(w, upper_bound, closed_form=False)
        if moved <= 2.0 * error:
            break
    return replace(best, upper_bound=best.upper_bound + _rounding(direction, reach))


def _rounding(direction: FloatArray, reach: float) -> float:
    """Return a bound on the rounding of an inner product of the direction with a point of the set."""
    return 2.0 * (direction.size + 16) * UNIT_ROUNDOFF * float(euclidean_norm(direction)) * reach
