"""A limit for the whole audit: it ends in time with what was found, and promises nothing."""

import json
import pickle
import time

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.errors import InputError
from dpsco_verify.execution.time_limit import Deadline, TimeIsUp
from dpsco_verify.gating.record import gate_record
from dpsco_verify.strategies import neighbouring_arrays


def noisy(data, size, rng):
    return np.sum(data) + rng.laplace(size=size)


def waiting(data, size, rng):
    time.sleep(1e-3 * size)
    return noisy(data, size, rng)


def patient(data, size, rng):
    """Slow from the second round on."""
    time.sleep(0.0 if size < 2000 else 60.0)
    return noisy(np.multiply(data, 1.05), size, rng)


def gross(data, size, rng):
    time.sleep(0.0 if size < 2000 else 60.0)
    return noisy(np.multiply(data, 9.0), size, rng)


def test_an_audit_whose_time_is_up_is_undecided_and_says_what_was_done():
    result = audit(patient, [0.0], [1.0], epsilon=1.0, samples=50_000, total_time_limit=0.8)
    assert result.verdict is AuditVerdict.UNDECIDED
    assert result.ended_after == 0.8
    assert 0 < result.samples < 50_000
    assert (result.mdv, result.samples_needed, result.reproducible) == (None, None, False)
    assert "total_time_limit=0.8 seconds were over after" in result.summary
    assert "give a larger total_time_limit" in result.summary


def test_a_violation_that_was_found_stands():
    result = audit(gross, [0.0], [1.0], epsilon=1.0, samples=50_000, total_time_limit=2.0)
    assert result.verdict is AuditVerdict.VIOLATED
    assert result.epsilon_lower > 1.0


@pytest.mark.slow
@pytest.mark.parametrize(
    "pairs",
    [[([0.0], [1.0])], [([0.0], [1.0])] * 3, neighbouring_arrays("add-remove")],
    ids=["one", "three", "strategy"],
)
def test_what_was_never_tested_is_undecided_too(pairs):
    started = time.perf_counter()
    result = audit(waiting, pairs=pairs, epsilon=1.0, total_time_limit=0.3)
    assert time.perf_counter() - started < 30.0  # without the limit it would be minutes
    assert (result.verdict, result.candidates, result.p_value) == (AuditVerdict.UNDECIDED, 0, 1.0)
    assert "before any event was tested" in result.summary
    assert json.loads(json.dumps(result.to_dict()))["mdv"] is None
    assert pickle.loads(pickle.dumps(result)).ended_after == 0.3  # noqa: S301  our own
    record, certificates = gate_record([result], error_budget=1e-6, seed=0, profile="quick", seconds=1.0)
    assert (record.exit_code, certificates) == (3, {})


@pytest.mark.slow
def test_a_limit_that_is_not_reached_changes_nothing():
    free = audit(noisy, [0.0], [1.0], epsilon=1.0, samples=2000)
    assert audit(noisy, [0.0], [1.0], epsilon=1.0, samples=2000, total_time_limit=600.0) == free
    assert free.ended_after is None


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan")])
def test_a_limit_is_positive(limit):
    with pytest.raises(InputError, match="total_time_limit="):
        audit(noisy, [0.0], [1.0], epsilon=1.0, total_time_limit=limit)


def test_a_deadline_leaves_behind_what_takes_too_long_and_raises_what_is_raised():
    assert Deadline(None).run(lambda: 3) == 3
    soon = Deadline(0.05)
    with pytest.raises(TimeIsUp):
        soon.run(lambda: time.sleep(30.0))
    with pytest.raises(ZeroDivisionError):
        Deadline(60.0).run(lambda: 1 / 0)
    assert soon.left <= 0.0 < Deadline(60.0).half().left <= 30.0
