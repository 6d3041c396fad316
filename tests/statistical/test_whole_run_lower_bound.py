"""The lower bound of a whole run against runs of its instance: the gradient L of one point against −L of all others.

Each interval holds with probability at least 1 − 1e-9; what it would have found is stated.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.inference import BettingConfidenceSequence
from dpsco_verify.privacy.whole_run import WholeRun, delta_lower, delta_upper

pytestmark = pytest.mark.slow


def payoffs(n, k, mu, epsilon, runs, rng):
    """``(1 − e^ε/M)₊`` under P: k points of n in random order, noise of unit variance, the target's mean at μ."""
    slot = rng.permuted(np.tile(np.arange(n), (runs, 1)), axis=1)[:, :k] == 0
    noise = rng.normal(size=(runs, k)) + mu * slot
    ratio = 1 - k / n + np.exp(mu * noise - mu * mu / 2).sum(axis=1) / n
    return np.maximum(1.0 - math.exp(epsilon) / ratio, 0.0)


@pytest.mark.parametrize(
    ("n", "k", "mu", "epsilon"),
    [
        (20, 11, 1.5, 0.2),
        pytest.param(40, 21, 2.5, 0.3, marks=pytest.mark.long),
        (12, 6, 0.8, 0.05),
        (10, 10, 1.0, 0.0),
    ],
)
def test_the_lower_bound_is_what_runs_show(n, k, mu, epsilon):
    """2·10⁵ runs: a lower bound that is 15 % of the payoff's range too large or too small would be found."""
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=1e-9)
    sequence.update(payoffs(n, k, mu, epsilon, 200_000, np.random.default_rng(17)))
    found = delta_lower(WholeRun(n=n, mu=mu, points=k), epsilon)
    assert sequence.lower <= found <= sequence.upper
    assert sequence.upper - sequence.lower < 0.012
    assert delta_upper(WholeRun(n=n, mu=mu, points=k), epsilon) >= sequence.lower


@pytest.mark.parametrize("wrong", [{"mu": 1.2}, {"points": 14}, {"n": 25}])
def test_another_run_is_told_apart(wrong):
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=1e-9)
    sequence.update(payoffs(20, 11, 1.5, 0.2, 200_000, np.random.default_rng(17)))
    found = delta_lower(WholeRun(**{"n": 20, "mu": 1.5, "points": 11} | wrong), 0.2)
    assert not sequence.lower <= found <= sequence.upper
