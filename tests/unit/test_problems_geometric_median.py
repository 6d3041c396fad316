"""The Euclidean distance: its values, its kink, and geometric medians with certificates."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cvxpy
import numpy as np
import pytest

from dpsco_verify.algorithm import Options, run_ensemble
from dpsco_verify.algorithm.kernel import plan_run
from dpsco_verify.algorithm.kernel.kinds import plan_loss
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, L1Ball, L2Ball, Simplex, WholeSpace
from dpsco_verify.problems import EuclideanDistance, FinitePopulation, Median
from dpsco_verify.problems.minimisation.distance_risk import DistanceRisk
from loss_properties import (
    batch_violation,
    lipschitz_violation,
    loss_violations,
    minimum_violation,
    subgradient_inequality_violation,
)

pytestmark = pytest.mark.slow

LOSS = EuclideanDistance()
TRIANGLE = np.array([[1.0, 0.0], [-0.5, math.sqrt(0.75)], [-0.5, -math.sqrt(0.75)]])

# ── the loss ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_by_hand():
    w, z = np.array([4.0, 6.0]), np.array([1.0, 2.0])
    assert LOSS.value(w, z) == 5.0
    assert LOSS.subgradient(w, z).tolist() == [0.6, 0.8]
    assert (LOSS.name, LOSS.data_dimension(7)) == ("euclidean distance", 7)
    assert LOSS.features(z) is z


def test_subgradient_at_the_kink_is_zero():
    z = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert LOSS.subgradient(z, z).tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert LOSS.subgradient(z[0], z).tolist()[0] == [0.0, 0.0]


@pytest.mark.parametrize("radius", [0.0, 1.0, 1e6])
def test_the_lipschitz_constant_is_one_for_all_data(radius):
    assert LOSS.lipschitz(radius) == 1.0
    assert LOSS.smoothness(radius) is None


@pytest.mark.parametrize("radius", [-1.0, math.nan, math.inf])
def test_a_radius_that_is_none_is_refused(radius):
    with pytest.raises(InputError, match="data_radius="):
        LOSS.lipschitz(radius)


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-290, 1e-160, 1.0, 1e160, 1e290])
def test_the_subgradient_has_norm_one_at_differences_of_every_size(size):
    """Also beside a row of ordinary size, and where a norm's square leaves the doubles."""
    w = size * np.array([[1.0, 1.0, -1.0], [3.0, 0.0, 4.0]])
    gradient = LOSS.subgradient(np.vstack([w, np.ones((1, 3)), np.zeros((1, 3))]), np.zeros(3))
    norms = np.sqrt((gradient**2).sum(axis=-1))
    assert norms[:3] == pytest.approx(1.0, rel=1e-15)
    assert norms[3] == 0.0
    assert LOSS.subgradient(w, np.zeros(3)).tobytes() == gradient[:2].tobytes()
    assert np.sign(gradient[0]).tolist() == [1.0, 1.0, -1.0]


def test_leading_axes_broadcast():
    rng = np.random.default_rng(0)
    w, z = rng.normal(size=(4, 1, 3)), rng.normal(size=(1, 5, 3))
    assert LOSS.value(w, z).shape == (4, 5)
    gradient = LOSS.subgradient(w, z)
    assert gradient.shape == (4, 5, 3)
    assert np.array_equal(gradient[2, 3], LOSS.subgradient(w[2, 0], z[0, 3]))
    assert LOSS.subgradient(w[0, 0], z[0]).shape == (5, 3)


def test_data_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match=r"data\[0, 1\]"):
        LOSS.require_data([[0.0, math.nan]])
    with pytest.raises(InputError, match=r"dimension=3.*points of 3 numbers"):
        LOSS.require_data([[1.0, 1.0]], dimension=3)
    with pytest.raises(InputError, match="data_radius="):
        FinitePopulation([[3.0, 4.0]], LOSS, data_radius=4.9)


@dataclass(frozen=True)
class NotDivided(EuclideanDistance):
    """Takes ``w − z`` for the subgradient: right at distance 1 alone."""

    def subgradient(self, w, z):
        return w - z


@dataclass(frozen=True)
class KinkOfNorm(EuclideanDistance):
    """A vector of norm √d at the kink: no subgradient there."""

    def subgradient(self, w, z):
        gradient = super().subgradient(w, z)
        return np.where(np.all(gradient == 0.0, axis=-1, keepdims=True), 1.0, gradient)


def test_the_checkers_of_losses_pass_it_and_find_broken_ones():
    rng = np.random.default_rng(3)
    w, u, z = rng.normal(size=(3, 20, 4))
    assert loss_violations(LOSS, w, u, z) == []
    assert batch_violation(LOSS, np.vstack([w, z]), np.vstack([z, z])) is None
    assert subgradient_inequality_violation(NotDivided(), w, u, z) is not None
    assert lipschitz_violation(NotDivided(), w, u, z) is not None
    assert subgradient_inequality_violation(KinkOfNorm(), z, u, z) is not None
    assert subgradient_inequality_violation(LOSS, z, u, z) is None


# ── the algorithm ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_kernel_leaves_the_loss_to_numpy():
    ball = L2Ball(np.zeros(2), 1.0)
    assert plan_loss(LOSS) is None
    assert plan_run(loss=LOSS, convex_set=ball, options=Options(), n=10) is None
    population = FinitePopulation(TRIANGLE + np.array([0.3, 0.1]), LOSS)
    sample = population.sample(np.random.default_rng(0), (5, 50))

    def run(engine):
        return run_ensemble(
            sample,
            loss=LOSS,
            convex_set=ball,
            step_size=0.1,
            sigma=0.1,
            lipschitz=population.lipschitz,
            rng=np.random.default_rng(1),
            engine=engine,
        )

    assert run("auto").outputs.tobytes() == run("numpy").outputs.tobytes()
    with pytest.raises(InputError, match="engine"):
        run("compiled")


# ── geometric medians ────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_equilateral_triangle_has_its_centre():
    shift = np.array([0.3, 0.1])
    minimum = FinitePopulation(TRIANGLE + shift, LOSS).minimum(L2Ball([0.25, 0.0], 2.0))
    assert minimum.method == "interior point, dual certificate"
    assert minimum.lower_bound <= 1.0 <= minimum.value + 1e-15
    assert minimum.gap <= 4e-9
    assert minimum.w == pytest.approx(shift, abs=1e-4)


def test_an_obtuse_triangle_has_its_corner():
    """With an angle of at least 120° the median is that corner: the risk has a kink there."""
    points = np.array([[0.0, 0.0], [1.0, 0.2], [-1.0, 0.2]])
    minimum = FinitePopulation(points, LOSS).minimum(L2Ball([0.5, 0.5], 3.0))
    exact = 2.0 * math.hypot(1.0, 0.2) / 3.0
    assert minimum.lower_bound <= exact <= minimum.value + 1e-15
    assert minimum.gap <= 6e-9
    assert np.abs(minimum.w).max() <= 1e-7


def test_a_constraint_far_away_has_its_nearest_point():
    """From one point the nearest of a ball, a box and the simplex."""
    population = FinitePopulation([[3.0, 4.0]], LOSS)
    ball = population.minimum(L2Ball([0.0, 0.0], 1.0))
    assert ball.value == pytest.approx(4.0, abs=1e-8)
    assert ball.w == pytest.approx([0.6, 0.8], abs=1e-4)
    assert population.minimum(Box([-1.0, -1.0], [1.0, 2.0])).value == pytest.approx(
        math.hypot(2.0, 2.0), abs=1e-8
    )
    assert population.minimum(Simplex(2)).value == pytest.approx(math.hypot(3.0, 3.0), abs=1e-8)


def test_on_the_line_it_is_the_median():
    rng = np.random.default_rng(5)
    for convex_set in (Box([-2.0], [2.0]), L2Ball([1.0], 0.5)):
        points, weights = rng.normal(size=9), rng.dirichlet(np.ones(9))
        exact = Median(points, weights).minimum(convex_set).value
        minimum = FinitePopulation(points[:, None], LOSS, weights).minimum(convex_set)
        assert minimum.lower_bound <= exact + 1e-14
        assert exact - 1e-14 <= minimum.value <= exact + 2e-9 * convex_set.diameter


def cvxpy_minimum(population, convex_set):
    w = cvxpy.Variable(population.dimension)
    distances = cvxpy.hstack([cvxpy.norm2(w - z) for z in population.data])
    match convex_set:
        case L2Ball():
            constraints = [cvxpy.norm2(w - convex_set.center) <= convex_set.radius]
        case Box():
            constraints = [w >= convex_set.low, w <= convex_set.high]
        case Simplex():
            constraints = [w >= 0.0, cvxpy.sum(w) == convex_set.total]
    problem = cvxpy.Problem(cvxpy.Minimize(population.probabilities @ distances), constraints)
    problem.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert problem.status == "optimal"
    return problem.value


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
def test_against_a_conic_solver(seed):
    rng = np.random.default_rng(seed)
    population = FinitePopulation(rng.normal(size=(12, 3)), LOSS, rng.dirichlet(np.ones(12)))
    for convex_set in (
        L2Ball(np.zeros(3), 5.0),
        L2Ball(rng.normal(size=3), 0.3),
        Box(-rng.uniform(0.1, 2.0, 3), rng.uniform(0.1, 2.0, 3)),
        Box([-0.5, 0.2, -1.0], [0.5, 0.2, 1.0]),  # without an interior
        Simplex(3, 1.5),
    ):
        minimum = population.minimum(convex_set)
        assert minimum.gap <= 2e-9 * convex_set.diameter
        assert cvxpy_minimum(population, convex_set) == pytest.approx(minimum.value, abs=1e-7)
        points = convex_set.project(rng.normal(size=(200, 3)))
        assert minimum_violation(population, convex_set, minimum, points) is None


def test_points_that_coincide_and_probabilities_that_vanish():
    population = FinitePopulation(
        [[1.0, 1.0], [1.0, 1.0], [5.0, 5.0], [0.0, 0.0]], LOSS, [0.3, 0.3, 1e-300, 0.4]
    )
    minimum = population.minimum(L2Ball([0.0, 0.0], 3.0))
    assert minimum.value == pytest.approx(0.4 * math.sqrt(2.0), abs=1e-8)
    assert minimum.gap <= 1e-8


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1e9, 1e90])
def test_units_do_not_matter(scale):
    points = np.random.default_rng(4).normal(size=(30, 3))
    plain = FinitePopulation(points, LOSS).minimum(L2Ball(np.zeros(3), 1.0))
    scaled = FinitePopulation(scale * points, LOSS).minimum(L2Ball(np.zeros(3), scale))
    assert scaled.value == pytest.approx(scale * plain.value, rel=1e-8)
    assert scaled.gap <= 1e-8 * scale


def test_scales_beyond_the_interior_point_method_get_an_honest_gap():
    population = FinitePopulation(1e150 * (TRIANGLE + np.array([0.3, 0.1])), LOSS)
    ball = L2Ball([2e149, 0.0], 1e150)
    minimum = population.minimum(ball)
    assert minimum.method == "subgradient averaging"
    assert minimum.lower_bound <= 1e150 <= minimum.value * (1.0 + 1e-12)
    assert minimum.gap <= 1.1 * ball.diameter / math.sqrt(4000.0)


def test_a_start_at_the_minimum_needs_no_path():
    minimum = FinitePopulation([[1.0, 0.0], [-1.0, 0.0]], LOSS).minimum(L2Ball([0.0, 0.0], 2.0))
    assert minimum.value == 1.0
    assert 0.0 <= minimum.gap <= 1e-12


def test_a_set_without_a_barrier_gets_an_honest_gap():
    population = FinitePopulation(np.random.default_rng(6).normal(size=(20, 3)), LOSS)
    ball = L1Ball(3, 0.5)
    minimum = population.minimum(ball)
    assert minimum.method == "subgradient averaging"
    assert minimum.gap <= 1.1 * ball.diameter / math.sqrt(4000.0)


def test_an_unbounded_set_is_refused():
    with pytest.raises(InputError, match="unbounded"):
        FinitePopulation([[1.0, 1.0]], LOSS).minimum(WholeSpace(2))


@dataclass(frozen=True)
class HalfDistance(EuclideanDistance):
    def value(self, w, z):
        return 0.5 * super().value(w, z)

    def subgradient(self, w, z):
        return 0.5 * super().subgradient(w, z)


def test_a_class_that_derives_from_it_is_not_taken_for_the_distance():
    """The distance's own dual bound, 1, would be false for it."""
    ball = L2Ball([0.25, 0.0], 2.0)
    minimum = FinitePopulation(TRIANGLE + np.array([0.3, 0.1]), HalfDistance()).minimum(ball)
    assert minimum.method == "subgradient averaging"
    assert minimum.lower_bound <= 0.5 <= minimum.value + 1e-15


def test_directions_longer_than_one_give_a_false_bound():
    """The one thing that the dual bound asks of the directions matters."""
    ball = L2Ball(np.zeros(1), 1.0)
    risk = DistanceRisk(np.array([[-2.0]]), np.array([1.0]))
    assert risk.lower_bound(np.array([[1.0]]), ball).value == pytest.approx(1.0, rel=1e-12)  # min |x + 2| = 1
    assert risk.lower_bound(np.array([[2.0]]), ball).value == pytest.approx(2.0, rel=1e-12)
