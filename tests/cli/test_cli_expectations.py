"""``audit --update-expectations``: what it writes, what it leaves alone, and that a gate cannot use it."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Verdict
from dpsco_verify.ledger.expectations import Expectation, load_expectations, save_expectations
from dpsco_verify.ledger.installed import installed_ledger

UNKNOWN = Expectation(id="a", reading="b", expected=Verdict.CERTIFIED, why="typed in")
SELECT = ("--profile", "quick", "--select", "kl-bound", "--format", "json")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    def run_it(*arguments):
        out = str(tmp_path / "report")
        return CliRunner().invoke(main, ["audit", *SELECT, "--out", out, *arguments])

    return run_it


@pytest.mark.slow
def test_a_changed_verdict_is_written_and_the_rest_stays(run, tmp_path):
    path = tmp_path / "claims.toml"
    entries = installed_ledger().expectations
    wrong = Expectation(id="kl-bound", reading="literal", expected=Verdict.REFUTED, why="typed in")
    save_expectations({**entries, "kl-bound/literal": wrong}, path)
    assert run("--expectations", str(path)).exit_code == 1
    result = run("--expectations", str(path), "--update-expectations")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == "kl-bound/literal: refuted -> certified\n"
    after = load_expectations(path)
    assert after["kl-bound/literal"].expected is Verdict.CERTIFIED
    assert "ε tanh(ε/2)" in after["kl-bound/literal"].why
    assert {k: v for k, v in after.items() if k != "kl-bound/literal"} == {
        k: v for k, v in entries.items() if k != "kl-bound/literal"
    }
    assert run("--expectations", str(path)).exit_code == 0
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".claims")] == []


@pytest.mark.slow
def test_a_verdict_that_stays_keeps_its_reason_and_the_bytes(run, tmp_path):
    path = tmp_path / "claims.toml"
    save_expectations(installed_ledger().expectations, path)
    before = path.read_bytes()
    result = run("--expectations", str(path), "--update-expectations")
    assert (result.exit_code, result.stderr) == (0, "")
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    assert [f"{e['id']}/{e['reading']}" for e in entries] == [
        claim.key for claim in installed_ledger().claims
    ]
    assert run("--expectations", str(path), "--update-expectations").exit_code == 0
    assert sorted(path.read_bytes().splitlines()) == sorted(before.splitlines())


def test_a_new_file_holds_what_was_verified(run, tmp_path):
    path = tmp_path / "new.toml"
    assert run("--expectations", str(path), "--update-expectations").exit_code == 0
    assert list(load_expectations(path)) == ["kl-bound/literal"]


def the_papers_own():
    """The committed files, by paper."""
    return {
        entry.paper.id: Path(
            str(resources.files(f"dpsco_verify.papers.{entry.paper.id}") / "expectations.toml")
        )
        for entry in installed_ledger().papers
    }


@pytest.mark.parametrize("value", ["true", "1", "True"])
def test_it_is_refused_in_ci(run, tmp_path, monkeypatch, value):
    monkeypatch.setenv("CI", value)
    path = tmp_path / "claims.toml"
    save_expectations(installed_ledger().expectations, path)
    before = path.read_bytes()
    result = run("--expectations", str(path), "--update-expectations")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "update_expectations=True is refused" in result.stderr
    assert not (tmp_path / "report").exists()
    assert path.read_bytes() == before


def test_without_a_file_to_write_it_is_refused(run, tmp_path):
    before = {paper: file.read_bytes() for paper, file in the_papers_own().items()}
    result = run("--update-expectations")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "update_expectations=True needs a file to write; give --expectations FILE" in result.stderr
    assert not (tmp_path / "report").exists()
    assert {paper: file.read_bytes() for paper, file in the_papers_own().items()} == before


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda entries: entries.pop("kl-bound/literal"), "says nothing about 'kl-bound/literal'"),
        (lambda entries: entries.update({"a/b": UNKNOWN}), "'a/b', which is not a reading"),
    ],
)
def test_a_gate_wants_an_expectation_of_each_reading_and_no_other(run, tmp_path, change, reason):
    path = tmp_path / "claims.toml"
    entries = dict(installed_ledger().expectations)
    change(entries)
    save_expectations(entries, path)
    result = run("--expectations", str(path))
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert reason in result.stderr
    assert not (tmp_path / "report").exists()


@pytest.mark.slow
def test_the_file_of_one_paper_goes_with_that_paper(run, tmp_path):
    """A paper's own file is complete for the ledger of that paper alone, and for no larger one."""
    path = str(the_papers_own()["arora2020"])
    assert run("--paper", "arora2020", "--expectations", path).exit_code == 0
    assert run("--expectations", path).exit_code == 2


def test_a_file_that_cannot_be_written_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        save_expectations(installed_ledger().expectations, tmp_path / "absent" / "claims.toml")


@pytest.mark.parametrize("why", ['say "no"', "back\\slash", "tab\tand\nline", "∀ε 漢 🙂", "del \x7f"])
def test_any_reason_reads_back(tmp_path, why):
    entry = Expectation(id="a", reading="b", expected=Verdict.CERTIFIED, why=why)
    save_expectations({entry.key: entry}, tmp_path / "claims.toml")
    assert load_expectations(tmp_path / "claims.toml") == {"a/b": entry}


@pytest.mark.parametrize("paper", the_papers_own())
def test_the_committed_expectations_are_as_the_command_writes_them(tmp_path, paper):
    entry = installed_ledger().paper(paper)
    in_order = {claim.key: entry.expectations[claim.key] for claim in entry.claims}
    save_expectations(in_order, tmp_path / "claims.toml")
    assert (tmp_path / "claims.toml").read_bytes() == the_papers_own()[paper].read_bytes()
