"""The sequential test of a rate errs no more often than it says, and ends as soon as it can.

Of 2,000 sequences, held to 10 % at 1e-9: an error of 15 % is seen with probability above 0.9.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpsco_verify.inference.binomial import clopper_pearson_lower
from sequential import rate_holds

RUNS = 2000


@pytest.mark.slow
@pytest.mark.parametrize("claim", [(0.05, 0.2), (0.85, 0.6), (0.97, 0.999)])
def test_its_errors_are_those_that_it_states(claim):
    rng = np.random.default_rng(1)
    passed = [
        sum(rate_holds(rng.random(2000) < rate, claim, alarm=0.1, missed=0.1) for _ in range(RUNS))
        for rate in claim
    ]
    for errors in (RUNS - passed[0], passed[1]):
        assert clopper_pearson_lower(errors, RUNS, alpha=1e-9) <= 0.1
        assert errors > 0.02 * RUNS  # it spends what it is given


def test_it_ends_when_all_claims_are_decided_and_not_before():
    drawn = []
    outcomes = (drawn.append(None) or False for _ in itertools.count())
    assert rate_holds(outcomes, (0.05, 0.2))
    assert len(drawn) == 41  # (0.95/0.8)^41 > 1000 > (0.95/0.8)^40
    assert not rate_holds([False] * 2000, (0.05, 0.2), most=40)
    assert not rate_holds(iter([]), (0.05, 0.2))
    assert rate_holds([False] * 41, (0.05, 0.2), (0.2, 0.5))
    assert not rate_holds([False] * 2000, (0.05, 0.2), (0.85, 0.6))
    assert not rate_holds([True] * 2000, (0.85, 0.6), (0.97, 0.999))
