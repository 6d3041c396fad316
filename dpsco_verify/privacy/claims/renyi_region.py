"""The pairs of probabilities that a bound on a Rényi divergence allows to an event, and where their extremes lie.

Let ``p = P(E|D)``, ``q = P(E|D')`` and ``κ = α − 1``. By data processing ``D_α(Ber(p) ‖ Ber(q)) ≤ ε`` and
``D_α(Ber(q) ‖ Ber(p)) ≤ ε``; a mechanism whose output is one such bit attains it. So the pairs that the claim allows
are the convex set ``K ∩ Kᵀ`` of all (p, q) with both, and δ(e) is the maximum of ``p − e^e q`` over it.

**The corner.** ``K ∩ Kᵀ`` is symmetric under ``(p, q) → (1−q, 1−p)``. By averaging with its image, ``p − q`` is largest
at ``(1/(1+e^{−t}), 1/(1+e^t))``, where t is the log-odds of randomised response that has the divergence ε:

    log cosh((α−½)t) − log cosh(t/2) = κε   (α = 1: t tanh(t/2) = ε).

**The smooth part.** Where ``D_α(Ber(p)‖Ber(q)) ≤ ε`` alone binds, put ``(1−p)/(1−q) = e^{−ℓ}`` and ``p/q = e^{L−ℓ}``,
so that L is the log-odds ratio. Lagrange's conditions are the pair

    g(L) = ℓ + e,    g(L) = −log[(α/κ)(e^{κL} − 1)/(e^{αL} − 1)]   (α = 1: log[(e^L − 1)/L]),

which determines L, and ``ψ'(ℓ)/ψ(ℓ) = −(d/dℓ) log[κ/(e^{κL} − 1)]``, which determines ℓ, with

    ψ(ℓ) = [e^{κ(ε+ℓ)} − 1]/κ − 1 + e^{−ℓ}.

For these ``δ = (κ/α) ψ(ℓ)/(e^{κL} − 1)``, and for any other ℓ it is an upper bound (see
:mod:`dpsco_verify.privacy.claims.renyi_bound`). At the corner ℓ = t and L = 2t, so the corner is the extreme
point for all orders up to ``s = g(2t) − t``.

This module finds ℓ, L, t, s in doubles, without a care for the last digits: whatever it finds gives a valid bound.

Source: the joint range is Harremoës and Vajda (2011); for Rényi divergences and events Asoodeh, Liao, Calmon,
Kosut and Sankar (2021), "Three variants of differential privacy", Section III; corner, parametrisation and the
bound for any ℓ are worked out here.
"""

from __future__ import annotations

import functools
import math

from scipy.optimize import brentq

_SERIES_BELOW = 0.25
_NO_EXPONENTIAL_ABOVE = 700.0
LARGEST_ALPHA = 1e12
"""Larger ones, at which little would be left of the digits, are taken for this: a weaker claim."""
_NEWTON_STEPS = 60
_MOST_STEPS = 1000
_TINY = 1e-300


def _second_share(y: float) -> float:
    """Return ``(e^y − 1 − y)/y²``, by its series where that cancels."""
    if abs(y) >= _SERIES_BELOW:
        return (math.expm1(y) - y) / (y * y)
    series = 1.0
    for k in range(14, 2, -1):
        series = 1.0 + y / k * series
    return 0.5 * series


def _second_remainder(y: float) -> float:
    """Return ``e^y − 1 − y``."""
    return y * y * _second_share(y)


def _log_mean_decay(y: float) -> float:
    """Return ``log[(1 − e^{−y})/y]``, the logarithm of the mean of e^{−x} over [0, y]."""
    if y < _SERIES_BELOW:
        z = y * y
        return -0.5 * y + z / 24.0 * (1.0 - z / 120.0 * (1.0 - z / 63.0 * (1.0 - 3.0 * z / 160.0)))
    return math.log(-math.expm1(-y) / y)


def _mean_decay_slope(y: float) -> float:
    """Return ``1/y − 1/(e^y − 1)``, minus the derivative of :func:`_log_mean_decay`."""
    if y < _SERIES_BELOW:
        z = y * y
        return 0.5 - y / 12.0 * (1.0 - z / 60.0 * (1.0 - z / 42.0 * (1.0 - z / 40.0)))
    return 1.0 / y - (1.0 / math.expm1(y) if y < _NO_EXPONENTIAL_ABOVE else 0.0)


def _g(alpha: float, length: float) -> float:
    return length - _log_mean_decay((alpha - 1.0) * length) + _log_mean_decay(alpha * length)


def g_slope(alpha: float, length: float) -> float:
    """Return ``g'(L)``, which lies in (1/2, 1)."""
    kappa = alpha - 1.0
    return 1.0 - alpha * _mean_decay_slope(alpha * length) + kappa * _mean_decay_slope(kappa * length)


def log_odds_ratio(alpha: float, target: float) -> float:
    """Return L > 0 with ``g(L) = target``; g is convex and increases, so Newton's method from above converges."""
    kappa = alpha - 1.0
    length = min(2.0 * target, target + math.log(alpha / kappa)) if kappa > 0.0 else 2.0 * target
    for _ in range(_NEWTON_STEPS):
        step = (_g(alpha, length) - target) / g_slope(alpha, length)
        length -= step
        if step <= 1e-14 * length:  # or negative, which only rounding can make it
            break
    return length


def _scaled_psi(alpha: float, epsilon: float, ell: float) -> float:
    """Return ``e^{−κ(ε+ℓ)} ψ(ℓ)``, a sum of positive terms."""
    kappa = alpha - 1.0
    y = kappa * (epsilon + ell)
    shrunk = math.exp(-y)
    value = shrunk * (epsilon + _second_remainder(-ell))
    if kappa > 0.0:
        value += (shrunk * _second_remainder(y) if y < 1.0 else 1.0 - shrunk * (1.0 + y)) / kappa
    return value


def _stationarity(alpha: float, epsilon: float, order: float, ell: float) -> float:
    """Return a number of the sign of the derivative in ℓ of the bound."""
    kappa = alpha - 1.0
    length = log_odds_ratio(alpha, ell + order)
    psi_slope = -math.expm1(-kappa * (epsilon + ell) - ell)
    growth = kappa + 1.0 / length - kappa * _mean_decay_slope(kappa * length)
    return psi_slope * g_slope(alpha, length) - _scaled_psi(alpha, epsilon, ell) * growth


def _randomised_response_divergence(alpha: float, t: float) -> float:
    """Return D_α of randomised response with log-odds t."""
    kappa = alpha - 1.0
    if kappa == 0.0:
        return t * math.tanh(0.5 * t)
    if kappa * t < 1.0:
        excess = 2.0 * math.sinh(0.5 * kappa * t) ** 2 + math.tanh(0.5 * t) * math.sinh(kappa * t)
        return math.log1p(excess) / kappa
    return t + (math.log1p(math.exp(-(2.0 * alpha - 1.0) * t)) - math.log1p(math.exp(-t))) / kappa


@functools.lru_cache(maxsize=4096)
def corner(alpha: float, epsilon: float) -> tuple[float, float]:
    """Return (t, s): the corner's log-odds, and the order up to which it is the extreme point.

    Parameters
    ----------
    alpha
        Order of the divergence, at least 1; 1 is the Kullback-Leibler divergence.
    epsilon
        Bound on the divergence, positive.
    """
    # D_α ≤ t and D_α ≤ αt²/2 below; D_α ≥ D_1 = t tanh(t/2) ≥ t²/(2 + t) above.
    low = max(epsilon, math.sqrt(2.0 * epsilon / alpha)) * (1.0 - 1e-9)
    high = 0.5 * (epsilon + math.sqrt(epsilon * (epsilon + 8.0))) * (1.0 + 1e-9)
    t = brentq(
        lambda x: _randomised_response_divergence(alpha, x) - epsilon,
        low,
        high,
        xtol=_TINY,
        rtol=1e-14,
        maxiter=_MOST_STEPS,
    )
    return t, _g(alpha, 2.0 * t) - t


def extreme_point(alpha: float, epsilon: float, order: float) -> float:
    """Return ℓ of the maximum of ``p − e^order q`` over K, for an order of at least s; it lies in [0, t]."""
    t, _ = corner(alpha, epsilon)
    if _stationarity(alpha, epsilon, order, t) <= 0.0:
        return t
    # For tiny δ the bound is flat in ℓ to the last digit, and its slope at 0 rounds to something of either sign.
    lowest = 1e-30 * t if order == 0.0 else 0.0
    if _stationarity(alpha, epsilon, order, lowest) >= 0.0:
        return lowest
    return float(
        brentq(
            lambda ell: _stationarity(alpha, epsilon, order, ell),
            lowest,
            t,
            xtol=1e-15 * t,
            rtol=1e-9,
            maxiter=_MOST_STEPS,
        )
    )


def slope_in_alpha(alpha: float, rho: float, order: float, ell: float) -> float:
    """Return the derivative in α of the logarithm of the bound for the claim ``ε = ρα``, at fixed ℓ.

    At the ℓ of the extreme point it is the derivative of the logarithm of δ.
    """
    kappa = alpha - 1.0
    length = log_odds_ratio(alpha, ell + order)
    inner = _mean_decay_slope(kappa * length)
    moved = length * (inner - _mean_decay_slope(alpha * length)) / g_slope(alpha, length)
    factor = -length * (1.0 - inner) + (kappa + 1.0 / length - kappa * inner) * moved
    reach = rho * alpha + ell
    y = kappa * reach
    return (
        factor
        + (reach * reach * _second_share(-y) + rho) / _scaled_psi(alpha, rho * alpha, ell)
        - 1.0 / alpha
    )


def binding_alpha(rho: float, order: float) -> float:
    """Return the α in [1, 1e12] whose bound ``ε = ρα`` allows the least δ at the order."""

    def slope(u: float) -> float:
        alpha = math.exp(u)
        if order <= corner(alpha, rho * alpha)[1]:
            return math.inf  # in this part δ grows with α, as randomised response's t does
        return slope_in_alpha(alpha, rho, order, extreme_point(alpha, rho * alpha, order))

    if slope(0.0) >= 0.0:
        return 1.0
    limit = math.log(LARGEST_ALPHA)
    high = min(math.log1p((order + rho) / rho), limit)
    while slope(high) <= 0.0:
        if high == limit:
            return LARGEST_ALPHA
        high = min(high + 1.0, limit)
    return math.exp(
        brentq(lambda u: min(slope(u), 1e3), 0.0, high, xtol=1e-6, rtol=1e-9, maxiter=_MOST_STEPS)
    )
