"""What every executor owes: the same results, workers that are replaced, failures that are named, one thread each."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import threading
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.execution import (
    ExecutorChoice,
    ExecutorKind,
    OtherEnvironmentError,
    SchedulerError,
    UnitEndsWorkersError,
    WorkUnit,
    execute,
    make_executor,
    performance,
)
from dpsco_verify.execution import cluster as cluster_module
from dpsco_verify.store.codec import encode

pytestmark = pytest.mark.slow  # the everyday part has two minutes


SOURCE = '''
import os, signal, time
import numpy as np

def draw(size, seed):
    """Sums and products that a BLAS with several threads would add up in another order."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((size, size))
    return a @ a.T, float((a @ a).sum()), "text"

def die(folder, times):
    """Kill this process, the first times it is called."""
    so_far = len(os.listdir(folder))
    if so_far >= times:
        return so_far
    open(os.path.join(folder, str(so_far)), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)

def leave():
    os._exit(0)

def threads():
    import scipy.linalg, threadpoolctl
    return sorted({found["num_threads"] for found in threadpoolctl.threadpool_info()})

def fail(text):
    raise ValueError(text)

def environment():
    return {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")}
'''


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A module whose functions the workers can import: they have the path of the process that starts them."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "executor_test_work.py").write_text(SOURCE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        yield importlib.import_module("executor_test_work")
        sys.modules.pop("executor_test_work")


@pytest.fixture(scope="module")
def dask(work):
    """One cluster for all tests here: it takes seconds to start."""
    with make_executor(ExecutorChoice(jobs=2, kind=ExecutorKind.DASK)) as executor:
        yield executor


@pytest.fixture(scope="module")
def loky(work):
    with make_executor(ExecutorChoice(jobs=2)) as executor:
        yield executor


@pytest.fixture(params=["loky", pytest.param("dask", marks=pytest.mark.slow)])
def workers(request):
    """An executor with worker processes."""
    return request.getfixturevalue(request.param)


def draws(work):
    return [
        WorkUnit(name=f"draw/{k}", function=work.draw, arguments={"size": 40 + k, "seed": k})
        for k in range(6)
    ]


def test_the_results_have_the_same_bytes(work, workers):
    with make_executor(1) as serial:
        expected = execute(draws(work), serial)
    found = execute(draws(work), workers)
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


def test_a_unit_whose_worker_is_killed_is_done_again(work, workers, tmp_path):
    unit = WorkUnit(name="die", function=work.die, arguments={"folder": str(tmp_path), "times": 2})
    found = execute([unit, *draws(work)], workers)
    assert found["die"].value == 2
    assert len(found) == 7


def test_a_unit_that_ends_three_workers_is_named(work, workers, tmp_path):
    unit = WorkUnit(name="the/deadly one", function=work.die, arguments={"folder": str(tmp_path), "times": 9})
    with pytest.raises(UnitEndsWorkersError, match="unit='the/deadly one' ended its worker process 3 times"):
        execute([unit], workers)
    assert len(list(tmp_path.iterdir())) == 3
    # The executor is as good as before.
    assert len(execute(draws(work), workers)) == 6


def test_a_worker_that_leaves_without_a_word_is_no_result(work, loky):
    with pytest.raises(UnitEndsWorkersError, match="unit='leave'"):
        execute([WorkUnit(name="leave", function=work.leave)], loky)


def test_a_failure_is_raised_as_it_is_and_names_its_unit(work, workers):
    with pytest.raises(ValueError, match="just so") as caught:
        execute([WorkUnit(name="bad", function=work.fail, arguments={"text": "just so"})], workers)
    assert "in unit bad" in caught.value.__notes__


def test_what_cannot_be_sent_is_an_error_and_not_a_dead_worker(work, workers):
    lock = threading.Lock()
    with pytest.raises(Exception, match=r"pickle|[Ss]erialize") as caught:
        execute([WorkUnit(name="bad", function=work.fail, arguments={"text": lock})], workers)
    assert not isinstance(caught.value, UnitEndsWorkersError)
    assert len(execute(draws(work), workers)) == 6


def test_no_worker_is_left_when_the_block_is_left_by_an_error(work):
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
            execute(draws(work)[:0], executor)
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


# The cluster's own failures.


def in_time(scheduler):
    began = time.monotonic()
    with pytest.raises(SchedulerError, match="cannot be reached within") as caught:  # noqa: SIM117  the order matters
        with make_executor(ExecutorChoice(scheduler=scheduler)):
            pass
    assert "\n" not in str(caught.value)
    return time.monotonic() - began


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(cluster_module, "CONNECT_TIMEOUT", 1.0)


def test_a_scheduler_that_refuses_is_told(impatient, capfd):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert in_time(f"tcp://127.0.0.1:{port}") < 10.0
    assert capfd.readouterr() == ("", "")


def test_a_scheduler_that_never_answers_is_told(impatient, capfd):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert in_time(f"tcp://127.0.0.1:{silent.getsockname()[1]}") < 10.0
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("address", ["nonsense://x", "127.0.0.1:no", "", "tcp://no.such.host.invalid:8786"])
def test_an_address_that_is_none_is_told(impatient, address):
    assert in_time(address) < 10.0


def test_dask_that_is_not_installed_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"install dpsco-verify\[cluster\]") as caught:  # noqa: SIM117  the order matters
        with make_executor(ExecutorChoice(kind=ExecutorKind.DASK)):
            pass
    assert "\n" not in str(caught.value)


def test_dask_is_imported_only_when_asked_for():
    code = (
        "import sys, dpsco_verify.cli, dpsco_verify.ledger.audit\n"
        "from dpsco_verify.execution import ExecutorChoice, make_executor\n"
        "with make_executor(ExecutorChoice(jobs=2)) as executor: executor.submit(abs, -1).result()\n"
        "print('distributed' in sys.modules or 'dask' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  our own code
    assert done.stdout == "False\n"


@pytest.fixture
def scheduler(work):
    """A scheduler that others have started, without workers."""
    process = subprocess.Popen(  # noqa: S603  a program of our environment
        [
            Path(sys.executable).parent / "dask",
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
        ],
        stderr=subprocess.PIPE,
        text=True,
        # It unpacks what it hands on.
        env=os.environ | {"PYTHONPATH": str(Path(work.__file__).parent)},
    )
    address = None
    for line in process.stderr:
        if "Scheduler at:" in line:
            address = line.split()[-1]
            break
    # What it logs later must not fill the pipe.
    reader = threading.Thread(target=process.stderr.read, daemon=True)
    reader.start()
    yield process, address
    process.kill()
    process.wait()
    reader.join()
    process.stderr.close()


def worker_of(address, work):
    return subprocess.Popen(  # noqa: S603  a program of our environment
        [Path(sys.executable).parent / "dask", "worker", address, "--nthreads", "2", "--no-dashboard"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": str(Path(work.__file__).parent)},
    )


@pytest.mark.slow
def test_the_workers_of_a_scheduler_are_used_and_its_loss_is_told(work, scheduler, capfd):
    process, address = scheduler
    worker = worker_of(address, work)
    try:
        with make_executor(ExecutorChoice(scheduler=address)) as executor:
            found = execute([*draws(work), WorkUnit(name="threads", function=work.threads)], executor)
            assert len(found) == 7
            assert found["threads"].value == [1]
            threading.Timer(1.0, process.kill).start()
            with pytest.raises(SchedulerError, match="was lost while work was under way") as caught:
                execute(long_units(work), executor)
        assert "\n" not in str(caught.value)
        assert capfd.readouterr().err == ""
    finally:
        worker.terminate()
        worker.wait()


def long_units(work):
    return [
        WorkUnit(name=f"long/{k}", function=work.draw, arguments={"size": 1500, "seed": k})
        for k in range(200)
    ]


@pytest.mark.slow
def test_a_cluster_without_the_package_is_told(work, scheduler, monkeypatch, tmp_path):
    _, address = scheduler
    (tmp_path / "only_here.py").write_text("def one():\n    return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    unit = WorkUnit(name="one", function=importlib.import_module("only_here").one)
    words = r"lack what the work needs \(No module named 'only_here'\)"
    with (
        make_executor(ExecutorChoice(scheduler=address)) as executor,
        pytest.raises(InputError, match=words) as caught,
    ):
        execute([unit], executor)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_a_cluster_with_other_code_is_told(work, scheduler, monkeypatch):
    _, address = scheduler
    worker = worker_of(address, work)
    monkeypatch.setattr("dpsco_verify.execution.executing.environment", lambda: "sources 0000, numpy 1.0")
    try:
        with make_executor(ExecutorChoice(scheduler=address)) as executor:
            with pytest.raises(
                OtherEnvironmentError, match=r"runs other versions .* expected sources 0000"
            ) as caught:
                execute(draws(work), executor)
            assert "\n" not in str(caught.value)
    finally:
        worker.terminate()
        worker.wait()


def test_the_environment_says_what_is_computed_with():
    from dpsco_verify.execution.environment import environment

    words = environment()
    assert words == environment()
    assert all(name in words for name in ("sources", "python", "numpy", "scipy", "numba"))
    with pytest.raises(OtherEnvironmentError):
        performance.perform_in_worker(WorkUnit(name="any", function=abs, arguments={}), expected="other")


class _DiesAtFirst:
    """Stands for the class of local clusters: the first `deaths` of them do not come to stand."""

    def __init__(self, real, deaths):
        self.real, self.deaths, self.attempts = real, deaths, 0

    def __call__(self, **options):
        self.attempts += 1
        if self.attempts <= self.deaths:
            raise RuntimeError("Nanny failed to start worker process")
        return self.real(**options)


def test_a_worker_that_dies_while_the_cluster_starts_is_forgiven(work, monkeypatch):
    distributed = pytest.importorskip("distributed")
    local = _DiesAtFirst(distributed.LocalCluster, deaths=2)
    monkeypatch.setattr(distributed, "LocalCluster", local)
    with cluster_module.cluster_executor(None, jobs=1) as executor:
        assert executor.submit(abs, -3).result() == 3
    assert local.attempts == 3


def test_a_cluster_that_never_stands_is_told_in_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "LocalCluster", _DiesAtFirst(distributed.LocalCluster, deaths=99))
    message = r"jobs=1 workers in 3 attempts \(Nanny failed"
    with pytest.raises(InputError, match=message) as caught, cluster_module.cluster_executor(None, jobs=1):
        pass
    assert "\n" not in str(caught.value)


def test_a_port_that_another_scheduler_has_is_no_trouble():
    """8787 is where dask's schedulers serve their pages by default; warnings are errors here."""
    pytest.importorskip("distributed")
    with socket.socket() as taken:
        try:
            taken.bind(("0.0.0.0", 8787))  # noqa: S104  as dask does
            taken.listen()
        except OSError:
            pass  # somebody has it already, which is as well
        with cluster_module.cluster_executor(None, jobs=1) as executor:
            assert executor.submit(abs, -3).result() == 3
