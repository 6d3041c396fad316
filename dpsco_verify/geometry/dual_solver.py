"""Minimisation of a tilted potential over any convex set, through its dual."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.convex_set import ConvergenceError, ConvexSet
from dpsco_verify.geometry.norms import euclidean_norm, maximum_norm

SOLVER_TOLERANCE = 1e-10
"""Relative distance of the primal and the dual candidate at which the solver stops."""

_MAX_ITERATIONS = 4_000
_CHECK_EVERY = 8
_MAX_HALVINGS = 1000
_LARGEST_DUAL = 1e152
"""A dual that grows without bound is the sign of a set that misses the domain."""


class DualPotential(Protocol):
    """What the solver asks of a potential; see :class:`dpsco_verify.geometry.Potential`."""

    @property
    def strong_convexity(self) -> float:
        """Its constant."""
        ...

    def gradient(self, x: ArrayLike) -> FloatArray:
        """Return ``grad Phi``."""
        ...

    def conjugate_gradient(self, y: ArrayLike) -> FloatArray:
        """Return ``grad Phi*``."""
        ...

    def conjugate_divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``D_Phi*``."""
        ...

    def conjugate_divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return a bound on the rounding of that."""
        ...


def minimise_by_dual_ascent(potential: DualPotential, convex_set: ConvexSet, tilt: FloatArray) -> FloatArray:
    """Return ``z = argmin_{w in W} Phi(w) - <theta, w>``, shape (d,).

    The dual is to minimise ``Phi*(theta - nu) + sigma_W(nu)`` with the support function sigma_W: accelerated
    proximal gradient steps need only ``grad Phi*`` and, by Moreau's identity, the projection onto W. Each
    step gives a member z of W and a nu in the normal cone of W at z, so that ``<nu, v - z> <= 0`` for every v
    in W. It stops when one of these is at most ``SOLVER_TOLERANCE max(||z||_2, ||w||_2)`` plus four times W's
    rounding:

    - ``||w - z||_2`` with ``w = grad Phi*(theta - nu)``: for w = z, the above is the variational inequality
      ``<grad Phi(z) - theta, v - z> >= 0`` that characterises the minimiser;
    - ``||z - P_W(z - grad Phi(z) + theta)||_2``, which is 0 exactly when z satisfies that inequality; sparse
      minimisers reach this long before their dual settles.

    Raises
    ------
    ConvergenceError
        When the tolerance is not reached, such as when W touches the domain of Phi only at its boundary.
    """
    dual = previous = np.zeros_like(tilt)
    pace, step = 1.0, potential.strong_convexity
    for iteration in range(_MAX_ITERATIONS):
        next_pace = (1 + np.sqrt(1 + 4 * pace**2)) / 2
        leading = dual + (pace - 1) / next_pace * (dual - previous)
        try:
            previous, (dual, z, step, measurable) = (
                dual,
                _proximal_step(potential, convex_set, tilt, leading, step),
            )
            w = potential.conjugate_gradient(tilt - dual)
        except InputError as error:
            raise ConvergenceError(
                f"the minimiser of {potential!r} over {convex_set!r} was not found: {error}"
            ) from error
        if maximum_norm(dual) > _LARGEST_DUAL:
            break
        enough = SOLVER_TOLERANCE * max(euclidean_norm(w), euclidean_norm(z)) + 4 * convex_set.rounding(z)
        if euclidean_norm(w - z) <= enough:
            return z
        if iteration % _CHECK_EVERY == 0 and _natural_residual(potential, convex_set, tilt, z) <= enough:
            return z
        uphill = np.sum((leading - dual) * (dual - previous)) > 0
        pace = 1.0 if uphill else next_pace
        if measurable:
            # Let the step recover from a steep region that has been left.
            step *= 1.5
    raise ConvergenceError(
        f"the minimiser of {potential!r} over {convex_set!r} was not found to {SOLVER_TOLERANCE:g}; "
        "rescale the problem, or give a set that meets the interior of the potential's domain"
    )


def _natural_residual(
    potential: DualPotential, convex_set: ConvexSet, tilt: FloatArray, z: FloatArray
) -> FloatArray | float:
    """Return the second criterion, infinite where the gradient does not exist."""
    try:
        gradient = potential.gradient(z) - tilt
    except InputError:
        return np.inf
    return euclidean_norm(z - convex_set.project(z - gradient))


def _proximal_step(
    potential: DualPotential, convex_set: ConvexSet, tilt: FloatArray, leading: FloatArray, step: float
) -> tuple[FloatArray, FloatArray, float, bool]:
    """Backtrack to the quadratic upper bound of Phi*.

    Return nu, z, the step length, and whether the bound is well above the rounding of what it bounds.
    """
    w = potential.conjugate_gradient(tilt - leading)
    for _ in range(_MAX_HALVINGS):
        shifted = w + leading / step
        z = convex_set.project(shifted)
        dual = step * (shifted - z)
        allowed = float(np.sum((dual - leading) ** 2)) / (2 * step)
        try:
            grown = float(potential.conjugate_divergence(tilt - dual, tilt - leading))
            noise = float(potential.conjugate_divergence_error(tilt - dual, tilt - leading))
            if grown <= allowed + noise:
                # Where rounding decides, a longer step would be accepted without reason.
                return dual, z, step, 10 * noise <= allowed
        except InputError:
            pass  # the conjugate overflows so far out: a shorter step stays nearer
        step /= 2
    raise ConvergenceError("no step decreases the dual; rescale the problem")
