"""Audits by canaries keep their level at the boundary, and find what they say they would find.

Seeds are fixed. Each test of a level fails a true level with probability at most 1e-9 at a random seed, by the
Clopper-Pearson bound; the power's, by the binomial tail. `python -m benchmarks.canary_validity` looks longer.
"""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.auditing.canaries.families import Family
from dpsco_verify.auditing.canaries.guesses import planned_guesses
from dpsco_verify.auditing.canaries.lines import approximate_lines, gaussian_lines
from dpsco_verify.auditing.canaries.many_runs import ManyRuns
from dpsco_verify.auditing.canaries.one_run import OneRun, approximate_dp, f_dp
from dpsco_verify.auditing.canaries.scores import ranked
from dpsco_verify.inference.binomial import at_most, clopper_pearson_lower

RUNS, LEVEL = 200, 0.2


def judged(rng, coins, scores):
    """One audit's tests by each method, of scores whose coins are fair."""
    found = ranked(scores[coins], scores[~coins], rng)
    plans = planned_guesses(coins.size, None)
    return OneRun.of(f_dp, plans, found), OneRun.of(approximate_dp, plans, found), ManyRuns.of(found)


def fair(rng, m):
    coins = rng.random(m) < 0.5
    coins[:2] = (True, False) if m > 2 else coins[:2]
    return coins


@pytest.mark.slow
@pytest.mark.parametrize(
    ("m", "law"),
    [
        (200, lambda rng, coins: rng.normal(size=coins.size)),
        (200, lambda rng, coins: rng.integers(2, size=coins.size).astype(float)),
        (200, lambda rng, coins: np.zeros(coins.size)),
        (6, lambda rng, coins: rng.normal(size=coins.size)),
    ],
)
def test_scores_that_know_nothing_are_accused_no_more_often_than_the_level(m, law):
    alarms = np.zeros(3, dtype=int)
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, m])
        coins = rng.random(m) < 0.5
        if not 0 < coins.sum() < m:
            continue
        tests = judged(rng, coins, law(rng, coins))
        alarms += [test.rejects(approximate_lines(0.0, 0.0), LEVEL) for test in tests]
    assert (clopper_pearson_lower(alarms, RUNS, alpha=1e-9 / 3) <= LEVEL).all()


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_gaussian_scores_at_their_own_claim_are_accused_no_more_often_than_the_level(mu):
    lines, wrong, alarms = gaussian_lines(mu), gaussian_lines(0.2 * mu), np.zeros(4, dtype=int)
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, 7])
        coins = rng.random(400) < 0.5
        f, _, many = judged(rng, coins, mu * coins + rng.normal(size=400))
        alarms += [
            f.rejects(lines, LEVEL),
            many.rejects(lines, LEVEL),
            f.rejects(wrong, LEVEL),
            many.rejects(wrong, LEVEL),
        ]
    assert (clopper_pearson_lower(alarms[:2], RUNS, alpha=1e-9 / 2) <= LEVEL).all()
    # The same check catches a claim that is wrong.
    assert (clopper_pearson_lower(alarms[2:], RUNS, alpha=1e-9 / 2) > LEVEL).all()


def test_choosing_the_number_of_guesses_by_the_coins_is_caught_by_the_same_check():
    """Why the number of guesses is fixed: the best of all of them, each at the full level, alarms far too often."""
    alarms = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, 8])
        coins = rng.random(200) < 0.5
        found = ranked(rng.normal(size=coins.sum()), rng.normal(size=(~coins).sum()), rng)
        plans = tuple(plan for n in range(10, 200, 10) for plan in planned_guesses(200, n))
        test = OneRun.of(f_dp, plans, found)
        alarms += test.rejects(approximate_lines(0.0, 0.0), LEVEL)
    assert clopper_pearson_lower(alarms, RUNS, alpha=1e-9) > LEVEL


@pytest.mark.slow
@pytest.mark.parametrize("index", [0, 2])
def test_ideal_canaries_at_the_mdv_are_found(index):
    """Power 0.9 at the MDV: fewer than P(Bin(200, 0.9) ≤ n) = 1e-9 allows would be a wrong MDV."""
    claim, m = gaussian_lines(0.5), 400
    design = judged(np.random.default_rng(0), np.arange(m) < m // 2, np.zeros(m))[index]
    finder = design.finder(claim, Family.GAUSSIAN, 1e-5, alpha=0.05, power=0.9)
    mu = min(float(mu) for mu in np.linspace(0.5, 4.0, 141) if finder(float(mu)))
    found = 0
    for seed in range(RUNS):
        rng = np.random.default_rng([seed, 9])
        coins = rng.random(m) < 0.5
        found += judged(rng, coins, mu * coins + rng.normal(size=m))[index].rejects(claim, 0.05)
    assert float(at_most(found, RUNS, 0.9)) > 1e-9
    assert found < RUNS
