"""StatDP's procedure, as the benchmark has it: its tails are exact, and its p-values those of a test."""

import math

import numpy as np
import pytest
from scipy.stats import hypergeom

from benchmarks.statdp import _log_tails, log_p_value
from benchmarks.zoo_cases import STAT, Case


@pytest.mark.parametrize(("other", "n"), [(3, 50), (20, 500), (350, 1000)])
def test_tails_are_those_of_the_hypergeometric_law(other, n):
    kept = np.array([0, 1, other // 2, other, 2 * other, min(3 * other, n)])
    exact = [hypergeom.logsf(k - 1, 2 * n, n, k + other) if k else 0.0 for k in kept]
    np.testing.assert_allclose(_log_tails(kept, other, n), exact, rtol=1e-9, atol=1e-9)


def test_a_tail_below_the_smallest_double_is_a_logarithm():
    # All of K occurrences on one side: C(2n − K, n − K)/C(2n, n), below 2^−K.
    (found,) = _log_tails(np.array([5_000]), 0, 10_000)
    exact = sum(math.log((10_000 - j) / (20_000 - j)) for j in range(5_000))
    assert found == pytest.approx(exact, rel=1e-9)
    assert found < -5_000 * math.log(2.0)


@pytest.mark.slow
def test_a_true_claim_has_small_p_values_as_seldom_as_they_say():
    """The rate at p ≤ 0.2 is at most 0.2; 42 of 100 or more have probability below 1e-6, and the seeds are fixed."""
    [case] = (case for case in STAT if case.name == "histogram")
    found = [
        log_p_value(case.mechanism, case.pair, case.view, case.true, 1_200, np.random.default_rng(seed))
        for seed in range(100)
    ]
    assert 0 < sum(log_p <= math.log(0.2) for log_p in found) < 42


@pytest.mark.slow
@pytest.mark.parametrize("case", STAT, ids=lambda case: case.name)
def test_a_false_claim_is_seen_from_the_outputs_of_each_of_its_mechanisms(case: Case):
    claim, rng = 0.5 * min(case.true, case.claim), np.random.default_rng(7)
    assert log_p_value(case.mechanism, case.pair, case.view, claim, 60_000, rng) < math.log(0.01)
