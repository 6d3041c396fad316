"""``make new-statement``: what it makes passes for nothing, what is missing is told, and the docs finish it."""

from __future__ import annotations

import faulthandler
import importlib
import os
import re
import runpy
import shutil
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.ledger.installed import installed_ledger

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "statement.md").read_text(encoding="utf-8")
AUDIT = ("dpsco_verify", "audit", "--paper", "dwork2014", "--profile", "quick", "--no-store")
TESTS = ("pytest", "-q", "-p", "no:cacheprovider", "tests/contract/test_ledger_statements.py")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


PAPERS = "dpsco_verify.papers"


@pytest.fixture
def copy(tmp_path):
    """A copy of the papers and their tests, with a statement that was just made."""
    # What is compiled goes along, and goes by the times of the sources.
    for name in ("dpsco_verify/papers", "tests/contract"):
        shutil.copytree(ROOT / name, tmp_path / name)
    make = runpy.run_path(str(ROOT / "tools" / "new_statement.py"))["make"]
    make(tmp_path, "dwork2014", "two-coins")
    return tmp_path


def program(copy, words):
    """Be a process that was started as ``python -m`` with words, in the copy; return its exit code."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(copy / name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
    os.chdir(copy)
    sys.path.insert(0, str(copy))
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, AssertionRewritingHook)]
    warnings.simplefilter("default")
    # Edits of one second that leave the length as it was would be taken for what was compiled before.
    sys.dont_write_bytecode = True
    for name in [name for name in sys.modules if name.startswith((f"{PAPERS}.dwork2014", "tests."))]:
        del sys.modules[name]
    importlib.import_module(PAPERS).__path__ = [str(copy / "dpsco_verify" / "papers")]
    importlib.invalidate_caches()
    installed_ledger.cache_clear()
    sys.argv = list(words)
    try:
        runpy.run_module(words[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code or 0
    return 0


@pytest.fixture
def run(copy):
    """Run ``python -m`` with words in the copy; return its exit code, and what it wrote."""
    importlib.import_module("dpsco_verify.cli.audit")  # what no step changes is there for all programs
    installed_ledger()
    faulthandler.cancel_dump_traceback_later()  # its thread is not in a fork, where cancelling would wait for it

    def run(*words):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, of which the fork has none
            child = os.fork()
        if child == 0:
            code = 70
            try:
                code = program(copy, words)
            except BaseException:  # noqa: BLE001  nothing of this may go on as a second parent
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return code, *((copy / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))

    return run


@pytest.fixture
def audit(run):
    """Audit the new statement."""
    return lambda: run(*AUDIT, "--select", "two-coins", "--out", "out")


def apply(copy, change):
    (copy / "change.diff").write_text(change, encoding="utf-8")
    subprocess.run(["git", "apply", "change.diff"], cwd=copy, check=True)  # noqa: S607  ours


@pytest.mark.slow
def test_step_by_step_until_it_stands(copy, run, audit):
    home = copy / "dpsco_verify" / "papers" / "dwork2014"
    code, _, told = audit()
    assert code == ExitCode.BAD_INPUT
    assert "says nothing about 'two-coins/printed'; add an entry" in told
    with (home / "expectations.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + "".join(blocks("toml")))
    certificate, statement = blocks("diff")
    assert "has no checker; give TwoCoinsWitness a method sides" in audit()[2]
    apply(copy, certificate)
    told = run(*TESTS, "-k", "two-coins")[1]
    failed = set(re.findall(r"^FAILED .*::(\w+)\[", told, re.MULTILINE))
    assert failed == {"test_every_text_is_written", "test_the_label_stands_in_the_docstring_of_its_module"}
    assert audit()[0] == ExitCode.UNDECIDED
    apply(copy, statement)
    assert run(*TESTS, "-k", "two-coins or dwork2014")[0] == 0
    code, told, wrong = audit()
    assert code == ExitCode.AS_EXPECTED, wrong
    assert "certified by computation" in told
    statement = home / "two_coins" / "statement.py"
    statement.write_text(
        statement.read_text(encoding="utf-8").replace("(1 - 1 / 4) / (1 / 4)", "(1 - 1 / 5) / (1 / 5)")
    )
    assert audit()[0] == ExitCode.UNDECIDED


def test_bad_names_are_refused_in_a_sentence_and_make_nothing(tmp_path):
    make = runpy.run_path(str(ROOT / "tools" / "new_statement.py"))["make"]
    for paper, name, said in (
        ("nowhere", "x", "is not a paper; give one of arora2020"),
        ("dwork2014", "My Lemma", "is not an id"),
        ("dwork2014", "laplace", "is taken"),
    ):
        with pytest.raises(SystemExit, match=said):
            make(ROOT, paper, name)
    assert not (ROOT / "dpsco_verify" / "papers" / "nowhere").exists()
