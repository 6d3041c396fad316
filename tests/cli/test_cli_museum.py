"""``dpsco-verify museum``: its table, its exit codes, and that bad usage is one line."""

from __future__ import annotations

import dataclasses
import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console

from dpsco_verify import faults
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.cli import main
from dpsco_verify.cli.museum import print_museum
from dpsco_verify.faults.mechanisms.additive import LaplaceSum

FAST = ("laplace-2", "length-of-output", "control-laplace")


def run(*arguments):
    """Run the program in this process; anything but an orderly exit is raised."""
    result = CliRunner().invoke(main, ["museum", *arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def selected(ids):
    return [part for name in ids for part in ("--select", name)]


@pytest.mark.slow
def test_the_table_and_exit_code_0():
    result = run(*selected(FAST), "--seed", "1")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""  # no progress bar: stderr is not a terminal
    for name in FAST:
        assert name in result.stdout
    assert "2 of 2 faults caught, 1 of 1 controls left alone" in result.stdout
    assert "seed 1" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["laplace-2", "control-laplace"])
def test_a_miss_and_a_false_alarm_have_exit_code_1(monkeypatch, broken):
    scale = 1.0 if broken == "laplace-2" else 0.5
    exhibits = tuple(
        dataclasses.replace(e, mechanism=LaplaceSum(scale=scale)) if e.id == broken else e
        for e in faults.EXHIBITS
        if e.id in FAST
    )
    monkeypatch.setattr(faults, "EXHIBITS", exhibits)
    result = run()
    assert result.exit_code == 1
    assert "expected:" in result.stdout
    assert f"{broken}: " in result.stdout
    wanted = (
        "1 of 2 faults caught, 1 of 1 controls"
        if broken == "laplace-2"
        else "2 of 2 faults caught, 0 of 1 controls"
    )
    assert wanted in result.stdout


def test_bad_usage_is_one_line_and_exit_code_2():
    result = run("--select", "no-such-thing")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "select='no-such-thing' is not an exhibit; give an id that --list prints, such as" in result.stderr
    result = run("--error-budget", "2", *selected(FAST))
    assert result.exit_code == 2
    assert "'--error-budget': 2.0 is not in the range" in result.stderr


@pytest.mark.slow
def test_the_quick_profile_judges_the_fast_ones(monkeypatch):
    chosen = tuple(dataclasses.replace(e, slow=e.id == "laplace-2") for e in faults.EXHIBITS if e.id in FAST)
    monkeypatch.setattr(faults, "EXHIBITS", chosen)
    assert "1 of 1 faults caught" in run("--profile", "quick").stdout
    assert "2 of 2 faults caught" in run("--profile", "standard").stdout
    # Whoever asks for an exhibit gets it.
    assert "1 of 1 faults caught" in run("--profile", "quick", "--select", "laplace-2").stdout


def test_the_list_judges_nothing(monkeypatch):
    monkeypatch.setattr(faults, "run_museum", None)
    result = run("--list")
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [line[0] for line in lines] == [exhibit.id for exhibit in faults.EXHIBITS]
    assert max(map(len, result.stdout.splitlines())) <= 80
    quick = json.loads(run("--list", "--json", "--profile", "quick").stdout)
    assert all(one["quick"] for one in quick)
    assert [one["id"] for one in quick] == [exhibit.id for exhibit in faults.quick_exhibits()]
    assert [one["id"] for one in json.loads(run("--list", "--json", *selected(FAST)).stdout)] == [
        exhibit.id for exhibit in faults.EXHIBITS if exhibit.id in FAST
    ]


@pytest.mark.slow
def test_json_has_what_became_of_each():
    exhibits = json.loads(run(*selected(FAST), "--json").stdout)["exhibits"]
    assert [(one["id"], one["kind"], one["verdict"]) for one in exhibits] == [
        ("length-of-output", "fault", "violated"),
        ("laplace-2", "fault", "violated"),
        ("control-laplace", "control", "not_violated"),
    ]


def test_a_narrow_table_breaks_no_word():
    name, said = (
        "algorithm-gradient-clipped-by-coordinates",
        "coordinate-independence: 907 of 907 noise vectors",
    )
    row = faults.MuseumRow(
        exhibit=next(e for e in faults.EXHIBITS if e.id == name),
        verdict=AuditVerdict.VIOLATED,
        caught_by=said,
        samples=1_000_000,
        seconds=100.0,
    )
    text = io.StringIO()
    print_museum([row], Console(file=text, width=80), error_budget=1e-6, seed=0)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    for part in (*name.replace("-", "- ").split(), *said.replace("-", "- ").split()):
        assert any(part in line for line in lines), part


@pytest.mark.parametrize("width", [80, 160])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_the_table_fits_its_console(width, encoding, tmp_path):
    exhibit = next(e for e in faults.EXHIBITS if e.id == "laplace-1.1")
    row = faults.MuseumRow(
        exhibit=exhibit,
        verdict=AuditVerdict.NOT_VIOLATED,
        caught_by="ε ≥ 1.2 would have been\x1b[31m",
        samples=123_456,
        seconds=1.5,
    )
    path = tmp_path / "out"
    with path.open("w", encoding=encoding) as file:
        print_museum([row], Console(file=file, width=width), error_budget=1e-6, seed=0)
    text = path.read_text(encoding=encoding)
    assert "laplace-1.1" in text
    assert "\x1b" not in text
    assert all(len(line) <= width for line in text.splitlines())
    assert "0 of 1 faults caught" in text
