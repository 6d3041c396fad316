"""Test that integers are drawn from a given distribution function F (Dvoretzky–Kiefer–Wolfowitz–Massart).

With F_n the empirical distribution function of n independent draws from F, Massart 1990 (The tight constant in the
Dvoretzky–Kiefer–Wolfowitz inequality, Ann. Probab. 18) shows

- two-sided: ``P(sup |F_n − F| > t) ≤ 2 exp(−2nt²)`` for every t > 0 and n;
- one-sided: ``P(sup (F_n − F) > t) ≤ exp(−2nt²)`` where ``exp(−2nt²) ≤ 1/2``; hence one-sided tests here need
  ``alpha ≤ 1/2``. The other side is the same for −X.

For a discrete F both hold as well: with U_n the empirical distribution function of uniforms, F_n(x) has the law of
U_n(F(x)) for all x at once, so the supremum runs over the range of F only and can but be smaller. The bounds are
continuous in t, so they bound ``P(sup ≥ t)`` too, and a test may reject at equality.

Power. Let the true law be G with ``G(x*) − F(x*) = ±d`` at some x*. The test rejects when F_n deviates from G
at this one point by at most ``d − t`` in the unhelpful direction, which fails with probability at most
``exp(−2n(d − t)²)`` (Hoeffding 1963). So ``d = t + sqrt(log(1/(1 − power))/(2n))`` is found with the power
wanted, t the critical distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray, IntArray
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.validation import (
    require_finite_array,
    require_half_open_interval,
    require_integer,
    require_open_interval,
)

Direction = Literal["both", "above", "below"]
"""Which deviations count: |F_n − F|, F_n above F (smaller values than claimed), F_n below F (larger values)."""

# A distribution function computed in doubles may leave [0, 1], or decrease, by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class FitDecision:
    """The outcome of the test.

    Attributes
    ----------
    rejected
        True when the distance is at least the critical one.
    distance
        ``sup |F_n − F|`` over all integers, or the one-sided supremum.
    critical_distance
        The distance from which on the test rejects.
    p_value
        Massart's bound at the distance, at most 1.
    alpha
        The level.
    samples
        The number of draws.

    """

    rejected: bool
    distance: float
    critical_distance: float
    p_value: float
    alpha: float
    samples: int

    __bool__ = no_truth_value("not decision.rejected")


def decide(
    sample: ArrayLike,
    cdf: Callable[[IntArray], FloatArray],
    *,
    alpha: float,
    direction: Direction = "both",
) -> FitDecision:
    """Test a sample of integers, shape (N,), against `cdf`, which maps integers k to P(X ≤ k), shape to same shape.

    The sample size is fixed in advance and the sample looked at once. `cdf` is called with integers of the
    sample and the integers right below them: between these F_n is constant and F monotone, so nowhere else is
    the deviation larger.
    """
    array = np.asarray(sample)
    if array.ndim != 1 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"sample of type {array.dtype} and shape {array.shape} is not usable; give integers (N,), N > 0"
        )
    values, counts = np.unique(array.astype(np.int64), return_counts=True)
    n = int(array.size)
    critical = critical_distance(n, alpha=alpha, direction=direction)
    at = _checked_cdf(cdf, values)
    before = _checked_cdf(cdf, values - 1)
    if (at < before - _ROUNDING).any() or (before[1:] < at[:-1] - _ROUNDING).any():
        raise InputError(f"cdf={cdf!r} decreases; give a distribution function")
    cumulative = np.cumsum(counts)
    above = float((cumulative / n - at).max())
    below = float((before - (cumulative - counts) / n).max())
    distance = max(0.0, {"both": max(above, below), "above": above, "below": below}[direction])
    sides = 2.0 if direction == "both" else 1.0
    return FitDecision(
        rejected=distance >= critical,
        distance=distance,
        critical_distance=critical,
        p_value=min(1.0, sides * math.exp(-2.0 * n * distance**2)),
        alpha=alpha,
        samples=n,
    )


def critical_distance(samples: int, *, alpha: float, direction: Direction = "both") -> float:
    """Return ``sqrt(log(2/alpha)/(2n))``, or ``sqrt(log(1/alpha)/(2n))`` for one side (alpha ≤ 1/2)."""
    return _root_log(alpha, direction) / math.sqrt(2.0 * require_integer("samples", samples, minimum=1))


def minimum_detectable_distance(
    samples: int, *, alpha: float, direction: Direction = "both", power: float = 0.9
) -> float:
    """Return the smallest sup-distance (in the direction tested) that is sure to be found with the power wanted.

    Sure for every law at that distance. ``math.inf`` when it would exceed 1, the largest distance there is.
    """
    n = require_integer("samples", samples, minimum=1)
    distance = (_root_log(alpha, direction) + _root_log_miss(power)) / math.sqrt(2.0 * n)
    return distance if distance <= 1.0 else math.inf


def required_samples(
    *, distance: float, alpha: float, direction: Direction = "both", power: float = 0.9
) -> int:
    """Return the smallest number of draws whose minimum detectable distance is at most `distance`, in (0, 1]."""
    distance = require_half_open_interval("distance", distance, 0.0, 1.0)
    n = max(1, math.ceil(0.5 * ((_root_log(alpha, direction) + _root_log_miss(power)) / distance) ** 2))
    while minimum_detectable_distance(n, alpha=alpha, direction=direction, power=power) > distance:
        n += 1
    return n


def _root_log(alpha: float, direction: Direction) -> float:
    if direction == "both":
        return math.sqrt(math.log(2.0) - math.log(require_open_interval("alpha", alpha, 0.0, 1.0)))
    if direction not in ("above", "below"):
        raise InputError(f"direction={direction!r} is unknown; give 'both', 'above' or 'below'")
    return math.sqrt(-math.log(require_half_open_interval("alpha", alpha, 0.0, 0.5)))


def _root_log_miss(power: float) -> float:
    return math.sqrt(-math.log1p(-require_open_interval("power", power, 0.0, 1.0)))


def _checked_cdf(cdf: Callable[[IntArray], FloatArray], points: IntArray) -> FloatArray:
    values = require_finite_array("cdf(points)", cdf(points), shape=points.shape)
    if values.min() < -_ROUNDING or values.max() > 1.0 + _ROUNDING:
        raise InputError(
            f"cdf has values in [{float(values.min())!r}, {float(values.max())!r}]; give a distribution function"
        )
    return values
