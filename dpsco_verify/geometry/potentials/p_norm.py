"""The squared p-norm for 1 < p <= 2."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.box import Box
from dpsco_verify.geometry.convex_set import ConvexSet
from dpsco_verify.geometry.half_space import HalfSpace
from dpsco_verify.geometry.l1_ball import L1Ball
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, p_norm, summation_error
from dpsco_verify.geometry.potentials.half_space_minimiser import minimise_over_half_space
from dpsco_verify.geometry.potentials.p_norm_minimisers import minimise_over_box, minimise_over_simplex
from dpsco_verify.geometry.potentials.potential import (
    Potential,
    checked,
    relative_divergence_error,
    representable,
)
from dpsco_verify.geometry.potentials.remainders import power_remainder
from dpsco_verify.geometry.simplex import Simplex
from dpsco_verify.validation import require_half_open_interval

_LIFT_BELOW = 1e-200


class PNorm(Potential):
    """``Phi(x) = 1/2 ||x||_p^2`` with 1 < p <= 2, conjugate ``1/2 ||y||_q^2`` with 1/p + 1/q = 1.

    (p-1)-strongly convex in lp on R^d. Scaled by the largest entry before any power is taken, so that entries
    from 1e-150 to 1e150 neither overflow nor underflow where it matters.

    Parameters
    ----------
    p
        Exponent in (1, 2].
    """

    def __init__(self, p: float) -> None:
        self.p = require_half_open_interval("p", p, 1.0, 2.0)
        self.q = self.p / (self.p - 1)

    def __repr__(self) -> str:
        return f"PNorm({self.p!r})"

    @property
    def strong_convexity(self) -> float:
        """``p - 1``, in lp, everywhere."""
        return self.p - 1

    def norm(self, x: ArrayLike) -> FloatArray:
        """Return ``||x||_p``."""
        return p_norm(checked("x", x), self.p)

    def dual_norm(self, y: ArrayLike) -> FloatArray:
        """Return ``||y||_q``."""
        return p_norm(checked("y", y), self.q)

    def value(self, x: ArrayLike) -> FloatArray:
        """Return ``1/2 ||x||_p^2``."""
        with np.errstate(over="ignore"):
            return representable("Phi(x)", 0.5 * self.norm(x) ** 2)

    def gradient(self, x: ArrayLike) -> FloatArray:
        """Return ``||x||_p (|x_i| / ||x||_p)^(p-1) sign(x_i)``."""
        return _half_square_gradient(checked("x", x), self.p, power=self.p - 1)

    def conjugate(self, y: ArrayLike) -> FloatArray:
        """Return ``1/2 ||y||_q^2``."""
        with np.errstate(over="ignore"):
            return representable("Phi*(y)", 0.5 * self.dual_norm(y) ** 2)

    def conjugate_gradient(self, y: ArrayLike) -> FloatArray:
        """Return ``||y||_q (|y_i| / ||y||_q)^(q-1) sign(y_i)``."""
        return _half_square_gradient(checked("y", y), self.q, power=1 / (self.p - 1))

    def divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``D_Phi(x || y)`` to a small relative error, also for x close to y."""
        with np.errstate(over="ignore", invalid="ignore"):
            return representable(
                "D(x || y)", _half_square_divergence(checked("x", x), checked("y", y), self.p)
            )

    def conjugate_divergence(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``D_Phi*(x || y)`` to a relative error of tens of q u, also for x close to y."""
        with np.errstate(over="ignore", invalid="ignore"):
            return representable(
                "D(x || y)", _half_square_divergence(checked("x", x), checked("y", y), self.q)
            )

    def gradient_rounding(self, x: ArrayLike) -> FloatArray:
        """Return ``(summation_error(d) + 24u) |grad Phi(x)|``: the powers are at most p, the norm is summed."""
        gradient = self.gradient(x)
        return np.asarray((summation_error(gradient.shape[-1]) + 24 * UNIT_ROUNDOFF) * np.abs(gradient))

    def inverse_rounding(self, x: ArrayLike) -> FloatArray:
        """Return ``(2 q (summation_error(d) + 24u) + 4u |log |x_i| / ||x|||) |x_i|``.

        The inverse magnifies relative errors at most 2q - 3 times; the logarithm is due to the rounding of its power.
        """
        x = checked("x", x)
        norm = self.norm(x)[..., np.newaxis]
        share = np.where(x != 0, np.abs(x) / np.where(norm > 0, norm, 1.0), 1.0)
        relative = 2 * self.q * (summation_error(x.shape[-1]) + 24 * UNIT_ROUNDOFF)
        return np.asarray(
            (relative + 4 * UNIT_ROUNDOFF * np.abs(np.log(np.maximum(share, 1e-300)))) * np.abs(x)
        )

    def conjugate_divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``(2 summation_error(d) + 256u) q D_Phi*(x || y)``."""
        return np.asarray(self.q * relative_divergence_error(x) * self.conjugate_divergence(x, y))

    def divergence_error(self, x: ArrayLike, y: ArrayLike) -> FloatArray:
        """Return ``(2 summation_error(d) + 256u) D_Phi(x || y)``."""
        return np.asarray(relative_divergence_error(x) * self.divergence(x, y))

    def _tilted_minimiser(self, convex_set: ConvexSet, tilt: FloatArray) -> FloatArray:
        if self.p == 2:
            return convex_set.project(tilt)
        unconstrained = self.conjugate_gradient(tilt)
        if convex_set.contains(unconstrained):
            return unconstrained
        match convex_set:
            case Simplex():
                solved = minimise_over_simplex(convex_set.total, tilt, self.q)
            case L1Ball() if not convex_set.center.any():
                # The signs are those of the tilt, and the constraint is active.
                solved = np.sign(tilt) * minimise_over_simplex(convex_set.radius, np.abs(tilt), self.q)
            case Box():
                solved = minimise_over_box(convex_set, tilt, self.p)
            case HalfSpace():
                solved = minimise_over_half_space(self, convex_set, tilt)
            case _:
                solved = super()._tilted_minimiser(convex_set, tilt)
        return solved


def _half_square_gradient(x: FloatArray, exponent: float, *, power: float) -> FloatArray:
    """Gradient of ``1/2 ||x||_exponent^2``, 0 at 0; `power` is ``exponent - 1``, which the caller has more exactly."""
    norm = p_norm(x, exponent)[..., np.newaxis]
    return np.asarray(norm * (np.abs(x) / np.where(norm > 0, norm, 1.0)) ** power * np.sign(x))


def _half_square_divergence(x: FloatArray, y: FloatArray, a: float) -> FloatArray:
    """Bregman divergence of ``1/2 ||.||_a^2``, a > 1, without cancellation.

    Young's gap ``e(x, y) = sum |x_i|^a / a + (1 - 1/a) |y_i|^a - x_i sign(y_i) |y_i|^(a-1)`` has no negative term.

    When the lengths differ, ``D = 1/2 (||x|| - ||y||)^2 + ||x|| ||y|| e(x / ||x||, y / ||y||)``. When they are
    close, the scaling would blur the difference of x and y: there, in units of ||y||, with
    ``s = ||x||^a - 1 = a (e(x, y) + l)`` and ``l = sum sign(y_i) |y_i|^(a-1) (x_i - y_i)``,
    ``D = e(x, y) + 1/2 ((1 + s)^(2/a) - 1 - (2/a) s)``. The second part is positive for a <= 2; for a > 2 it
    takes away all but at worst 1/(2a) of the first (Cauchy-Schwarz).
    """
    x, y = np.broadcast_arrays(x, y)
    norm_x, norm_y = p_norm(x, a), p_norm(y, a)
    unit_x, unit_y = np.where(norm_x > 0, norm_x, 1.0), np.where(norm_y > 0, norm_y, 1.0)
    close = (norm_x > 0) & (norm_y > 0) & (np.abs(np.log(unit_x) - np.log(unit_y)) * a < 0.5)
    by_row = close[..., np.newaxis]
    scaled_y = y / unit_y[..., np.newaxis]
    scaled_x = np.where(by_row, x / unit_y[..., np.newaxis], x / unit_x[..., np.newaxis])
    # Where x is close to y the difference of the unscaled entries is exact.
    t = _relative_difference(np.where(by_row, x, scaled_x), np.where(by_row, y, scaled_y))
    # The powers of y sum to 1 but for rounding, which large a would let the difference below inherit a-fold.
    mass = np.sum(np.abs(scaled_y) ** a, axis=-1)
    mass = np.where(mass > 0, mass, 1.0)
    # Entries that agree add nothing; should the others' powers underflow beside them, these are scaled up.
    differs = ~by_row | (x != y)
    lift = (np.maximum(np.abs(scaled_x), np.abs(scaled_y)) * differs).max(axis=-1)
    lift = np.where(close & (lift > 0) & (lift < _LIFT_BELOW ** (1 / a)), lift, 1.0)
    lifted_x, lifted_y = (scaled * differs / lift[..., np.newaxis] for scaled in (scaled_x, scaled_y))
    gaps, linear = _young_gaps(lifted_x, lifted_y, t, a)
    gap, slope = np.sum(gaps, axis=-1) / mass, np.sum(linear, axis=-1) / mass
    # A lifted s would have underflowed, and its remainder with it.
    s = np.where(close & (lift == 1), a * (gap + slope), 0.0)
    near = (unit_y * lift ** (a / 2)) ** 2 * (gap + 0.5 * power_remainder(s, 2 / a))
    apart = 0.5 * (norm_x - norm_y) ** 2 + norm_x * (norm_y * gap)
    return np.asarray(np.maximum(np.where(close, near, apart), 0.0))


def _relative_difference(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return ``(x - y) / y``, infinite where y = 0."""
    with np.errstate(over="ignore"):
        return np.where(y != 0, (x - y) / np.where(y != 0, y, 1.0), np.inf)


def _young_gaps(x: FloatArray, y: FloatArray, t: FloatArray, a: float) -> tuple[FloatArray, FloatArray]:
    """Return Young's gaps and ``sign(y_i) |y_i|^(a-1) (x_i - y_i)``, where t = (x - y) / y."""
    size_x, size_y = np.abs(x), np.abs(y)
    power_y = size_y ** (a - 1)
    opposite = (x * np.sign(y) < 0) | (y == 0)
    # Further out the terms cancel to at worst a factor of 2a, save for a near 1, where they do so everywhere.
    near = ~opposite & (np.abs(t) < (1.0 if a < 2 else 1 / a))
    small = np.where(near, t, 0.0)
    close = size_y * power_y * power_remainder(small, a) / a
    wide = size_x**a / a + (1 - 1 / a) * size_y * power_y - size_x * power_y
    if a < 2:
        # Here x >= 2 y or x = 0. Unless |x|^(a-1) is well above |y|^(a-1), all terms carry the factor a - 1.
        grows = ~opposite & ~near & (size_x > 0)
        log_ratio = np.log(np.where(grows, size_x, 1.0)) - np.log(np.where(grows, size_y, 1.0))
        growth = np.expm1(np.minimum((a - 1) * log_ratio, 1.0))
        grouped = (size_x * power_y * growth - (a - 1) * power_y * (size_x - size_y)) / a
        wide = np.where((a - 1) * log_ratio < 1, grouped, wide)
    crossed = size_x**a / a + (1 - 1 / a) * size_y * power_y + size_x * power_y
    gaps = np.where(near, close, np.where(opposite, crossed, wide))
    linear = np.where(near, size_y * power_y * small, power_y * (x * np.sign(y) - size_y))
    return np.asarray(np.maximum(gaps, 0.0)), np.asarray(linear)
