"""Worker processes of this machine: whenever one dies, its call is made again, and nobody waits for it."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpsco_verify.execution import ExecutorChoice, UnitEndsWorkersError, WorkUnit, execute, make_executor
from dpsco_verify.execution.errors import WorkersEndedError
from dpsco_verify.execution.processes import ProcessExecutor

pytestmark = pytest.mark.slow

LONG = 60.0
"""Seconds that nothing here takes: what is not there by then never comes."""


@pytest.fixture(scope="module")
def loky(work):
    with make_executor(ExecutorChoice(jobs=2)) as executor:
        yield executor


@pytest.fixture(scope="module")
def alone(work):
    """An executor with one process."""
    executor = ProcessExecutor(1)
    yield executor
    executor.kill()


@pytest.mark.parametrize("times", [1, 2])
def test_a_worker_that_is_killed_while_it_hands_over_its_result_does_it_again(work, alone, tmp_path, times):
    """A pool that holds both ends of its channel waits for the other half for ever."""
    found = alone.submit(work.die_while_answering, str(tmp_path), times).result(LONG)
    assert np.array_equal(found, np.arange(1_000_000.0))
    assert len(list(tmp_path.iterdir())) == times


def test_a_call_that_always_dies_while_it_hands_over_its_result_is_given_up(work, alone, tmp_path):
    with pytest.raises(WorkersEndedError, match="ended 3 workers"):
        alone.submit(work.die_while_answering, str(tmp_path), 99).result(LONG)
    assert alone.submit(abs, -2).result(LONG) == 2


def test_a_worker_that_is_killed_while_it_is_given_a_call_does_it_again(work, alone):
    first = alone.submit(os.getpid).result(LONG)
    alone.submit(work.die_while_asked).result(LONG)
    numbers = np.arange(1_000_000.0)
    assert alone.submit(np.sum, numbers).result(LONG) == numbers.sum()
    assert alone.submit(os.getpid).result(LONG) != first


def test_a_worker_that_is_killed_between_two_calls_is_replaced(alone):
    first = alone.submit(os.getpid).result(LONG)
    os.kill(first, signal.SIGKILL)
    assert alone.submit(os.getpid).result(LONG) != first


def test_what_a_worker_has_forked_off_does_not_hide_its_death(work, alone, tmp_path):
    assert alone.submit(work.fork_and_die, str(tmp_path), 1).result(LONG) == 1
    (pid,) = [int(left.name) for left in (tmp_path / "forked").iterdir()]
    # It may have been ended with the worker that started it.
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def test_an_interrupt_is_for_the_process_that_has_the_workers(alone):
    pid = alone.submit(os.getpid).result(LONG)
    future = alone.submit(time.sleep, 0.5)
    os.kill(pid, signal.SIGINT)
    assert future.result(LONG) is None
    assert alone.submit(os.getpid).result(LONG) == pid


def test_an_exception_has_the_worker_s_traceback_below_it(work, alone):
    with pytest.raises(ValueError, match="just so") as caught:
        alone.submit(work.fail, "just so").result(LONG)
    assert "executor_test_work.py" in str(caught.value.__cause__)
    assert "in fail" in str(caught.value.__cause__)


def test_an_exception_that_cannot_be_handed_over_is_named(work, alone):
    with pytest.raises(RuntimeError, match="Particular: 3 of 4"):
        alone.submit(work.fail_particularly).result(LONG)


def test_a_result_that_cannot_be_handed_over_is_an_error(alone):
    with pytest.raises(TypeError, match="pickle"):
        alone.submit(threading.Lock).result(LONG)


def test_a_call_to_leave_is_an_error_and_ends_nothing(work, alone):
    pid = alone.submit(os.getpid).result(LONG)
    with pytest.raises(SystemExit):
        alone.submit(work.leave_politely).result(LONG)
    assert alone.submit(os.getpid).result(LONG) == pid


def test_a_function_that_cannot_be_imported_goes_along(alone):
    assert alone.submit(lambda x: x + 1, 2).result(LONG) == 3


def test_what_is_under_way_when_the_workers_are_ended_is_an_error():
    executor = ProcessExecutor(1)
    future = executor.submit(time.sleep, LONG)
    while not future.running():
        time.sleep(0.01)
    executor.kill()
    with pytest.raises(RuntimeError, match="was ended before this call could complete"):
        future.result(LONG)


def test_a_worker_that_leaves_without_a_word_is_no_result(work, loky):
    with pytest.raises(UnitEndsWorkersError, match="unit='leave'"):
        execute([WorkUnit(name="leave", function=work.leave)], loky)


def test_no_worker_is_left_when_the_block_is_left_by_an_error(work, draws):
    def pids():
        return {
            int(child)
            for task in Path("/proc/self/task").glob("*/children")
            for child in task.read_text().split()
        }

    before = pids()

    def leave_in_the_middle():
        with make_executor(2) as executor:
            futures = [executor.submit(time.sleep, 60.0) for _ in range(5)]
            execute(draws[:0], executor)
            deadline = time.monotonic() + 30.0
            while not any(future.running() for future in futures) and time.monotonic() < deadline:
                time.sleep(0.01)
            raise KeyError("in the middle")

    began = time.monotonic()
    with pytest.raises(KeyError, match="in the middle"):
        leave_in_the_middle()
    assert time.monotonic() - began < 30.0
    left = [pid for pid in pids() - before if b"popen_loky" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert left == []


def test_an_executor_that_was_shut_down_takes_nothing(work):
    with make_executor(2) as executor:
        assert executor.submit(Fraction, 1, 3).result() == Fraction(1, 3)
        executor.shutdown()
        with pytest.raises(RuntimeError, match="after shutdown"):
            executor.submit(Fraction, 1)


def test_results_are_equal_whatever_is_queued_at_once(loky):
    futures = [loky.submit(np.float64, k) for k in range(40)]
    assert [future.result() for future in futures] == list(range(40))
