"""The benchmarks run, their file holds the documented fields, and their arithmetic is right; times are not judged."""

from __future__ import annotations

import json
import math

import msgspec
import numpy as np
import pytest

from benchmarks import __main__ as program
from benchmarks import engine, measure, quality, single_step
from benchmarks.quality import __main__ as quality_command
from benchmarks.quality import audits as quality_audits
from benchmarks.quality import curves, fitters, scores
from benchmarks.record import SCHEMA_VERSION, Report, Row, row
from benchmarks.size import Size
from dpsco_verify.auditing.canaries.families import gaussian_epsilon
from dpsco_verify.estimators.noise import gaussian_distance
from dpsco_verify.privacy import StepCurve, step_delta
from dpsco_verify.privacy.claims import GaussianDP, PureDP

pytestmark = pytest.mark.slow  # seconds of processes or exact sums: the whole suite has time for them

TOP = {"schema_version", "size", "started", "seconds", "machine", "load", "rows"}
FIELDS = {
    "group",
    "name",
    "unit",
    "median",
    "low",
    "high",
    "repetitions",
    "at_least",
    "at_most",
    "met",
    "note",
}


def check(path):
    plain = json.loads(path.read_bytes())
    assert set(plain) == TOP
    for entry in plain["rows"]:
        assert set(entry) == FIELDS
    return msgspec.json.decode(path.read_bytes(), type=Report)


QUICK = {
    "estimators": "estimators",
    "stopping": "stopping time",
    "audit": "audit",
    "zoo-limits": "zoo limits",
}
LONGER = {
    "estimates": "estimates",
    "estimators": "estimators",
    "single-step": "single step",
    "faults": "faults",
    "whole-run": "whole run",
    "workers": "workers",
    "oracles": "fast path over oracle",
    "zoos": "zoos",
}


@pytest.mark.parametrize("groups", [QUICK, pytest.param(LONGER, marks=pytest.mark.long)])
def test_the_suites_run_and_the_file_is_as_documented(tmp_path, capsys, groups):
    path = tmp_path / "new" / "bench.json"
    assert program.main(["--size", "tiny", "--json", str(path), "--only", *groups]) == 0
    shown, report = capsys.readouterr().out, check(path)
    assert (report.schema_version, report.size) == (SCHEMA_VERSION, "tiny")
    assert report.seconds > 0
    assert {"cores", "python", "numpy"} <= set(report.machine)
    names = [(figure.group, figure.name) for figure in report.rows]
    assert len(names) == len(set(names))
    for figure in report.rows:
        assert figure.low <= figure.median <= figure.high
        assert all(math.isfinite(x) for x in (figure.low, figure.median, figure.high))
        assert (figure.met is None) == (figure.at_least is None and figure.at_most is None)
        assert figure.name in shown
        if "relative error" in figure.name and figure.met is not None:  # no time in it, so it has to be met
            assert figure.met
    assert {figure.group for figure in report.rows} == set(groups.values())


def test_every_suite_is_run_by_a_test():
    assert {*QUICK, *LONGER, "engine"} == set(program.SUITES)


@pytest.mark.long
def test_the_engine_is_measured(monkeypatch):
    monkeypatch.setattr(engine, "_first_run", lambda size: iter(()))  # half a minute of compiling
    figures = list(program.SUITES["engine"](Size.TINY))
    assert all(figure.median > 0 and figure.repetitions >= 1 for figure in figures if figure.unit == "x")
    floors = [figure for figure in figures if "time over that of its normals" in figure.name]
    assert sum(figure.at_most is not None for figure in floors) == 5
    assert {f"growth of the time with {name}" for name in ("n", "runs", "d")} <= {f.name for f in figures}


def stand_in(size):
    yield row("a group", f"a ratio at {size}", [3.0, 1.0, 2.0], unit="x", at_least=2.5, note="of three")
    yield row("a group", "an error", [1e-12], unit="1", at_most=1e-9)


def test_a_missed_target_is_said_and_turns_the_exit_code(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "SUITES", {"single-step": stand_in})
    path = tmp_path / "bench.json"
    assert program.main(["--size", "tiny", "--json", str(path)]) == 0
    assert program.main(["--check"]) == 1
    with pytest.raises(SystemExit, match="2"):
        program.main(["--size", "tiny", "--check"])
    first, second = check(path).rows
    assert (first.median, first.low, first.high, first.repetitions, first.met) == (2.0, 1.0, 3.0, 3, False)
    assert second.met is True
    lines = capsys.readouterr().out.splitlines()
    assert any("a ratio at tiny" in text and "MISSED, at least 2.5" in text for text in lines)
    assert any("1 of 2 targets missed" in text for text in lines)


def test_without_a_target_nothing_is_met_or_missed():
    assert row("g", "n", [1.0], unit="x").met is None
    assert row("g", "n", [1.0], unit="x", at_least=1.0, at_most=2.0).met is True
    assert row("g", "n", [3.0], unit="x", at_least=1.0, at_most=2.0).met is False


def test_unknown_fields_are_refused():
    data = msgspec.json.encode(row("g", "n", [1.0], unit="x"))
    assert msgspec.json.decode(data, type=Row).name == "n"
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(data[:-1] + b',"more":1}', type=Row)


def test_exponents_of_powers_are_exact():
    sizes = [10, 100, 1000, 5000]
    times = [[3.0 * s**e for s in sizes] for e in (0.0, 1.0, 1.5)]
    np.testing.assert_allclose(measure.exponents(sizes, times), [0.0, 1.0, 1.5], atol=1e-12)


class FakeClock:
    """A clock that an action sets."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def taking(self, duration):
        def action():
            self.now += duration

        return action


def test_times_are_taken_in_turn():
    clock = FakeClock()
    pairs = measure.in_turn(clock.taking(1.0), clock.taking(3.0), rounds=4, calls=(5, 2), clock=clock)
    assert pairs == [(1.0, 3.0)] * 4
    assert clock.now == 4.0 + 4 * (5 * 1.0 + 2 * 3.0)


def test_ratios_are_by_point():
    clock = FakeClock()
    figure = measure.faster(
        "g",
        "n",
        clock.taking(2.0),
        clock.taking(6.0),
        rounds=3,
        fast_points=100,
        slow_points=3,
        at_least=50,
        clock=clock,
    )
    assert figure.median == pytest.approx(100.0)  # 2 s a point against 0.02 s
    assert figure.met is True


def test_relative_differences_from_logarithms():
    assert measure.relative_difference(math.log(2.0), math.log(2.0)) == 0.0
    assert measure.relative_difference(math.log(2.1), math.log(2.0)) == pytest.approx(0.05)
    assert measure.relative_difference(-math.inf, 0.0) == math.inf


@pytest.mark.parametrize(
    ("p", "epsilon", "sigma"),
    [
        (0.1, 0.3, 2.0),
        *(pytest.param(*at, marks=pytest.mark.long) for at in ((0.01, 0.02, 3.0), (0.3, 1.0, 1.0))),
    ],
)
def test_the_three_ways_compute_the_same_number(p, epsilon, sigma):
    exact = float(step_delta(StepCurve.REPLACE_ONE, p, epsilon, sigma))
    assert single_step.by_integration(p, epsilon, sigma) == pytest.approx(exact, rel=1e-8)
    assert single_step.by_accountant(p, epsilon, sigma) == pytest.approx(exact, rel=2e-2)


def test_sizes():
    assert (Size.FULL.of(5, 1), Size.TINY.of(5, 1)) == (5, 1)
    assert Size("tiny").rounds < Size.FULL.rounds


@pytest.mark.long
def test_the_quality_of_fits_is_measured_read_and_drawn(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(fitters, "poisson_noise", lambda epsilon, relation: 10.0)  # seconds of accounting
    written = tmp_path / "q.json"
    small = ["--epsilon", "3", "--most", "250"]
    arguments = [*small, "--seeds", "2", "--samples", "0", "--other-at", "3", "--json", str(written)]
    assert quality_command.main(arguments) == 0
    first = capsys.readouterr().out
    head, _, *rows = [line for line in first.splitlines() if line.startswith("|")]
    assert [row.split(" | ")[0] for row in rows[:2]] == ["| wine", "| engel"]
    assert all(row.count("|") == head.count("|") for row in rows[:2])
    assert [row.split(" | ")[:2] for row in rows[4:]] == [
        ["| wine", "hinge"],
        ["| engel", "absolute"],
        ["| engel", "quantile"],
    ]
    found = json.loads(written.read_text())["scores"]
    plain = [f for f in found if f["loss"] in {"logistic", "huber"}]
    assert {(f["problem"], f["system"]) for f in plain} == {
        (problem, system) for problem in ("wine", "engel") for system in quality.FITTERS
    }
    at = {(f["problem"], f["system"]): f["mean"] for f in plain}
    assert 0.0 <= at["wine", "estimator"] <= 1.0  # its noise is the operating system's, and lucky at times
    assert at["wine", "no privacy"] > 0.9
    assert at["wine", "phased SGD"] is None
    assert at["wine", "diffprivlib"] > 0.0
    drawn = tmp_path / "q.svg"
    assert (
        quality_command.main([*small, "--other-at", "3", "--read", str(written), "--figure", str(drawn)]) == 0
    )
    assert capsys.readouterr().out == first
    assert drawn.read_text().startswith("<?xml")


@pytest.mark.parametrize("classes", [0, 2])
def test_an_audit_of_quality_stands_and_falls_with_the_noise(classes):
    """At a level of 0.00025 each, and with seeds that are fixed."""

    def noisy_mean(scale):
        def fit(data, X, y, epsilon, rng):
            value = np.sum(y) + rng.laplace(scale=scale)
            return lambda at: np.full(len(at), value)

        return fit

    systems = {"right": noisy_mean(2.0), "wrong": noisy_mean(0.05)}
    found = list(quality_audits.audits(systems, [1.0], classes=classes, samples=400))
    assert [f["verdict"] == "violated" for f in found] == [False, True]
    right, wrong = quality_audits.table(found, [1.0]).splitlines()[2:]
    assert "violated" not in right
    assert "**violated: ε ≥ " in wrong


def test_at_a_large_epsilon_half_the_noise_breaks_the_curve_and_a_point_of_it_takes_many_fits():
    """At a level of 0.00025 each, with seeds that are fixed; the second pair of data sets has sums 2 apart."""
    mu = gaussian_distance(8.0, fitters.DELTA)

    def noisy_sum(deviation):
        def fit(data, X, y, epsilon, rng):
            value = np.sum(y) + rng.normal(scale=deviation)
            return lambda at: np.full(len(at), value)

        return fit

    systems = {"right": noisy_sum(2.0 / mu), "wrong": noisy_sum(1.0 / mu)}
    gaussian = dict.fromkeys(systems, lambda epsilon, n: GaussianDP(mu))
    found = list(quality_audits.audits(systems, [8.0], classes=0, samples=500, curves=gaussian))
    assert [f["verdict"] for f in found] == ["not_violated", "violated"]
    assert 8.0 < found[0]["detectable"] < gaussian_epsilon(2.0 * mu, fitters.DELTA)
    pure = dict.fromkeys(systems, lambda epsilon, n: PureDP(epsilon))
    for one in quality_audits.audits(systems, [8.0], classes=0, samples=500, curves=pure):
        assert one["verdict"] == "undecided"
    many = {"output perturbation": fitters.FITTERS["output perturbation"]}
    [one] = quality_audits.audits(many, [8.0], classes=0, samples=500)
    assert one["verdict"] == "not_violated"
    assert 8.0 < one["detectable"] < 16.0


@pytest.mark.parametrize("name", ["its full passes", "its one pass", "Algorithm 1", "phased SGD"])
def test_a_curve_promises_what_its_system_promises(name):
    assert curves.CURVES[name](1.0, 60).delta(1.0) <= fitters.DELTA * (1.0 + 1e-9)


def test_quality_is_the_accuracy_or_the_error_that_is_gone():
    two = quality.Data("two", np.zeros((4, 1)), np.array([0, 1, 1, 0]), 2, 1.0)
    none = quality.Data("none", np.zeros((4, 1)), np.arange(4.0), 0, 1.0)
    assert scores.score(two, np.array([-1.0, 1.0, -1.0, -1.0]), two.y, two.y) == 0.75
    for data in (none, none.of_loss("quantile")):
        assert scores.score(data, none.y, none.y, none.y) == 1.0
    assert scores.score(none, np.full(4, 1.5), none.y, none.y) == 0.0
    assert scores.score(none.of_loss("quantile"), np.full(4, 2.7), none.y, none.y) == pytest.approx(0.0)
    assert scores.score(none.of_loss("quantile"), np.full(4, 0.3), none.y, none.y) < -1.0


def test_where_two_systems_differ_beyond_their_interval_is_told():
    cells = [
        {"problem": problem, "epsilon": 1.0, "system": system, "values": values}
        for problem, system, values in (
            ("same", "a", [1.0, 2.0, 3.0]),
            ("same", "b", [2.0, 1.0, 3.0]),
            ("more", "a", [1.1, 2.1, 3.11]),
            ("more", "b", [1.0, 2.0, 3.0]),
        )
    ]
    ((problem, epsilon, mean, half),) = scores.difference(cells, "a", "b")
    assert (problem, epsilon) == ("more", 1.0)
    assert mean == pytest.approx(0.31 / 3)
    assert 0.0 < half < 0.05
