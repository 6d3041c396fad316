"""The privacy curve of the Gaussian mechanism, in doubles and in log space.

Balle and Wang (2018), Theorem 8: for two normal laws of equal covariance whose means are μ standard deviations
apart, the hockey-stick divergence of order e^ε is

    δ_G(ε; μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

With Mills' ratio R(z) = Q(z)/φ(z) and ``z₁ = ε/μ − μ/2``, ``z₂ = ε/μ + μ/2`` this is ``φ(z₁)(R(z₁) − R(z₂))``, because
``e^ε φ(z₂) = φ(z₁)`` (:mod:`dpsco_verify.privacy.mills` has the difference without cancellation). The rigorous twin is
:func:`dpsco_verify.privacy.balls.gaussian_delta`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.mills import log_mills_difference, log_mills_difference_of_one, mills

_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)
_NEGATIVE = "epsilon and mu hold a negative number or NaN; give numbers of at least 0"


def log_gaussian_delta(epsilon: ArrayLike, mu: ArrayLike) -> FloatArray:
    """Return ``log δ_G(ε; μ)``, elementwise; −inf where ``μ = 0``.

    Parameters
    ----------
    epsilon
        Orders, at least 0; infinite orders give −inf.
    mu
        Distances of the means in standard deviations, at least 0.

    Raises
    ------
    InputError
        For NaN, or negative arguments.

    Examples
    --------
    >>> round(float(log_gaussian_delta(50.0, 1.0)), 2)  # δ itself is 1e-536
    -1233.87
    """
    eps, dist = np.asarray(epsilon, dtype=np.float64), np.asarray(mu, dtype=np.float64)
    if eps.size == dist.size == 1:
        return np.full((1,) * max(eps.ndim, dist.ndim), _log_delta_of_one(eps.item(), dist.item()))
    eps, dist = np.broadcast_arrays(eps, dist)
    if not (np.all(eps >= 0) and np.all(dist >= 0)):
        raise InputError(_NEGATIVE)
    result = np.full(eps.shape, -np.inf)
    active = (dist > 0) & np.isfinite(eps)
    e, m = eps[active], np.minimum(dist[active], 1e150)
    with np.errstate(over="ignore"):
        ratio = e / m
    keep = np.isfinite(ratio) & (ratio < 1e150)
    values = np.full(e.shape, -np.inf)
    values[keep] = _log_delta(m[keep], ratio[keep])
    result[active] = values
    return result


def _log_delta_of_one(epsilon: float, mu: float) -> float:
    """Return the same of one pair: searches for a root ask for one at a time, and the masks cost ten times as much."""
    if not (epsilon >= 0.0 and mu >= 0.0):
        raise InputError(_NEGATIVE)
    m = min(mu, 1e150)
    if m == 0.0 or not (ratio := epsilon / m) < 1e150:
        return -math.inf
    z = ratio - 0.5 * m
    if z > -1.0:
        return -0.5 * z * z - _LOG_SQRT_2PI + log_mills_difference_of_one(z, m)
    return float(special.log_ndtr(-z) + np.log1p(-mills(z + m) / mills(z)))


def log_density(z: FloatArray) -> FloatArray:
    """Return ``log φ(z)``, for z up to 1e150."""
    return np.asarray(-0.5 * z * z - _LOG_SQRT_2PI, dtype=np.float64)


def _log_delta(m: FloatArray, ratio: FloatArray) -> FloatArray:
    z1 = ratio - 0.5 * m
    out = np.empty_like(z1)
    tail = z1 > -1.0
    out[tail] = log_density(z1[tail]) + log_mills_difference(z1[tail], m[tail])
    # z₁ ≤ −1 needs μ ≥ 2, so R(z₁) is at least five times R(z₂); and log φ(z₁) would cancel against log R(z₁)
    head = ~tail
    z = z1[head]
    out[head] = special.log_ndtr(-z) + np.log1p(-mills(z + m[head]) / mills(z))
    return out


def gaussian_delta(epsilon: ArrayLike, mu: ArrayLike) -> FloatArray:
    """Return ``δ_G(ε; μ)``, elementwise (see :func:`log_gaussian_delta`); underflows to 0.

    Examples
    --------
    >>> gaussian_delta([0.0, 1.0], 1.0).round(4)
    array([0.3829, 0.1269])
    """
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(log_gaussian_delta(epsilon, mu)), dtype=np.float64)
