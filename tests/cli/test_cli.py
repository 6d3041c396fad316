"""The command line: what it prints where, its exit codes, and that bad input loses nothing."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from dpsco_verify.choices import Profile
from dpsco_verify.cli import main
from dpsco_verify.evidence import Verdict
from dpsco_verify.ledger.expectations import Expectation, save_expectations
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.run import run_audit

FAST = ["--profile", "quick", "--select", "stopping-tail/text", "--select", "utility/diameter-variance-sigma"]


def run(*arguments):
    """Run the program in this process; anything but an orderly exit is raised."""
    result = CliRunner().invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def run_as_a_user(*arguments, cwd=None):
    return subprocess.run(  # noqa: S603  our own program
        [Path(sys.executable).parent / "dpsco-verify", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    out = tmp_path_factory.mktemp("audit") / "report"
    return run("audit", *FAST, "--out", str(out)), out


@pytest.mark.slow
def test_an_audit_leaves_its_reports(report):
    result, out = report
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""  # no progress bar: stderr is not a terminal
    assert "Exit code 0" in result.stdout
    assert {"results.json", "index.html", "report.md", "junit.xml", "certificates", "figures"} <= {
        path.name for path in out.iterdir()
    }
    record = json.loads((out / "results.json").read_text())
    assert [claim["reading"] for claim in record["claims"]] == ["text", "diameter-variance-sigma"]
    assert record["exit_code"] == 0
    assert record["error_budget"]["total"] == 1e-6
    assert 0 < record["error_budget"]["spent"] <= 1e-6


def without_times(path):
    text = path.read_text()
    return re.sub(r'"(seconds)": [0-9.e+-]+', r'"\1": 0', text)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(tmp_path):
    texts = []
    for number, seed in enumerate(("0", "0", "1")):
        out = tmp_path / str(number)
        chosen = ["--select", "utility/diameter-variance-sigma", "--seed", seed, "--format", "json"]
        result = run("audit", "--profile", "quick", *chosen, "--no-store", "--out", str(out))
        assert result.exit_code == 0
        texts.append(without_times(out / "results.json"))
    assert texts[0] == texts[1]
    seen, other = (json.loads(text)["claims"][0]["evidence"] for text in texts[1:])
    assert seen.keys() == other.keys()
    assert seen != other


@pytest.mark.slow
def test_a_claim_has_the_same_figures_alone_and_in_company(report, tmp_path):
    _, together = report
    out = tmp_path / "alone"
    run("audit", "--profile", "quick", "--select", "stopping-tail/text", "--out", str(out))
    alone = json.loads(without_times(out / "results.json"))["claims"][0]
    assert alone == json.loads(without_times(together / "results.json"))["claims"][0]


@pytest.mark.slow
def test_replay_accepts_what_the_audit_issued(report):
    _, out = report
    files = sorted(str(path) for path in (out / "certificates").iterdir())
    result = run("replay", *files)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert len(lines) == len(files) == 2
    for line, file in zip(lines, files, strict=True):
        said = json.loads(Path(file).read_text())
        verdict = line.removeprefix(f"accepted  {file}: ")
        assert re.match(rf"(certifies|refutes) {said['claim']}/{said['reading']}; (over|at) ", verdict), line
        assert re.search("; (computation|argument); ", verdict), line


@pytest.mark.slow
def test_replay_rejects_and_reports_what_it_cannot_read(report, tmp_path):
    _, out = report
    good = next(iter((out / "certificates").iterdir()))
    bad = tmp_path / "bad.json"
    bad.write_text(good.read_text().replace('"schema": 2', '"schema": 1'))
    result = run("replay", str(good), str(bad))
    assert result.exit_code == 1
    assert "rejected" in result.stdout
    assert "accepted" in result.stdout
    as_json = run("replay", "--json", str(good), str(bad))
    assert as_json.exit_code == 1
    lines = ["{state}  {file}: {says}".format(**one) for one in json.loads(as_json.stdout)]
    assert lines == result.stdout.splitlines()
    garbage = tmp_path / "garbage.json"
    garbage.write_bytes(b"\xff")
    for file in (garbage, tmp_path / "missing.json", tmp_path):
        result = run("replay", str(file))
        assert result.exit_code == 2
        assert one_line(result.stderr)


def one_line(text):
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


def write_expectations(tmp_path, verdict):
    """The papers' own expectations, but for one reading."""
    file = tmp_path / "claims.toml"
    expected = installed_ledger().expectations
    changed = Expectation(id="stopping-tail", reading="text", expected=Verdict(verdict), why="because")
    save_expectations({**expected, changed.key: changed}, file)
    return str(file)


@pytest.mark.slow
@pytest.mark.parametrize(("expected", "code"), [("certified", 0), ("refuted", 1), ("not_refuted", 1)])
def test_the_gate_turns_in_either_direction(tmp_path, expected, code):
    out = tmp_path / "out"
    result = run(
        "audit",
        "--profile",
        "quick",
        "--select",
        "stopping-tail/text",
        "--expectations",
        write_expectations(tmp_path, expected),
        "--out",
        str(out),
    )
    assert result.exit_code == code
    record = json.loads((out / "results.json").read_text())
    assert record["exit_code"] == code
    assert record["claims"][0]["expected"] == expected


@pytest.mark.slow
def test_a_reading_without_an_expectation_is_not_as_expected(tmp_path):
    """Updating starts from a file that need not name all readings; the record says what was missing."""
    ledger = installed_ledger()
    found = run_audit(
        ledger, ledger.find(["stopping-tail/text"]), profile=Profile.QUICK, seed=0, expectations={}
    )
    assert found.record.exit_code == 1
    assert found.record.claims[0].expected is None


BAD = {
    "unknown id": ["audit", "--select", "nonsense"],
    "unknown reading": ["audit", "--ignore", "utility/nonsense"],
    "nothing left": ["audit", "--select", "utility", "--ignore", "utility"],
    "missing expectations": ["audit", "--expectations", "missing.toml"],
    "nothing to update": ["audit", "--update-expectations"],
    "unknown paper": ["audit", "--paper", "nonsense"],
    "unknown paper of claims": ["claims", "--paper", "nonsense"],
    "claim of another paper": ["audit", "--paper", "arora2020", "--select", "phased-sgd-privacy"],
    "explain unknown": ["explain", "nonsense"],
}

USAGE = {
    "negative seed": ["audit", "--seed", "-1"],
    "no number": ["audit", "--seed", "x"],
    "no jobs": ["audit", "--jobs", "0"],
    "unknown profile": ["audit", "--profile", "huge"],
    "unknown format": ["audit", "--format", "pdf"],
    "unknown command": ["nonsense"],
    "no certificate": ["replay"],
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line_and_exit_code_2(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*BAD[name])
    assert result.exit_code == 2
    assert one_line(result.stderr), result.stderr
    assert "=" in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_is_exit_code_2(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*USAGE[name])
    assert result.exit_code == 2
    assert "Traceback" not in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_folder_that_cannot_be_written(tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("mine")
    for out in (blocker, blocker / "below", Path("/proc/nowhere"), Path("/dev/null")):
        result = run("audit", *FAST, "--out", str(out))
        assert result.exit_code == 2, out
        assert one_line(result.stderr), result.stderr
    assert blocker.read_text() == "mine"


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("ten years")
    result = run("audit", *FAST, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert one_line(result.stderr)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.slow
def test_formats_can_be_chosen(tmp_path):
    out = tmp_path / "out"
    result = run(
        "audit", "--profile", "quick", "--select", "stopping-tail/text", "--format", "json", "--out", str(out)
    )
    assert result.exit_code == 0
    names = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    assert names == {"results.json", "certificates"}


def test_claims_lists_every_reading():
    result = run("claims")
    assert result.exit_code == 0
    rows = [line.split() for line in result.stdout.splitlines() if re.match("  [^ ]", line)]
    assert [key for key, _ in rows] == [claim.key for claim in installed_ledger().claims]
    assert "stopping-tail/all-points-counter" in dict(rows)
    heads = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert heads == [
        f"{entry.paper.id}: {statement.id}"
        for entry in installed_ledger().papers
        for statement in entry.statements
    ]
    of_two = run("claims", "--paper", "bassily2014", "--paper", "arora2020").stdout.splitlines()
    assert {line.split(":")[0] for line in of_two if not line.startswith(" ")} == {"arora2020", "bassily2014"}
    listed = json.loads(run("claims", "--json").stdout)
    assert [[f"{one['id']}/{one['reading']}", one["expected"]] for one in listed] == rows
    assert [one["paper"] for one in listed] == [claim.paper for claim in installed_ledger().claims]


def test_papers_lists_them_with_their_size():
    result = run("papers")
    assert result.exit_code == 0
    lines = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [line.split()[0] for line in lines] == [entry.paper.id for entry in installed_ledger().papers]
    for entry, line in zip(installed_ledger().papers, lines, strict=True):
        assert f"{len(entry.claims)} readings" in line
        assert line.endswith(entry.paper.identifier)
        assert entry.paper.title in " ".join(result.stdout.split())
    listed = json.loads(run("papers", "--json").stdout)
    assert [one["id"] for one in listed] == [line.split()[0] for line in lines]
    assert all(f" {one['readings']} readings" in line for one, line in zip(listed, lines, strict=True))


@pytest.mark.slow
def test_one_paper_alone_has_the_budget_and_says_so_in_its_commands(tmp_path):
    out = tmp_path / "out"
    chosen = ["--paper", "arora2020", "--select", "stopping-tail/text"]
    result = run("audit", "--profile", "quick", *chosen, "--format", "json", "--out", str(out))
    assert result.exit_code == 0
    record = json.loads((out / "results.json").read_text())
    assert [paper["id"] for paper in record["papers"]] == ["arora2020"]
    (claim,) = record["claims"]
    assert (claim["paper"], claim["stance"]) == ("arora2020", "printed")
    command = "dpsco-verify audit --profile quick --seed 0 --paper arora2020 --select stopping-tail/text"
    assert claim["reproduce"] == command
    assert run(*command.split()[1:], "--format", "json", "--out", str(tmp_path / "again")).exit_code == 0
    assert without_times(tmp_path / "again" / "results.json") == without_times(out / "results.json")


def test_explain_prints_the_card():
    result = run("explain", "single-step")
    assert result.exit_code == 0
    for part in ("Lemma 5.2", "lem:amp_subsamp", "single-step/zero-out-minibatch", "decided by", "refuted"):
        assert part in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    card = json.loads(run("explain", "--json", "single-step/zero-out-minibatch").stdout)
    assert (card["id"], card["reference"], card["label"]) == ("single-step", "Lemma 5.2", "lem:amp_subsamp")
    assert [(one["key"], one["expected"]) for one in card["readings"]] == [
        ("single-step/zero-out-minibatch", "refuted")
    ]


@pytest.mark.slow
def test_the_installed_program_says_the_same(tmp_path):
    words = (
        "account",
        "--n",
        "10",
        "--sigma",
        "2",
        "--plot",
        "nowhere/a.svg",
    )  # refused before much is imported
    result = run_as_a_user(*words, cwd=tmp_path)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", run(*words).stderr)
    assert one_line(result.stderr)


def test_help_and_version_answer():
    for arguments in (["--help"], ["audit", "--help"], ["--version"]):
        result = run(*arguments)
        assert result.exit_code == 0
        assert result.stderr == ""
    assert "Exit codes" in run("audit", "--help").stdout


@pytest.mark.slow
def test_the_module_is_the_program():
    result = subprocess.run(
        [sys.executable, "-m", "dpsco_verify", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("dpsco-verify, version ")
