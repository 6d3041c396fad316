"""What is printed for people fits 80 columns, and is in colour at a terminal alone, unless nobody wants it."""

from __future__ import annotations

import os
import pty
import re

import click
import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.comparison.problems import ComparisonProblem
from dpsco_verify.guarantees.optimiser import BANK
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.problems.minimisation.certified_minimum import CertifiedMinimum
from program import started

LISTS = (
    ["papers"],
    ["claims"],
    ["museum", "--list"],
    ["account", "--n", "10", "--points", "10", "--sigma", "2", "--delta", "1e-6"],
)
HELP = [["--help"], *([name, "--help"] for name in main.commands)]
COLOUR = re.compile(r"\x1b\[(?:\d+;)*(?:3|4|9)\d(?:;|m)")


def lines(*words):
    result = CliRunner(env={"COLUMNS": "80"}).invoke(main, words)
    assert result.exit_code == 0, result.output
    return result.stdout.splitlines()


@pytest.mark.parametrize("words", [*LISTS, *HELP], ids=" ".join)
def test_lists_and_help_fit_80_columns(words):
    assert [line for line in lines(*words) if len(line) > 80] == []


def test_help_shows_every_default():
    """Flags are off, and what may be given several times is not given at all."""
    shown = []
    for name, command in main.commands.items():
        context = click.Context(command)
        for option in command.params:
            if not isinstance(option, click.Option) or option.is_flag or option.multiple:
                continue
            default = option.get_default(context, call=False)
            if isinstance(default, (str, int, float)):
                shown.append((name, option.name, "[default: " in option.get_help_record(context)[1]))
    assert len(shown) > 20
    assert [(name, option) for name, option, is_shown in shown if not is_shown] == []


@pytest.mark.slow
@pytest.mark.slow
def test_the_list_of_problems_fits(monkeypatch):
    """Whatever the minima are: these have as many digits as any, and take two CPU seconds less than the real ones."""
    longest = CertifiedMinimum(
        w=np.zeros(1), value=-0.00123456789012, lower_bound=-0.00123456801234, method="-"
    )
    monkeypatch.setattr(ComparisonProblem, "minimum", property(lambda _: longest))
    assert [line for line in lines("problems") if len(line) > 80] == []
    assert sum("min F = -0.00123456789 - 1.2e-10 at most" in line for line in lines("problems")) == len(BANK)


@pytest.mark.parametrize("budget", ["0", "1"])
def test_an_error_budget_is_between_its_ends_and_the_refusal_names_the_option(budget):
    commands = [
        name
        for name, command in main.commands.items()
        if any("--error-budget" in parameter.opts for parameter in command.params)
    ]
    assert {"gate", "museum"} <= set(commands)
    for name in commands:
        result = CliRunner().invoke(main, [name, "--error-budget", budget])
        assert result.exit_code == 2
        assert "'--error-budget'" in result.stderr, name


def test_the_card_of_every_statement_fits():
    for id_ in {claim.statement.id for claim in installed_ledger().claims}:
        assert [line for line in lines("explain", id_) if len(line) > 80] == []


def test_whatever_prints_for_people_prints_json_too():
    silent = {"completion", "calibrate", "run"}  # a script; JSON and nothing else
    reports = {"audit", "gate"}  # their JSON is a file of the report, and with --quiet the words are left out
    for name, command in main.commands.items():
        options = {flag for parameter in command.params for flag in parameter.opts}
        if name in reports:
            assert {"--format", "--quiet"} <= options, name
        elif name not in silent:
            assert "--json" in options, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("wishes", "colours"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_at_a_terminal_unless_nobody_wants_them(wishes, colours, tmp_path, monkeypatch):
    ours, theirs = pty.openpty()
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    child = started(
        *("museum", "--select", "laplace-2"),
        cwd=tmp_path,
        environment={"TERM": "xterm"} | wishes,
        streams={1: theirs, 2: theirs},
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how Linux tells that the other end has gone
        pass
    os.close(ours)
    assert child.ended()[0] == 0
    assert "laplace-2" in shown.decode()
    assert bool(COLOUR.search(shown.decode())) is colours
