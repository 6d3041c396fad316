"""The pytest plugin and mechanisms that end their process: the session fails, and says that there is no verdict."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plugin_sessions import run_as_a_user, write

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow  # sessions of their own

HEAD = """
import ctypes
import os

import numpy as np
import pytest

D, E = [0.0], [1.0]


def laplace(dataset, size, rng):
    return dataset[0] + rng.laplace(size=size)


def exits(dataset, size, rng):
    os._exit(0)


def exits_late(dataset, size, rng):
    return os._exit(0) if size > 500 else laplace(dataset, size, rng)


def exits_in_c(dataset, size, rng):
    ctypes.CDLL(None).exit(0)
"""
ENDING = """
@pytest.mark.parametrize("mechanism", [exits, exits_late, exits_in_c, laplace])
def test_it(assert_private, mechanism):
    assert_private(mechanism, D, E, epsilon=1.0)
"""


def said(suite, text, *arguments):
    session = suite(HEAD + text)("-rA", *arguments)
    return session.code, session.out


@pytest.mark.parametrize("run", ["here", pytest.param("on two workers", marks=pytest.mark.long)])
def test_a_mechanism_that_ends_its_process_fails_its_test_alone(suite, tmp_path, run):
    # Should the audit's own process not hold what ends, the one that runs this very test ends, and is missed.
    if run == "here":
        done = suite(HEAD + ENDING)()
    else:
        write(tmp_path, HEAD + ENDING)
        done = run_as_a_user(tmp_path, "-n", "2")
    code, out = done.code, done.out
    assert code == 1
    assert "3 failed, 1 passed" in out.splitlines()[-1]
    for name in ("exits", "exits_late", "exits_in_c"):
        assert re.search(
            rf"^E +.*MechanismError: mechanism={name}: the process of its audit ended with exit status 0, so there "
            "is no verdict",
            out,
            re.MULTILINE,
        )
    assert "AssertionError" not in out
    assert "4 audits: 0 violated, 3 undecided, 1 not violated" in out


def test_in_the_process_of_the_test_an_exit_by_python_fails_it_too(suite, monkeypatch):
    # One of them ends calls of many runs alone, and all of these would be looked for it.
    monkeypatch.setattr("dpsco_verify.auditing.raising.MOST_SINGLE_RUNS", 2000)
    code, out = said(suite, ENDING, "--dpsco-process=same", "-k", "not in_c")
    assert code == 1
    assert "2 failed, 1 passed" in out.splitlines()[-1]
    assert out.count("would have ended with exit status 0, by os._exit in call") >= 2


def test_a_process_that_a_mechanism_forks_off_may_end(suite):
    text = """
def test_it(assert_private):
    forked = []

    def with_help(dataset, size, rng):
        if size > 500 and not forked:
            forked.append(os.fork())
            if not forked[0]:
                open("forked", "w").close()
                os._exit(0)
            os.waitpid(forked[0], 0)
        return laplace(dataset, size, rng)

    assert_private(with_help, D, E, epsilon=1.0, samples=3000)
"""
    warned = ("-W", "ignore:.*fork:DeprecationWarning")
    for where in ("own", "same"):
        code, out = said(suite, text, f"--dpsco-process={where}", *warned)
        assert code == 0, out
        Path("forked").unlink()


def test_a_fault_within_the_audit_is_no_violation(suite):
    text = """
@pytest.mark.parametrize("fault", [AssertionError("odd"), IndexError("odd")])
def test_it(assert_private, fault):
    def feature(outputs):
        raise fault

    assert_private(laplace, D, E, epsilon=1.0, features={"mine": feature})
"""
    for where in ("own", "same"):
        code, out = said(suite, text, f"--dpsco-process={where}")
        assert code == 1
        assert len(re.findall(r"^E +\S+AuditBrokeOffError: the audit of laplace", out, re.MULTILINE)) == 2
        assert "the audit of laplace was broken off, which is not a verdict (AssertionError: odd)" in out
        assert "raise fault" in out
        assert "2 audits: 0 violated, 2 undecided, 0 not violated" in out


def test_the_result_is_that_of_the_process_of_the_test(suite):
    text = """
def test_it(assert_private, monkeypatch):
    def closure(dataset, size, rng):
        return SCALE * laplace(dataset, size, rng)

    monkeypatch.setitem(globals(), "SCALE", 2.0)
    result = assert_private(closure, D, E, epsilon=1.0, features={"mine": lambda outputs: np.cos(outputs)})
    assert {id(result.witness.d), id(result.witness.d_prime)} == {id(D), id(E)}
    assert result.reproduce() == result
    with pytest.raises(AssertionError, match="closure violates 0.1-DP"):
        assert_private(closure, D, E, epsilon=0.1)
"""
    lines = []
    for where in ("own", "same"):
        code, out = said(suite, text, f"--dpsco-process={where}", "-v")
        assert code == 0, out
        lines.append(re.findall(r"^(?:not )?violated .*", out, re.MULTILINE))
    assert len(lines[0]) == 2
    assert lines[0] == lines[1]
