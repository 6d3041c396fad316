"""Bregman divergences and projections."""

from __future__ import annotations

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet
from dpsco_verify.geometry.potentials.potential import Potential


def bregman_divergence(potential: Potential, x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return ``D_Phi(x || y) = Phi(x) - Phi(y) - <grad Phi(y), x - y>``, shape (...), for `x`, `y` of shape (..., d).

    The shipped potentials use forms without cancellation, so that the relative error stays small for x close
    to y.

    Raises
    ------
    InputError
        When an argument is off the domain, or the divergence is above the largest double.
    """
    return potential.divergence(x, y)


def conjugate_divergence(potential: Potential, x: ArrayLike, y: ArrayLike) -> FloatArray:
    """Return ``D_Phi*(x || y)``, shape (...), for dual vectors `x`, `y` of shape (..., d).

    ``D_Phi(x || y) = D_Phi*(grad Phi(y) || grad Phi(x))``. Errors as for :func:`bregman_divergence`.
    """
    return potential.conjugate_divergence(x, y)


def bregman_projection(potential: Potential, convex_set: ConvexSet, y: ArrayLike) -> FloatArray:
    """Return ``argmin_{w in W} D_Phi(w || y)``, shape (..., d), for `y` of shape (..., d) in the domain's interior.

    The Euclidean projection for the Euclidean potential; for negative entropy, normalisation on the simplex
    and clipping on a box; elsewhere one-dimensional roots or a solver certified by the variational inequality
    (:func:`dpsco_verify.geometry.dual_solver.minimise_by_dual_ascent`).

    Raises
    ------
    InputError
        When shapes do not fit, `y` is off the domain, or W misses the domain.
    ConvergenceError
        When the solver cannot certify its result.
    """
    return potential.bregman_projection(convex_set, y)
