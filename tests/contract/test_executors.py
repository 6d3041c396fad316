"""What every executor owes: the same results, workers that are replaced, failures that are named, one thread each."""

from __future__ import annotations

import threading

import pytest

from dpsco_verify.execution import (
    ExecutorChoice,
    ExecutorKind,
    OtherEnvironmentError,
    UnitEndsWorkersError,
    WorkUnit,
    execute,
    make_executor,
    performance,
)
from dpsco_verify.store.codec import encode

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def dask(work):
    """One cluster for all tests here, of one worker: each takes a second to start."""
    with make_executor(ExecutorChoice(jobs=1, kind=ExecutorKind.DASK)) as executor:
        yield executor


@pytest.fixture(scope="module")
def loky(work):
    with make_executor(ExecutorChoice(jobs=2)) as executor:
        yield executor


@pytest.fixture(params=["loky", pytest.param("dask", marks=pytest.mark.long)])
def workers(request):
    """An executor with worker processes; by day those of dask are tried in ``test_cluster.py`` alone."""
    return request.getfixturevalue(request.param)


def test_the_results_have_the_same_bytes(work, workers, draws):
    with make_executor(1) as serial:
        expected = execute(draws, serial)
    found = execute(draws, workers)
    assert {name: encode(outcome.value) for name, outcome in found.items()} == {
        name: encode(outcome.value) for name, outcome in expected.items()
    }


def test_a_worker_has_one_thread_for_linear_algebra(work, workers):
    units = [WorkUnit(name="threads", function=work.threads), WorkUnit(name="env", function=work.environment)]
    found = execute(units, workers)
    assert found["threads"].value == [1]
    assert found["env"].value == {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}


def test_this_process_has_one_thread_while_it_works_and_its_own_again_after(work):
    import threadpoolctl

    with threadpoolctl.threadpool_limits(limits=2):
        before = threadpoolctl.threadpool_info()
        with make_executor(1) as serial:
            found = execute([WorkUnit(name="threads", function=work.threads)], serial)
        assert found["threads"].value == [1]
        assert threadpoolctl.threadpool_info() == before


# By day the next test sees it done again, twice.
@pytest.mark.long
def test_a_unit_whose_worker_is_killed_is_done_again(work, workers, tmp_path, draws):
    unit = WorkUnit(name="die", function=work.die, arguments={"folder": str(tmp_path), "times": 2})
    found = execute([unit, *draws], workers)
    assert found["die"].value == 2
    assert len(found) == 7


def test_a_unit_that_ends_three_workers_is_named(work, workers, tmp_path, draws):
    unit = WorkUnit(name="the/deadly one", function=work.die, arguments={"folder": str(tmp_path), "times": 9})
    with pytest.raises(UnitEndsWorkersError, match="unit='the/deadly one' ended its worker process 3 times"):
        execute([unit], workers)
    assert len(list(tmp_path.iterdir())) == 3
    # The executor is as good as before.
    assert len(execute(draws, workers)) == 6


def test_a_failure_is_raised_as_it_is_and_names_its_unit(work, workers):
    with pytest.raises(ValueError, match="just so") as caught:
        execute([WorkUnit(name="bad", function=work.fail, arguments={"text": "just so"})], workers)
    assert "in unit bad" in caught.value.__notes__


def test_what_cannot_be_sent_is_an_error_and_not_a_dead_worker(work, workers, draws):
    lock = threading.Lock()
    with pytest.raises(Exception, match=r"pickle|[Ss]erialize") as caught:
        execute([WorkUnit(name="bad", function=work.fail, arguments={"text": lock})], workers)
    assert not isinstance(caught.value, UnitEndsWorkersError)
    assert len(execute(draws, workers)) == 6


def test_the_environment_says_what_is_computed_with():
    from dpsco_verify.execution.environment import environment

    words = environment()
    assert words == environment()
    assert all(name in words for name in ("sources", "python", "numpy", "scipy", "numba"))
    with pytest.raises(OtherEnvironmentError):
        performance.perform_in_worker(WorkUnit(name="any", function=abs, arguments={}), expected="other")
