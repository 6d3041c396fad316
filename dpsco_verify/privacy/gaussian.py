"""The privacy curve of the Gaussian mechanism, in doubles and in log space.

Balle and Wang (2018), Theorem 8: for two normal laws of equal covariance whose means are μ standard deviations
apart, the hockey-stick divergence of order e^ε is

    δ_G(ε; μ) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ).

With Mills' ratio R(z) = Q(z)/φ(z) and ``z₁ = ε/μ − μ/2``, ``z₂ = ε/μ + μ/2`` this is ``φ(z₁)(R(z₁) − R(z₂))``, because
``e^ε φ(z₂) = φ(z₁)``. The difference cancels when z₁ and z₂ are close; there it is the integral of
``−R'(z) = 1 − zR(z) > 0`` between them. The rigorous twin is :func:`dpsco_verify.privacy.balls.gaussian_delta`.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_SERIES_FROM = 12.0
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


def _mills(z: FloatArray) -> FloatArray:
    """Return ``R(z) = Q(z)/φ(z)`` for z above about −37."""
    return np.asarray(math.sqrt(math.pi / 2.0) * special.erfcx(z / math.sqrt(2.0)), dtype=np.float64)


def _negative_mills_slope(z: FloatArray) -> FloatArray:
    """Return ``1 − z R(z)``: directly for moderate z, by its asymptotic series where that cancels."""
    direct = 1.0 - z * _mills(z)
    inverse_square = 1.0 / np.square(np.maximum(z, _SERIES_FROM))
    # Σ_{k≥1} (−1)^{k+1} (2k−1)!! z^{−2k}, by Horner; at z ≥ 12 the first omitted term is below 1e-16 of the sum.
    series = np.ones_like(z)
    for k in range(24, 0, -1):
        series = 1.0 - (2 * k + 1) * inverse_square * series
    return np.where(z < _SERIES_FROM, direct, inverse_square * series)


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
    """
    eps, dist = np.broadcast_arrays(np.asarray(epsilon, dtype=np.float64), np.asarray(mu, dtype=np.float64))
    if not (np.all(eps >= 0) and np.all(dist >= 0)):
        raise InputError("epsilon and mu hold a negative number or NaN; give numbers of at least 0")
    result = np.full(eps.shape, -np.inf)
    active = (dist > 0) & np.isfinite(eps)
    e, m = eps[active], np.minimum(dist[active], 1e150)
    with np.errstate(over="ignore"):
        ratio = e / m
    keep = np.isfinite(ratio) & (ratio < 1e150)
    values = np.full(e.shape, -np.inf)
    values[keep] = _log_delta(e[keep], m[keep], ratio[keep])
    result[active] = values
    return result


def _log_delta(e: FloatArray, m: FloatArray, ratio: FloatArray) -> FloatArray:
    z1, z2 = ratio - 0.5 * m, ratio + 0.5 * m
    close = (m <= np.maximum(1.0, z1)) & (z1 > -5.0)
    out = np.empty_like(e)
    a, b, width = z1[close], z2[close], m[close]
    nodes = 0.5 * (a + b)[:, np.newaxis] + 0.5 * width[:, np.newaxis] * _NODES
    area = 0.5 * np.sum(_WEIGHTS * _negative_mills_slope(nodes), axis=-1)
    out[close] = -0.5 * a * a - _LOG_SQRT_2PI + np.log(width) + np.log(area)
    far = ~close
    first = special.log_ndtr(-z1[far])
    # e^ε Φ(−z₂)/Φ(−z₁), without forming e^ε
    log_ratio = np.minimum(e[far] + special.log_ndtr(-z2[far]) - first, 0.0)
    with np.errstate(divide="ignore"):
        out[far] = first + np.log(-np.expm1(log_ratio))
    return out


def gaussian_delta(epsilon: ArrayLike, mu: ArrayLike) -> FloatArray:
    """Return ``δ_G(ε; μ)``, elementwise (see :func:`log_gaussian_delta`); underflows to 0."""
    with np.errstate(under="ignore"):
        return np.asarray(np.exp(log_gaussian_delta(epsilon, mu)), dtype=np.float64)
