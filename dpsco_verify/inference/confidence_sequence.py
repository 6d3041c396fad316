"""A confidence sequence for the mean of bounded observations: intervals that all hold at once, at every time.

For observations in ``[low, high]`` with ``E[X_t | past] = μ``, and m in ``(low, high)``, the betting wealth against
"the mean is at most m" is the mixture of :mod:`dpsco_verify.inference.bets` with the payoffs ``X − m``. In
``y = x − low`` and ``u = m − low`` it is

    ``W_t(u) = (1/K) Σ_k Π_{s ≤ t} ((1 − θ_k) + θ_k y_s/u)``.

At u = μ − low it is a non-negative martingale from 1, so ``P(∃t: W_t ≥ 1/α) ≤ α`` (Ville 1939), and the set
of u whose wealth is below 1/α holds the mean at all times with probability at least 1 − α (Waudby-Smith &
Ramdas 2023, Section 4; Howard, Ramdas, McAuliffe & Sekhon 2021). W_t(u) decreases in u, so that set is an
interval. The upper bound is the lower bound of ``low + high − X``; two sides take α/2 each.
"""

from __future__ import annotations

import functools
import math
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.inference.bets import bet_fractions, checked_fractions, log_mean_exp
from dpsco_verify.inference.checks import require_range, require_within
from dpsco_verify.validation import require_open_interval

Side = Literal["both", "lower", "upper"]

# Fractions down to 2^-22 reach the best bet for up to some 1e8 observations also where the mean is 1e-6 of the range.
_FRACTIONS = bet_fractions(depth=22)
# Bets this many nats behind the best one are left out of long sums. That lowers the wealth, by less than 1 %, and so
# widens the interval.
_NEGLIGIBLE = 8.0
_GROUPS = 200
_FEW_VALUES = 2000
# Per observation and unit of the largest log factor: 2^7 units of roundoff cover the factor, its logarithm and the
# pairwise sum.
_ROUNDING = 2.0**-46
_LOG_SMALLEST = -690.0
_LOG_LARGEST_PRODUCT = 600.0
_LONGEST_PRODUCT = 64


class BettingConfidenceSequence:
    """Confidence sequence for the mean of observations in ``[low, high]``.

    Parameters
    ----------
    low, high
        Bounds of the observations, ``low < high``, in their unit.
    alpha
        The probability, at most, that the mean is outside of the interval at some time.
    side
        "both", or the one bound that is wanted: it then gets all of alpha, and the other bound is `low` or `high`.
    fractions
        Bets as fractions in (0, 1) of the largest bet, shape (K,), fixed before any data; a logarithmic grid when None.

    Raises
    ------
    InputError
        When a parameter is out of range, or an observation is NaN or outside of ``[low, high]``.

    Notes
    -----
    The bounds are functions of the observations alone, not of when they were looked at. They are rounded outwards by
    more than the numerical error. The intersection of the intervals seen so far is valid as well.

    """

    def __init__(
        self,
        *,
        low: float,
        high: float,
        alpha: float,
        side: Side = "both",
        fractions: ArrayLike | None = None,
    ) -> None:
        self._low, self._high = require_range(low, high)
        if side not in ("both", "lower", "upper"):
            raise InputError(f"side={side!r} is unknown; give 'both', 'lower' or 'upper'")
        self._side = side
        self._fractions = _FRACTIONS if fractions is None else checked_fractions(fractions)
        self._alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
        self._log_threshold = -math.log(self._alpha / 2.0 if side == "both" else self._alpha)
        self._values: FloatArray = np.empty(0)
        self._counts: FloatArray = np.empty(0)
        self._pending: list[FloatArray] = []
        self._samples = 0
        self._known: dict[str, float] = {}

    @property
    def samples(self) -> int:
        """Observations seen."""
        return self._samples

    @property
    def alpha(self) -> float:
        """The level."""
        return self._alpha

    def update(self, observations: ArrayLike) -> None:
        """Take in observations, shape (N,) or a scalar."""
        array = require_within("observations", observations, self._low, self._high)
        if array.size:
            self._pending.append(array)
            self._samples += array.size
            self._known.clear()

    @property
    def lower(self) -> float:
        """The lower confidence bound of the mean now."""
        if self._side == "upper" or self._samples == 0:
            return self._low
        if "lower" not in self._known:
            values, counts = self._sample()
            distance = _distance_bound(values - self._low, counts, self._log_threshold, self._fractions)
            self._known["lower"] = max(self._low, math.nextafter(self._low + distance, -math.inf))
        return self._known["lower"]

    @property
    def upper(self) -> float:
        """The upper confidence bound of the mean now."""
        if self._side == "lower" or self._samples == 0:
            return self._high
        if "upper" not in self._known:
            values, counts = self._sample()
            distance = _distance_bound(
                self._high - values[::-1], counts[::-1], self._log_threshold, self._fractions
            )
            self._known["upper"] = min(self._high, math.nextafter(self._high - distance, math.inf))
        return self._known["upper"]

    @property
    def interval(self) -> tuple[float, float]:
        """The bounds ``(lower, upper)`` now."""
        return self.lower, self.upper

    def _sample(self) -> tuple[FloatArray, FloatArray]:
        """Return the distinct observations in increasing order, and how often each was seen."""
        if self._pending:
            new, new_counts = np.unique(np.concatenate(self._pending), return_counts=True)
            self._pending.clear()
            weights = np.concatenate([self._counts, new_counts.astype(np.float64)])
            self._values, place = np.unique(np.concatenate([self._values, new]), return_inverse=True)
            self._counts = np.bincount(place, weights=weights).astype(np.float64)
        return self._values, self._counts


def _distance_bound(y: FloatArray, counts: FloatArray, log_threshold: float, fractions: FloatArray) -> float:
    """Return a lower confidence bound of the mean of observations y ≥ 0, given increasing with their counts.

    The largest u found whose wealth is sure to be at least the threshold, or 0 when there is none.
    """
    mean = float(y @ counts) / float(counts.sum())
    if mean <= 0.0:
        return 0.0
    # At the sample mean every product is at most 1, so the root lies below it.
    coarse_y, coarse_counts = _grouped(y, counts)
    start = _root(coarse_y, coarse_counts, log_threshold, fractions, mean, step=1e-3, tolerance=1e-10)
    if coarse_y.size == y.size or start == 0.0:
        return start
    # Grouping raises the wealth, the logarithm being concave, so the root lies below the coarse one, and near it. Which
    # bets matter there the grouped values tell; it is only for speed, so it need not be exact.
    capital = _log_capital(coarse_y, coarse_counts, start, fractions)
    kept = fractions[capital >= capital.max() - _NEGLIGIBLE]
    # The bets that are left out keep their share of the initial wealth, and are taken to have lost it.
    log_threshold += math.log(fractions.size / kept.size)
    tolerance = 1e-4 * math.log(mean / start) + 1e-12
    return _root(y, counts, log_threshold, kept, start, step=tolerance, tolerance=tolerance)


def _root(
    y: FloatArray,
    counts: FloatArray,
    log_threshold: float,
    fractions: FloatArray,
    start: float,
    *,
    step: float,
    tolerance: float,
) -> float:
    """Return a u ≤ start whose wealth from these bets clears the threshold, the largest within the tolerance.

    `step` and `tolerance` are on the scale of log u. The result is 0 when no such u is a normal double.
    """
    samples = float(counts.sum())

    @functools.cache
    def excess(log_u: float) -> float:
        u = math.exp(log_u)
        wealth = float(log_mean_exp(_log_capital(y, counts, u, fractions)))
        largest_log = math.log1p(float(y[-1]) / u) - math.log1p(-float(fractions.max()))
        return wealth - _ROUNDING * samples * largest_log - log_threshold

    high = math.log(start)
    low = high - step
    while excess(low) < 0.0:
        high = low
        step *= 2.0
        low -= step
        if low < _LOG_SMALLEST:
            return 0.0
    if high - low <= tolerance:
        return math.exp(low)
    if excess(high) >= 0.0:
        return math.exp(high)
    root = float(brentq(excess, low, high, xtol=tolerance))
    while excess(root) < 0.0:
        root = max(root - tolerance, low)
        tolerance *= 2.0
    return math.exp(root)


def _grouped(y: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Replace runs of neighbouring values by their mean, so that at most 600 remain.

    The runs are short near both ends, where the law may have a long tail.
    """
    if y.size <= _FEW_VALUES:
        return y, counts
    even = np.linspace(0.0, y.size, _GROUPS, endpoint=False)
    from_the_end = np.geomspace(1.0, y.size / 2.0, _GROUPS)
    starts = np.unique(np.concatenate([even, from_the_end, y.size - from_the_end]).astype(np.int64))
    sizes = np.add.reduceat(counts, starts)
    return np.add.reduceat(y * counts, starts) / sizes, sizes


def _log_capital(y: FloatArray, counts: FloatArray, u: float, fractions: FloatArray) -> FloatArray:
    """Return ``Σ_j counts_j·log((1 − θ_k) + θ_k y_j/u)`` for each bet, shape (K,).

    No term cancels, so each factor is good to a few units of roundoff. Values seen once are multiplied
    together before the logarithm is taken, as many as cannot overflow.
    """
    ratios = y / u
    theta = fractions[:, np.newaxis]
    if y.size <= _FEW_VALUES:
        total: FloatArray = (np.log((1.0 - theta) + theta * ratios) * counts).sum(axis=1)
        return total
    repeated = counts > 1.0
    total = (np.log((1.0 - theta) + theta * ratios[repeated]) * counts[repeated]).sum(axis=1)
    single = ratios[~repeated]
    largest_log = max(math.log1p(float(ratios[-1])), -math.log1p(-float(fractions.max())))
    length = max(1, min(_LONGEST_PRODUCT, int(_LOG_LARGEST_PRODUCT / largest_log)))
    padding = -single.size % length
    rows = np.concatenate([single, np.ones(padding)]).reshape(length, -1)
    products = np.ones((fractions.size, rows.shape[1]))
    factor = np.empty_like(products)
    for row in rows:
        np.multiply(theta, row, out=factor)
        factor += 1.0 - theta
        products *= factor
    total += np.log(products).sum(axis=1)
    return total
