"""Test of H0: ``E[X_t | past] ≤ bound`` for observations in ``[low, high]``, valid at every time.

The test is the betting e-process of :mod:`dpsco_verify.inference.e_process` on the payoffs ``X − bound`` (Ville 1939;
Waudby-Smith & Ramdas 2023).

Power, for independent observations of one law with mean ``bound + v``. How many are needed depends on that
law, so there are two bounds; both hold for every law in the class they name, and both speak of the wealth at
the sample cap.

(a) All laws on ``[low, high]``. Round X at random to Y ∈ {low, high} with ``E[Y | X] = X``. Each factor of
    the wealth is linear in its payoff, so ``W(X) = E[W(Y) | X]``, and by Markov's inequality given X, for 0 <
    r < 1, ``P(W(Y) ≥ 1/(αr)) ≤ E[min(1, αr·W(X))] ≤ r + (1 − r) P(W(X) ≥ 1/α)``. Hence

        ``P(W(X) < 1/α) ≤ P(W(Y) < 1/(αr)) / (1 − r)``,

    whose right side is a binomial probability. The best r of a fixed list is taken.

(b) All laws on ``[low, high]`` with standard deviation at most σ. The mixture is at least 1/K of each bet's
    product, so by Chernoff, for each bet and each s > 0,

        ``P(W < 1/α) ≤ (K/α)^s · (sup E[f(X)^{−s}])^n``,  ``f(x) = 1 + λ(x − bound)``.

    f^{−s} is convex with a negative third derivative, so the supremum over laws of mean μ and variance at
    most σ² is at the two-point law on low and ``μ + σ²/(μ − low)`` (at {low, high} when that point lies above
    high): the parabola that meets f^{−s} at low and touches it at the other point lies above it. (Bennett
    1962, mirrored.) The smaller of this and (a) is used.

Shrinking a law towards `low` until its mean is smaller changes it for the worse and leaves it in its class, so both
bounds, and with them the twins, are monotone in v.
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.inference.bets import log_factors, log_wealth_error, log_wealth_of_counts
from dpsco_verify.inference.binomial import at_most
from dpsco_verify.inference.checks import require_range, require_within
from dpsco_verify.inference.e_process import BettingEProcess, EProcessDecision
from dpsco_verify.inference.search import smallest_integer, smallest_violation
from dpsco_verify.validation import (
    require_finite,
    require_integer,
    require_non_negative,
    require_open_interval,
    require_positive,
)

# The values of r in (a), and of s in (b). Any choice is sound; a finer one gains less than a percent.
_MARKOV_RATIOS = np.array([0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3])
_CHERNOFF_EXPONENTS = np.geomspace(2.0**-6, 2.0**12, 190)


class BoundedMeanTest:
    """Anytime-valid test of ``E[X_t | past] ≤ bound`` for observations in ``[low, high]``.

    Parameters
    ----------
    bound
        The claimed bound of the mean, strictly between `low` and `high`.
    low, high
        Bounds of the observations, in their unit.
    alpha
        Level in (0, 1).

    Raises
    ------
    InputError
        When the bound leaves nothing to test, or an observation is NaN or outside of ``[low, high]``.

    """

    __bool__ = no_truth_value("not test.decision.rejected")

    def __init__(self, *, bound: float, low: float, high: float, alpha: float) -> None:
        self._bound, self._low, self._high = _checked_bounds(bound, low, high)
        self._process = BettingEProcess(
            low=self._low - self._bound, high=self._high - self._bound, alpha=alpha
        )

    def update(self, observations: ArrayLike) -> EProcessDecision:
        """Take in observations in the order they were drawn, shape (N,); the wealth is looked at after each."""
        array = require_within("observations", observations, self._low, self._high)
        self._process.update(array - self._bound)
        return self._process.decision

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        return self._process.decision

    def log_factors(self, observations: FloatArray) -> FloatArray:
        """Return the log of the factor of each bet and observation, shapes (N,) to (K, N)."""
        return log_factors(self._process.fractions, (observations - self._bound) / (self._bound - self._low))


def decide(
    observations: ArrayLike, *, bound: float, low: float, high: float, alpha: float
) -> EProcessDecision:
    """Run the test over observations of shape (N,), looking after each."""
    return BoundedMeanTest(bound=bound, low=low, high=high, alpha=alpha).update(observations)


def power_lower_bound(
    *,
    mean: float,
    bound: float,
    low: float,
    high: float,
    samples: int,
    alpha: float,
    standard_deviation: float | None = None,
) -> float:
    """Return a lower bound of the probability of rejection within `samples` observations of mean `mean`.

    Over all laws on ``[low, high]``, or, when it is given, over those with at most this standard deviation.
    """
    bound, low, high = _checked_bounds(bound, low, high)
    mean = require_finite("mean", mean)
    if not bound < mean <= high:
        raise InputError(
            f"mean={mean!r} is outside ({bound!r}, {high!r}]; give a mean that violates the bound"
        )
    design = _Design(bound=bound, low=low, high=high, alpha=alpha, standard_deviation=standard_deviation)
    return max(0.0, 1.0 - design.miss(require_integer("samples", samples, minimum=1), mean))


def minimum_detectable_violation(
    *,
    bound: float,
    low: float,
    high: float,
    samples: int,
    alpha: float,
    power: float = 0.9,
    standard_deviation: float | None = None,
) -> float:
    """Return the smallest v such that a mean of ``bound + v`` is sure to be found with the power wanted.

    Sure for every law on ``[low, high]`` of that mean or more, or, when `standard_deviation` is given, for
    every such law with at most this standard deviation. ``math.inf`` when not even the mean `high` would be
    found.
    """
    bound, low, high = _checked_bounds(bound, low, high)
    samples = require_integer("samples", samples, minimum=1)
    miss = 1.0 - require_open_interval("power", power, 0.0, 1.0)
    design = _Design(bound=bound, low=low, high=high, alpha=alpha, standard_deviation=standard_deviation)
    return smallest_violation(
        lambda v: design.miss(samples, min(high, bound + v)) <= miss, largest=high - bound
    )


def required_samples(
    *,
    violation: float,
    bound: float,
    low: float,
    high: float,
    alpha: float,
    power: float = 0.9,
    standard_deviation: float | None = None,
) -> int | None:
    """Return a number of observations within which a mean of ``bound + violation`` is found with the power wanted.

    For the classes of laws of :func:`minimum_detectable_violation`. None when no number up to 2^50 is enough.
    """
    bound, low, high = _checked_bounds(bound, low, high)
    mean = bound + require_positive("violation", violation)
    if mean > high:
        raise InputError(
            f"violation={violation!r} would need the mean {mean!r} above high={high!r}; give a smaller one"
        )
    miss = 1.0 - require_open_interval("power", power, 0.0, 1.0)
    design = _Design(bound=bound, low=low, high=high, alpha=alpha, standard_deviation=standard_deviation)
    return smallest_integer(lambda samples: design.miss(samples, mean) <= miss)


class _Design:
    """The test's wealth as a function of the law, for the bounds (a) and (b) of the module."""

    def __init__(
        self, *, bound: float, low: float, high: float, alpha: float, standard_deviation: float | None
    ) -> None:
        process = BettingEProcess(low=low - bound, high=high - bound, alpha=alpha)
        self._fractions = process.fractions
        self._log_threshold = process.decision.log_threshold
        self._bound = bound
        self._low = low
        self._high = high
        self._needed: dict[int, FloatArray] = {}
        self._deviation = (
            None
            if standard_deviation is None
            else require_non_negative("standard_deviation", standard_deviation)
        )

    def miss(self, samples: int, mean: float) -> float:
        """Bound the probability of no rejection within `samples` observations of this mean."""
        threshold = self._log_threshold + log_wealth_error(self._fractions, self._ratio(self._high), samples)
        worst = self._miss_of_all_laws(samples, mean, threshold)
        if self._deviation is None:
            return worst
        return min(worst, self._miss_at_deviation(samples, mean, threshold, self._deviation))

    def _ratio(self, x: float) -> float:
        """Return the payoff of x over the largest loss."""
        return (x - self._bound) / (self._bound - self._low)

    def _miss_of_all_laws(self, samples: int, mean: float, threshold: float) -> float:
        if samples not in self._needed:
            self._needed = {samples: self._ups_needed(samples, threshold - np.log(_MARKOV_RATIOS))}
        p = min(1.0, (mean - self._low) / (self._high - self._low))
        misses = at_most(self._needed[samples] - 1.0, samples, p) / (1.0 - _MARKOV_RATIOS)
        return float(misses.min())

    def _ups_needed(self, samples: int, thresholds: FloatArray) -> FloatArray:
        """Return, for each threshold, how many of the observations must be `high`, the others being `low`.

        By bisection for all at once; samples + 1 stands for "not even all".
        """
        ratios = np.array([-1.0, self._ratio(self._high)])
        below = np.full(thresholds.shape, -1.0)
        needed = np.full(thresholds.shape, samples + 1.0)
        while (needed - below > 1.0).any():
            middle = np.floor((below + needed) / 2.0)
            ups = np.maximum(middle, 0.0)
            wealth = log_wealth_of_counts(self._fractions, ratios, np.stack([samples - ups, ups], axis=-1))
            good = wealth >= thresholds
            needed = np.where(good, middle, needed)
            below = np.where(good, below, middle)
        return needed

    def _miss_at_deviation(self, samples: int, mean: float, threshold: float, deviation: float) -> float:
        variance = min(deviation**2, (self._high - mean) * (mean - self._low))
        drop = mean - self._low
        at_low = variance / (variance + drop**2)
        other = min(mean + variance / drop, self._high)
        logs = log_factors(self._fractions, np.array([-1.0, self._ratio(other)]))
        s = _CHERNOFF_EXPONENTS[:, np.newaxis]
        log_at_low = math.log(at_low) if at_low > 0.0 else -math.inf
        log_moment = np.logaddexp(log_at_low - s * logs[:, 0], math.log1p(-at_low) - s * logs[:, 1])
        exponent = s * (threshold + math.log(self._fractions.size)) + samples * log_moment
        return math.exp(min(0.0, float(exponent.min())))


def _checked_bounds(bound: float, low: float, high: float) -> tuple[float, float, float]:
    bound = require_finite("bound", bound)
    low, high = require_range(low, high)
    if not low < bound < high:
        raise InputError(
            f"bound={bound!r} leaves nothing to test for values in [{low!r}, {high!r}]; give low < bound < high"
        )
    return bound, low, high
