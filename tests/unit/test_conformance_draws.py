"""The checks of the draws on uses that are written down: what alarms, at which level, and how it shares its own."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_verify.algorithm import Options
from dpsco_verify.algorithm.conformance.checks.draws import (
    _detectable,
    _uniform_cells,
    repeat_draws,
    reported_draws,
    stopping_rule,
    uniform_draws,
)
from dpsco_verify.algorithm.conformance.problems import LINEAR, LINEAR_ODD
from dpsco_verify.inference import binomial


class Written:
    """A bench whose runs used these points, step by step; it keeps the levels that it is asked for."""

    options = Options()

    def __init__(self, uses, odd=(), draws=None):
        self.by_problem = {LINEAR.name: uses, LINEAR_ODD.name: odd}
        self.told = draws if draws is not None else [None] * len(uses)
        self.levels = []

    def uses(self, problem, *, alpha):
        self.levels.append(alpha)
        return tuple(self.by_problem[problem.name])

    def runs(self, problem):
        return [SimpleNamespace(draws=draws) for draws in self.told]


def points(*used):
    """Return the uses of a run, None standing for a step without a gradient."""
    return [() if point is None else (point,) for point in used]


@pytest.mark.parametrize(
    ("orders", "p_value", "where"),
    [
        # 20 of 20 at 1/4, two sides of four points at one place
        (np.full((20, 1), 2), 8 * 0.25**20, "point 2 came at place 1 in 20 of 20 runs"),
        # 0 of 21, two places
        (
            np.column_stack([np.arange(21) % 4, np.arange(21) % 3]),
            16 * 0.75**21,
            "point 3 came at place 2 in 0 of 21 runs",
        ),
    ],
)
def test_the_level_is_split_over_points_places_and_sides(orders, p_value, where):
    for alpha, violated in ((1.001 * p_value, True), (0.999 * p_value, False)):
        found = _uniform_cells(orders, 4, alpha=alpha)
        assert found.violated is violated
        assert where in found.detail


def test_what_a_cell_can_show():
    """At the probabilities named, a test at that level rejects with probability 0.9."""
    low, high = _detectable(1000, 4, 1e-3)
    for probability, side in ((low, "less"), (high, "greater")):
        power = binomial.exact_power(
            1000, probability=probability, null_probability=0.25, alpha=1e-3, alternative=side
        )
        assert power == pytest.approx(0.9, rel=1e-9)
    assert 0.0 < low < 0.25 < high
    assert _detectable(10, 8, 1e-3)[0] == 0.0  # no count is too small


def test_every_place_counts_and_the_level_is_shared_with_the_reading():
    """The first new point is as it should be, and the second is 0 where it can be; steps without one do not count."""
    bench = Written([points(k % 8, None, 1 if k % 8 == 0 else 0, 7 - k % 2) for k in range(40)])
    bench.by_problem[LINEAR.name][0] = points(0, 1)
    found = uniform_draws.judge(bench, 0.01)
    assert found.violated is True
    assert "point 0 came at place 2 in 35 of 40 runs" in found.detail
    assert bench.levels == [0.005]
    # 35 of 40 at 1/8: the smallest level that alarms has half of it over 2 · 8 · 2 tests
    least = 2 * 32 * binomial.p_value(35, 40, null_probability=1 / 8)
    assert uniform_draws.judge(bench, 0.999 * least).violated is False
    assert uniform_draws.judge(bench, 1.001 * least).violated is True
    bench.by_problem[LINEAR.name][1] = None
    assert uniform_draws.judge(bench, 0.01).violated is None


def test_a_point_used_twice_in_a_run_alarms_and_in_two_runs_it_does_not():
    def judged(run, used):
        bench = SimpleNamespace(
            steps=lambda _: SimpleNamespace(run=np.array(run)),
            explained=lambda _: SimpleNamespace(
                known=lambda radius: np.full(len(run), radius > 0.0),
                nearest=np.array(used),
                uses=((), (0,), (1,)),
            ),
            radius=lambda _, alpha: alpha,
            runs=lambda _: [None] * 2,
        )
        return repeat_draws.judge(bench, 0.01).violated

    assert judged([0, 0, 0, 1, 1], [1, 0, 2, 1, 0]) is False
    assert judged([0, 0, 0, 1, 1], [1, 0, 1, 1, 0]) is True


@pytest.mark.parametrize(
    ("run", "detail"),
    [
        (points(0, None, 1, 2, 3), "1 at 4 points"),
        (points(0, 1, 2, 3, 4, 5), "1 at 6 points"),
        (points(0, 1, 2, 3, 4, None), "1 at 5 points, but not with the last of them"),
        (points(0, None, 1, 2, 3, 4), None),
    ],
)
def test_a_run_of_eight_points_ends_with_the_fifth(run, detail):
    bench = Written([run], odd=[points(6, 5, None, 4, 3)])
    found = stopping_rule.judge(bench, 0.01)
    assert found.violated is (detail is not None)
    assert detail is None or f"(n = 8: {detail}, where 5 points is right)" in found.detail
    assert bench.levels == [0.005, 0.005]  # two problems


def test_draws_that_are_told_as_they_were_used_must_be_uniform_too():
    draws = [np.array([[k], [k], [3 if k != 3 else 4], [7 - k // 4]]) for k in range(3)] * 20
    uses = [points(k, None, 3, 7) for k in range(3)] * 20
    found = reported_draws.judge(Written(uses, draws=draws), 0.01)
    assert found.detail.startswith("0 steps do not use")
    assert found.violated is True
    fair = [np.array([[k], [k]]) for k in range(8)] * 5
    bench = Written([points(k, None) for k in range(8)] * 5, draws=fair)
    assert reported_draws.judge(bench, 0.01).violated is False
    assert bench.levels == [0.005]
    bench.by_problem[LINEAR.name][0] = points(0, 0)
    assert reported_draws.judge(bench, 0.01).violated is True
