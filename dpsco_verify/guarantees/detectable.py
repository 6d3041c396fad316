"""The minimum detectable violation of a test of means, for observations of the shape that was seen.

What a betting test finds depends on the whole law, so a bound over all laws would say little of the one at hand. A
violation of size v is therefore given the law that was seen, changed as little as it takes: the *tilted* law, with
weights in proportion to ``e^{τx}``, is the nearest in Kullback–Leibler divergence with its mean, and hence nearly the
hardest to find. Means beyond what was seen have such a law once one observation of the largest possible value is added.
Where the observations are unbounded the law is shifted, which keeps its deviation.

The power is simulated with fixed streams: counts of the (grouped) values are multinomial, and the wealth depends on the
counts alone. It is looked at :data:`_LOOKS` times; the running test, which looks after each observation, rejects a
little more often.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq

from dpsco_verify.arrays import FloatArray
from dpsco_verify.execution import stream
from dpsco_verify.guarantees.result import POWER
from dpsco_verify.inference.bets import log_mean_exp

_REPETITIONS = 400
_LOOKS = 8
_GROUPS = 16
_PRECISION = 0.02
_LARGEST_TILT = 1e5
_DOUBLINGS = 60

Law = tuple[FloatArray, FloatArray]
"""Values and their probabilities, shape (J,) each."""


def grouped(values: FloatArray) -> Law:
    """Return the law that was seen, runs of neighbouring values replaced by their means; short runs at both ends."""
    distinct, counts = np.unique(values, return_counts=True)
    if distinct.size > 3 * _GROUPS:
        half = distinct.size / 2.0
        near = np.geomspace(1.0, half, _GROUPS)
        even = np.linspace(0.0, distinct.size, _GROUPS, endpoint=False)
        starts = np.unique(np.concatenate([even, near, distinct.size - near, [0.0]]).astype(np.int64))
        starts = starts[starts < distinct.size]
        weights = np.add.reduceat(counts.astype(np.float64), starts)
        distinct = np.add.reduceat(distinct * counts, starts) / weights
        return distinct, weights / weights.sum()
    return distinct, counts / counts.sum()


def tilted(law: Law, mean: float) -> Law | None:
    """Return the law nearest to `law` that has this mean; None where its values do not reach so far."""
    values, base = law
    scale = float(values.max() - values.min())
    if not values.min() < mean < values.max():
        return None

    def weights(tau: float) -> FloatArray:
        exponent = tau * values / scale
        w = base * np.exp(exponent - exponent.max())
        return np.asarray(w / w.sum())

    def excess(tau: float) -> float:
        return float(weights(tau) @ values) - mean

    if not excess(-_LARGEST_TILT) < 0.0 < excess(_LARGEST_TILT):
        return None
    return values, weights(float(brentq(excess, -_LARGEST_TILT, _LARGEST_TILT, xtol=1e-12)))


def with_one_more(law: Law, value: float, *, samples: int) -> Law:
    """Return the law that was seen in so many samples, and `value` once more."""
    return np.append(law[0], value), np.append(law[1] * samples, 1.0) / (samples + 1.0)


def shifted(law: Law, mean: float) -> Law:
    """Return the law moved to this mean."""
    return law[0] + (mean - float(law[0] @ law[1])), law[1]


def smallest_detectable(
    law_of: Callable[[float], Law | None],
    log_factors: Callable[[FloatArray], FloatArray],
    *,
    samples: int,
    log_threshold: float,
    first: float,
    largest: float,
    looks: int = _LOOKS,
) -> float | None:
    """Return about the smallest v whose law is found with probability :data:`POWER`; None if none up to `largest` is.

    Parameters
    ----------
    law_of
        The law of a violation of size v, or None where there is none of this size or more.
    log_factors
        From values (J,) to the log factors (K, J) of the test's bets.
    samples, log_threshold
        How many observations the test takes at most, and which log wealth rejects.
    first
        A first guess.
    largest
        The largest violation that there can be; may be infinite.
    looks
        How often the test looks.
    """

    def power(v: float) -> float:
        law = law_of(v)
        if law is None:
            return math.nan
        values, weights = law
        rng = stream(0, "guarantee/detectable")
        sizes = np.diff(np.linspace(0, samples, min(looks, samples) + 1).astype(np.int64))
        logs = log_factors(values)
        capital = np.zeros((logs.shape[0], _REPETITIONS))
        found = np.zeros(_REPETITIONS, dtype=np.bool_)
        for size in sizes:
            capital += logs @ rng.multinomial(size, weights, size=_REPETITIONS).T.astype(np.float64)
            found |= log_mean_exp(capital) >= log_threshold
        return float(found.mean())

    return _smallest(power, first=first, largest=largest)


def _smallest(power: Callable[[float], float], *, first: float, largest: float) -> float | None:
    """Return about the smallest v with the power wanted, by doubling or halving and then bisection."""
    high = min(max(first, math.ulp(0.0)), largest)
    for _ in range(_DOUBLINGS):
        there = power(high)
        if there >= POWER:
            break
        if high >= largest or math.isnan(there):
            return None
        high = min(2.0 * high, largest)
    else:
        return None
    low = high / 2.0
    for _ in range(_DOUBLINGS):
        if power(low) < POWER:
            break
        high, low = low, low / 2.0
    while high - low > _PRECISION * high:
        middle = 0.5 * (low + high)
        if power(middle) >= POWER:
            high = middle
        else:
            low = middle
    return high
