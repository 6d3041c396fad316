"""A list of pairs: what it costs, what it says, and that no pair's level depends on the others."""

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit

pytestmark = pytest.mark.slow  # audits of many outputs

SAMPLES = 100_000


def laplace(data, size, rng):
    return data + rng.laplace(size=size)


TEN = [(0.0, 0.1 * k) for k in range(1, 11)]


@pytest.mark.parametrize("place", [pytest.param(0, marks=pytest.mark.long), 9])
def test_a_list_costs_little_more_than_its_worst_pair(place):
    # Nine pairs keep the claim of 0.5, and used to take all their samples: nine times 100,000.
    right = [(0.0, 0.04 * k) for k in range(1, 10)]
    pairs = [*right[:place], (0.0, 1.0), *right[place:]]
    alone = audit(laplace, 0.0, 1.0, epsilon=0.5, samples=SAMPLES)
    listed = audit(laplace, pairs=pairs, epsilon=0.5, samples=SAMPLES)
    assert listed.verdict is alone.verdict is AuditVerdict.VIOLATED
    assert {listed.witness.d, listed.witness.d_prime} == {0.0, 1.0}
    assert listed.samples < 2 * alone.samples
    assert (listed.pairs, listed.pairs_tried) == (10, 10)
    assert listed == listed.reproduce()


def test_without_a_violation_each_pair_takes_its_samples_and_the_pass_names_the_one_that_it_shows():
    result = audit(laplace, pairs=TEN, epsilon=1.0, samples=2000)
    assert result.verdict is AuditVerdict.NOT_VIOLATED
    assert result.samples == 10 * 2000
    assert "10 pairs were tried, of which this is the worst: " in result.summary
    alone = audit(laplace, *TEN[0], epsilon=1.0, samples=2000)
    assert "pairs were tried" not in alone.summary


def test_a_late_violation_is_found_among_pairs_that_keep_the_claim():
    # Beyond the last of the smaller rounds: the order in which pairs are carried on does not lose it.
    result = audit(laplace, pairs=[(0.0, 0.5), (0.0, 1.0), (0.0, 0.6)], epsilon=0.8, samples=SAMPLES)
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.p_value <= result.alpha
    assert np.isfinite(result.log_e_value)
