"""``dpsco-verify compare``."""

from __future__ import annotations

import msgspec
import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.evidence import CellState, ComparisonRecord
from dpsco_verify.related.catalogue import SYSTEMS

pytestmark = pytest.mark.slow

SMALL = [
    "--problem",
    "linear-signs-5",
    "--n",
    "20",
    "--n",
    "40",
    "--runs",
    "4",
    "--jobs",
    "1",
    "--most-seconds",
    "0.2",
]


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *arguments])


def record(*arguments):
    result = run(*SMALL, "--format", "json", *arguments)
    assert result.exit_code == 0, result.stderr
    return msgspec.json.decode(result.stdout, type=ComparisonRecord)


@pytest.fixture(scope="module")
def small():
    return record()


def timeless(found):
    return msgspec.structs.replace(
        found, cells=tuple(msgspec.structs.replace(cell, seconds=0.0) for cell in found.cells)
    )


def test_every_system_has_a_row_and_every_cell_a_figure_or_a_reason(small):
    assert [s.id for s in small.systems] == list(SYSTEMS)
    assert {(c.system, c.n) for c in small.cells if c.epsilon == 1.0} == {
        (s, n) for s in SYSTEMS for n in (20, 40)
    }
    for cell in small.cells:
        if cell.state is CellState.MEASURED:
            assert cell.excess_risk >= 0.0
            assert cell.low <= cell.excess_risk <= cell.high
            assert cell.gradient_queries > 0
            assert cell.runs == 4
        else:
            assert cell.reason


def test_every_private_system_is_audited_or_says_why_not(small):
    for system in small.systems:
        if not system.is_private:
            assert not system.audits
        else:
            assert bool(system.audits) is not bool(system.not_audited)


def test_a_system_alone_is_measured_as_among_all_and_another_seed_gives_other_runs(small):
    chosen = ["--system", "phased-sgd", "--system", "algorithm-1", "--executor", "serial"]
    alone, other = record(*chosen), record(*chosen, "--seed", "1")
    assert [system.id for system in alone.systems] == ["algorithm-1", "phased-sgd"]
    assert all(system.audits for system in alone.systems)
    ids = {system.id for system in alone.systems}
    assert timeless(alone).cells == tuple(cell for cell in timeless(small).cells if cell.system in ids)
    assert timeless(alone).cells != timeless(other).cells


@pytest.fixture
def _measured(monkeypatch, small):
    """How a comparison is shown needs no second one."""
    monkeypatch.setattr("dpsco_verify.comparison.run_comparison", lambda *_, **__: small)


@pytest.mark.usefixtures("_measured")
def test_the_table_is_for_people():
    result = run(*SMALL)
    assert result.exit_code == 0, result.stderr
    assert "Algorithm 1" in result.stdout
    assert "n = 40" in result.stdout


@pytest.mark.usefixtures("_measured")
def test_json_is_what_the_format_json_is(small):
    result = run("--json")
    assert result.exit_code == 0, result.stderr
    assert msgspec.json.decode(result.stdout, type=ComparisonRecord) == small


@pytest.mark.usefixtures("_measured")
def test_markdown_is_for_documents():
    result = run(*SMALL, "--format", "markdown")
    assert result.exit_code == 0, result.stderr
    assert "| System | n = 20 | n = 40 |" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--problem", "salesman"], "problem='salesman' is not a problem; give one of linear-signs-1"),
        (["--system", "sgd"], "system='sgd' is not a system; give one of algorithm-1"),
        (["--epsilon", "-1"], "epsilon=-1.0"),
        (["--epsilon", "nan"], "epsilon=nan"),
        (["--delta", "1"], "delta=1.0 protects nothing"),
        (["--most-seconds", "0"], "most_seconds=0.0"),
    ],
)
def test_bad_input_is_one_line(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_violation_is_exit_code_1(monkeypatch):
    """Phased SGD with a hundredth of its noise."""
    from dpsco_verify.comparison import audits
    from dpsco_verify.related.phased_sgd import PhasedSgd

    class TooLittleNoise(PhasedSgd):
        noise_factor = 0.04

    systems = dict(SYSTEMS) | {"phased-sgd": TooLittleNoise()}
    monkeypatch.setattr(audits, "SYSTEMS", systems)
    chosen = ("--system", "phased-sgd", "--system", "output-perturbation")
    result = run(*SMALL, *chosen, "--format", "json", "--executor", "serial")
    assert result.exit_code == 1
    found = msgspec.json.decode(result.stdout, type=ComparisonRecord)
    assert [s.id for s in found.systems if any(a.verdict == "violated" for a in s.audits)] == ["phased-sgd"]
