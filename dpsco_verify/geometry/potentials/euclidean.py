"""The Euclidean potential, with which mirror descent is gradient descent."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.convex_set import ConvexSet
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.geometry.potentials.potential import (
    Potential,
    checked,
    relative_divergence_error,
    representable,
    require_dimension,
)


class Euclidean(Potential):
    """``Phi(x) = 1/2 ||x||_2^2``, its own conjugate; 1-strongly convex in l2 on R^d."""

    strong_convexity = 1.0  # in l2, everywhere

    def __repr__(self) -> str:
        return "Euclidean()"

    def norm(self, x: ArrayLike) -> FloatArray:
        """Return ``||x||_2``."""
        return euclidean_norm(checked("x", x))

    def dual_norm(self, y: ArrayLike) -> FloatArray:
        """Return ``||y||_2``."""
        return euclidean_norm(checked("y", y))

    def value(self, x: ArrayLike) -> FloatArray:
        """Return ``1/2 ||x||_2^2``."""
        with np.errstate(over="ignore"):
            return representable("Phi(x)", 0.5 * euclidean_norm(checked("x", x)) ** 2)

    def gradient(self, x: ArrayLike) -> FloatArray:
        """Return x."""
        return checked("x", x).copy()

    def conjugate(self, y: ArrayLike) -> FloatArray:
        """Return ``1/2 ||y||_2^2``."""
        return self.value(y)

    def conjugate_gradient(self, y: ArrayLike) -> FloatArray:
        """Return y."""
        return checked("y", y).copy()

    def divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``1/2 ||x - y||_2^2``."""
        return self.value(checked("x", x) - checked("y", y))

    def conjugate_divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``1/2 ||x - y||_2^2``."""
        return self.divergence(x, y)

    def divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``(2 summation_error(d) + 256u) D_Phi(x || y)``."""
        return np.asarray(relative_divergence_error(x) * self.divergence(x, y))

    def conjugate_divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``(2 summation_error(d) + 256u) D_Phi*(x || y)``."""
        return self.divergence_error(x, y)

    def tilted_minimiser(self, convex_set: ConvexSet, tilt: ArrayLike) -> FloatArray:
        """Return the projection of `tilt`."""
        theta = checked("tilt", tilt)
        require_dimension("tilt", theta, convex_set)
        return convex_set.project(theta)

    def bregman_projection(self, convex_set: ConvexSet, y: ArrayLike) -> FloatArray:
        """Return the Euclidean projection of `y`."""
        return self.tilted_minimiser(convex_set, y)
