"""Exact tests of normal noise: its length, its scale, its independence; each with what it would find.

Let ``x_1, …, x_N`` be independent standard normal.

- Length: ``‖x‖²`` of d of them is χ²_d.
- Scale: ``Σ x_i²`` is χ²_N, so a two-sided test of the standard deviation is exact, and so is its power.
- Independence: given ``x_1, …, x_i``, the product ``sign(x_i) x_{i+1}`` is standard normal again, whatever they are. So
  ``Σ sign(x_i) x_{i+1}/√N`` over N pairs of neighbours is standard normal exactly, although pairs overlap.

Power of the last against disjoint normal pairs of correlation ρ: ``sign(x)(ρx + √(1 − ρ²)z)`` has the law of
``ρ|x| + √(1 − ρ²)z``, whose mean is ``ρ√(2/π)`` and which is 1-Lipschitz in (x, z). So the sum over N pairs is
√N-Lipschitz, and by Gaussian concentration it falls short of its mean by ``√(2N log(1/(1 − power)))`` with probability
at most 1 − power.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtr, chdtrc, chdtri, gammaincinv, ndtr, ndtri

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.validation import require_integer, require_open_interval

POWER = 0.9


def noise_radius(*, alpha: float, steps: int, dimension: int) -> float:
    """Return r such that `steps` standard normal vectors are all of length at most r, but for probability `alpha`."""
    level = require_open_interval("alpha", alpha, 0.0, 1.0) / require_integer("steps", steps, minimum=1)
    return math.sqrt(chdtri(require_integer("dimension", dimension, minimum=1), level))


def detectable_shift(*, radius: float, dimension: int, power: float = POWER) -> float:
    """Return the smallest ‖v‖ such that ``‖x + v‖ > radius`` surely has at least the power wanted."""
    miss = 1.0 - require_open_interval("power", power, 0.0, 1.0)
    return radius + math.sqrt(chdtri(dimension, miss))


@dataclass(frozen=True, kw_only=True)
class ScaleDecision:
    """A test that the standard deviation is 1: `ratio` is the one that was seen."""

    rejected: bool
    ratio: float
    p_value: float
    samples: int

    __bool__ = no_truth_value("not decision.rejected")


def scale_test(x: FloatArray, *, alpha: float) -> ScaleDecision:
    """Test two-sidedly that x, of any shape, holds independent normal numbers of mean 0 and standard deviation 1."""
    if x.size == 0:
        raise InputError("x.size=0 leaves nothing to test; give at least one number")
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    total = float(np.sum(x * x))
    p = min(1.0, 2.0 * min(float(chdtr(x.size, total)), float(chdtrc(x.size, total))))
    return ScaleDecision(rejected=p <= level, ratio=math.sqrt(total / x.size), p_value=p, samples=x.size)


def detectable_scales(samples: int, *, alpha: float, power: float = POWER) -> tuple[float, float]:
    """Return the standard deviations, below and above 1, from which on the test rejects with the power wanted."""
    n = require_integer("samples", samples, minimum=1)
    half = require_open_interval("alpha", alpha, 0.0, 1.0) / 2.0
    power = require_open_interval("power", power, 0.0, 1.0)
    return (
        math.sqrt(2.0 * gammaincinv(0.5 * n, half) / chdtri(n, 1.0 - power)),
        math.sqrt(chdtri(n, half) / chdtri(n, power)),
    )


@dataclass(frozen=True, kw_only=True)
class LagDecision:
    """A test of independence: `z` is standard normal under it."""

    rejected: bool
    z: float
    p_value: float
    samples: int

    __bool__ = no_truth_value("not decision.rejected")


def lag_test(first: FloatArray, second: FloatArray, *, alpha: float) -> LagDecision:
    """Test that each of `second` is standard normal given its partner in `first` and all pairs before.

    Both of one shape; standard normal numbers in `first` may come again in `second`, as those of a sequence do.
    """
    if first.shape != second.shape or first.size == 0:
        raise InputError(
            f"first.shape={first.shape} and second.shape={second.shape} are no pairs; give pairs"
        )
    level = require_open_interval("alpha", alpha, 0.0, 1.0)
    z = float(np.sum(np.sign(first) * second)) / math.sqrt(first.size)
    p = min(1.0, 2.0 * float(ndtr(-abs(z))))
    return LagDecision(rejected=p <= level, z=z, p_value=p, samples=first.size)


def detectable_correlation(samples: int, *, alpha: float, power: float = POWER) -> float:
    """Return a correlation of disjoint normal pairs from which on the test rejects with the power wanted.

    ``math.inf`` when it would exceed 1.
    """
    n = require_integer("samples", samples, minimum=1)
    half = require_open_interval("alpha", alpha, 0.0, 1.0) / 2.0
    miss = 1.0 - require_open_interval("power", power, 0.0, 1.0)
    mean = (float(-ndtri(half)) + math.sqrt(-2.0 * math.log(miss))) / math.sqrt(n)
    rho = mean / math.sqrt(2.0 / math.pi)
    return rho if rho <= 1.0 else math.inf
