"""The exact privacy loss of the single step in doubles: whole arrays of (p, ε, σ) at once, in log space.

The formulas are those of :mod:`dpsco_verify.privacy.single_step`, whose functions of balls are the rigorous twins; here
they are arranged so that nothing cancels. With ε̂ of ``e^ε = 1 + p(e^ε̂ − 1)``, ``w = (e^ε − 1)(1 − p)/p``, ``s = 1/σ``:

* Replace-one: ``p δ_G(ε̂; 2s)``. Zero-out, absent against present: ``p δ_G(ε̂; s)``.
* The bound for zero-out and any m: ``p((1 − β)δ_G(ε̂; 2s) + βδ_G(ε̂; s))``, ``−log β = ε̂ − ε = log(1 + we^{−ε})``.
* Zero-out, present against absent: ``p(Q(z₁) − e^ε Q(z₀) − wQ(z₂))`` with ``z₁ = z₀ − s``, ``z₂ = z₀ + s`` and
  ``u = s z₀`` from ``e^{u − s²/2} = e^ε + we^{−u − s²/2}``, which says that the densities balance,
  ``φ(z₁) = e^ε φ(z₀) + wφ(z₂)``. With the shares ``A = e^{ε − u + s²/2}`` and ``B = we^{−2u} = 1 − A`` of the two it is

      p φ(z₁) (A (R(z₁) − R(z₀)) + B (R(z₁) − R(z₂))),

  a sum of two positive terms, R being Mills' ratio. Where u is small it is ``log(1 + x)`` for the positive root x
  of ``k x² + (2k − e^ε) x − C``, with ``k = e^{−s²/2}`` and ``C = (e^ε − 1) + (1 − k) + kw`` a sum of positive terms.
"""

from __future__ import annotations

import enum

import numpy as np
from scipy import special

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.gaussian import log_density, log_gaussian_delta
from dpsco_verify.privacy.mills import log_mills_difference, mills
from dpsco_verify.privacy.single_step import inner_epsilon, log_expm1

SMALLEST_P = 1e-300
SIGMA_RANGE = (1e-50, 1e50)
LARGEST_EPSILON = 1e50


class StepCurve(enum.StrEnum):
    """The curves of the single step: exact for batches of one point, upper bounds for larger ones (see there).

    Examples
    --------
    >>> [curve.value for curve in StepCurve]
    ['replace-one', 'zero-out-present', 'zero-out-absent', 'zero-out-upper']
    """

    REPLACE_ONE = "replace-one"
    """Exact for m = 1, an upper bound for m > 1."""
    ZERO_OUT_PRESENT = "zero-out-present"
    """The present against the absent point, exact for m = 1."""
    ZERO_OUT_ABSENT = "zero-out-absent"
    """The absent against the present point, exact for m = 1."""
    ZERO_OUT_UPPER = "zero-out-upper"
    """An upper bound on both for any m."""


def log_step_delta(curve: StepCurve, p: ArrayLike, epsilon: ArrayLike, sigma: ArrayLike) -> FloatArray:
    """Return ``log δ(ε)`` of the single step, elementwise.

    Its absolute error, the relative one of δ, is below 1e-11 wherever ``δ > 1e-300``; below that its relative error is
    below 1e-13.

    Parameters
    ----------
    curve
        Which neighbours.
    p
        ``m/n``, from 1e-300 to 1.
    epsilon
        Orders, from 0 to 1e50.
    sigma
        The noise's standard deviation in units of L, from 1e-50 to 1e50.

    Raises
    ------
    InputError
        For arguments outside these ranges, or NaN.

    Examples
    --------
    >>> print(float(log_step_delta(StepCurve.REPLACE_ONE, 0.01, 10.0, 1.0).round(2)))
    -28.7
    """
    curve = StepCurve(curve)
    share = _checked("p", p, SMALLEST_P, 1.0)
    order = _checked("epsilon", epsilon, 0.0, LARGEST_EPSILON)
    scale = _checked("sigma", sigma, *SIGMA_RANGE)
    share, order, scale = np.broadcast_arrays(share, order, scale)
    inner = inner_epsilon(share, order)
    if curve is StepCurve.REPLACE_ONE:
        return np.asarray(np.log(share) + log_gaussian_delta(inner, 2.0 / scale), dtype=np.float64)
    if curve is StepCurve.ZERO_OUT_ABSENT:
        return np.asarray(np.log(share) + log_gaussian_delta(inner, 1.0 / scale), dtype=np.float64)
    if curve is StepCurve.ZERO_OUT_PRESENT:
        flat = _log_present(share.ravel(), order.ravel(), scale.ravel())
        return np.log(share) + flat.reshape(share.shape)
    gap = np.log1p(-np.expm1(-order) * (1.0 - share) / share)  # ε̂ − ε
    with np.errstate(divide="ignore"):  # p = 1 or ε = 0: no share of the first
        first = np.log(-np.expm1(-gap)) + log_gaussian_delta(inner, 2.0 / scale)
    return np.log(share) + np.logaddexp(first, log_gaussian_delta(inner, 1.0 / scale) - gap)


def step_delta(curve: StepCurve, p: ArrayLike, epsilon: ArrayLike, sigma: ArrayLike) -> FloatArray:
    """Return ``δ(ε)`` of the single step, elementwise (see :func:`log_step_delta`); underflows to 0.

    Examples
    --------
    >>> print(float(step_delta(StepCurve.REPLACE_ONE, 0.01, 0.1, 1.0).round(5)))
    0.00261
    """
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(log_step_delta(curve, p, epsilon, sigma)), dtype=np.float64)


def _checked(name: str, value: ArrayLike, low: float, high: float) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    bad = ~((array >= low) & (array <= high))
    if bad.any():
        raise InputError(
            f"{name}={float(array[bad][0])!r} is outside [{low:g}, {high:g}]; give numbers within that range"
        )
    return array


def _log_present(p: FloatArray, epsilon: FloatArray, sigma: FloatArray) -> FloatArray:
    """Return the logarithm of the present curve over p; arrays of one axis."""
    s = 1.0 / sigma
    with np.errstate(divide="ignore"):
        log_w = log_expm1(epsilon) + np.log1p(-p) - np.log(p)  # −∞ for p = 1 or ε = 0
    u = _balance(p, epsilon, s, log_w)
    half = 0.5 * s * s
    z1, log_a, log_b = u / s - s, np.minimum(epsilon - u + half, 0.0), log_w - 2.0 * u
    out = np.empty_like(u)
    tail = z1 > -1.0
    z, gap = z1[tail], s[tail]
    out[tail] = log_density(z) + np.logaddexp(
        log_a[tail] + log_mills_difference(z, gap), log_b[tail] + log_mills_difference(z, 2.0 * gap)
    )
    # z₁ ≤ −1 needs s ≥ 2, for u ≥ ε + s²/2: R(z₁) is at least five times R(z₀)
    head = ~tail
    z, gap = z1[head], s[head]
    with np.errstate(under="ignore"):
        others = np.exp(log_a[head]) * mills(z + gap) + np.exp(log_b[head]) * mills(z + 2.0 * gap)
    out[head] = special.log_ndtr(-z) + np.log1p(-others / mills(z))
    return out


def _balance(p: FloatArray, epsilon: FloatArray, s: FloatArray, log_w: FloatArray) -> FloatArray:
    """Return u, which is at least ``ε + s²/2``, to a small relative error."""
    half = 0.5 * s * s
    out = np.empty_like(s)
    small = (epsilon <= 1.0) & (s <= 1.0)
    e, h, q = epsilon[small], half[small], p[small]
    k = np.exp(-h)
    excess = np.expm1(e)
    rest = excess - np.expm1(-h) + k * excess * (1.0 - q) / q
    slope = 1.0 + 2.0 * np.expm1(-h) - excess
    root = np.sqrt(slope * slope + 4.0 * k * rest)
    falling = slope < 0
    x = np.where(falling, (root - slope) / (2.0 * k), 2.0 * rest / (np.abs(slope) + root))
    out[small] = np.log1p(x)
    large = ~small
    e, h, log_rest = epsilon[large], half[large], log_w[large]
    root = 0.5 * np.logaddexp(2.0 * e, 2.0 * np.log(2.0) - 2.0 * h + log_rest)
    out[large] = np.logaddexp(e, root) - np.log(2.0) + h
    return out
