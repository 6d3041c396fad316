"""The guard around a mechanism: what goes wrong is told in one sentence that names the call."""

import time

import numpy as np
import pytest

from dpsco_verify.auditing import MechanismError, audit, per_call
from dpsco_verify.auditing.mechanism import Caller, mechanism_name
from dpsco_verify.errors import InputError


def laplace(dataset, size, rng):
    return np.sum(dataset) + rng.laplace(size=size)


def run(mechanism, **options):
    return audit(mechanism, [0.0], [1.0], epsilon=1.0, **{"samples": 200, **options})


def test_a_mechanism_that_raises_is_named_with_its_call_and_its_error():
    def broken(dataset, size, rng):
        raise ValueError("no such key")

    with pytest.raises(
        MechanismError, match=r"broken raised ValueError: no such key in call 1, broken\(d, 64, rng\)"
    ) as told:
        run(broken)
    assert "\n" not in str(told.value)


def test_a_mechanism_that_hangs_is_given_up():
    def hanging(dataset, size, rng):
        time.sleep(1.0)
        return rng.laplace(size=size)

    started = time.perf_counter()
    with pytest.raises(MechanismError, match=r"did not return within time_limit=0\.05 seconds in call 1"):
        run(hanging, time_limit=0.05)
    assert time.perf_counter() - started < 0.9


@pytest.mark.slow
def test_a_mechanism_that_never_ends_is_left_behind():
    def endless(dataset, size, rng):
        deadline = time.perf_counter() + 2.0
        while time.perf_counter() < deadline:
            pass

    with pytest.raises(MechanismError, match="did not return"):
        run(endless, time_limit=0.05)


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (lambda size: np.zeros(size + 1), r"array of shape \(65,\)"),
        (lambda size: 1.0, "type float"),
        (lambda size: None, "type NoneType"),
        (lambda size: {"a": 1}, "type dict"),
        (lambda size: [object()] * size, "type object"),
    ],
)
def test_what_is_no_batch_of_outputs_is_told(returned, reason):
    with pytest.raises(MechanismError, match=reason + r".*in call 1"):
        run(lambda dataset, size, rng: returned(size))


@pytest.mark.slow
def test_outputs_whose_shape_changes_between_calls_are_an_event_and_not_an_error():
    def varying(dataset, size, rng):
        return np.concatenate([rng.laplace(size=(size, 1)), np.zeros((size, len(dataset)))], axis=1)

    result = audit(varying, [0.0], [0.0, 0.0], epsilon=1.0, relation="add-remove", samples=2000)
    assert result.verdict == "violated"


@pytest.mark.slow
def test_a_mechanism_that_changes_its_data_set_is_told_and_the_users_data_stay():
    data = np.zeros(3)

    def mutating(dataset, size, rng):
        dataset += 1.0
        return rng.laplace(size=size)

    with pytest.raises(MechanismError, match=r"changed the data set that it was given, in call 1"):
        audit(mutating, data, np.ones(3), epsilon=1.0)
    assert data.tolist() == [0.0, 0.0, 0.0]


def test_a_mechanism_with_randomness_of_its_own_ignores_the_rng():
    own = np.random.default_rng(3)
    with pytest.raises(MechanismError, match="ignores the rng: call 2"):
        run(lambda dataset, size, rng: own.laplace(size=size))


def test_noise_that_repeats_in_every_call_is_told():
    with pytest.raises(MechanismError, match="ignores the rng: calls 1 and 3 .* noise repeats"):
        run(lambda dataset, size, rng: np.sum(dataset) + np.random.default_rng(0).laplace(size=size))


def test_runs_of_a_call_that_share_their_noise_are_told():
    with pytest.raises(MechanismError, match="the runs of one call must be independent"):
        run(lambda dataset, size, rng: np.full(size, np.sum(dataset) + rng.laplace()))


@pytest.mark.slow
def test_a_deterministic_mechanism_is_no_error_but_a_violation():
    result = run(lambda dataset, size, rng: np.full(size, np.sum(dataset)), samples=2000)
    assert result.verdict == "violated"


@pytest.mark.slow
def test_per_call_takes_functions_with_and_without_a_generator():
    with_rng = run(per_call(lambda dataset, rng: dataset[0] + rng.laplace()))
    assert with_rng.reproducible
    own = np.random.default_rng(3)
    without = run(per_call(lambda dataset: dataset[0] + own.laplace()))
    assert not without.reproducible
    assert without.verdict != "violated"
    # An optional second argument that is not called rng is not one.
    assert not per_call(lambda dataset, scale=1.0: dataset).takes_rng
    assert per_call(lambda dataset, rng=None: dataset).takes_rng
    with pytest.raises(InputError, match="not callable"):
        per_call(3)


def test_streams_differ_by_side_purpose_and_chunk_and_by_nothing_else():
    caller = Caller(laplace, ([0.0], [0.0]), name="laplace", seed=1, time_limit=10.0)
    first = caller.draw(0, 8, "search").numbers
    assert not np.array_equal(first, caller.draw(1, 8, "search").numbers)
    assert not np.array_equal(first, caller.draw(0, 8, "search", 1).numbers)
    assert not np.array_equal(first, caller.draw(0, 8, "confirm").numbers)
    assert np.array_equal(first, caller.draw(0, 8, "search").numbers)


@pytest.mark.slow
def test_a_numpy_warning_state_of_the_caller_reaches_the_mechanism():
    def dividing(dataset, size, rng):
        return rng.laplace(size=size) / np.zeros(size)

    with np.errstate(all="raise"), pytest.raises(MechanismError, match="FloatingPointError"):
        run(dividing)


def test_names():
    assert mechanism_name(laplace) == "laplace"
    assert mechanism_name(per_call(laplace)) == "laplace"
    with pytest.raises(InputError, match="not callable"):
        run(None)
