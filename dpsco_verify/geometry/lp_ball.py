"""The lp ball for 1 < p < infinity."""

from __future__ import annotations

import math
from typing import SupportsIndex

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.geometry.convex_set import (
    ConvergenceError,
    ConvexSet,
    require_center,
    require_length,
    shown,
)
from dpsco_verify.geometry.norms import UNIT_ROUNDOFF, euclidean_norm, p_norm, spread_factor, summation_error
from dpsco_verify.validation import require_open_interval

_MAX_ITERATIONS = 200
_LOG_TINY = -1e6
"""Stands for log 0: far below the logarithm of every positive double."""


class LpBall(ConvexSet):
    """``{w : ||w - c||_p <= r}`` with 1 < p < infinity.

    Parameters
    ----------
    dimension
        d, at least 1.
    p
        Exponent, strictly between 1 and infinity.
    radius
        r > 0.
    center
        c, shape (d,); the origin when left out.

    Notes
    -----
    Projection outside the ball, for ``v = |x - c| / r``: the unique w >= 0 with ``w_i + mu w_i^(p-1) = v_i`` and
    ``||w||_p = 1``, where ``mu = ||v - w||_q``. Both equations are solved for the logarithms, in which the
    first is convex and rising in log w_i and the second falling in log mu, so that neither the size of x nor
    p near 1 or large does harm. Rounding: ``(summation_error(d) + 64u) / min(1, p-1)`` per coordinate,
    relative to ``|w_i|``; with ``||w||_2 <= r d^max(0, 1/2 - 1/p)`` this bounds the l2 error whatever the
    size of x.
    """

    def __init__(
        self, dimension: SupportsIndex, p: float, radius: float, center: ArrayLike | None = None
    ) -> None:
        super().__init__(dimension)
        self.p = require_open_interval("p", p, 1.0, math.inf)
        self.radius = require_length("radius", radius)
        self.center = require_center(center, dimension=self.dimension)
        self._l2_radius = self.radius * spread_factor(self.dimension, smaller=2.0, larger=self.p)
        self._conditioning = (summation_error(self.dimension) + 64 * UNIT_ROUNDOFF) / min(1.0, self.p - 1)
        self._slack = self._conditioning * self._l2_radius + 2 * UNIT_ROUNDOFF * self.max_norm

    def __repr__(self) -> str:
        return f"LpBall({self.dimension}, p={self.p!r}, radius={self.radius!r}, center={shown(self.center)})"

    @property
    def diameter(self) -> float:
        """``2 r d^max(0, 1/2 - 1/p)``, between opposite vertices (p <= 2) or opposite diagonal points (p >= 2)."""
        return 2 * self._l2_radius

    @property
    def max_norm(self) -> float:
        """``||c||_2 + r d^max(0, 1/2 - 1/p)``: the supremum for c = 0 or p = 2, else an upper bound of it."""
        return float(euclidean_norm(self.center)) + self._l2_radius

    def _project(self, x: FloatArray) -> FloatArray:
        offset = x - self.center
        outside = np.asarray(p_norm(offset, self.p) > self.radius)
        projected = x.copy()
        if outside.any():
            rows = np.abs(offset[outside])
            moved = self.radius * _unit_sphere_point(rows, self.p, self.radius)
            projected[outside] = self.center + np.copysign(moved, offset[outside])
        return projected

    def _violation(self, x: FloatArray) -> FloatArray:
        excess = p_norm(x - self.center, self.p) - self.radius
        return np.maximum(excess / spread_factor(self.dimension, smaller=self.p, larger=2.0), 0.0)

    def _rounding(self, x: FloatArray) -> float:  # noqa: ARG002  the bound is the same everywhere
        return self._slack


def _unit_sphere_point(v: FloatArray, p: float, radius: float) -> FloatArray:
    """Return w >= 0 on the unit lp sphere nearest to ``v / radius``, for rows v >= 0 with ``||v||_p > radius``."""
    largest = v.max(axis=-1, keepdims=True)
    log_largest = _log_ratio(largest, radius)
    # In units of the largest entry: w / v_max + exp(m) w^(p-1) = v / v_max, with m = log(mu radius / v_max).
    log_v = _log_ratio(v, largest)
    log_norm = np.log(np.sum(np.exp(p * log_v), axis=-1)) / p
    q = p / (p - 1)
    high = np.log(np.sum(np.exp(q * log_v), axis=-1)) / q
    # mu >= (||v||_p - 1) / d^max(0, 1/p - 1/q); near the sphere the difference is all rounding, hence the floor.
    excess = np.maximum(-np.expm1(-(log_norm + log_largest[..., 0])), UNIT_ROUNDOFF) / 4
    low = log_norm + np.log(excess) - np.log(spread_factor(v.shape[-1], smaller=p, larger=q))
    high, low = high + 1e-9, np.minimum(low, high)
    m = low.copy()
    settled = np.zeros(m.shape, dtype=np.bool_)
    noise = summation_error(v.shape[-1]) + 4 * p * UNIT_ROUNDOFF
    for _ in range(_MAX_ITERATIONS):
        log_w, share, fall = _log_weights(log_v, log_largest, m[..., np.newaxis], p)
        powers = np.exp(p * log_w)
        mass = np.sum(powers, axis=-1)
        value = np.log(mass)
        low, high = np.where(value > 0, m, low), np.where(value > 0, high, m)
        step = value * mass / (p * np.sum(powers * fall, axis=-1))
        # Far out, log ||w|| is nearly linear in log mu; close to the ball, in mu itself.
        linear_in_mu = (np.sum(powers * share, axis=-1) < 0.5 * mass) & (step > -1)
        trial = m + np.where(linear_in_mu, np.log1p(np.where(linear_in_mu, step, 0.0)), step)
        trial = np.where((trial > low) & (trial < high), trial, (low + high) / 2)
        settled |= np.abs(value) <= noise
        settled |= np.abs(trial - m) <= 4 * UNIT_ROUNDOFF * np.maximum(1.0, np.abs(m))
        if settled.all():
            weights = np.exp(log_w)
            return np.asarray(weights / p_norm(weights, p)[..., np.newaxis])
        m = np.where(settled, m, trial)
    raise ConvergenceError(f"p={p!r} is too close to 1 or too large for doubles; choose p further from it")


def _log_weights(
    log_v: FloatArray, log_largest: FloatArray, m: FloatArray, p: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve ``logaddexp(t - log_largest, m + (p-1) t) = log_v`` for t.

    Return t, the second summand's share, and ``-dt/dm``.

    The left side is convex and rising in t, and at the larger of its two summands' roots it is at most log 2
    too large: from there Newton's method falls monotonically to the root.
    """
    t = np.minimum(log_v + log_largest, (log_v - m) / (p - 1))
    for _ in range(_MAX_ITERATIONS):
        first, second = t - log_largest, m + (p - 1) * t
        share = np.exp(second - np.logaddexp(first, second))
        slope = (1 - share) + (p - 1) * share
        step = (np.logaddexp(first, second) - log_v) / slope
        # Falling steps alone: a rise is rounding.
        moving = step > 4 * UNIT_ROUNDOFF * np.maximum(1.0, np.abs(t)) / min(1.0, p - 1)
        if not moving.any():
            break
        t = np.where(moving, t - step, t)
    return t, share, share / slope


def _log_ratio(numerator: FloatArray, denominator: FloatArray | float) -> FloatArray:
    """Return ``log(numerator / denominator)`` also where the quotient leaves the doubles; log 0 is `_LOG_TINY`."""
    with np.errstate(over="ignore", divide="ignore"):
        quotient = numerator / denominator
        near = (quotient > 1e-300) & (quotient < 1e300)
        apart = np.log(numerator) - np.log(denominator)
        result = np.where(near, np.log(np.where(near, quotient, 1.0)), apart)
    return np.asarray(np.maximum(result, _LOG_TINY))
