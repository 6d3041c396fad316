"""The history of an audit: its runs, each claim over them, and what changed from one to the next."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.store import EvidenceStore, StoreError, history

pytestmark = pytest.mark.slow


def run(*arguments):
    """Run the program in this process; anything but an orderly exit is raised."""
    result = CliRunner().invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def claim(name, verdict, *sharpness, expected="certified"):
    identifier, reading = name.split("/")
    return {
        "id": identifier,
        "reading": reading,
        "verdict": verdict,
        "expected": expected,
        "sharpness": list(sharpness),
        "what a later version adds": 1,
    }


def constant(name, claimed, holds_with, needed=None, **more):
    return {
        "constant": name,
        "claimed": claimed,
        "holds_with": holds_with,
        "needed": needed,
        "how": "",
        **more,
    }


def record(*claims):
    return json.dumps({"schema_version": 99, "versions": {"numpy": "2"}, "claims": claims}).encode()


@pytest.fixture
def store(tmp_path):
    """Three finished runs and one that was killed."""
    path = tmp_path / "store.sqlite3"
    with EvidenceStore(path) as kept:
        runs = [
            record(claim("a/x", "certified", constant("5", 5.0, 2.5, 2.0)), claim("b/[y]", "refuted")),
            record(claim("a/x", "certified", constant("5", 5.0, 2.0, 2.0))),
            record(
                claim("a/x", "not_refuted", constant("5", 5.0, None, 2.0)),
                claim("b/[y]", "refuted"),
                claim("c/z", "certified", constant("end", 1.0, 3.0, larger_is_stronger=True)),
            ),
        ]
        for number, results in enumerate(runs):
            one = kept.begin_run(profile="quick" if number < 2 else "deep", seed=number)
            kept.finish_run(one, exit_code=0 if number < 2 else 1, results=results)
        kept.begin_run(profile="deep", seed=9)
    return path


def test_the_runs_the_claims_and_the_changes(store):
    with EvidenceStore(store, read_only=True) as kept:
        found = history(kept)
    assert [(r.run, r.profile, r.seed, r.exit_code) for r in found.runs] == [
        (1, "quick", 0, 0),
        (2, "quick", 1, 0),
        (3, "deep", 2, 1),
    ]
    assert found.runs[2].verdicts == {"certified": 1, "not_refuted": 1, "refuted": 1}
    claims = {one.claim: one.found for one in found.claims}
    assert [(f.run, f.verdict, [c.slack for c in f.constants]) for f in claims["a/x"]] == [
        (1, "certified", [2.0]),
        (2, "certified", [2.5]),
        (3, "not_refuted", [None]),
    ]
    assert [f.run for f in claims["b/[y]"]] == [1, 3]
    assert claims["c/z"][0].constants[0].slack == 3.0
    assert [(c.before_run, c.run, c.claim, c.what, c.constant, c.before, c.after) for c in found.changes] == [
        (1, 2, "a/x", "slack", "5", 2.0, 2.5),
        (1, 2, "a/x", "holds_with", "5", 2.5, 2.0),
        (2, 3, "a/x", "verdict", None, "certified", "not_refuted"),
        (2, 3, "a/x", "slack", "5", 2.5, None),
        (2, 3, "a/x", "holds_with", "5", 2.0, None),
    ]


def test_the_history_for_machines_holds_the_same(store):
    result = run("history", "--store", str(store), "--format", "json")
    assert run("history", "--store", str(store), "--json").stdout == result.stdout
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert set(found) == {"runs", "claims", "changes"}
    assert len(found["runs"]) == 3
    assert found["changes"][2] == {
        "run": 3,
        "before_run": 2,
        "claim": "a/x",
        "what": "verdict",
        "constant": None,
        "before": "certified",
        "after": "not_refuted",
    }


def test_the_history_for_readers(store, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    result = run("history", "--store", str(store))
    assert (result.exit_code, result.stderr) == (0, "")
    for words in (
        "Runs",
        "Claims",
        "Changes",
        "1 → 2",
        "certified from run 1, not refuted from run 3",
        "b/[y]",
    ):
        assert words in result.stdout
    assert "5: 2 → 2.5 → none" in result.stdout


def test_eighty_columns_break_no_claim(tmp_path, monkeypatch):
    name = "gradient-queries/all-points-counter"
    path = tmp_path / "store"
    with EvidenceStore(path) as kept:
        for seed, holds in enumerate((2.0, 2.5)):
            found = record(claim(name, "certified", constant("16 in front of the bound", 5.0, holds, 1.0)))
            kept.finish_run(kept.begin_run(profile="deep", seed=seed), exit_code=0, results=found)
    monkeypatch.setenv("COLUMNS", "80")
    lines = run("history", "--store", str(path)).stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for part in name.split("/"):
        assert sum(part in line for line in lines) >= 2, part


def test_a_store_without_a_finished_run(tmp_path):
    path = tmp_path / "store"
    with EvidenceStore(path) as kept:
        kept.begin_run(profile="quick", seed=0)
    assert run("history", "--store", str(path)).stdout == "No run has been finished yet.\n"
    assert json.loads(run("history", "--store", str(path), "--format", "json").stdout)["runs"] == []


def test_runs_that_found_the_same(tmp_path):
    path = tmp_path / "store"
    with EvidenceStore(path) as kept:
        for seed in range(2):
            kept.finish_run(
                kept.begin_run(profile="quick", seed=seed),
                exit_code=0,
                results=record(claim("a/x", "refuted")),
            )
    assert "Nothing changed from one run to the next." in run("history", "--store", str(path)).stdout


def test_a_record_that_is_none_is_told(tmp_path):
    path = tmp_path / "store"
    with EvidenceStore(path) as kept:
        kept.finish_run(kept.begin_run(profile="quick", seed=0), exit_code=0, results=b"{}")
        with pytest.raises(StoreError, match="is damaged"):
            history(kept)


def test_a_store_that_does_not_exist_is_told_and_not_made(tmp_path):
    result = run("history", "--store", str(tmp_path / "none"))
    assert result.exit_code == 2
    assert "does not exist" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_looking_changes_nothing(store):
    before = store.read_bytes()
    run("history", "--store", str(store))
    assert store.read_bytes() == before
    assert [path.name for path in store.parent.iterdir()] == [store.name]


def test_one_run_has_no_changes(tmp_path):
    path = tmp_path / "store"
    with EvidenceStore(path) as kept:
        one = kept.begin_run(profile="quick", seed=0)
        kept.finish_run(one, exit_code=0, results=record(claim("a/x", "refuted")))
    shown = run("history", "--store", str(path)).stdout
    assert "Claims" in shown
    assert "Changes" not in shown
    assert "Nothing changed" not in shown
