"""The fixed grid of bets and the log wealth of its mixture, shared by every betting test of this package.

A payoff X with ``low ≤ X ≤ high`` and ``low < 0 < high`` is bet on with the fraction θ in (0, 1) of the largest bet
that cannot go bankrupt: the wealth is multiplied by ``1 + λ X`` with ``λ = θ/|low|``, that is by ``1 + θ r`` with the
ratio ``r = X/|low| ≥ −1``. With the grid θ₁, …, θ_K fixed before any data, the wealth of the mixture is

    ``W_t = (1/K) Σ_k Π_{s ≤ t} (1 + θ_k r_s)``.

Under ``E[X_t | past] ≤ 0`` each factor has conditional mean at most 1, so each product, and their mean, is a
non-negative supermartingale that starts at 1. Nothing else is needed: no bet depends on the data.
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_finite_array, require_integer

BLOCK = 1024
"""Payoffs summed one after another at most: numpy likes it large, the cache and the rounding error like it small."""

_UNIT_ROUNDOFF = 2.0**-53

# Violations so small that they need more than about 1e9 observations are not aimed at: the best fraction for n
# observations is of the order of sqrt(40/n) when the payoff's range is of the order of |low|.
_BASE_DEPTH = 14
# Useful when nearly every payoff is positive: there the best bet is the largest one.
_BETS_NEAR_THE_MAXIMUM = (0.75, 0.9, 0.99)


def bet_fractions(*, depth: int) -> FloatArray:
    """Return the grid ``2^-depth, …, 1/4, 1/2, 3/4, 0.9, 0.99`` of fractions of the largest bet, shape (depth + 3,).

    Between two neighbours in the ratio 2 the growth rate of the better one is at least 8/9 of the best bet's (to
    second order), so a finer grid would gain less than its log K costs.
    """
    depth = require_integer("depth", depth, minimum=1)
    return np.concatenate([np.ldexp(1.0, np.arange(-depth, 0)), _BETS_NEAR_THE_MAXIMUM])


def depth_for_range(low: float, high: float) -> int:
    """Return the grid depth for payoffs in ``[low, high]``, ``low < 0 < high``.

    Among payoffs of mean near 0 the variance is at most ``|low|·high``. The best fraction for n observations is then
    at least of the order of ``sqrt(40/n)·sqrt(|low|/high)``, which is what the extra depth reaches down to.
    """
    return _BASE_DEPTH + math.ceil(0.5 * math.log2((high - low) / -low))


def checked_fractions(fractions: ArrayLike) -> FloatArray:
    """Return `fractions` as an array of shape (K,), K ≥ 1, with every entry in the open interval (0, 1)."""
    grid = require_finite_array("fractions", fractions, shape=(None,))
    if grid.size == 0:
        raise InputError("fractions=[] holds no bet; give at least one number in (0, 1)")
    outside = grid[(grid <= 0.0) | (grid >= 1.0)]
    if outside.size:
        raise InputError(
            f"fractions={float(outside[0])!r} is outside (0, 1); give fractions of the largest bet"
        )
    return grid


def log_factors(fractions: FloatArray, ratios: FloatArray) -> FloatArray:
    """Return ``log(1 + θ_k r_j)`` with shape (K, J), for fractions θ of shape (K,) and ratios r ≥ −1 of shape (J,)."""
    return np.log1p(np.multiply.outer(fractions, ratios))


def log_mean_exp(log_capital: FloatArray) -> FloatArray:
    """Return ``log((1/K) Σ_k exp(log_capital_k))`` over the first axis, of length K, without overflow."""
    peak = log_capital.max(axis=0)
    mean: FloatArray = np.exp(log_capital - peak).mean(axis=0)
    result: FloatArray = peak + np.log(mean)
    return result


def log_wealth_of_counts(fractions: FloatArray, ratios: FloatArray, counts: ArrayLike) -> FloatArray:
    """Return the mixture's log wealth after ``counts[..., j]`` payoffs of ratio ``ratios[j]``, in any order.

    Shapes: fractions (K,), ratios (J,), counts (..., J); the result has shape (...). The order of the payoffs does not
    matter to the wealth, only to its running maximum.
    """
    totals = np.asarray(counts, dtype=np.float64)
    log_capital: FloatArray = np.tensordot(log_factors(fractions, ratios), totals, axes=([1], [-1]))
    return log_mean_exp(log_capital)


def log_wealth_error(fractions: FloatArray, high_ratio: float, samples: int) -> float:
    """Bound the rounding error of a computed log wealth after `samples` payoffs with ratios in ``[−1, high_ratio]``.

    In units of roundoff: ``1 + θr`` loses at most ``1/(1 − θ)`` of them to cancellation, its logarithm, of magnitude at
    most M, a few times M, and a sum of at most 1024 such terms at most 1024 times M per term. Sums of blocks are
    compensated, so their number does not matter. The constant is for the final mean over the bets, where only those
    within some 800 nats of the best one count.
    """
    largest = float(fractions.max())
    magnitude = max(-math.log1p(-largest), math.log1p(largest * high_ratio))
    per_payoff = 4.0 / (1.0 - largest) + (BLOCK + 4.0) * magnitude
    return _UNIT_ROUNDOFF * per_payoff * samples + 1e-12
