"""``rate``: the exact expectation against simulation and its limit, the regression against its own equations."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import zeta
from scipy.stats import norm

from dpsco_verify.algorithm import main_schedule
from dpsco_verify.choices import Profile
from dpsco_verify.errors import InputError
from dpsco_verify.papers.arora2020.rate import upper
from dpsco_verify.papers.arora2020.rate.exact import WALK_CONSTANT, expected_risk, limit_coefficient
from dpsco_verify.papers.arora2020.rate.measure import Measured, exact, measure
from dpsco_verify.papers.arora2020.rate.plan import PLANS, Cell, Plan, Variable
from dpsco_verify.papers.arora2020.rate.present import Results, exponent_plot, measured_table
from dpsco_verify.papers.arora2020.rate.regression import Estimate, Fit, critical_value, project, regress
from dpsco_verify.papers.arora2020.rate.upper import rate_exponent
from dpsco_verify.papers.arora2020.risk.instances import drift_ratio, smallest_useful_n


def walk(n, s, runs, rng):
    """Return the mean of y before each fresh draw for the walk of one coordinate, by its definition, run by run."""
    b = 1.0 / (math.sqrt(n) * (1.0 + s))
    y, total = np.full(runs, 0.5), np.zeros(runs)
    m = n // 2 + 1
    for k in range(m):
        total += y
        y = np.clip(y - b + s * b * rng.standard_normal(runs), 0.0, 1.0)
        repeats = rng.geometric(1.0 - (k + 1) / n, size=runs) - 1 if k + 1 < m else np.zeros(runs, dtype=int)
        for _ in range(int(repeats.max())):
            moved = np.clip(y + s * b * rng.standard_normal(runs), 0.0, 1.0)
            y = np.where(repeats > 0, moved, y)
            repeats = repeats - 1
    return total / m


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "s"),
    [
        (2, 1.0),
        (17, 3.0),
        (64, 20.0),
        *(pytest.param(*case, marks=pytest.mark.long) for case in ((16, 0.2), (200, 4.0))),
    ],
)
def test_the_exact_expectation_is_that_of_the_walk(n, s):
    """Seven standard errors: false alarm 3e-12 each; they are 0.2 to 0.7 percent of the mean or less."""
    sample = walk(n, s, 40_000, np.random.default_rng(n))
    error = sample.std() / math.sqrt(sample.size)
    assert error < 2e-3
    assert abs(sample.mean() - expected_risk(n, s)) < 7.0 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        Cell(n=16, dimension=1, delta=0.95),
        Cell(n=256, dimension=1, delta=0.95),
        Cell(n=256, dimension=8, delta=0.95),
        Cell(n=33, dimension=3, delta=0.5),
    ],
    ids=lambda cell: cell.name,
)
def test_the_exact_expectation_is_that_of_the_implementation(cell):
    """Seven standard errors: false alarm 3e-12 each; the standard errors are half a percent or less."""
    risks = measure(cell=cell, runs=10_000, seed=1, name=f"unit/{cell.name}").risks
    error = risks.std() / math.sqrt(risks.size)
    assert error < 0.006 * risks.mean()
    assert abs(risks.mean() - exact(cell=cell)) < 7.0 * error


def test_chunks_give_as_many_runs(monkeypatch):
    from dpsco_verify.papers.arora2020.rate import measure as module

    monkeypatch.setattr(module, "_CHUNK_BYTES", 16 * 2 * 3)
    cell = Cell(n=16, dimension=2, delta=0.5)
    risks = measure(cell=cell, runs=10, seed=1, name="chunks").risks
    assert risks.shape == (10,)
    assert np.unique(risks).size == 10


@pytest.mark.slow
@pytest.mark.parametrize(("n", "s"), [(16, 3.0), (512, 5.2), (2048, 1.6), (2048, 14.5), (64, 240.0)])
def test_more_nodes_change_nothing(n, s):
    c = s / (math.sqrt(n) * (1.0 + s))
    assert expected_risk(n, s, nodes=math.ceil(32 + 14 / math.sqrt(c))) == pytest.approx(
        expected_risk(n, s), rel=1e-10
    )


@pytest.mark.slow
@pytest.mark.parametrize("s", [3.6, 8.0])
def test_the_limit_is_approached(s):
    """The ratio to the limit law tends to 1, up to the O(1/s³) that the law leaves out."""
    gaps = [
        abs(math.sqrt(n) * expected_risk(n, s) / limit_coefficient(s) - 1.0) for n in (256, 1024, 4096, 16384)
    ]
    assert gaps[-1] < 0.01
    assert gaps[0] > 2.0 * gaps[-1]


def test_the_limit_law_has_the_claimed_exponents():
    assert math.isclose(WALK_CONSTANT, zeta(0.5) / math.sqrt(2.0 * math.pi), rel_tol=1e-15)
    per_d = math.log(4.0)  # s is of the order of √d
    slope = math.log(limit_coefficient(2e6) / limit_coefficient(1e6)) / per_d
    assert slope == pytest.approx(0.5, abs=1e-5)
    assert limit_coefficient(1e6) == pytest.approx((0.25 + math.log(2.0)) * 1e6, rel=1e-5)


@pytest.mark.parametrize("reading", PLANS)
@pytest.mark.parametrize("profile", list(Profile))
def test_the_plans_are_what_the_method_says(reading, profile):
    plan = PLANS[reading][profile]
    sizes = plan.sizes()
    assert len(set(sizes)) >= 5
    assert max(sizes) >= 16 * min(sizes)
    for cell in plan.cells:
        schedule = main_schedule(
            n=cell.n,
            dimension=cell.dimension,
            diameter=1.0,
            lipschitz=1.0,
            epsilon=1.0 / (2.0 * math.sqrt(cell.n)),
            delta=cell.delta,
            delta_prime=cell.delta,
        )
        assert cell.noise == pytest.approx(schedule.sigma * math.sqrt(cell.dimension), rel=1e-12)
        assert schedule.risk_bound < 1.0  # the theorem says something at every size
        assert cell.n >= smallest_useful_n(first=5, second=20, dimension=cell.dimension, delta=cell.delta)


@pytest.mark.slow
def test_the_regression_solves_its_equations():
    rng = np.random.default_rng(3)
    sizes = [10, 20, 50, 100, 400]
    runs = [rng.gamma(5.0, size**-0.7 / 5.0, size=300) for size in sizes]
    fit = regress(sizes, runs)
    x = np.log(sizes) - np.mean(np.log(sizes))
    x = np.repeat(x, 300)
    y = np.concatenate(runs)
    design = np.stack([np.ones_like(x), x], axis=-1)
    residuals = y / np.exp(fit.level.value + fit.exponent.value * x) - 1.0
    np.testing.assert_allclose(design.T @ residuals, 0.0, atol=1e-8)
    bread = np.linalg.inv((design.T * (1.0 + residuals)) @ design)  # the observed information
    covariance = bread @ (design.T * residuals**2) @ design @ bread
    assert fit.level.standard_error == pytest.approx(math.sqrt(covariance[0, 0]), rel=1e-8)
    assert fit.exponent.standard_error == pytest.approx(math.sqrt(covariance[1, 1]), rel=1e-8)
    assert abs(fit.exponent.value + 0.7) < 6.0 * fit.exponent.standard_error


@pytest.mark.slow
def test_the_mean_is_regressed_not_the_logarithm():
    """Where the spread changes with size, the exponents of E[Y] and of exp E[log Y] differ."""
    rng = np.random.default_rng(4)
    sizes = [1, 2, 4, 8, 16]
    runs = [rng.gamma(1.0 * size, 1.0 / size, size=4000) for size in sizes]  # mean 1 at every size
    fit = regress(sizes, runs)
    assert abs(fit.exponent.value) < 6.0 * fit.exponent.standard_error
    of_logs = np.polyfit(np.log(sizes), [np.log(group).mean() for group in runs], 1)[0]
    assert of_logs > 0.15


def test_the_projection_is_the_estimand():
    sizes = [1, 2, 4, 8, 16]
    assert project(sizes, [3.0 * size**-0.5 for size in sizes]).exponent == pytest.approx(-0.5, abs=1e-9)
    bent = [size**-0.5 * (1.0 + 0.3 / size) for size in sizes]
    fit = regress(sizes, [np.array([mean * 0.9, mean * 1.1]) for mean in bent])
    projection = project(sizes, bent)
    assert fit.exponent.value == pytest.approx(projection.exponent, abs=1e-9)
    assert fit.level.value == pytest.approx(projection.level, abs=1e-9)
    assert projection.exponent != pytest.approx(-0.5, abs=0.02)


def test_the_critical_value():
    assert critical_value(0.05, 0.0) == pytest.approx(1.959963984540054, rel=1e-12)
    plain = critical_value(1e-8, 0.0)
    for skewness in (0.01, 0.03, -0.03, 0.1):
        z = critical_value(1e-8, skewness)
        assert z > plain
        assert norm.logsf(z) + abs(skewness) * z**3 / 6.0 == pytest.approx(math.log(5e-9), rel=1e-9)
    assert critical_value(1e-8, 0.03) == critical_value(1e-8, -0.03)
    assert critical_value(1e-8, 0.4) is None  # the tail never gets that thin


def test_the_constant_that_is_needed_is_the_largest_of_its_grid():
    """At C = 1 for both terms, on the drift from the far end of W; there the ratio still grows with n."""
    ratios = {
        (n, delta): drift_ratio(n, delta, first=1.0, second=1.0)[0]
        for n in (10**4, 10**5, 10**6)
        for delta in (1e-12, 1e-6, 1e-3)
    }
    sharpness = upper._sharpness(5.0)
    assert max(ratios.values()) == ratios[10**6, 1e-6] == pytest.approx(sharpness.needed)
    assert "n = 1000000, δ = 1e-06" in sharpness.at
    assert sharpness.holds_with == 5.0 * upper._NOISE


def test_the_rates_exponent_in_n():
    assert rate_exponent(Fraction(1, 2)) == Fraction(-1, 2)
    assert rate_exponent(Fraction(0)) == Fraction(-1, 2)
    assert rate_exponent(Fraction(3, 4)) == Fraction(-1, 4)
    assert rate_exponent(Fraction(1)) == 0


@pytest.mark.parametrize("variable", list(Variable))
def test_the_table_and_the_figure_by_hand(variable):
    in_n = variable is Variable.POINTS
    cells = tuple(Cell(n=100 * k if in_n else 100, dimension=3 if in_n else k, delta=0.5) for k in (1, 4, 16))
    risks = [np.array([8.0, 12.0]), np.array([4.0, 6.0]), np.array([2.0, 3.0])]
    exponent, level = (
        Estimate(value=value, standard_error=0.1, skewness=0.0) for value in (-0.5, math.log(5.0))
    )
    results = Results(
        plan=Plan(variable=variable, cells=cells, runs=2),
        measured=[Measured(risks=each, bound=20.0) for each in risks],
        exact=[10.0, 5.0, 10.0],
        fit=Fit(exponent=exponent, level=level),
    )
    reach = norm.isf(0.005)
    rows = measured_table(results).rows
    assert [row[:4] for row in rows] == [
        pytest.approx((cell.n, cell.dimension, cell.noise, 2)) for cell in cells
    ]
    half = [reach * each.std(ddof=1) / math.sqrt(2) for each in risks]
    means = [10.0, 5.0, 2.5]
    assert [row[4] for row in rows] == means
    assert [row[5] for row in rows] == pytest.approx(np.subtract(means, half))
    assert [row[6] for row in rows] == pytest.approx(np.add(means, half))
    assert [row[7] for row in rows] == [10.0, 5.0, 10.0]
    assert [row[8] for row in rows[:2]] == pytest.approx([-0.5, 0.5])
    assert [row[8:] for row in rows[2:]] == [(None, 20.0)]
    plot = exponent_plot(results, -1.0)
    measured, fitted, exactly, claimed = plot.series
    assert plot.title.startswith(f"Excess risk against {variable}, {'d = 3' if in_n else 'n = 100'}, ")
    assert plot.x_axis.label.startswith(variable)
    assert {each.x for each in plot.series} == {tuple(float(size) for size in results.plan.sizes())}
    assert measured.y == tuple(means)
    assert measured.low == pytest.approx(np.subtract(means, half))
    assert measured.high == pytest.approx(np.add(means, half))
    assert fitted.y == pytest.approx(means)
    assert exactly.y == (10.0, 5.0, 10.0)
    assert claimed.y == pytest.approx([20.0, 5.0, 1.25])


ONES = np.ones(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: expected_risk(1, 1.0), "n=1"),
        (lambda: expected_risk(16, 0.0), "s=0.0"),
        (lambda: expected_risk(16, math.nan), "s=nan"),
        (lambda: expected_risk(16, 1.0, nodes=3), "nodes=3"),
        (lambda: limit_coefficient(-1.0), "s=-1.0"),
        (lambda: regress([1, 2], [ONES]), "len\\(runs\\)=1"),
        (lambda: regress([1, 1], [ONES, ONES]), "no two different"),
        (lambda: regress([0, 1], [ONES, ONES]), "sizes=0"),
        (lambda: regress([1, 2], [ONES, ONES[:1]]), "too few or non-positive"),
        (lambda: regress([1, 2], [ONES, 0.0 * ONES]), "too few or non-positive"),
        (lambda: regress([1, 2], [ONES, math.nan * ONES]), "not finite"),
        (lambda: project([1, 2], [1.0, -1.0]), "means=-1.0"),
        (lambda: critical_value(0.0, 0.1), "alpha=0.0"),
        (lambda: critical_value(0.1, math.nan), "NaN"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(InputError, match=message):
        call()
