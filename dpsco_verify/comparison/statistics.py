"""Intervals, exponents and crossovers of measured risks; descriptions, on which no verdict rests."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from dpsco_verify.arrays import FloatArray

CONFIDENCE = 0.95
_FEWEST_SIZES = 3
_DECIMALS = 12
"""Of an exponent: logarithms of sizes and values are below 100 and right to 1e-14, and so is the slope through them."""


@dataclass(frozen=True, kw_only=True)
class Interval:
    """An estimate and an interval for what it estimates; None where there are too few numbers for one."""

    value: float
    low: float | None
    high: float | None


def _student(degrees: int) -> float:
    """Return the quantile of Student's law that makes a two-sided interval."""
    return -float(stdtrit(degrees, (1.0 - CONFIDENCE) / 2.0))


def mean_interval(values: FloatArray, *, least: float = -math.inf) -> Interval:
    """Return the mean and Student's interval for the expectation, cut at `least`, which nothing can be below."""
    value = float(np.mean(values))
    if values.size < 2:
        return Interval(value=value, low=None, high=None)
    half = float(_student(values.size - 1) * np.std(values, ddof=1) / math.sqrt(values.size))
    return Interval(value=value, low=max(value - half, least), high=value + half)


def exponent(sizes: Sequence[float], values: Sequence[float]) -> Interval | None:
    """Return the slope of ``log value`` against ``log size`` by least squares, with Student's interval.

    The deviations from the line count, so values that follow no power of the size have a wide interval. None for fewer
    than three sizes or values that are not positive.
    """
    if len(set(sizes)) < _FEWEST_SIZES or min(values) <= 0.0:
        return None
    logarithms = np.log(values)
    from scipy.stats import linregress  # noqa: PLC0415  slow to load, and only a comparison needs it

    fit = linregress(np.log(sizes), logarithms)
    # For equal values the fit calls the size of the deviations, of which there are none, undefined.
    error = float(fit.stderr) if np.ptp(logarithms) > 0.0 else 0.0
    half = _student(len(sizes) - 2) * error
    slope = float(fit.slope)
    value, low, high = (round(x, _DECIMALS) for x in (slope, slope - half, slope + half))
    return Interval(value=value, low=low, high=high)


@dataclass(frozen=True, kw_only=True)
class Change:
    """The first of two is smaller at `above` and larger at `at_most`, or the other way about (`first_before`)."""

    above: float
    at_most: float
    first_before: bool


def changes(
    sizes: Sequence[float], first: Sequence[FloatArray], second: Sequence[FloatArray]
) -> list[Change]:
    """Return where the order of two means changes, by paired differences that are clear of 0.

    Sizes, in rising order, at which the difference is not clear are passed over.
    """
    found = []
    last: tuple[float, bool] | None = None
    for size, a, b in zip(sizes, first, second, strict=True):
        difference = mean_interval(a - b)
        if difference.low is None or difference.high is None or difference.low <= 0.0 <= difference.high:
            continue
        first_is_smaller = difference.high < 0.0
        if last is not None and last[1] is not first_is_smaller:
            found.append(Change(above=last[0], at_most=size, first_before=last[1]))
        last = (size, first_is_smaller)
    return found
