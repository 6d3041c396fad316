"""``make new-statement``: what it makes passes for nothing, what is missing is told, and the docs finish it."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpsco_verify.evidence.exit_code import ExitCode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "statement.md").read_text(encoding="utf-8")
AUDIT = ("dpsco_verify", "audit", "--paper", "dwork2014", "--profile", "quick", "--no-store")
TESTS = ("pytest", "-q", "-p", "no:cacheprovider", "tests/contract/test_ledger_statements.py")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


PROGRAMS = """
import importlib, json, os, runpy, sys

# What no step changes is there for all programs; each imports the statement's paper anew.
for name in sys.argv[1:]:
    importlib.import_module(name)
assert not [name for name in sys.modules if "dwork2014" in name]
for line in sys.stdin:
    if program := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(program, 0)[1]), flush=True)
        continue
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = json.loads(line)
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    break
"""
IMPORTED = (
    "pytest",
    "numba.core.registry",
    "dpsco_verify.cli.audit",
    "dpsco_verify.ledger.installed",
    "dpsco_verify.reporting.drawing",
    *(
        f"dpsco_verify.papers.{paper}.paper"
        for paper in ("arora2020", "bassily2014", "bassily2019", "chaudhuri2011")
    ),
)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package and its tests, with a statement that was just made."""
    # What is compiled goes along, and goes by the times of the sources.
    for name in ("dpsco_verify", "tests/contract"):
        shutil.copytree(ROOT / name, tmp_path / name)
    make = runpy.run_path(str(ROOT / "tools" / "new_statement.py"))["make"]
    make(tmp_path, "dwork2014", "two-coins")
    return tmp_path


@pytest.fixture
def run(copy):
    """Run ``python -m`` with words in the copy; return its exit code, and what it wrote."""
    # Edits of one second that leave the length as it was would be taken for what was compiled before.
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(  # noqa: S603  ours
        [sys.executable, "-c", PROGRAMS, *IMPORTED],
        cwd=copy,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as programs:

        def run(*words):
            programs.stdin.write(json.dumps(words) + "\n")
            programs.stdin.flush()
            code = int(programs.stdout.readline())
            return code, *((copy / name).read_text(encoding="utf-8") for name in ("stdout", "stderr"))

        yield run


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
