"""A shell completes commands, options and ids, and asks for nothing heavy."""

from __future__ import annotations

import sys

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from dpsco_verify.choices import REPORT_FORMATS
from dpsco_verify.cli import main
from dpsco_verify.cli.completion import _keys
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.faults import EXHIBITS
from dpsco_verify.guarantees.optimiser import BANK
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.related.catalogue import SYSTEMS


def completed(*words):
    """Return the completions of the last word."""
    complete = ShellComplete(main, {}, "dpsco-verify", "_DPSCO_VERIFY_COMPLETE")
    return [item.value for item in complete.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_the_shells(shell):
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert f"_DPSCO_VERIFY_COMPLETE={shell}_complete" in result.stdout


def test_commands_options_and_choices():
    assert completed("ca") == ["calibrate"]
    assert completed("museum", "--li") == ["--list"]
    assert completed("audit", "--profile", "q") == ["quick"]


def test_ids_of_papers_and_formats():
    papers = [entry.paper.id for entry in installed_ledger().papers]
    assert sorted(completed("audit", "--paper", "")) == papers
    assert completed("claims", "--paper", "aro") == ["arora2020"]
    assert set(REPORT_FORMATS) <= set(completed("audit", "--format", ""))
    assert completed("gate", "--format", "sar") == ["sarif"]


def test_ids_of_claims_are_those_of_the_ledger():
    ledger = installed_ledger()
    assert sorted(completed("explain", "")) == sorted({claim.statement.id for claim in ledger.claims})
    single = [claim.key for claim in ledger.claims if claim.key.startswith("single-step/")]
    assert sorted(completed("audit", "--select", "single-step/")) == sorted(single)
    assert completed("audit", "--ignore", "no-such") == []


def test_ids_of_problems_systems_and_exhibits():
    assert sorted(completed("problems", "")) == sorted(BANK)
    assert sorted(completed("gate", "--problems", "")) == sorted(BANK)
    assert sorted(completed("compare", "--problem", "")) == sorted(PROBLEMS)
    assert sorted(completed("compare", "--system", "")) == sorted(SYSTEMS)
    assert sorted(completed("museum", "--select", "")) == sorted(exhibit.id for exhibit in EXHIBITS)
    assert completed("problems", "breast-cancer-h") == ["breast-cancer-hinge"]


def test_a_paper_whose_package_is_broken_has_no_claims_to_offer(tmp_path, monkeypatch):
    from importlib.metadata import EntryPoint

    (tmp_path / "torn_paper").mkdir()
    (tmp_path / "torn_paper" / "__init__.py").write_text("raise RuntimeError('torn')\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert list(_keys(EntryPoint("torn", "torn_paper.paper:PAPER", "dpsco_verify.papers"))) == []
    assert "torn_paper" not in sys.modules
