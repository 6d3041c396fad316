"""The search for a pair finds what special values alone show, at its default; and StatDP's patterns."""

import functools
import re

import numpy as np
import pytest
from hypothesis import given, settings

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.strategies import neighbouring_answers, neighbouring_arrays, special_values


@functools.cache
def searched(mechanism, pairs, **options):
    return audit(mechanism, pairs=pairs, epsilon=1.0, samples=2000, **options)


def clamped(data, size, rng):
    """NaN passes the clamp, and stands in the sum."""
    return np.minimum(np.maximum(data, 0.0), 1.0).sum() + rng.laplace(size=size)


def clamped_well(data, size, rng):
    return clamped(np.nan_to_num(data), size, rng)


def wrapping(data, size, rng):
    """The sum of bytes that are at most 100 wraps around."""
    with np.errstate(over="ignore"):
        total = np.minimum(np.abs(data), 100).sum(dtype=np.int8)
    return int(total) + 100 * rng.laplace(size=size)


def drawn_anew(data, size, rng):
    """A clamped value with noise of scale 1, drawn anew until it lies in [0, 1.3]."""
    out = np.full(size, np.inf)
    value = float(np.clip(np.nan_to_num(data[0]), 0.0, 1.0))
    while (bad := (out < 0.0) | (out > 1.3)).any():
        out[bad] = value + rng.laplace(scale=0.5, size=bad.sum())
    return out


def crashing(data, size, rng):
    return np.clip(np.nan_to_num(data), 0.0, 1.0)[[0]].sum() + 3.0 * rng.laplace(size=size)


FAULTS = {
    "a NaN that passes a clamp": (clamped, neighbouring_arrays("add-remove")),
    "wrap-around": (wrapping, neighbouring_arrays("add-remove", dtype=np.int8)),
    "noise drawn anew": (drawn_anew, neighbouring_arrays("replace-one", max_records=1)),
    "a crash on the empty set": (crashing, neighbouring_arrays("add-remove")),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [pytest.param(one, marks=[pytest.mark.long] * (one == "wrap-around")) for one in FAULTS]
)
def test_faults_at_special_values_are_found_by_the_default_search(fault):
    result = searched(*FAULTS[fault])
    assert result.verdict is AuditVerdict.VIOLATED, result.summary
    assert re.search("pairs were tried, of which this is the worst|1 pair was tried", result.summary)


@pytest.mark.slow
def test_the_right_counterpart_is_left_alone():
    result = searched(clamped_well, neighbouring_arrays("add-remove"), pair_examples=40)
    assert result.verdict is not AuditVerdict.VIOLATED
    assert result.pairs_tried >= 40  # the search goes on


@pytest.mark.slow
def test_a_threshold_is_looked_at():
    """What happens at 37.5 alone is found where the strategy says so."""

    def leaky(data, size, rng):
        return 20.0 * (data == 37.5).any() + rng.laplace(size=size)

    told = neighbouring_arrays("add-remove", thresholds=(37.5,))
    assert searched(leaky, told).verdict is AuditVerdict.VIOLATED


def test_special_values_of_a_type():
    floats = special_values(np.dtype(np.float32), (2.0,))
    assert {np.float32(2.0), np.nextafter(np.float32(2.0), np.float32(np.inf))} <= set(floats)
    assert sum(np.isnan(floats)) == 1
    assert sum(np.isinf(floats)) == 2
    assert {str(x) for x in floats if x == 0.0} == {"0.0", "-0.0"}
    assert set(special_values(np.dtype(np.uint8), (7,))) == {0, 1, 255, 6, 7, 8}
    assert special_values(np.dtype("U3")) == []


@pytest.mark.slow
@settings(database=None, max_examples=60)
@given(neighbouring_answers(5, sensitivity=2.0))
def test_answers_differ_by_the_sensitivity_at_most(pair):
    assert 0.0 < np.abs(pair[0] - pair[1]).max() <= 2.0


@pytest.mark.slow
def test_patterns_find_a_faulty_sparse_vector():
    """Lyu, Su and Li (2017), Algorithm 5: no noise on the queries."""

    def sparse_vector(answers, size, rng):
        return answers > rng.laplace(scale=2.0, size=(size, 1))

    assert searched(sparse_vector, neighbouring_answers(5), pair_examples=12).verdict is AuditVerdict.VIOLATED


@pytest.mark.slow
def test_a_search_ends_with_a_pair_that_is_plain():
    assert searched(*FAULTS["a crash on the empty set"]).pairs_tried < 10
