"""``audit --update-baseline``: what it writes, what it leaves alone, and that a gate cannot use it."""

from __future__ import annotations

import tomllib

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Verdict
from dpsco_verify.ledger.baseline import Expectation, load_baseline, package_baseline, save_baseline
from dpsco_verify.ledger.registry import all_claims

SELECT = ("--profile", "quick", "--select", "kl-bound", "--format", "json")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    def run_it(*arguments):
        out = str(tmp_path / "report")
        return CliRunner().invoke(main, ["audit", *SELECT, "--out", out, *arguments])

    return run_it


def test_a_changed_verdict_is_written_and_the_rest_stays(run, tmp_path):
    path = tmp_path / "claims.toml"
    entries = load_baseline()
    wrong = Expectation(id="kl-bound", reading="literal", expected=Verdict.REFUTED, why="typed in")
    save_baseline({**entries, "kl-bound/literal": wrong}, path)
    assert run("--baseline", str(path)).exit_code == 1
    result = run("--baseline", str(path), "--update-baseline")
    assert result.exit_code == 0, result.stderr
    assert result.stderr == "kl-bound/literal: refuted -> certified\n"
    after = load_baseline(path)
    assert after["kl-bound/literal"].expected is Verdict.CERTIFIED
    assert "ε tanh(ε/2)" in after["kl-bound/literal"].why
    assert {k: v for k, v in after.items() if k != "kl-bound/literal"} == {
        k: v for k, v in entries.items() if k != "kl-bound/literal"
    }
    assert run("--baseline", str(path)).exit_code == 0
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".claims")] == []


def test_a_verdict_that_stays_keeps_its_reason_and_the_bytes(run, tmp_path):
    path = tmp_path / "claims.toml"
    save_baseline(load_baseline(), path)
    before = path.read_bytes()
    result = run("--baseline", str(path), "--update-baseline")
    assert (result.exit_code, result.stderr) == (0, "")
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["claim"]
    assert [f"{e['id']}/{e['reading']}" for e in entries] == [claim.key for claim in all_claims()]
    assert run("--baseline", str(path), "--update-baseline").exit_code == 0
    assert sorted(path.read_bytes().splitlines()) == sorted(before.splitlines())


def test_a_new_file_holds_what_was_verified(run, tmp_path):
    path = tmp_path / "new.toml"
    assert run("--baseline", str(path), "--update-baseline").exit_code == 0
    assert list(load_baseline(path)) == ["kl-bound/literal"]


@pytest.mark.parametrize("value", ["true", "1", "True"])
def test_it_is_refused_in_ci(run, tmp_path, monkeypatch, value):
    monkeypatch.setenv("CI", value)
    before = package_baseline().read_bytes()
    result = run("--update-baseline")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "update_baseline=True is refused" in result.stderr
    assert not (tmp_path / "report").exists()
    assert package_baseline().read_bytes() == before


def test_a_file_that_cannot_be_written_is_bad_input(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        save_baseline(load_baseline(), tmp_path / "absent" / "claims.toml")


@pytest.mark.parametrize("why", ['say "no"', "back\\slash", "tab\tand\nline", "∀ε 漢 🙂", "del \x7f"])
def test_any_reason_reads_back(tmp_path, why):
    entry = Expectation(id="a", reading="b", expected=Verdict.CERTIFIED, why=why)
    save_baseline({entry.key: entry}, tmp_path / "claims.toml")
    assert load_baseline(tmp_path / "claims.toml") == {"a/b": entry}


def test_the_committed_baseline_is_as_the_command_writes_it(tmp_path):
    entries = load_baseline()
    save_baseline({claim.key: entries[claim.key] for claim in all_claims()}, tmp_path / "claims.toml")
    assert (tmp_path / "claims.toml").read_bytes() == package_baseline().read_bytes()
