"""What breaks a command off is never taken for a verdict: exit codes of 64 and more, and nothing is written."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.execution import own_process
from program import ran, started

MODULE = """
    import ctypes, faulthandler, os, signal, sys
    import numpy as np

    pair = (np.array([0.0]), np.array([1.0]))

    def laplace(d, size, rng):
        return d[0] + rng.laplace(0.0, 1.0, size)

    def exits(d, size, rng):
        os._exit(0)

    def exits_late(d, size, rng):
        if size > 500:
            os._exit(0)
        return laplace(d, size, rng)

    def exits_in_c(d, size, rng):
        ctypes.CDLL(None).exit(0)

    def is_killed(d, size, rng):
        os.kill(os.getpid(), signal.SIGKILL)

    def crashes(d, size, rng):
        faulthandler.disable()
        os.kill(os.getpid(), signal.SIGSEGV)

    def pair_that_exits():
        sys.exit(0)

    def pair_that_ends():
        os._exit(0)

    def one(d, rng):
        return np.asarray(d[0] + rng.laplace(0.0, 1.0))

    def one_that_raises_within(d, size, rng):
        return Sized(size)

    class Sized(list):
        def __init__(self, size):
            super().__init__([0.0] * size)

        def __iter__(self):
            raise AssertionError("the fault of whoever encodes this")
"""
QUICK = ("--epsilon", "1", "--samples", "3000", "--format", "json")


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "ends.py").write_text(textwrap.dedent(MODULE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    sys.modules.pop("ends", None)


def run(*arguments):
    return CliRunner().invoke(main, [*arguments])


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """An earlier report."""
    folder = tmp_path_factory.mktemp("earlier")
    (folder / "ends.py").write_text(textwrap.dedent(MODULE))
    code, _, said = ran("gate", "ends:laplace", "--pair", "ends:pair", *QUICK, cwd=folder)
    assert code == 0, said
    return folder / "reports" / "gate"


def one_line(text):
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


# mechanisms that end their process

ENDS = {
    "exits": "ended with exit status 0",
    "exits_late": "ended with exit status 0",
    "exits_in_c": "ended with exit status 0",
    "is_killed": "was ended by SIGKILL",
    "crashes": "was ended by SIGSEGV",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDS)
def test_a_mechanism_that_ends_its_process_is_no_verdict(here, reported, name):
    shutil.copytree(reported, "reports/gate")
    report = Path("reports/gate/results.json").read_bytes()
    result = run("gate", f"ends:{name}", "--pair", "ends:pair", *QUICK)
    assert result.exit_code == ExitCode.BROKE_OFF == 70
    assert result.stdout == ""
    assert one_line(result.stderr)
    assert f"while auditing ends-{name.replace('_', '-')}/1-DP-pair the judging process {ENDS[name]}" in (
        result.stderr
    )
    assert "no verdict" in result.stderr
    assert Path("reports/gate/results.json").read_bytes() == report


@pytest.mark.slow
def test_a_process_of_the_program_says_so_too(here):
    code, out, said = ran("gate", "ends:exits", "--pair", "ends:pair", *QUICK, cwd=here)
    assert code == 70
    assert out == ""
    assert one_line(said)
    assert not (here / "reports").exists()


@pytest.mark.slow
def test_a_pair_that_ends_the_process_is_no_verdict(here):
    result = run("gate", "ends:laplace", "--pair", "ends:pair_that_exits", *QUICK)
    assert result.exit_code == 2
    assert "raised SystemExit: 0" in result.stderr
    result = run("gate", "ends:laplace", "--pair", "ends:pair_that_ends", *QUICK)
    assert result.exit_code == 70
    assert "while loading the mechanisms" in result.stderr


@pytest.mark.slow
def test_the_audit_that_ends_the_process_is_named_and_takes_the_others_along(here):
    audits = "".join(
        f'[[gate.audit]]\nmechanism = "ends:{name}"\npair = "ends:pair"\nepsilon = 1.0\nsamples = 3000\n'
        for name in ("laplace", "exits")
    )
    (here / "gate.toml").write_text(f"[gate]\n{audits}")
    result = run("gate", "--config", "gate.toml")
    assert result.exit_code == 70
    assert "while auditing ends-exits/1-DP-pair" in result.stderr
    assert not (here / "reports").exists()


@pytest.mark.long
def test_the_same_where_processes_cannot_fork(here, monkeypatch):
    run("gate", "ends:laplace", "--pair", "ends:pair", *QUICK, "--out", "forked")
    monkeypatch.setattr(own_process, "CAN_FORK", False)
    result = run("gate", "ends:laplace", "--pair", "ends:pair", *QUICK, "--out", "fresh")
    assert result.exit_code == 0
    (forked,), (fresh,) = (
        json.loads((here / out / "results.json").read_text())["claims"] for out in ("forked", "fresh")
    )
    assert fresh | {"seconds": 0} == forked | {"seconds": 0}


@pytest.mark.long
def test_an_end_is_no_verdict_where_processes_cannot_fork(here, monkeypatch):
    monkeypatch.setattr(own_process, "CAN_FORK", False)
    result = run("gate", "ends:exits", "--pair", "ends:pair", *QUICK, "--out", "ended")
    assert result.exit_code == 70
    assert "while auditing ends-exits/1-DP-pair the judging process ended with exit status 0" in result.stderr
    assert not (here / "ended").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("does", "code", "said"),
    [
        ("sys.exit(0)", 2, "ended with exit status 0, after 0 of 1 lines"),
        ("os.kill(os.getppid(), 9)", 70, "was ended by SIGKILL"),
    ],
)
def test_a_program_that_ends_itself_or_us_is_no_verdict(here, does, code, said):
    (here / "program.py").write_text(f"import os, sys\nsys.stdin.readline()\n{does}\n")
    command = shlex.join([sys.executable, "-S", "program.py"])
    result = run("gate", "--command", command, "--pair", "ends:pair", *QUICK)
    assert result.exit_code == code
    assert said in result.stderr
    assert not (here / "reports").exists()


# faults of the program

FAULTS = [
    ZeroDivisionError("a fault"),
    AssertionError(),
    RecursionError("deep"),
    MemoryError(),
    EOFError("none"),
]


@pytest.mark.parametrize("command", sorted(main.commands))
def test_a_fault_of_the_program_is_no_verdict(command, monkeypatch):
    """Click itself ends with 1, "violated", for some of these, and Python for the others."""
    monkeypatch.setattr(main.commands[command], "params", [])
    for fault in FAULTS:

        def broken(fault=fault):
            raise fault

        monkeypatch.setattr(main.commands[command], "callback", broken)
        result = run(command)
        assert result.exit_code == ExitCode.BROKE_OFF
        assert result.stdout == ""
        first, *_, last = result.stderr.strip().splitlines()
        assert first == "Traceback (most recent call last):"
        assert last.startswith("dpsco-verify: broken off by a fault of the program, which is not a verdict")
        assert f"({type(fault).__name__}" in last


def test_an_interruption_is_no_verdict(monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(main.commands["claims"], "callback", interrupted)
    monkeypatch.setattr(main.commands["claims"], "params", [])
    result = run("claims")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "dpsco-verify: interrupted\n")


@pytest.mark.slow
def test_a_fault_in_the_judging_process_is_told_with_its_place(here):
    result = run("gate", "ends:one_that_raises_within", "--pair", "ends:pair", *QUICK)
    assert result.exit_code == 70
    assert 'raise AssertionError("the fault of whoever encodes this")' in result.stderr
    assert "not a verdict (AssertionError: the fault of whoever encodes this)" in result.stderr
    assert not (here / "reports").exists()


@pytest.mark.slow
def test_a_reader_that_leaves_is_no_verdict(tmp_path):
    read, write = os.pipe()
    os.close(read)
    child = started("claims", cwd=tmp_path, streams={1: write})
    os.close(write)
    code, _, said = child.ended()
    assert code == 141
    assert one_line(said)


@pytest.mark.parametrize("name", ["", "audit", "compare", "gate", "museum", "replay"])
def test_the_help_names_the_exit_code(name):
    said = " ".join(run(*name.split(), "--help").stdout.split())
    assert "70 broken off" in said.partition("Exit codes:")[2]


# input that only looks harmless


@pytest.mark.slow
def test_outputs_that_are_arrays_without_axes_are_numbers(here):
    result = run("gate", "ends:one", "--per-call", "--pair", "ends:pair", *QUICK)
    assert result.exit_code == 0, result.stderr


DEEP = "[" * 100_000 + "]" * 100_000
TOO_DEEP = {
    "a certificate": ("replay", DEEP),
    "a certificate's witness": ("replay", '{"schema": 1, "witness": ' + DEEP + "}"),
    "a certificate without end": ("replay", '{"a":' * 100_000),
    "a pair": ("gate ends:laplace --epsilon 1 --pair", DEEP),
    "a configuration": ("gate --config", f"gate = {DEEP}"),
    "expectations": ("audit --select single-step --expectations", f"claim = {DEEP}"),
}


@pytest.mark.parametrize("name", TOO_DEEP)
def test_what_is_nested_too_deep_is_bad_input(here, name):
    command, content = TOO_DEEP[name]
    (here / "deep.json").write_text(content)
    result = run(*command.split(), "deep.json")
    assert result.exit_code == 2
    assert one_line(result.stderr)
    assert "deep.json" in result.stderr
    assert not (here / "reports").exists()
