"""The negative entropy."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.box import Box
from dpsco_verify.geometry.convex_set import ConvexSet
from dpsco_verify.geometry.half_space import HalfSpace
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, absolute_norm, maximum_norm
from dpsco_verify.geometry.potentials.half_space_minimiser import minimise_over_half_space
from dpsco_verify.geometry.potentials.potential import (
    Potential,
    checked,
    relative_divergence_error,
    representable,
    require_dimension,
)
from dpsco_verify.geometry.potentials.remainders import entropy_remainder, exponential_remainder
from dpsco_verify.geometry.simplex import Simplex
from dpsco_verify.geometry.whole_space import WholeSpace

_SERIES_RADIUS = 0.125


class NegativeEntropy(Potential):
    """``Phi(w) = sum_i w_i log w_i`` on the orthant w >= 0 (0 log 0 = 0), infinite elsewhere.

    Conjugate ``sum_i exp(y_i - 1)``. 1-strongly convex in l1 on the probability simplex (Pinsker's
    inequality), and 1/s-strongly convex on ``{w >= 0, sum w <= s}``. The gradient ``1 + log w_i`` exists in
    the interior only. Arguments off the domain raise InputError; minimisation over a set that reaches off the
    orthant is over the part inside it.
    """

    strong_convexity = 1.0  # in l1, on the probability simplex

    def __repr__(self) -> str:
        return "NegativeEntropy()"

    def norm(self, x: ArrayLike) -> FloatArray:
        """Return ``||x||_1``."""
        return absolute_norm(checked("x", x))

    def dual_norm(self, y: ArrayLike) -> FloatArray:
        """Return ``||y||_inf``."""
        return maximum_norm(checked("y", y))

    def value(self, x: ArrayLike) -> FloatArray:
        """Return ``sum_i x_i log x_i``, x >= 0."""
        x = _require_orthant("x", x)
        return np.asarray(np.sum(xlogy(x, x), axis=-1))

    def gradient(self, x: ArrayLike) -> FloatArray:
        """Return ``1 + log x_i``, x > 0."""
        return np.asarray(1 + np.log(_require_interior("x", x)))

    def conjugate(self, y: ArrayLike) -> FloatArray:
        """Return ``sum_i exp(y_i - 1)``."""
        with np.errstate(over="ignore"):
            return representable("Phi*(y)", np.asarray(np.sum(np.exp(checked("y", y) - 1), axis=-1)))

    def conjugate_gradient(self, y: ArrayLike) -> FloatArray:
        """Return ``exp(y_i - 1)``."""
        with np.errstate(over="ignore"):
            return representable("grad Phi*(y)", np.exp(checked("y", y) - 1))

    def divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``sum_i x_i log(x_i / y_i) - x_i + y_i``, x >= 0, y > 0 where x > 0, also for x close to y.

        Close entries are summed as ``y ((1 + t) log(1 + t) - t)`` with ``t = (x - y) / y``, the remainder by
        its series.
        """
        x, y = np.broadcast_arrays(_require_orthant("x", x), _require_orthant("y", y))
        if ((x > 0) & (y == 0)).any():
            raise InputError("y has zeros where x has none, so that D(x || y) is infinite; give y > 0 there")
        divisor = np.where(y > 0, y, 1.0)
        with np.errstate(over="ignore"):
            t = (x - y) / divisor
            ratio = x / divisor
        near = np.abs(t) < _SERIES_RADIUS
        close = y * entropy_remainder(np.where(near, t, 0.0))
        quotient_fits = (ratio > 1e-300) & (ratio < 1e300)
        log_ratio = np.where(
            quotient_fits,
            np.log(np.where(quotient_fits, ratio, 1.0)),
            np.log(np.where(x > 0, x, 1.0)) - np.log(divisor),
        )
        with np.errstate(over="ignore"):
            far = np.where(x > 0, x * log_ratio, 0.0) - (x - y)
        return representable("D(x || y)", np.sum(np.maximum(np.where(near, close, far), 0.0), axis=-1))

    def conjugate_divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``sum_i exp(y_i - 1) (exp(t_i) - 1 - t_i)`` with t = x - y, also for x close to y."""
        x, y = np.broadcast_arrays(checked("x", x), checked("y", y))
        t = x - y
        # With t large the product overflows only when exp(x - 1) does: keep the two exponents together.
        apart = t > 1
        with np.errstate(over="ignore", invalid="ignore"):
            base = np.exp(y - 1)
            close = base * exponential_remainder(np.where(apart, 0.0, t))
            far = np.where(apart, np.exp(x - 1) - np.where(base > 0, base * (1 + t), 0.0), 0.0)
            return representable("D(x || y)", np.sum(np.maximum(np.where(apart, far, close), 0.0), axis=-1))

    def tilted_minimiser(self, convex_set: ConvexSet, tilt: ArrayLike) -> FloatArray:
        """Return ``argmin_{w in W, w >= 0} Phi(w) - <theta, w>``; on the simplex the softmax of `tilt`."""
        theta = checked("tilt", tilt)
        require_dimension("tilt", theta, convex_set)
        if isinstance(convex_set, Simplex):
            weights = np.exp(theta - theta.max(axis=-1, keepdims=True))
            return np.asarray(weights * (convex_set.total / np.sum(weights, axis=-1, keepdims=True)))
        return super().tilted_minimiser(convex_set, theta)

    def bregman_projection(self, convex_set: ConvexSet, y: ArrayLike) -> FloatArray:
        """Return the projection of each row of `y` > 0: on the simplex `y` normalised, on a box `y` clipped."""
        y = _require_interior("y", y)
        require_dimension("y", y, convex_set)
        if isinstance(convex_set, Simplex):
            share = y / y.max(axis=-1, keepdims=True)
            return np.asarray(share * (convex_set.total / np.sum(share, axis=-1, keepdims=True)))
        if isinstance(convex_set, Box):
            return _clip(convex_set, y)
        if isinstance(convex_set, WholeSpace):
            return y.copy()
        return super().bregman_projection(convex_set, y)

    def gradient_rounding(self, x: ArrayLike) -> FloatArray:
        """Return ``4u (2 + |log x_i|)``."""
        return np.asarray(4 * UNIT_ROUNDOFF * (2 + np.abs(np.log(_require_interior("x", x)))))

    def inverse_rounding(self, x: ArrayLike) -> FloatArray:
        """Return ``x`` times ``gradient_rounding(x) + 4u (2 + |log x|)``."""
        return np.asarray(2 * self.gradient_rounding(x) * np.asarray(x))

    def divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``(2 summation_error(d) + 256u) D_Phi(x || y)``."""
        return np.asarray(relative_divergence_error(x) * self.divergence(x, y))

    def conjugate_divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``(2 summation_error(d) + 64u + 4u max(|x|, |y|)) D_Phi*(x || y)``.

        The exponential turns the absolute error of its argument into a relative one.
        """
        exponents = np.maximum(maximum_norm(checked("x", x)), maximum_norm(checked("y", y)))
        relative = relative_divergence_error(x) + 4 * UNIT_ROUNDOFF * exponents
        return np.asarray(relative * self.conjugate_divergence(x, y))

    def strong_convexity_between(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``1 / max(sum x, sum y)``."""
        return np.asarray(1 / np.maximum(self.norm(x), self.norm(y)))

    def _tilted_minimiser(self, convex_set: ConvexSet, tilt: FloatArray) -> FloatArray:
        if isinstance(convex_set, WholeSpace):
            return self.conjugate_gradient(tilt)
        if isinstance(convex_set, Box):
            with np.errstate(over="ignore"):
                return _clip(convex_set, np.exp(tilt - 1))
        if isinstance(convex_set, HalfSpace):
            if (convex_set.normal >= 0).all() and convex_set.offset <= 0:
                return _vertex_of_half_space(convex_set, tilt)
            return minimise_over_half_space(self, convex_set, tilt)
        return super()._tilted_minimiser(convex_set, tilt)


def _vertex_of_half_space(convex_set: HalfSpace, tilt: FloatArray) -> FloatArray:
    """Minimise over ``<a, w> <= b <= 0`` with a >= 0: only w_i = 0 where a_i > 0 remains, when b = 0."""
    if convex_set.offset < 0:
        raise InputError(f"{convex_set!r} misses the orthant w >= 0; give a set that meets it")
    with np.errstate(over="ignore"):
        return representable("minimiser", np.where(convex_set.normal > 0, 0.0, np.exp(tilt - 1)))


def _clip(box: Box, y: FloatArray) -> FloatArray:
    """Clip to the part of the box in the orthant."""
    if (box.high < 0).any():
        position = int(np.argmax(box.high < 0))
        raise InputError(
            f"high[{position}]={box.high[position]!r} keeps the box off w >= 0; give a set that meets it"
        )
    return np.clip(y, np.maximum(box.low, 0.0), box.high)


def _require_orthant(name: str, value: ArrayLike) -> FloatArray:
    array = checked(name, value)
    if (array < 0).any():
        raise InputError(
            f"{name} has negative entries (least {array.min():g}); negative entropy needs {name} >= 0"
        )
    return array


def _require_interior(name: str, value: ArrayLike) -> FloatArray:
    array = checked(name, value)
    if not (array > 0).all():
        raise InputError(f"{name} has entries of {array.min():g}; here negative entropy needs {name} > 0")
    return array
