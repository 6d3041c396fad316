"""``make new-statement``: what it makes passes for nothing, what is missing is told, and the docs finish it."""

from __future__ import annotations

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
AUDIT = ("-m", "dpsco_verify", "audit", "--paper", "dwork2014", "--profile", "quick", "--no-store")
TESTS = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/contract/test_ledger_statements.py")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def copy(tmp_path):
    """A copy of the package and its tests, with a statement that was just made."""
    for name in (
        "dpsco_verify",
        "tests/contract",
    ):  # with what is compiled, which goes by the times of the sources
        shutil.copytree(ROOT / name, tmp_path / name)
    make = runpy.run_path(str(ROOT / "tools" / "new_statement.py"))["make"]
    make(tmp_path, "dwork2014", "two-coins")
    return tmp_path


def run(copy, *words):
    # Edits of one second that leave the length as it was would be taken for what was compiled before.
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(  # noqa: S603  ours
        [sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


def audit(copy):
    return run(copy, *AUDIT, "--select", "two-coins", "--out", str(copy / "out"))


def apply(copy, change):
    (copy / "change.diff").write_text(change, encoding="utf-8")
    subprocess.run(["git", "apply", "change.diff"], cwd=copy, check=True)  # noqa: S607  ours


@pytest.mark.slow
def test_step_by_step_until_it_stands(copy):
    home = copy / "dpsco_verify" / "papers" / "dwork2014"
    told = audit(copy)
    assert told.returncode == ExitCode.BAD_INPUT
    assert "says nothing about 'two-coins/printed'; add an entry" in told.stderr
    with (home / "expectations.toml").open("a", encoding="utf-8") as file:
        file.write("\n" + "".join(blocks("toml")))
    certificate, statement = blocks("diff")
    assert "has no checker; give TwoCoinsWitness a method sides" in audit(copy).stderr
    apply(copy, certificate)
    told = run(copy, *TESTS, "-k", "two-coins")
    failed = set(re.findall(r"^FAILED .*::(\w+)\[", told.stdout, re.MULTILINE))
    assert failed == {"test_every_text_is_written", "test_the_label_stands_in_the_docstring_of_its_module"}
    assert audit(copy).returncode == ExitCode.UNDECIDED
    apply(copy, statement)
    assert run(copy, *TESTS, "-k", "two-coins or dwork2014").returncode == 0
    stands = audit(copy)
    assert stands.returncode == ExitCode.AS_EXPECTED, stands.stderr
    assert "certified by computation" in stands.stdout
    statement = home / "two_coins" / "statement.py"
    statement.write_text(
        statement.read_text(encoding="utf-8").replace("(1 - 1 / 4) / (1 / 4)", "(1 - 1 / 5) / (1 / 5)")
    )
    assert audit(copy).returncode == ExitCode.UNDECIDED


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
