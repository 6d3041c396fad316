"""Certified minima on real data and at the edges, against independent solvers."""

from __future__ import annotations

import time

import cvxpy
import numpy as np
import pytest
from scipy.optimize import linprog

from dpsco_verify.geometry import Box, L1Ball, L2Ball, Simplex
from dpsco_verify.problems import (
    AbsoluteDeviation,
    FinitePopulation,
    Hinge,
    Huber,
    Logistic,
    Quantile,
    breast_cancer,
    diabetes,
    engel,
)
from dpsco_verify.problems.minimisation import minimise_finite
from dpsco_verify.problems.minimisation.domain import Polyhedron, UnitBall
from loss_properties import minimum_violation

POPULATIONS = [
    breast_cancer("hinge"),
    breast_cancer("logistic"),
    diabetes("absolute"),
    diabetes("huber"),
    diabetes("quantile", level=0.9),
    engel(level=0.5),
    engel(level=0.1),
]
ONE_IN_THREE_BY_DAY = [
    one if k % 3 == 2 else pytest.param(one, marks=pytest.mark.long) for k, one in enumerate(POPULATIONS)
]


def sets(dimension):
    zero, one = np.zeros(dimension), np.ones(dimension)
    flat = np.where(np.arange(dimension) % 2 == 0, 0.0, 1.0)
    return [
        L2Ball(zero, 1.0),
        L2Ball(zero, 30.0),  # the minimiser lies inside
        L2Ball(3.0 * one, 1.0),
        Box(-one, one),
        Box(-20.0 * one, 30.0 * one),
        Box(-flat, flat),  # without an interior
        Simplex(dimension, 2.0),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("population", ONE_IN_THREE_BY_DAY, ids=lambda population: population.name)
def test_real_data_reach_the_promised_gap_within_seconds(population):
    rng = np.random.default_rng(0)
    for convex_set in sets(population.dimension):
        begin = time.perf_counter()
        minimum = minimise_finite(population, convex_set)
        seconds = time.perf_counter() - begin
        assert minimum.gap <= 2e-9 * population.lipschitz * convex_set.diameter
        assert seconds < 10.0  # 0.05 to 0.3 s on an idle machine
        steps = rng.normal(size=(100, population.dimension)) * np.logspace(-6, 1, 100)[:, None]
        points = convex_set.project(minimum.w + convex_set.diameter * steps)
        assert minimum_violation(population, convex_set, minimum, points) is None


def cvxpy_minimum(population, convex_set):
    """Minimise the same risk by a conic solver."""
    a, t, p = population.data[:, :-1], population.data[:, -1], population.probabilities
    w = cvxpy.Variable(population.dimension)
    match population.loss:
        case AbsoluteDeviation():
            values = cvxpy.abs(a @ w - t)
        case Quantile(level=level):
            values = cvxpy.maximum(level * (t - a @ w), (level - 1.0) * (t - a @ w))
        case Huber(threshold=threshold):
            values = 0.5 * cvxpy.huber(a @ w - t, threshold)
        case Hinge():
            values = cvxpy.pos(1.0 - cvxpy.multiply(t, a @ w))
        case Logistic():
            values = cvxpy.logistic(-cvxpy.multiply(t, a @ w))
    match convex_set:
        case L2Ball():
            constraints = [cvxpy.norm2(w - convex_set.center) <= convex_set.radius]
        case Box():
            constraints = [w >= convex_set.low, w <= convex_set.high]
        case Simplex():
            constraints = [w >= 0.0, cvxpy.sum(w) == convex_set.total]
    problem = cvxpy.Problem(cvxpy.Minimize(p @ values), constraints)
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert problem.status == "optimal"
    return problem.value


@pytest.mark.slow
@pytest.mark.parametrize("population", ONE_IN_THREE_BY_DAY, ids=lambda population: population.name)
def test_against_a_conic_solver_on_real_data(population):
    for convex_set in sets(population.dimension)[2:4]:
        minimum = population.minimum(convex_set)
        assert cvxpy_minimum(population, convex_set) == pytest.approx(minimum.value, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
@pytest.mark.parametrize("loss", [AbsoluteDeviation(), Quantile(0.2), Huber(0.3), Hinge(), Logistic()])
def test_against_a_conic_solver_on_small_data(loss, seed):
    rng = np.random.default_rng(seed)
    target = rng.choice([-1.0, 1.0], size=12)
    weights = rng.dirichlet(np.ones(12))
    population = FinitePopulation(np.column_stack([rng.normal(size=(12, 3)), target]), loss, weights)
    for convex_set in (
        L2Ball(rng.normal(size=3), 0.7),
        Box(-rng.uniform(0.1, 2.0, 3), rng.uniform(0.1, 2.0, 3)),
        Simplex(3, 1.5),
    ):
        minimum = population.minimum(convex_set)
        assert cvxpy_minimum(population, convex_set) == pytest.approx(minimum.value, abs=1e-7)


@pytest.mark.parametrize("level", [0.1, 0.5])
def test_quantile_regression_over_a_box_is_a_linear_programme(level):
    """``min p·(q·r⁺ + (1 − q)·r⁻)`` with ``r⁺ − r⁻ = b − Aw``: the value agrees with the simplex method's."""
    population = engel(level=level)
    a, b, p = population.data[:, :-1], population.data[:, -1], population.probabilities
    count, dimension = a.shape
    cost = np.concatenate([np.zeros(dimension), level * p, (1.0 - level) * p])
    equations = np.hstack([a, np.eye(count), -np.eye(count)])
    solved = linprog(cost, A_eq=equations, b_eq=b, bounds=[(-20, 30)] * dimension + [(0, None)] * 2 * count)
    assert solved.success
    minimum = population.minimum(Box(np.full(dimension, -20.0), np.full(dimension, 30.0)))
    assert minimum.lower_bound - 1e-12 <= solved.fun <= minimum.value + 1e-12


def test_separable_classes_reach_zero():
    """Hinge loss of a separable sample in a ball that is large enough: the minimum is 0 and the bound comes near."""
    data = [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]
    minimum = FinitePopulation(data, Hinge()).minimum(L2Ball([0.0, 0.0], 10.0))
    assert minimum.value <= 1e-7
    assert -1e-7 <= minimum.lower_bound <= minimum.value


@pytest.mark.parametrize("loss", [AbsoluteDeviation(), Quantile(0.3), Huber(1.0), Hinge(), Logistic()])
def test_features_that_are_all_zero(loss):
    population = FinitePopulation([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]], loss)
    minimum = population.minimum(L2Ball([1.0, 1.0], 2.0))
    assert minimum.value == population.risk(np.zeros(2))
    assert 0.0 <= minimum.gap <= 1e-12


def test_a_set_of_one_point():
    population = FinitePopulation([[2.0, 1.0], [1.0, -1.0]], Logistic())
    for convex_set in (Box([0.5], [0.5]), Simplex(1, 0.5)):
        minimum = population.minimum(convex_set)
        assert minimum.w.tolist() == [0.5]
        assert 0.0 <= minimum.gap <= 1e-12


def test_probabilities_of_zero_and_nearly_zero():
    data = [[1.0, 3.0], [1.0, -5.0], [1.0, 0.5]]
    minimum = FinitePopulation(data, AbsoluteDeviation(), [0.0, 1e-300, 1.0]).minimum(Box([-10.0], [10.0]))
    assert minimum.w[0] == pytest.approx(0.5, abs=1e-6)
    assert minimum.gap <= 1e-7


@pytest.mark.parametrize("scale", [1e-60, 1e-9, 1e9, 1e60])
def test_units_do_not_matter(scale):
    """The same problem in other units of the parameter has the same minimum."""
    rng = np.random.default_rng(4)
    features, targets = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], size=30)
    plain = FinitePopulation(np.column_stack([features, targets]), Hinge()).minimum(L2Ball(np.zeros(3), 1.0))
    population = FinitePopulation(np.column_stack([features / scale, targets]), Hinge())
    scaled = population.minimum(L2Ball(np.zeros(3), scale))
    assert scaled.value == pytest.approx(plain.value, rel=1e-8)
    assert scaled.gap <= 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-150, pytest.param(1e150, marks=pytest.mark.long)])
def test_scales_beyond_the_interior_point_method_get_an_honest_gap(scale):
    population = FinitePopulation(scale * np.array([[1.0, 0.3], [2.0, 1.0], [1.0, 0.5]]), AbsoluteDeviation())
    ball = L2Ball([0.0], 1.0)
    minimum = population.minimum(ball)
    assert minimum.method == "subgradient averaging"
    assert minimum.w[0] == pytest.approx(0.5, abs=0.05)
    assert 0.0 <= minimum.gap <= 0.05 * population.lipschitz * ball.diameter
    assert minimum_violation(population, ball, minimum, np.linspace(-1.0, 1.0, 101)[:, None]) is None


@pytest.mark.long
def test_a_set_without_a_barrier_gets_an_honest_gap():
    population = diabetes("absolute")
    ball = L1Ball(11, 3.0)
    minimum = population.minimum(ball)
    assert minimum.method == "subgradient averaging"
    assert minimum.gap <= 2.0 * population.lipschitz * ball.diameter / np.sqrt(4000.0)
    points = ball.project(np.random.default_rng(0).normal(size=(200, 11)))
    assert minimum_violation(population, ball, minimum, points) is None


@pytest.mark.parametrize("loss", [AbsoluteDeviation(), Quantile(0.3), Huber(1.0), Hinge(), Logistic()])
def test_features_below_the_normal_doubles(loss):
    """Scores that no double tells from 0 leave a risk that is constant to the last bit."""
    population = FinitePopulation([[1e-313, 1.0], [-3e-313, -1.0]], loss)
    ball = L2Ball([0.0], 1.0)
    minimum = population.minimum(ball)
    assert 0.0 <= minimum.gap <= 1e-12
    assert minimum_violation(population, ball, minimum, np.linspace(-1.0, 1.0, 5)[:, None]) is None


@pytest.mark.parametrize("scale", [1.0, 1e-100])
def test_a_step_ends_where_it_leaves_the_body(scale):
    """In ``|v_i| < 1`` from (1/2, 0): after 1/2 to the right, 3/2 to the left; in the disc from 0: after 1."""
    cube = Polyhedron(np.vstack([np.eye(2), -np.eye(2)]), np.ones(4))
    v = np.array([0.5, 0.0])
    for direction, room in (([1.0, 0.0], 0.5), ([-1.0, 0.0], 1.5), ([0.5, 2.0], 0.5)):
        assert cube.step_limit(v, scale * np.array(direction)) == pytest.approx(room / scale, rel=1e-14)
    assert UnitBall().step_limit(np.zeros(2), scale * np.array([0.6, 0.8])) == pytest.approx(1 / scale)
    assert cube.step_limit(v, np.zeros(2)) == np.inf
    assert (cube.parameter, UnitBall().parameter) == (4.0, 1.0)
