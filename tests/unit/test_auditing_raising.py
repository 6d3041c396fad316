"""Exceptions as outputs: on one data set alone they are a leak, on both a broken mechanism, and never a bias."""

import json
import math
import sys

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, MechanismError, audit, per_call, raising
from dpsco_verify.auditing.mechanism import Caller
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.auditing.plain import Raised
from dpsco_verify.auditing.program import Program


def draw_all(mechanism, size, seed=0, pair=(0.0, 1.0)):
    caller = Caller(mechanism, pair, name="m", seed=seed, time_limit=10.0)
    return [caller.draw(side, size, "test") for side in (0, 1)]


def sometimes(rates):
    """A sum with Laplace noise, whose runs raise with these probabilities on the two data sets."""

    def mechanism(dataset, size, rng):
        raised = rng.random(size) < rates[int(dataset)]
        noise = rng.laplace(size=size)
        if raised.any():
            raise ValueError(f"run {int(np.argmax(raised))} has {dataset}")
        return noise

    return mechanism


def one_by_one(rates):
    inner = sometimes(rates)
    return per_call(lambda dataset, rng: inner(dataset, 1, rng)[0])


@pytest.mark.slow
@pytest.mark.parametrize("form", [sometimes, one_by_one])
@pytest.mark.parametrize("rates", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.04)])
def test_a_mechanism_that_raises_on_one_data_set_alone_violates_any_claim(form, rates):
    result = audit(form(rates), 0.0, 1.0, epsilon=1.0, samples=5000)
    assert result.verdict is AuditVerdict.VIOLATED
    assert "ValueError" in result.witness.event


@pytest.mark.slow
@pytest.mark.parametrize("form", [sometimes, one_by_one])
def test_exceptions_that_are_as_frequent_on_both_are_left_alone(form):
    assert audit(form((0.3, 0.3)), 0.0, 1.0, epsilon=1.0, samples=3000).verdict is not AuditVerdict.VIOLATED


@pytest.mark.parametrize("form", [sometimes, one_by_one])
def test_a_mechanism_that_does_nothing_but_raise_is_broken(form):
    with pytest.raises(
        MechanismError, match=r"raised ValueError: run 0 has 0\.0 in call 1.*and in every run"
    ):
        audit(form((1.0, 1.0)), 0.0, 1.0, epsilon=1.0, samples=200)


@pytest.mark.slow
def test_which_exception_is_told_but_not_its_message():
    def either(dataset, size, rng):
        raise (KeyError if dataset else ValueError)(f"{rng.random()}")

    assert audit(either, 0.0, 1.0, epsilon=1.0, samples=1000).verdict is AuditVerdict.VIOLATED
    outputs, _ = draw_all(either, 50)
    assert len(set(outputs.fingerprints.tolist())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.02, pytest.param(0.1, marks=pytest.mark.long)])
def test_frequencies_are_those_of_single_runs(rate):
    """Of 8,000 runs in calls of 20 within 6 standard errors: a chance of 4e-9 in all; their noise as well.

    Runs drawn anew without the condition would make of a rate r in calls that raise with probability P about r·P.
    """
    caller = Caller(sometimes((rate, rate)), (0.0, 1.0), name="m", seed=1, time_limit=10.0)
    outputs = [caller.draw(0, 20, "test", k) for k in range(400)]
    raised = [isinstance(one, Raised) for o in outputs for one in o.raw]
    assert np.mean(raised) == pytest.approx(rate, abs=6 * math.sqrt(rate / 8000))
    # Each place of a call is like any other, so that pairs of outputs are independent.
    places = np.array(raised).reshape(400, 20)
    assert places[:, :10].sum() == pytest.approx(places[:, 10:].sum(), abs=6 * math.sqrt(rate * 8000))
    noise = np.concatenate([o.numbers[~np.isnan(o.numbers)] for o in outputs])
    assert abs(noise).mean() == pytest.approx(1.0, abs=6 / math.sqrt(noise.size))


@pytest.mark.slow
def test_runs_drawn_anew_without_the_condition_would_be_rarer(monkeypatch):
    """The test above can fail."""
    monkeypatch.setattr(raising, "runs_given_an_exception", lambda run, size: [run() for _ in range(size)])
    monkeypatch.setattr(
        "dpsco_verify.auditing.mechanism.runs_given_an_exception", raising.runs_given_an_exception
    )
    with pytest.raises(AssertionError):
        test_frequencies_are_those_of_single_runs(0.02)


def test_outputs_are_coded_alike_whether_another_run_of_the_call_raised():
    """Else what is said of one run would depend on the others."""

    def rows(dataset, size, rng):
        out = rng.integers(5, size=(size, 2))
        if dataset and (out[:, 0] == 0).any():
            raise ValueError
        return out

    plain, mixed = draw_all(rows, 64)
    kept = [i for i, one in enumerate(mixed.raw) if not isinstance(one, Raised)]
    assert 0 < len(kept) < 64
    for i in kept:
        assert mixed.fingerprints[i] == encode(np.array([mixed.raw[i]]), 1).fingerprints[0]
        assert mixed.kind_names[mixed.kinds[i]] == plain.kind_names[0]


@pytest.mark.slow
def test_a_density_and_features_are_not_asked_about_exceptions():
    asked = []

    def log_density(outputs, dataset):
        asked.append(np.asarray(outputs).dtype)
        return -np.abs(np.asarray(outputs))

    result = audit(
        sometimes((0.1, 0.1)),
        0.0,
        1.0,
        epsilon=1.0,
        samples=600,
        log_density=log_density,
        features={"sign": lambda outputs: np.sign(np.asarray(outputs))},
    )
    assert result.verdict is not AuditVerdict.VIOLATED
    assert set(asked) == {np.dtype(np.float64)}


def test_calls_that_raise_where_no_single_run_does_have_no_verdict(monkeypatch):
    monkeypatch.setattr(raising, "MOST_SINGLE_RUNS", 500)

    def only_one(dataset, size, rng):
        if size > 1:
            raise ValueError("one at a time")
        return rng.laplace(size=1)

    with pytest.raises(MechanismError, match="nobody can tell how often a run raises"):
        audit(only_one, 0.0, 1.0, epsilon=1.0, samples=200)


def test_a_fault_of_the_machine_is_no_outcome():
    def greedy(dataset, size, rng):
        if dataset:
            raise MemoryError
        return rng.laplace(size=size)

    with pytest.raises(MechanismError, match="raised MemoryError"):
        audit(greedy, 0.0, 1.0, epsilon=1.0, samples=200)


PROGRAM = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    for _ in range(request["size"]):
        if request["dataset"] and rng.random() < 0.5:
            sys.exit(7)
        print(rng.random())
    sys.stdout.flush()
"""


@pytest.mark.slow
def test_a_program_that_ends_within_a_run_has_that_for_its_outcome(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    with Program([sys.executable, "-S", "-E", str(tmp_path / "program.py")]) as program:
        _, second = draw_all(program, 8)
    kinds = json.dumps([repr(one) for one in second.raw])
    assert "raised ended with exit status 7" in kinds
    assert "0." in kinds


def test_an_outcome_is_an_output():
    outputs = encode(
        [1.0, Raised("ValueError", "one"), Raised("ValueError", "another"), Raised("KeyError")], 4
    )
    assert outputs.fingerprints[1] == outputs.fingerprints[2] != outputs.fingerprints[3]
    assert np.isnan(outputs.numbers[1:]).all()
