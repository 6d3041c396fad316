"""Progress is for terminals; ``--quiet`` leaves it and the words for readers out; colours are off where unwanted."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from dpsco_verify import faults
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.cli import main
from dpsco_verify.cli.museum import print_museum

# Every point is used, for which there is a bound in closed form, and no certificate.
CALIBRATE = ["calibrate", "--n", "50", "--points", "50", "--epsilon", "1", "--delta", "1e-3"]
MUSEUM = ["museum", "--select", "laplace-2"]


@pytest.fixture
def _terminal(monkeypatch):
    monkeypatch.setattr("dpsco_verify.cli.progress._at_terminal", lambda: True)
    monkeypatch.setenv("FORCE_COLOR", "1")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("0.5,1\n-0.5,-1\n" * 4)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(main, arguments)


@pytest.mark.usefixtures("_terminal")
@pytest.mark.parametrize(
    ("command", "label"),
    [
        (CALIBRATE, "calibrating"),
        (["account", "--n", "50", "--sigma", "1", "--epsilon", "1"], "bounding"),
        (MUSEUM, "verifying"),
    ],
)
def test_a_terminal_sees_progress_unless_quiet(command, label):
    loud, quiet = run(*command), run(*command, "--quiet")
    assert loud.exit_code == quiet.exit_code == 0
    assert label in loud.stderr
    assert quiet.stderr == ""


@pytest.mark.usefixtures("_terminal")
def test_a_quiet_run_still_warns(data):
    command = [
        "run",
        data,
        *["--loss", "hinge", "--radius", "1", "--lipschitz", "1", "--sigma", "0", "--classes", "-1,1"],
    ]
    assert "running" in run(*command).stderr
    assert run(*command, "--quiet").stderr == "sigma=0.0 adds no noise: the output is not private\n"


@pytest.mark.usefixtures("_terminal")
def test_counted_work_shows_the_time_left_and_other_work_does_not():
    assert " left" in run(*MUSEUM).stderr
    assert " left" not in run(*CALIBRATE).stderr


def test_quiet_leaves_what_a_machine_reads():
    loud, quiet = run(*CALIBRATE), run(*CALIBRATE, "-q")
    assert quiet.stdout == loud.stdout
    assert json.loads(quiet.stdout)["certificate"] is None
    assert loud.stderr.startswith("no certificate: ")
    assert quiet.stderr == ""
    assert run(*MUSEUM, "--quiet").output == ""
    assert json.loads(run(*MUSEUM, "--quiet", "--json").stdout)["exhibits"][0]["verdict"] == "violated"


@pytest.mark.slow
def test_a_quiet_audit_writes_its_report_and_says_nothing(tmp_path):
    out = tmp_path / "out"
    chosen = ["--profile", "quick", "--select", "stopping-tail/text", "--no-store", "--format", "json"]
    result = run("audit", *chosen, "--out", str(out), "--quiet")
    assert (result.exit_code, result.output) == (0, "")
    assert (out / "results.json").exists()


def test_quiet_still_says_what_is_wrong():
    result = run("museum", "--quiet", "--select", "no-such-thing")
    assert result.exit_code == 2
    assert result.stderr.startswith("dpsco-verify: select='no-such-thing'")


def test_no_color_leaves_no_colour_even_on_a_terminal(monkeypatch, capsys):
    row = faults.MuseumRow(
        exhibit=next(e for e in faults.EXHIBITS if e.id == "laplace-2"),
        verdict=AuditVerdict.NOT_VIOLATED,
        caught_by="nothing",
        samples=1000,
        seconds=0.1,
    )
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")
    printed = []
    for set_ in (False, True):
        if set_:
            monkeypatch.setenv("NO_COLOR", "1")
        else:
            monkeypatch.delenv("NO_COLOR", raising=False)
        print_museum([row], Console(), error_budget=1e-6, seed=0)
        printed.append(capsys.readouterr().out)
    assert ["31m" in text for text in printed] == [True, False]
