"""The laws of DP-Sniper's mechanisms whose ε is finite, on its pairs, by exact sums and quadrature."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
from scipy.stats import binom, expon, laplace

from benchmarks.power_limit import Law
from dpsco_verify.arrays import FloatArray

_VALUES = 200
"""Cells of a log ratio on either side of 0, between the two atoms that Laplace noise gives it."""
_VALUES_OF_AN_ANSWER = 16


def laplaces(epsilon: float, times: int = 1) -> Law:
    """Return the law of `times` values with Laplace noise of scale 1/ε each, which are one apart on the data sets."""
    return _sum_of_ratios([_laplace_ratio(epsilon, _VALUES)] * times, epsilon / _VALUES)


def geometric(epsilon: float, n: int, first: int, second: int) -> Law:
    """Return the law of a count plus two-sided geometric noise, clamped to [0, n]."""
    ratio = math.exp(-epsilon)

    def masses(count: int) -> FloatArray:
        found = ratio ** np.abs(np.arange(n + 1) - count) * (1.0 - ratio) / (1.0 + ratio)
        found[0], found[n] = ratio**count / (1.0 + ratio), ratio ** (n - count) / (1.0 + ratio)
        return np.asarray(found)

    return Law.discrete(masses(first), masses(second))


def place_of_largest(noise: Any) -> Law:
    """Return the law of the place of the largest of (1, 1, 1, 1, 1) or of (0, 2, 2, 2, 2) plus noise."""
    x, weights = _nodes(noise.std())
    first = float(weights @ (noise.pdf(x) * noise.cdf(x - 2.0) ** 4))
    return Law.discrete(np.full(5, 0.2), np.array([first] + [(1.0 - first) / 4.0] * 4))


def largest(scale: float) -> Law:
    """Return the law of the largest of (1, 1, 1, 1, 1) or of (2, 2, 2, 2, 2) plus Laplace noise.

    The log ratio is 5/scale below 1, falls, and is −1/scale in the limit.
    """
    x = np.concatenate([np.linspace(1.0, 2.0, 101), np.linspace(2.2, 20.0 * scale, 1000)])
    noise = laplace(scale=scale)
    p, q = (
        -np.diff(-np.expm1(5.0 * np.log1p(-noise.sf(x - m))), prepend=1.0, append=0.0) for m in (1.0, 2.0)
    )
    first, second = (noise.logpdf(x - m) + 4.0 * noise.logcdf(x - m) for m in (1.0, 2.0))
    ratio = np.concatenate([[5.0 / scale], first - second, [-1.0 / scale]])
    return Law(p, q, ratio[1:], ratio[:-1])


def first_above(threshold: float, rho: float, nu: float, first: FloatArray, second: FloatArray) -> Law:
    """Return the law of which query is the first above the threshold, or none, with noise of these scales."""
    places = [(k,) for k in range(first.size)] + [()]
    return Law.discrete(
        *(
            np.array([_answered(at, values, threshold, rho, nu, 1) for at in places])
            for values in (first, second)
        )
    )


def bits(set_bit: float, clear_bit: float, times: int) -> Law:
    """Return the law of bits of which `times` are set on the first data set alone and as many on the second alone."""
    k = np.arange(times + 1)
    one, other = binom.pmf(k, times, set_bit), binom.pmf(k, times, clear_bit)
    return Law.discrete(np.outer(one, other).ravel(), np.outer(other, one).ravel())


def numeric(epsilon: float, cutoff: int, threshold: float, first: FloatArray, second: FloatArray) -> Law:
    """Return the law of the sparse vector technique that answers by the query with new noise."""
    scale = 3.0 * cutoff / epsilon
    smaller = _laplace_ratio(1.0 / scale, _VALUES_OF_AN_ANSWER)
    larger = smaller[1][::-1], smaller[0][::-1]
    laws = []
    for number in range(cutoff + 1):
        for at in itertools.combinations(range(first.size), number):
            p, q = (
                _answered(at, values, threshold, 3.0 / epsilon, 2.0 * scale, cutoff)
                for values in (first, second)
            )
            parts = [smaller if first[k] < second[k] else larger for k in at]
            told = _sum_of_ratios(parts, 1.0 / scale / _VALUES_OF_AN_ANSWER)
            shift = math.log(p / q)
            laws.append(Law(p * told.p, q * told.q, shift + told.low, shift + told.high))
    return Law(*(np.concatenate([getattr(law, name) for law in laws]) for name in ("p", "q", "low", "high")))


def _laplace_ratio(epsilon: float, cells: int) -> tuple[FloatArray, FloatArray]:
    """Return the masses of 0 and 1 plus Laplace noise by their log ratio, nearest to ``ε/cells · (−cells, …, cells)``.

    The ratio is ε below 0, −ε above 1, and ε(1 − 2x) between them.
    """
    inner = 0.5 * (1.0 - (np.arange(-cells, cells) + 0.5) / cells)
    ends = np.concatenate([[math.inf], inner, [-math.inf]])
    p, q = (-np.diff(laplace.cdf((ends - value) * epsilon)) for value in (0.0, 1.0))
    return p, q


def _sum_of_ratios(parts: Sequence[tuple[FloatArray, FloatArray]], step: float) -> Law:
    """Return the law of independent parts by the sum of their log ratios, each known to half a step."""
    p, q = (reduce(np.convolve, (part[side] for part in parts), np.ones(1)) for side in (0, 1))
    ratio = (np.arange(p.size) - p.size // 2) * step
    spread = 0.5 * len(parts) * step
    return Law(p, q, ratio - spread, ratio + spread)


def _answered(
    at: tuple[int, ...], values: FloatArray, threshold: float, rho: float, nu: float, cutoff: int
) -> float:
    """Return the probability that the sparse vector technique finds just the queries `at` above its threshold."""
    t, weights = _nodes(rho)
    asked = values[: at[-1] + 1] if len(at) == cutoff else values
    below = laplace.cdf((threshold + t[:, np.newaxis] - asked) / nu)
    below[:, at] = 1.0 - below[:, at]
    return float(weights @ (laplace.pdf(t, scale=rho) * below.prod(axis=1)))


def _nodes(scale: float) -> tuple[FloatArray, FloatArray]:
    """Return Gauss and Legendre's nodes and weights between the kinks that whole and half numbers give densities."""
    far = np.array([3.0, 8.0, 20.0, 45.0]) * max(scale, 1.0)
    ends = np.concatenate([-far[::-1], np.arange(-4, 5) / 2.0, far])
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half, middle = 0.5 * np.diff(ends)[:, np.newaxis], 0.5 * (ends[1:] + ends[:-1])[:, np.newaxis]
    return (middle + half * nodes).ravel(), (half * weights).ravel()


_FALLING, _RISING = np.repeat([1.0, 0.0], 5), np.repeat([0.0, 1.0], 5)
_ONES, _HALF_TWO = np.ones(10), np.repeat([2.0, 0.0], 5)
_SET = 0.5 * (0.55 + 0.45) + 0.125 * (0.55 - 0.45)

LAWS: dict[str, Callable[[], Law]] = {
    "Laplace": partial(laplaces, 0.1),
    "truncated geometric": partial(geometric, math.log(1.125), 5, 2, 1),
    "histogram": partial(laplaces, 0.1),
    "histogram, scale inverted": partial(laplaces, 10.0),
    "arg max, Laplace": partial(place_of_largest, laplace(scale=20.0)),
    "arg max, exponential": partial(place_of_largest, expon(scale=20.0)),
    "maximum, Laplace": partial(largest, 20.0),
    "sparse vector 1": partial(first_above, 0.5, 20.0, 40.0, _RISING, _FALLING),
    "sparse vector 2": partial(first_above, 1.0, 20.0, 40.0, _RISING, _FALLING),
    "sparse vector 4": partial(first_above, 1.0, 40.0, 40.0 / 3.0, _ONES, _HALF_TWO),
    "RAPPOR": partial(bits, _SET, 1.0 - _SET, 4),
    "RAPPOR, permanent step": partial(bits, 0.525, 0.475, 4),
    "twenty Laplace": partial(laplaces, 0.005, 20),
    "prefix sums": partial(laplaces, 0.1, 10),
    "numeric sparse vector": partial(numeric, 0.1, 2, 1.0, _FALLING, _RISING),
}
"""By the names of the cases; prefix sums by their differences, which are independent."""
