"""Products over runs at the boundary of their null hypothesis: no false alarms beyond the level.

Nothing is drawn here: all outcomes are enumerated with their probabilities, so no assertion has an error probability.
Products are rounded to a grid, upwards where few alarms are to be shown and downwards where many are.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_verify.inference import CellCounts, PrivacyEventTest, bounded_mean
from dpsco_verify.ledger.e_values import event_e_value, mean_e_value
from dpsco_verify.store import MeanObservations, RunEvidence, accumulate

pytestmark = pytest.mark.slow

BOUND = 0.1
DRAWS = 4
RUNS = 12
GRID = 0.01
PART = 0.2
"""The level of a test with its products over runs: large, so that false alarms are there to be counted."""


def outcomes(level, log_e_value):
    """The outcomes of one run at the boundary: (log e-value, whether the run itself rejects) and its probability."""
    found: dict[tuple[float, bool], float] = {}
    for draws in itertools.product((0.0, 1.0), repeat=DRAWS):
        decision = bounded_mean.decide(draws, bound=BOUND, low=0.0, high=1.0, alpha=level)
        e_value = mean_e_value(
            draws, log_wealth=decision.log_wealth, bound=BOUND, low=0.0, high=1.0, alpha=level
        )
        # Orders of the same draws give the same wealth but for rounding, which is not to be told apart here.
        key = (round(log_e_value(e_value, decision), 9), decision.rejected)
        probability = math.prod(BOUND if x else 1 - BOUND for x in draws)
        found[key] = found.get(key, 0.0) + probability
    return found


def evidence(seed, log_e_value):
    seen = MeanObservations.of([0.0], bound=BOUND, low=0.0, fractions=np.array([0.5]))
    return RunEvidence(run=seed, profile="quick", seed=seed, log_e_value=log_e_value, observations=seen)


def false_alarms(
    level, log_e_value=lambda e_value, decision: e_value.log_e_value, *, single, rounded=math.ceil
):
    """The probability that of RUNS runs the first by itself (if `single`), or any of the products, alarms.

    What came before a run enters through its product alone, so the products' law is passed on from run to run.
    """
    runs = outcomes(level, log_e_value)
    alarm, before = 0.0, {0.0: 1.0}
    for number in range(RUNS):
        after: dict[float, float] = {}
        for (total, mass), ((log, own), probability) in itertools.product(before.items(), runs.items()):
            product = accumulate((evidence(0, total),), evidence(1, log), alpha=level)
            if product.rejected or (single and number == 0 and own):
                alarm += mass * probability
            else:
                key = GRID * rounded(product.log_e_value / GRID)
                after[key] = after.get(key, 0.0) + mass * probability
        before = after
    return alarm


def test_a_run_and_all_products_together_alarm_at_most_at_the_level_that_they_share():
    """A run by itself at one half of the level, and all products, of this and of later runs, at the other."""
    shared = false_alarms(PART / 2, single=True)
    assert 0.0 < shared <= PART
    assert 0.0 < false_alarms(PART, single=False) <= PART
    # Each at the whole level would alarm more often: the product is a second chance.
    assert false_alarms(PART, single=True, rounded=math.floor) > shared


def test_products_of_what_is_no_e_value_break_the_level():
    """The largest wealth of each run in place of the last: the same enumeration sees the level broken."""
    wrong = false_alarms(
        PART, lambda e_value, decision: decision.max_log_wealth, single=False, rounded=math.floor
    )
    assert wrong > PART


@pytest.mark.parametrize(("bound", "draws"), [(0.05, 40), (0.5, 200), (0.735, 500)])
def test_an_e_value_of_a_mean_has_mean_one_at_the_boundary_and_less_inside(bound, draws):
    """Exact: binomial counts, as of late runs; the bound on the rounding keeps the mean from exceeding 1."""
    logs = np.empty(draws + 1)
    for late in range(draws + 1):
        seen = np.repeat([0.0, 1.0], [draws - late, late])
        decision = bounded_mean.decide(seen, bound=bound, low=0.0, high=1.0, alpha=1e-6)
        logs[late] = mean_e_value(
            seen, log_wealth=decision.log_wealth, bound=bound, low=0.0, high=1.0, alpha=1e-6
        ).log_e_value
    counts = np.arange(draws + 1)
    mean = math.fsum(np.exp(logs + binom.logpmf(counts, draws, bound)))
    assert 1.0 - 1e-6 < mean < 1.0 + 1e-12
    assert math.fsum(np.exp(logs + binom.logpmf(counts, draws, 0.9 * bound))) < 1.0
    assert math.fsum(np.exp(logs + binom.logpmf(counts, draws, min(1.0, 1.1 * bound)))) > 1.0


def event_mean(epsilon, delta, q, *, excess=0.0, pairs=12, alpha=1e-6):
    """The mean of an event's e-value over all counts of pairs, for ``P' = q`` and ``P`` at the boundary or above."""
    p = math.exp(epsilon) * q + delta + excess
    cells = {"n11": p * q, "n10": p * (1 - q), "n01": (1 - p) * q, "n00": (1 - p) * (1 - q)}
    total = []
    for n11 in range(pairs + 1):
        for n10 in range(pairs + 1 - n11):
            for n01 in range(pairs + 1 - n11 - n10):
                counts = CellCounts(n11=n11, n10=n10, n01=n01, n00=pairs - n11 - n10 - n01)
                test = PrivacyEventTest(epsilon=epsilon, delta=delta, alpha=alpha)
                decision = test.update_counts(counts)
                e_value = event_e_value(counts, decision=decision, epsilon=epsilon, delta=delta, alpha=alpha)
                log = math.lgamma(pairs + 1) + e_value.log_e_value
                for name, probability in cells.items():
                    number = getattr(counts, name)
                    log += number * math.log(probability) - math.lgamma(number + 1)
                total.append(math.exp(log))
    return math.fsum(total)


@pytest.mark.parametrize(("epsilon", "delta", "q"), [(0.5, 0.01, 0.1), (0.0, 0.2, 0.4), (2.0, 1e-6, 0.05)])
def test_an_e_value_of_an_event_has_mean_one_at_the_boundary(epsilon, delta, q):
    """Exact: all counts of twelve pairs. Whichever event a run has chosen before, this is its e-value's mean."""
    assert 1.0 - 1e-6 < event_mean(epsilon, delta, q) < 1.0 + 1e-9
    assert event_mean(epsilon, delta, q, excess=-0.02) < 1.0
    assert event_mean(epsilon, delta, q, excess=0.02) > 1.0
