"""Exact inference about one binomial probability: bounds, one-sided tests, power.

The bounds are those of Clopper & Pearson 1934 (The use of confidence or fiducial limits illustrated in the
case of the binomial, Biometrika 26): the lower bound at level α is the p with ``P(Bin(n, p) ≥ k) = α``, a
quantile of the law Beta(k, n − k + 1), and misses p with probability at most α. They hold for a number of
trials fixed in advance, looked at once. Looked at after every trial they do not hold: use
:mod:`dpsco_verify.inference.confidence_sequence` for that.
"""

from __future__ import annotations

from typing import Literal, overload

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from dpsco_verify.arrays import ArrayLike, FloatArray, IntArray
from dpsco_verify.errors import InputError
from dpsco_verify.inference.checks import require_probability
from dpsco_verify.inference.search import smallest_integer
from dpsco_verify.validation import require_integer, require_open_interval

Alternative = Literal["greater", "less"]


@overload
def clopper_pearson_lower(successes: int, trials: int, *, alpha: float) -> float: ...
@overload
def clopper_pearson_lower(successes: IntArray, trials: IntArray | int, *, alpha: float) -> FloatArray: ...
def clopper_pearson_lower(
    successes: IntArray | int, trials: IntArray | int, *, alpha: float
) -> FloatArray | float:
    """Return the lower bound of p that misses with probability at most `alpha`; 0 when there is no success.

    `successes` and `trials` are integers, or integer arrays that broadcast against each other.
    """
    k, n = _checked_counts(successes, trials)
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    bound = np.where(k > 0, betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, level), 0.0)
    return float(bound) if bound.ndim == 0 else bound


@overload
def clopper_pearson_upper(successes: int, trials: int, *, alpha: float) -> float: ...
@overload
def clopper_pearson_upper(successes: IntArray, trials: IntArray | int, *, alpha: float) -> FloatArray: ...
def clopper_pearson_upper(
    successes: IntArray | int, trials: IntArray | int, *, alpha: float
) -> FloatArray | float:
    """Return the upper bound of p that misses with probability at most `alpha`; 1 when there is no failure.

    `successes` and `trials` are integers, or integer arrays that broadcast against each other.
    """
    k, n = _checked_counts(successes, trials)
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    below = np.minimum(k, n - 1)
    bound = np.where(k < n, betainccinv(below + 1, n - below, level), 1.0)
    return float(bound) if bound.ndim == 0 else bound


def at_least(k: ArrayLike, n: ArrayLike, p: float) -> FloatArray:
    """Return ``P(Bin(n, p) ≥ k)`` for integers k: an incomplete beta function, and no import of scipy.stats for it."""
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = (k > 0) & (k <= n)
    tail = betainc(np.where(inside, k, 1.0), np.where(inside, n - k + 1.0, 1.0), p)
    return np.where(inside, tail, np.where(k <= 0, 1.0, 0.0))


def at_most(k: ArrayLike, n: ArrayLike, p: float) -> FloatArray:
    """Return ``P(Bin(n, p) ≤ k)`` for integers k, without the cancellation of 1 − P(Bin(n, p) > k)."""
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = (k >= 0) & (k < n)
    head = betaincc(np.where(inside, k + 1.0, 1.0), np.where(inside, n - k, 1.0), p)
    return np.where(inside, head, np.where(k < 0, 0.0, 1.0))


def clopper_pearson_interval(successes: int, trials: int, *, alpha: float) -> tuple[float, float]:
    """Return both bounds at ``alpha/2`` each, so that the interval misses p with probability at most `alpha`."""
    half = require_open_interval("alpha", alpha, 0.0, 1.0) / 2.0
    return (
        clopper_pearson_lower(successes, trials, alpha=half),
        clopper_pearson_upper(successes, trials, alpha=half),
    )


def p_value(
    successes: int, trials: int, *, null_probability: float, alternative: Alternative = "greater"
) -> float:
    """Return the exact one-sided p-value of H0: p ≤ p0 ("greater") or H0: p ≥ p0 ("less").

    ``P(Bin(n, p0) ≥ k)`` or ``P(Bin(n, p0) ≤ k)``, which under H0 is stochastically at least uniform.
    """
    k, n = _checked_counts(successes, trials)
    p0 = require_open_interval("null_probability", null_probability, 0.0, 1.0)
    if _require_alternative(alternative) == "greater":
        return float(at_least(k, n, p0))
    return float(at_most(k, n, p0))


def critical_count(
    trials: int, *, null_probability: float, alpha: float, alternative: Alternative = "greater"
) -> int | None:
    """Return the count nearest to the null that rejects: p-value ≤ `alpha` there and beyond. None when none does."""
    n = require_integer("trials", trials, minimum=1)
    p0 = require_open_interval("null_probability", null_probability, 0.0, 1.0)
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    if _require_alternative(alternative) == "less":
        mirrored = critical_count(n, null_probability=1.0 - p0, alpha=level)
        return None if mirrored is None else n - mirrored
    low, high = 0, n + 1  # k = 0 has p-value 1; n + 1 stands for "never"
    while high - low > 1:
        middle = (low + high) // 2
        if at_least(middle, n, p0) <= level:
            high = middle
        else:
            low = middle
    return high if high <= n else None


def exact_power(
    trials: int,
    *,
    probability: float,
    null_probability: float,
    alpha: float,
    alternative: Alternative = "greater",
) -> float:
    """Return the exact probability that the one-sided test at level `alpha` rejects when p is `probability`."""
    p = require_probability("probability", probability)
    critical = critical_count(trials, null_probability=null_probability, alpha=alpha, alternative=alternative)
    if critical is None:
        return 0.0
    if alternative == "greater":
        return float(at_least(critical, trials, p))
    return float(at_most(critical, trials, p))


def minimum_detectable_violation(
    trials: int,
    *,
    null_probability: float,
    alpha: float,
    alternative: Alternative = "greater",
    power: float = 0.9,
) -> float:
    """Return the exact smallest ``|p − p0|`` on the alternative's side that is found with the power wanted.

    ``math.inf`` when no p in [0, 1] is.
    """
    wanted = require_open_interval("power", power, 0.0, 1.0)
    critical = critical_count(trials, null_probability=null_probability, alpha=alpha, alternative=alternative)
    if critical is None:
        return float("inf")
    if alternative == "greater":
        return clopper_pearson_lower(critical, trials, alpha=wanted) - null_probability
    return null_probability - clopper_pearson_upper(critical, trials, alpha=wanted)


def required_samples(
    *,
    probability: float,
    null_probability: float,
    alpha: float,
    alternative: Alternative = "greater",
    power: float = 0.9,
) -> int | None:
    """Return a number of trials with which the one-sided test finds `probability` with the power wanted.

    The power is ragged in the number of trials, so this is one of the first that do, not always the first.
    None when no number up to 2^50 does.
    """
    wanted = require_open_interval("power", power, 0.0, 1.0)
    p = require_probability("probability", probability)
    p0 = require_open_interval("null_probability", null_probability, 0.0, 1.0)
    if not (p0 < p <= 1.0 if _require_alternative(alternative) == "greater" else 0.0 <= p < p0):
        raise InputError(
            f"probability={probability!r} does not violate null_probability={null_probability!r} on the side "
            f"alternative={alternative!r}; give a probability there"
        )

    def enough(trials: int) -> bool:
        return (
            exact_power(trials, probability=p, null_probability=p0, alpha=alpha, alternative=alternative)
            >= wanted
        )

    return smallest_integer(enough)


def _checked_counts(successes: ArrayLike, trials: ArrayLike) -> tuple[IntArray, IntArray]:
    k, n = np.asarray(successes), np.asarray(trials)
    for name, array in (("successes", k), ("trials", n)):
        if not np.issubdtype(array.dtype, np.integer):
            raise InputError(f"{name} of type {array.dtype} are not counts; give integers")
    if n.size and n.min() < 1:
        raise InputError(f"trials={int(n.min())} is too small; give at least 1")
    if ((k < 0) | (k > n)).any():
        raise InputError(
            f"successes={successes!r} is outside [0, trials] with trials={trials!r}; give a possible count"
        )
    return k.astype(np.int64), n.astype(np.int64)


def _require_alternative(alternative: str) -> Alternative:
    if alternative == "greater":
        return "greater"
    if alternative == "less":
        return "less"
    raise InputError(f"alternative={alternative!r} is unknown; give 'greater' or 'less'")
