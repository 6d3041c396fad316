"""The e-values that statements hand over, from what their tests saw.

Each is the wealth at the end of the run's test, less a bound on its rounding, so that rounding alone never counts as
evidence.
"""

from __future__ import annotations

import math

from dpsco_verify.arrays import ArrayLike
from dpsco_verify.inference import CellCounts, EProcessDecision
from dpsco_verify.inference.bets import bet_fractions, depth_for_range, log_wealth_error
from dpsco_verify.store import EValue, EventObservations, MeanObservations


def mean_e_value(
    observations: ArrayLike, *, log_wealth: float, bound: float, low: float, high: float, alpha: float
) -> EValue:
    """Return the e-value of :func:`dpsco_verify.inference.bounded_mean.decide` over observations of shape (N,).

    Parameters
    ----------
    observations
        All that the test has seen.
    log_wealth
        The log of its wealth after the last one.
    bound, low, high
        The null hypothesis, ``mean ≤ bound``, and the range of the observations.
    alpha
        The level of the product over runs.
    """
    fractions = bet_fractions(depth=depth_for_range(low - bound, high - bound))
    seen = MeanObservations.of(observations, bound=bound, low=low, fractions=fractions)
    error = log_wealth_error(fractions, (high - bound) / (bound - low), int(seen.counts.sum()))
    return EValue(log_e_value=log_wealth - error, alpha=alpha, observations=seen)


def event_e_value(
    counts: CellCounts, *, decision: EProcessDecision, epsilon: float, delta: float, alpha: float
) -> EValue:
    """Return the e-value of :class:`dpsco_verify.inference.PrivacyEventTest` with its own bets.

    Parameters
    ----------
    counts
        The pairs that the test has seen.
    decision
        What it had decided when it stopped.
    epsilon, delta
        The null hypothesis, ``P(E|S) ≤ e^ε P(E|S') + δ``.
    alpha
        The level of the product over runs.
    """
    low, high = -math.exp(epsilon) - delta, 1.0 - delta
    fractions = bet_fractions(depth=depth_for_range(low, high))
    error = log_wealth_error(fractions, high / -low, decision.samples)
    return EValue(
        log_e_value=decision.log_wealth - error,
        alpha=alpha,
        observations=EventObservations(
            epsilon=epsilon,
            delta=delta,
            fractions=fractions,
            both=counts.n11,
            first_only=counts.n10,
            second_only=counts.n01,
            neither=counts.n00,
        ),
    )
