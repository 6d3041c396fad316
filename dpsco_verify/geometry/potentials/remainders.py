"""Second-order remainders of elementary functions, free of cancellation near their double zero.

Each is ``f(t) - f(0) - f'(0) t``: non-negative for convex f, and of size t^2, which the plain formula loses
to rounding. Near 0 the Taylor series is summed, elsewhere the terms are grouped so that nothing large
cancels.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray

_TERMS = 24
_RADIUS = 0.125
"""Radius of the series: 24 terms there leave less than 2^-72 of the first one."""


def exponential_remainder(t: FloatArray) -> FloatArray:
    """Return ``exp(t) - 1 - t``; the caller keeps t below the overflow of exp."""
    near = np.abs(t) < _RADIUS
    small = np.where(near, t, 0.0)
    series = np.zeros_like(small)
    for k in range(_TERMS, 1, -1):
        series = (1 + series) * small / k
    return np.where(near, series * small, np.expm1(t) - t)


def entropy_remainder(t: FloatArray) -> FloatArray:
    """Return ``(1 + t) log(1 + t) - t`` for ``|t| < 1/8``: the sum of ``(-t)^k / (k (k - 1))`` over k >= 2."""
    series = np.zeros_like(t)
    for k in range(_TERMS, 1, -1):
        series = 1 / (k * (k - 1)) - t * series
    return series * t * t


def power_remainder(t: FloatArray, exponent: float) -> FloatArray:
    """Return ``(1 + t)^a - 1 - a t`` for t >= -1 and a = `exponent` > 0, to a small relative error.

    Outside the series' disc the terms are grouped to carry the factor that they cancel to: ``a - 1`` in
    ``(1 + t) ((1 + t)^(a-1) - 1) - (a - 1) t``, and ``a`` in ``((1 + t)^a - 1) - a t`` when a < 1/2. What is subtracted
    is then at most 16 times what remains for a >= 1, else 32 times, and its relative error is that of two functions and
    three roundings.
    """
    near = np.abs(t) < _RADIUS / max(1.0, exponent)
    small = np.where(near, t, 0.0)
    series = np.zeros_like(small)
    # Horner's scheme for sum_{k>=2} binomial(a, k) t^k.
    for k in range(_TERMS, 2, -1):
        series = (1 + series) * (small * ((exponent - k + 1) / k))
    series = (1 + series) * (exponent * (exponent - 1) / 2) * small**2
    inside = ~near & (t > -1)
    log_ratio = np.log1p(np.where(inside, t, 0.0))
    if exponent < 0.5:
        grouped = np.where(t > -1, np.expm1(exponent * log_ratio), -1.0) - exponent * t
    else:
        grouped = np.where(inside, (1 + t) * np.expm1((exponent - 1) * log_ratio), 0.0) - (exponent - 1) * t
    return np.where(near, series, grouped)
