"""One call in a process of its own: its result arrives, and however its process ends, nobody takes that for one."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.execution import own_process
from dpsco_verify.execution.own_process import OwnProcess, ProcessEndedError
from dpsco_verify.execution.worker import RemoteTraceback

TRUE = shutil.which("true")


def called(function, **options):
    with OwnProcess(lambda _: function(), **options) as process:
        return process.answer()


def in_c(name, *arguments):
    return lambda: getattr(ctypes.CDLL(None), name)(*arguments)


ENDS = {
    "os._exit": (lambda: os._exit(0), "ended with exit status 0"),
    "another status": (lambda: os._exit(9), "ended with exit status 9"),
    "exit of C": (in_c("exit", 0), "ended with exit status 0"),
    "_exit of C": (in_c("_exit", 0), "ended with exit status 0"),
    "a signal": (lambda: os.kill(os.getpid(), signal.SIGKILL), "was ended by SIGKILL"),
    "a wrong address": (lambda: (faulthandler.disable(), ctypes.string_at(0)), "was ended by SIGSEGV"),
    "another program": (lambda: os.execv(TRUE, ["true"]), "ended with exit status 0"),  # noqa: S606  on purpose
    "sys.exit": (lambda: sys.exit(0), r"called sys.exit\(0\)"),
    "exit in words": (lambda: sys.exit("done"), r"called sys.exit\('done'\)"),
}


@pytest.mark.slow
@pytest.mark.parametrize("way", ENDS)
def test_every_end_is_told(way):
    function, how = ENDS[way]
    with pytest.raises(ProcessEndedError, match=f"^{how}$"):
        called(function)


@pytest.mark.slow
def test_an_end_is_noticed_beside_a_process_that_was_left_behind(tmp_path):
    """That one, made behind Python's back, holds the channel open."""

    def leave():
        pid = in_c("fork")()
        if not pid:
            time.sleep(600)
        (tmp_path / "pid").write_text(str(pid))
        os._exit(0)

    try:
        with pytest.raises(ProcessEndedError, match="exit status 0"):
            called(leave)
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


@pytest.mark.slow
def test_a_result_refers_to_what_is_shared_and_may_hold_functions():
    lock = threading.Lock()  # cannot be sent
    name, shared, function = called(lambda: ("it", [lock], lambda x: (x, lock)), shared=[lock])
    assert name == "it"
    assert shared[0] is lock
    assert function(1) == (1, lock)
    with pytest.raises(InputError, match="cannot be brought back from the process that made it .*lock"):
        called(threading.Lock)


@pytest.mark.slow
def test_an_error_comes_with_its_place():
    def fault():
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        called(fault)
    assert isinstance(caught.value.__cause__, RemoteTraceback)
    assert 'raise ZeroDivisionError("mine")' in str(caught.value.__cause__)

    def because():
        try:
            fault()
        except ZeroDivisionError as error:
            raise InputError("x=1 is bad") from error

    with pytest.raises(InputError, match="x=1") as caught:
        called(because)
    assert 'raise ZeroDivisionError("mine")' in str(caught.value.__cause__)
    assert "InputError" not in str(caught.value.__cause__)
    # an error of the system is not taken for one of the channel
    with pytest.raises(FileNotFoundError):
        called(lambda: open("/there/is/none"))  # noqa: PTH123, SIM115  it is not opened


def test_it_finds_everything_as_it_stands_and_leaves_it_so():
    changed = []
    random.seed(5)
    state = random.getstate()
    with np.errstate(divide="raise"):
        drawn, error = called(lambda: (changed.append(1), random.getrandbits(64), np.geterr())[1:])
    assert changed == []
    assert random.getstate() == state
    assert drawn == random.getrandbits(64)
    assert error["divide"] == "raise"


def test_what_it_tells_is_heard_in_order():
    heard = []

    def count(tell):
        for i in range(100):
            tell(i, "of 100")
        return "done"

    with OwnProcess(count) as process:
        assert process.answer(lambda *told: heard.append(told)) == "done"
    assert heard == [(i, "of 100") for i in range(100)]


def test_the_end_of_the_block_ends_it(tmp_path):
    def hang():
        (tmp_path / "pid.new").write_text(str(os.getpid()))
        (tmp_path / "pid.new").rename(tmp_path / "pid")
        time.sleep(600)

    def interrupted():
        with OwnProcess(lambda _: hang()):
            while not (tmp_path / "pid").exists():
                time.sleep(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


@pytest.mark.slow
def test_it_starts_fresh_where_processes_cannot_fork(monkeypatch):
    monkeypatch.setattr(own_process, "CAN_FORK", False)
    here = os.getpid()
    heard = []
    with OwnProcess(lambda tell: (tell("at it"), os.getpid())[1]) as process:
        assert process.answer(heard.append) != here
    assert heard == ["at it"]
    with pytest.raises(ProcessEndedError, match="^ended with exit status 0$"):
        called(lambda: os._exit(0))
    with pytest.raises(ProcessEndedError, match="SIGKILL"):
        called(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(ZeroDivisionError):
        called(lambda: 1 / 0)


@pytest.mark.long
def test_openmp_works_in_the_copy_of_a_process_that_has_used_it():
    """In the first thread of such a copy it hangs."""
    source = """
        import numpy as np
        from sklearn.ensemble import HistGradientBoostingClassifier
        from dpsco_verify.execution.own_process import OwnProcess

        x = np.random.default_rng(0).random((20_000, 4))

        def fit(tell=None):
            return HistGradientBoostingClassifier(max_iter=2).fit(x, x[:, 0] > 0.5).n_iter_

        fit()
        with OwnProcess(fit) as process:
            assert process.answer() == 2
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(source)], check=True, timeout=120)  # noqa: S603  our own


@pytest.mark.slow
def test_a_program_under_audit_serves_the_copy_anew_and_ends_with_it(tmp_path):
    from dpsco_verify.auditing.program import Program

    (tmp_path / "echo.py").write_text(
        "import os, sys\nfor _ in sys.stdin:\n    print(os.getpid(), flush=True)\n"
    )
    rng = np.random.default_rng
    with Program([sys.executable, "-S", str(tmp_path / "echo.py")]) as program:
        (first,) = program([0.0], 1, rng(0))
        (other,) = called(lambda: program([0.0], 1, rng(0)))
        assert other != first
        with pytest.raises(ProcessLookupError):
            os.kill(int(other), 0)
        assert program([0.0], 1, rng(0)) == [first]
