"""The interface of a potential (distance-generating function) for mirror descent."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.convex_set import LARGEST_COORDINATE, ConvexSet
from dpsco_verify.geometry.dual_solver import minimise_by_dual_ascent
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, summation_error
from dpsco_verify.validation import require_finite_array


class Potential(ABC):
    """A strictly convex Phi with its Fenchel conjugate Phi*.

    Every method takes arrays of shape (..., d), any d, and is vectorised over the leading axes: values and
    norms have shape (...), gradients (..., d). Results that are above the largest double raise InputError.

    A potential of your own derives from this class and implements the abstract methods;
    `dpsco_verify.geometry.properties` checks the result.
    """

    @property
    @abstractmethod
    def strong_convexity(self) -> float:
        """The constant alpha of ``D_Phi(x || y) >= alpha/2 ||x - y||^2``; each class states where and in which norm."""

    @abstractmethod
    def norm(self, x: ArrayLike) -> FloatArray:
        """Return ``||x||``, the norm that the strong convexity is with respect to."""

    @abstractmethod
    def dual_norm(self, y: ArrayLike) -> FloatArray:
        """Return ``||y||_* = sup {<y, x> : ||x|| <= 1}``."""

    @abstractmethod
    def value(self, x: ArrayLike) -> FloatArray:
        """Return ``Phi(x)``."""

    @abstractmethod
    def gradient(self, x: ArrayLike) -> FloatArray:
        """Return ``grad Phi(x)``."""

    @abstractmethod
    def conjugate(self, y: ArrayLike) -> FloatArray:
        """Return ``Phi*(y) = sup_x <y, x> - Phi(x)``."""

    @abstractmethod
    def conjugate_gradient(self, y: ArrayLike) -> FloatArray:
        """Return ``grad Phi*(y)``, the inverse of `gradient`."""

    def divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``D_Phi(x || y) = Phi(x) - Phi(y) - <grad Phi(y), x - y>``, at least 0.

        This default loses the digits that cancel when x is close to y; the shipped potentials override it.
        """
        x, y = checked("x", x), checked("y", y)
        plain = self.value(x) - self.value(y) - np.sum(self.gradient(y) * (x - y), axis=-1)
        return np.asarray(np.maximum(plain, 0.0))

    def conjugate_divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``D_Phi*(x || y) = Phi*(x) - Phi*(y) - <grad Phi*(y), x - y>``, at least 0; as `divergence`."""
        x, y = checked("x", x), checked("y", y)
        plain = self.conjugate(x) - self.conjugate(y) - np.sum(self.conjugate_gradient(y) * (x - y), axis=-1)
        return np.asarray(np.maximum(plain, 0.0))

    def tilted_minimiser(self, convex_set: ConvexSet, tilt: ArrayLike) -> FloatArray:
        """Return ``argmin_{w in W} Phi(w) - <theta, w>`` for each row theta of `tilt`, shape (..., d).

        With ``theta = grad Phi(w) - eta g`` this is the step of mirror descent, with ``theta = -eta sum g``
        that of dual averaging, with theta = 0 the minimiser of Phi over W. Closed forms and one-dimensional
        roots where the pair allows; otherwise dual ascent, certified by the variational inequality.

        Raises
        ------
        InputError
            When the last axis of `tilt` is not the set's dimension or W misses the domain of Phi.
        ConvergenceError
            When the solver cannot certify a minimiser.
        """
        theta = checked("tilt", tilt)
        require_dimension("tilt", theta, convex_set)
        rows = theta.reshape(-1, convex_set.dimension)
        solved = np.empty_like(rows)
        for i, row in enumerate(rows):
            solved[i] = self._tilted_minimiser(convex_set, row)
        return solved.reshape(theta.shape)

    def bregman_projection(self, convex_set: ConvexSet, y: ArrayLike) -> FloatArray:
        """Return ``argmin_{w in W} D_Phi(w || y)`` for each row of `y`, shape (..., d); rows in W stay as they are."""
        y = checked("y", y)
        require_dimension("y", y, convex_set)
        projected = y.copy()
        outside = ~convex_set.contains(y)
        projected[outside] = self.tilted_minimiser(convex_set, self.gradient(y[outside]))
        return projected

    def gradient_rounding(self, x: ArrayLike) -> FloatArray:
        """Return a bound, shape (..., d), on the error of each entry of ``gradient(x)``.

        It includes that of relative errors u in the entries of x; by default
        ``(summation_error(d) + 8u) |grad Phi(x)|``.
        """
        gradient = self.gradient(x)
        return np.asarray((summation_error(gradient.shape[-1]) + 8 * UNIT_ROUNDOFF) * np.abs(gradient))

    def inverse_rounding(self, x: ArrayLike) -> FloatArray:
        """Return a bound, shape (..., d), on the error of each entry of ``conjugate_gradient(gradient(x))``.

        By default ``2 (summation_error(d) + 8u) |x|``.
        """
        x = checked("x", x)
        return np.asarray(2 * (summation_error(x.shape[-1]) + 8 * UNIT_ROUNDOFF) * np.abs(x))

    def divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return a bound, shape (...), on the error of ``divergence(x, y)``.

        By default that of the default formula:
        ``(2 summation_error(d) + 16u) (|Phi(x)| + |Phi(y)| + sum |g_i (x_i - y_i)|)`` with ``g = grad Phi(y)``.
        """
        x, y = checked("x", x), checked("y", y)
        size = (
            np.abs(self.value(x))
            + np.abs(self.value(y))
            + np.sum(np.abs(self.gradient(y) * (x - y)), axis=-1)
        )
        return np.asarray((2 * summation_error(x.shape[-1]) + 16 * UNIT_ROUNDOFF) * size)

    def conjugate_divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return a bound, shape (...), on the error of ``conjugate_divergence(x, y)``; as `divergence_error`."""
        x, y = checked("x", x), checked("y", y)
        slope = np.sum(np.abs(self.conjugate_gradient(y) * (x - y)), axis=-1)
        size = np.abs(self.conjugate(x)) + np.abs(self.conjugate(y)) + slope
        return np.asarray((2 * summation_error(x.shape[-1]) + 16 * UNIT_ROUNDOFF) * size)

    def strong_convexity_between(self, x: ArrayLike, y: ArrayLike) -> FloatArray | float:  # noqa: ARG002  a constant here
        """Return a constant, shape (...), with which Phi is strongly convex on a convex set that holds x and y."""
        return self.strong_convexity

    def _tilted_minimiser(self, convex_set: ConvexSet, tilt: FloatArray) -> FloatArray:
        """Minimise for one checked row of shape (d,)."""
        return minimise_by_dual_ascent(self, convex_set, tilt)


def relative_divergence_error(x: ArrayLike) -> float:
    """Return ``2 summation_error(d) + 256u``, the relative error of divergences that are sums without cancellation.

    On every processor exp, log and their kin are right to two units in the last place, 4u. A term's remainder is at
    least 1/16 of what it is the difference of (:mod:`dpsco_verify.geometry.potentials.remainders`): two functions and
    three roundings, ``16·11u``; the powers and the products around it take the rest.
    """
    return 2 * summation_error(np.shape(x)[-1]) + 256 * UNIT_ROUNDOFF


def checked(name: str, value: ArrayLike) -> FloatArray:
    """Return `value` as C-contiguous finite doubles with at least one axis that is not empty."""
    array = np.ascontiguousarray(require_finite_array(name, value))
    if np.ndim(value) == 0 or array.shape[-1] == 0:
        raise InputError(f"{name}.shape={np.shape(value)} does not fit; give vectors of shape (..., d)")
    if not (np.abs(array) <= LARGEST_COORDINATE).all():
        raise InputError(f"{name} has entries above {LARGEST_COORDINATE:g} in magnitude; rescale the problem")
    return array


def require_dimension(name: str, array: FloatArray, convex_set: ConvexSet) -> None:
    """Raise unless the last axis of `array` fits the set."""
    if array.shape[-1] != convex_set.dimension:
        raise InputError(
            f"{name}.shape={array.shape} does not fit the set; give vectors of shape (..., {convex_set.dimension})"
        )


def representable(name: str, value: FloatArray) -> FloatArray:
    """Return `value`, or raise when it overflowed."""
    if not np.isfinite(value).all():
        raise InputError(f"{name} is above the largest double; rescale the problem")
    return np.asarray(value)
