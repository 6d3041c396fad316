"""A dask cluster's own failures: each is told in one line, and none is waited for without end."""

from __future__ import annotations

import importlib
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.execution import (
    ExecutorChoice,
    ExecutorKind,
    OtherEnvironmentError,
    SchedulerError,
    WorkUnit,
    execute,
    make_executor,
    workforce,
)
from dpsco_verify.execution import cluster as cluster_module
from dpsco_verify.store.codec import encode

pytestmark = pytest.mark.slow


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


def test_dask_pandas_and_the_compiler_are_imported_only_when_asked_for():
    code = (
        "import sys, dpsco_verify.algorithm, dpsco_verify.adapters, dpsco_verify.cli, dpsco_verify.ledger.run\n"
        "from dpsco_verify.execution import ExecutorChoice, make_executor\n"
        "with make_executor(ExecutorChoice(jobs=2)) as executor: executor.submit(abs, -1).result()\n"
        "print({'distributed', 'dask', 'pandas', 'statsmodels', 'numba'} & {*sys.modules})\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603  our own code
    assert done.stdout == "set()\n"


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


@pytest.mark.long
def test_the_workers_of_a_scheduler_are_used_and_its_loss_is_told(work, scheduler, capfd, draws):
    process, address = scheduler
    worker = worker_of(address, work)
    try:
        with make_executor(ExecutorChoice(scheduler=address)) as executor:
            found = execute([*draws, WorkUnit(name="threads", function=work.threads)], executor)
            assert len(found) == 7
            assert found["threads"].value == [1]
            threading.Timer(0.5, process.kill).start()
            with pytest.raises(SchedulerError, match="was lost while work was under way") as caught:
                execute(long_units(work), executor)
        assert "\n" not in str(caught.value)
        assert capfd.readouterr().err == ""
    finally:
        end(worker)


def end(process):
    """End a process that may be at losing its scheduler, when it does not always listen."""
    process.terminate()
    try:
        process.wait(10.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def long_units(work):
    return [
        WorkUnit(name=f"long/{k}", function=work.wait, arguments={"seconds": 30.0 + k}) for k in range(200)
    ]


@pytest.mark.long
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


@pytest.mark.long
def test_a_cluster_with_other_code_is_told(work, scheduler, monkeypatch, draws):
    _, address = scheduler
    worker = worker_of(address, work)
    monkeypatch.setattr("dpsco_verify.execution.executing.environment", lambda: "sources 0000, numpy 1.0")
    try:
        with make_executor(ExecutorChoice(scheduler=address)) as executor:
            with pytest.raises(
                OtherEnvironmentError, match=r"runs other versions .* expected sources 0000"
            ) as caught:
                execute(draws, executor)
            assert "\n" not in str(caught.value)
    finally:
        end(worker)


class _DiesAtFirst:
    """Stands for the class of local clusters: the first `deaths` of them do not come to stand."""

    def __init__(self, real, deaths):
        self.real, self.deaths, self.attempts = real, deaths, 0

    def __call__(self, **options):
        self.attempts += 1
        if self.attempts <= self.deaths:
            raise RuntimeError("Nanny failed to start worker process")
        return self.real(**options)


def test_workers_that_die_while_the_cluster_starts_and_a_port_that_is_taken_are_no_trouble(
    work, draws, monkeypatch
):
    """And the results have the same bytes.

    8787 is where dask's schedulers serve their pages by default; warnings are errors here.
    """
    distributed = pytest.importorskip("distributed")
    local = _DiesAtFirst(distributed.LocalCluster, deaths=2)
    monkeypatch.setattr(distributed, "LocalCluster", local)
    with socket.socket() as taken:
        try:
            taken.bind(("0.0.0.0", 8787))  # noqa: S104  as dask does
            taken.listen()
        except OSError:
            pass  # somebody has it already, which is as well
        with cluster_module.cluster_executor(None, jobs=1) as executor, make_executor(1) as serial:
            found, expected = execute(draws, executor), execute(draws, serial)
    assert {name: encode(outcome.value) for name, outcome in found.items()} == {
        name: encode(outcome.value) for name, outcome in expected.items()
    }
    assert local.attempts == 3


def test_a_cluster_that_never_stands_is_told_in_one_line(monkeypatch):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(distributed, "LocalCluster", _DiesAtFirst(distributed.LocalCluster, deaths=99))
    message = r"jobs=1 workers in 3 attempts \(Nanny failed"
    with pytest.raises(InputError, match=message) as caught, cluster_module.cluster_executor(None, jobs=1):
        pass
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_a_worker_that_its_nanny_gives_up_is_replaced(monkeypatch, draws):
    """As it does with one that dies again before it has come to work; it would be waited for without end."""
    monkeypatch.setattr(workforce, "PATIENCE", 5.0)
    with cluster_module.cluster_executor(None, jobs=1) as executor:
        cluster = executor._workforce._cluster
        (nanny,) = cluster.workers.values()
        # In this order: one that has not failed brings its worker back at once.
        nanny.status = type(nanny.status).failed
        cluster.sync(nanny.process.kill)
        assert len(execute(draws, executor)) == 6
        # One more for each 5 s that the new one takes to come.
        assert len(cluster.worker_spec) >= 2


def test_a_cluster_goes_on_with_the_workers_it_has_when_no_more_come(monkeypatch):
    monkeypatch.setattr(workforce, "PATIENCE", 0.0)
    cluster = _Silent()
    own = workforce.OwnWorkers(cluster, 2)
    for _ in range(10):
        own.look(1)
    assert cluster.asked == [2, 3, 4]
    # When all have been there once, the attempts begin anew.
    own.look(2)
    own.look(1)
    own.look(1)
    assert cluster.asked == [2, 3, 4, 5]


class _Silent:
    """Stands for a cluster of our own that starts what it is asked for, of which nothing comes to work."""

    def __init__(self):
        self.worker_spec = {0: None}
        self.asked = []

    def scale(self, n):
        self.asked.append(n)
        self.worker_spec = dict.fromkeys(range(n))


def test_workers_that_never_come_are_told_in_one_line(monkeypatch):
    monkeypatch.setattr(workforce, "PATIENCE", 0.0)
    cluster = _Silent()
    own = workforce.OwnWorkers(cluster, 2)
    own.look(2)
    own.look(1)
    assert cluster.asked == []
    own.look(1)
    assert cluster.asked == [2]
    own.look(2)
    for _ in range(4):
        own.look(0)
    assert cluster.asked == [2, 4, 6, 8]
    with pytest.raises(SchedulerError, match="has lost all its workers, and none .* in 3 attempts") as caught:
        own.look(0)
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_a_scheduler_without_workers_is_not_waited_for_in_silence(work, scheduler, monkeypatch, capfd, draws):
    monkeypatch.setattr(workforce, "PATIENCE", 1.0)
    _, address = scheduler
    started = []
    said = []

    def start_one_when_it_is_said():
        while "has had no workers for 1 s" not in "".join(said):
            said.append(capfd.readouterr().err)
            time.sleep(0.05)
        started.append(worker_of(address, work))

    starter = threading.Thread(target=start_one_when_it_is_said, daemon=True)
    starter.start()
    with make_executor(ExecutorChoice(scheduler=address)) as executor:
        assert len(execute(draws, executor)) == 6
    starter.join(10.0)
    end(started[0])
