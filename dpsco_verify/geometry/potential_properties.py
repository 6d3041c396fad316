"""The checks of potentials; see :mod:`dpsco_verify.geometry.properties` for how they are meant.

Below, g(x) is the computed gradient with entrywise error at most ``e(x) = gradient_rounding(x)``, and
``E(x) = inverse_rounding(x)`` bounds the entrywise change of x that an error e(x) of its gradient amounts to. Sums of d
products may each lose 2^-1022 to underflow; each tolerance includes eight times that.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet
from dpsco_verify.geometry.norms import SMALLEST_NORMAL, UNIT_ROUNDOFF, maximum_norm, summation_error
from dpsco_verify.geometry.potentials.potential import Potential
from dpsco_verify.geometry.property_violation import require


def check_fenchel_young(potential: Potential, x: ArrayLike) -> None:
    """``Phi(x) + Phi*(g) = <x, g>`` at ``g = grad Phi(x)``.

    An error of g changes both sides alike to first order; ``(2S + 64u) (|Phi| + |Phi*| + sum |x_i g_i|)`` covers the
    evaluation, and ``sum |x_i| e_i`` the rounding of g where the conjugate reads it.
    """
    x = np.asarray(x, dtype=np.float64)
    gradient = potential.gradient(x)
    value, conjugate = float(potential.value(x)), float(potential.conjugate(gradient))
    products = x * gradient
    size = abs(value) + abs(conjugate) + _total(np.abs(products))
    allowed = _relative(x) * size + _total(np.abs(x) * potential.gradient_rounding(x))
    require(
        "Fenchel-Young equality", potential, excess=abs(value + conjugate - _total(products)), allowed=allowed
    )


def check_gradient_inverse(potential: Potential, x: ArrayLike) -> None:
    """``grad Phi*(grad Phi(x)) = x``, entry by entry up to E(x)."""
    x = np.asarray(x, dtype=np.float64)
    off = np.abs(potential.conjugate_gradient(potential.gradient(x)) - x)
    worst = int(np.argmax(off - potential.inverse_rounding(x)))
    require(
        f"inversion of the gradient in coordinate {worst}",
        potential,
        excess=float(off[worst]),
        allowed=float(potential.inverse_rounding(x)[worst]) + _underflow(x),
    )


def check_three_point_identity(potential: Potential, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> None:
    """``D(x || y) + D(y || z) - D(x || z) = <g(z) - g(y), x - y>``.

    Up to the three divergences' errors, ``sum (e(y) + e(z))_i |x_i - y_i|``, and ``2S + 64u`` of the sum of all terms.
    """
    x, y, z = (np.asarray(point, dtype=np.float64) for point in (x, y, z))
    pairs = ((x, y), (y, z), (x, z))
    first, second, third = (float(potential.divergence(a, b)) for a, b in pairs)
    slopes = potential.gradient(z) - potential.gradient(y)
    products = slopes * (x - y)
    errors = sum(float(potential.divergence_error(a, b)) for a, b in pairs)
    gradients = _total((potential.gradient_rounding(y) + potential.gradient_rounding(z)) * np.abs(x - y))
    size = first + second + third + _total(np.abs(products))
    require(
        "the three-point identity",
        potential,
        excess=abs(first + second - third - _total(products)),
        allowed=errors + gradients + _relative(x) * size + _underflow(x),
    )


def check_divergence_duality(potential: Potential, x: ArrayLike, y: ArrayLike) -> None:
    """``D_Phi(x || y) = D_Phi*(g(y) || g(x))``.

    Up to both divergences' errors and twice the effect of the gradients' rounding:
    ``sum |x - y| e(y) + |g(y) - g(x)| E(x)`` to first order and ``e(x) E(x) + e(y) E(y)`` to second.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    g_x, g_y = potential.gradient(x), potential.gradient(y)
    e_x, e_y = potential.gradient_rounding(x), potential.gradient_rounding(y)
    inverse_x, inverse_y = potential.inverse_rounding(x), potential.inverse_rounding(y)
    primal, dual = float(potential.divergence(x, y)), float(potential.conjugate_divergence(g_y, g_x))
    first = _total(np.abs(x - y) * e_y + np.abs(g_y - g_x) * inverse_x)
    second = _total(e_x * inverse_x + e_y * inverse_y)
    own = float(potential.divergence_error(x, y)) + float(potential.conjugate_divergence_error(g_y, g_x))
    require(
        "duality of the divergences",
        potential,
        excess=abs(primal - dual),
        allowed=own + 2 * (first + second) + _underflow(x),
    )


def check_strong_convexity(potential: Potential, x: ArrayLike, y: ArrayLike) -> None:
    """``D_Phi(x || y) >= alpha/2 ||x - y||^2``, up to the divergence's error and ``(2S + 64u)`` of the right side."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    alpha = float(potential.strong_convexity_between(x, y))
    # The root comes first: the squared norm alone may underflow.
    bound = (np.sqrt(0.5 * alpha) * float(potential.norm(x - y))) ** 2
    require(
        "strong convexity",
        potential,
        excess=bound - float(potential.divergence(x, y)),
        allowed=float(potential.divergence_error(x, y)) + _relative(x) * bound + _underflow(x),
    )


def check_pythagorean_inequality(
    potential: Potential, convex_set: ConvexSet, y: ArrayLike, z: ArrayLike
) -> None:
    """``D(v || y) >= D(v || w) + D(w || y)`` with w the Bregman projection of y, for v in W, here the projection of z.

    The difference is ``<grad Phi(w) - grad Phi(y), v - w>``, so that the tolerance is the divergences' errors, the
    gradients' rounding ``e(w) + e(y)`` and a relative ``2S + 64u`` of the largest gradient against ``|v - w|``, and
    ``sqrt(d) ||grad Phi(w) - grad Phi(y)||_inf`` times the distances of v and w from W. It suits projections that are
    exact up to rounding: the Euclidean one, and the closed forms and roots of the other potentials.
    """
    y = np.asarray(y, dtype=np.float64)
    w, v = potential.bregman_projection(convex_set, y), convex_set.project(z)
    pairs = ((v, w), (w, y), (v, y))
    to_w, from_y, whole = (float(potential.divergence(a, b)) for a, b in pairs)
    g_w, g_y = potential.gradient(w), potential.gradient(y)
    largest = float(np.maximum(maximum_norm(g_w), maximum_norm(g_y)))
    e = potential.gradient_rounding(w) + potential.gradient_rounding(y) + _relative(y) * largest
    own = sum(float(potential.divergence_error(a, b)) for a, b in pairs)
    outside = float(convex_set.projection_error(z)) + float(convex_set.projection_error(y))
    outside += float(convex_set.rounding(w))
    slope = np.sqrt(y.size) * float(maximum_norm(g_w - g_y)) * outside
    require(
        "the generalised Pythagorean inequality",
        (potential, convex_set),
        excess=to_w + from_y - whole,
        allowed=own + _total(e * np.abs(v - w)) + slope + _underflow(y),
    )


def check_potential(potential: Potential, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> None:
    """Run every check of potentials, save that of projections, on three points of the domain's interior."""
    check_fenchel_young(potential, x)
    check_gradient_inverse(potential, x)
    check_three_point_identity(potential, x, y, z)
    check_divergence_duality(potential, x, y)
    check_strong_convexity(potential, x, y)


def _relative(x: FloatArray) -> float:
    """``2S + 64u``."""
    return 2 * summation_error(x.size) + 64 * UNIT_ROUNDOFF


def _underflow(x: FloatArray) -> float:
    return 8 * x.size * SMALLEST_NORMAL


def _total(terms: FloatArray) -> float:
    return float(np.sum(terms))
