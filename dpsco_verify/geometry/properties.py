"""Properties that every convex set and every potential must have, as checks for the shipped ones and for your own.

Each check takes arbitrary points of shape (d,) and raises :class:`PropertyViolation` with the numbers when the property
fails by more than floating-point arithmetic explains. The tolerances follow from the bounds that the objects state
(``rounding`` and ``projection_error`` of a set, the error bounds of a potential); none is a free parameter. Below,
``P`` is the exact projection, ``w`` the computed one with ``||w - P(x)|| <= rho(x) = projection_error(x)``,
u = 2^-53, and S = ``summation_error(d)`` bounds the relative error of a sum of products.

A Hypothesis test of a set of your own::

    @given(st.data())
    def test_my_set(data):
        points = data.draw(vectors(MY_SET.dimension)), data.draw(vectors(MY_SET.dimension))
        check_convex_set(MY_SET, *points)
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.geometry.convex_set import ConvexSet
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm, summation_error
from dpsco_verify.geometry.potential_properties import (
    check_divergence_duality,
    check_fenchel_young,
    check_gradient_inverse,
    check_potential,
    check_pythagorean_inequality,
    check_strong_convexity,
    check_three_point_identity,
)
from dpsco_verify.geometry.property_violation import PropertyViolation, require
from dpsco_verify.validation import require_finite_array

__all__ = [
    "PropertyViolation",
    "check_batch_independence",
    "check_convex_set",
    "check_divergence_duality",
    "check_extent",
    "check_fenchel_young",
    "check_gradient_inverse",
    "check_idempotence",
    "check_membership",
    "check_non_expansiveness",
    "check_potential",
    "check_pythagorean_inequality",
    "check_strong_convexity",
    "check_three_point_identity",
    "check_variational_inequality",
]


def check_membership(convex_set: ConvexSet, x: ArrayLike) -> None:
    """``w`` lies in W, and x itself is no further outside than w is away.

    Tolerances: those that ``contains`` documents; ``violation(x) <= ||x - w||`` up to ``rho(x)``, W's rounding at w and
    ``(S + 4u)`` times the distance and the violation.
    """
    w = convex_set.project(x)
    require(
        "membership of the projection",
        convex_set,
        excess=float(convex_set.violation(w)),
        allowed=float(convex_set.rounding(w)),
    )
    if not convex_set.contains(w):
        raise PropertyViolation(f"contains refuses a projection of {convex_set!r} that violates nothing")
    distance, violation = float(euclidean_norm(np.asarray(x) - w)), float(convex_set.violation(x))
    slack = (
        float(convex_set.projection_error(x)) + float(convex_set.rounding(w)) + float(convex_set.rounding(x))
    )
    relative = summation_error(convex_set.dimension) + 4 * UNIT_ROUNDOFF
    require(
        "violation at most the distance",
        convex_set,
        excess=violation - distance,
        allowed=slack + relative * (distance + violation),
    )


def check_idempotence(convex_set: ConvexSet, x: ArrayLike) -> None:
    """``P(P(x)) = P(x)``: the second projection moves w by at most ``2 rho(x) + rho(w)``.

    As ``P(P(x)) = P(x)`` and P is non-expansive, ``||P(w) - P(x)|| <= rho(x)``; each computed point adds its own error.
    """
    w = convex_set.project(x)
    moved = float(euclidean_norm(convex_set.project(w) - w))
    allowed = 2 * float(convex_set.projection_error(x)) + float(convex_set.projection_error(w))
    require("idempotence", convex_set, excess=moved, allowed=allowed * _norm_factor(convex_set))


def check_non_expansiveness(convex_set: ConvexSet, x: ArrayLike, y: ArrayLike) -> None:
    """``||P(x) - P(y)|| <= ||x - y||``, up to ``rho(x) + rho(y)`` and the rounding of the two norms."""
    before = float(euclidean_norm(np.asarray(x, dtype=np.float64) - np.asarray(y)))
    after = float(euclidean_norm(convex_set.project(x) - convex_set.project(y)))
    own = float(convex_set.projection_error(x)) + float(convex_set.projection_error(y))
    require(
        "non-expansiveness",
        convex_set,
        excess=after - before * _norm_factor(convex_set),
        allowed=own * _norm_factor(convex_set) + 4 * UNIT_ROUNDOFF * after,
    )


def check_variational_inequality(convex_set: ConvexSet, x: ArrayLike, z: ArrayLike) -> None:
    """``<x - P(x), v - P(x)> <= 0`` for every v in W, here the projection of z and a member next to w.

    For unit vectors along ``a = x - w`` and ``b = v - w``, the cosine is at most ``(rho(x) + rho(z)) / ||b||``
    times ``1 + rho(x) / ||a||`` plus ``rho(x) / ||a||``, and ``2S + 8u`` for its own evaluation. The second member
    is the projection of the point that lies 16 rho(x) from w towards x: it shows when w stops short of the boundary.
    """
    w = convex_set.project(x)
    a = np.asarray(x, dtype=np.float64) - w
    length_a, rho = float(euclidean_norm(a)), float(convex_set.projection_error(x))
    if length_a == 0:
        return
    next_to_w = w + 16 * max(rho, UNIT_ROUNDOFF * float(euclidean_norm(w))) * (a / length_a)
    for point in (z, next_to_w):
        b = convex_set.project(point) - w
        length_b, rho_v = float(euclidean_norm(b)), float(convex_set.projection_error(point))
        if length_b == 0:
            continue
        cosine = float(np.sum(a / length_a * (b / length_b)))
        allowed = (rho + rho_v) / length_b * (1 + rho / length_a) + rho / length_a
        own = 2 * summation_error(convex_set.dimension) + 8 * UNIT_ROUNDOFF
        require("the variational inequality", convex_set, excess=cosine, allowed=allowed + own)


def check_extent(convex_set: ConvexSet, x: ArrayLike, y: ArrayLike) -> None:
    """Members are at most `diameter` apart and at most `max_norm` long, up to their errors."""
    v, w = convex_set.project(x), convex_set.project(y)
    own = float(convex_set.projection_error(x)) + float(convex_set.projection_error(y))
    factor = _norm_factor(convex_set)
    for name, length, extent in (
        ("the diameter", float(euclidean_norm(v - w)), convex_set.diameter),
        ("max_norm", float(euclidean_norm(v)), convex_set.max_norm),
    ):
        require(name, convex_set, excess=length - extent * factor, allowed=own * factor)


def check_batch_independence(convex_set: ConvexSet, x: ArrayLike, y: ArrayLike) -> None:
    """Rows of a batch are projected bit for bit as they are alone, and the arguments stay as they are.

    For projections that are made of sums along the last axis, differences, products, quotients and square roots: these
    have the same bits everywhere. What goes through logarithms (:class:`LpBall`) or matrix products has not.
    """
    rows = np.stack(
        [require_finite_array("x", x), require_finite_array("y", y), require_finite_array("x", x)]
    )
    before = rows.copy()
    together = convex_set.project(rows)
    alone = np.stack([convex_set.project(row) for row in before])
    strided = convex_set.project(np.asfortranarray(rows))
    deep = convex_set.project(rows[np.newaxis, :, np.newaxis])[0, :, 0]
    for name, other in (("alone", alone), ("column-major", strided), ("in more axes", deep)):
        if together.tobytes() != np.ascontiguousarray(other).tobytes():
            raise PropertyViolation(f"{convex_set!r} projects a row differently in a batch and {name}")
    if rows.tobytes() != before.tobytes() or np.shares_memory(together, rows):
        raise PropertyViolation(f"{convex_set!r} writes to, or hands out, the array that it was given")


def check_convex_set(convex_set: ConvexSet, x: ArrayLike, y: ArrayLike, *, bitwise: bool = True) -> None:
    """Run every check of sets on x and y; `bitwise` includes :func:`check_batch_independence`, which says for which."""
    check_membership(convex_set, x)
    check_idempotence(convex_set, x)
    check_non_expansiveness(convex_set, x, y)
    check_variational_inequality(convex_set, x, y)
    check_extent(convex_set, x, y)
    if bitwise:
        check_batch_independence(convex_set, x, y)


def _norm_factor(convex_set: ConvexSet) -> float:
    """``1 + S + 4u``: rounding of a difference and its norm."""
    return 1 + summation_error(convex_set.dimension) + 4 * UNIT_ROUNDOFF
