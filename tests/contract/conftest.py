"""What the tests of executors execute, a module that workers can import; and one claim of the ledger, verified."""

from __future__ import annotations

import dataclasses
import importlib
import sys

import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.execution import WorkUnit
from dpsco_verify.execution.threads import ONE_THREAD
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.run import run_audit

SOURCE = '''
import os, signal, sys, time
from multiprocessing.connection import Connection
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

def count_up(folder):
    so_far = len(os.listdir(folder))
    open(os.path.join(folder, str(so_far)), "w").close()
    return so_far

def die_while_answering(folder, times):
    """Kill this process when half of what this function returns is sent, the first times it is called."""
    if count_up(folder) < times:
        send = Connection._send

        def send_half(self, content, write=os.write):
            if len(content) > 1_000_000:
                send(self, content[: len(content) // 2])
                os.kill(os.getpid(), signal.SIGKILL)
            send(self, content)

        Connection._send = send_half
    else:
        os.remove(os.path.join(folder, str(len(os.listdir(folder)) - 1)))
    return np.arange(1_000_000.0)

def die_while_asked():
    """Kill this process when it has received half of its next long message."""
    receive = Connection._recv

    def receive_half(self, size, read=os.read):
        if size > 1_000_000:
            receive(self, size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        return receive(self, size)

    Connection._recv = receive_half

def fork_and_die(folder, times):
    """Leave a process behind that has copies of all that this one has open, and die, the first times."""
    forked = os.path.join(folder, "forked")
    os.makedirs(forked, exist_ok=True)
    if len(os.listdir(forked)) >= times:
        return len(os.listdir(forked))
    pid = os.fork()
    if pid == 0:
        time.sleep(120.0)
        os._exit(0)
    open(os.path.join(forked, str(pid)), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)

def leave():
    os._exit(0)

def leave_politely():
    sys.exit(3)

class Particular(Exception):
    def __init__(self, number, total):
        super().__init__(f"{number} of {total}")

def fail_particularly():
    raise Particular(3, 4)

def wait(seconds):
    time.sleep(seconds)

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
        for name in ONE_THREAD:  # what workers have of these they have from the product
            patch.delenv(name, raising=False)
        yield importlib.import_module("executor_test_work")
        sys.modules.pop("executor_test_work")


@pytest.fixture
def draws(work):
    """Units whose results are arrays."""
    return [
        WorkUnit(name=f"draw/{k}", function=work.draw, arguments={"size": 40 + k, "seed": k})
        for k in range(6)
    ]


@pytest.fixture
def verify():
    """Verify one claim of the installed ledger at the quick profile; what its reading fixes may be changed."""

    def verify(key, parameters=None, *, seed=0):
        ledger = installed_ledger()
        (claim,) = ledger.find([key])
        if parameters is not None:
            claim = dataclasses.replace(
                claim, reading=dataclasses.replace(claim.reading, parameters=parameters)
            )
        result = run_audit(ledger, [claim], profile=Profile.QUICK, seed=seed)
        return result.record.claims[0], result

    return verify


@pytest.fixture
def certificate_of():
    """Return the certificate of a finding of :func:`verify`, read from its file and accepted by the checker."""

    def certificate_of(finding, result):
        certificate = installed_ledger().kinds.decode(result.certificates[finding.certificate])
        installed_ledger().kinds.check(certificate)
        return certificate

    return certificate_of
