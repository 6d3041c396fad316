"""Populations: their laws, risks, minima in closed form, and what they refuse."""

from __future__ import annotations

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, Intersection, L2Ball, Simplex, WholeSpace
from dpsco_verify.geometry.norms import summation_error
from dpsco_verify.problems import (
    AbsoluteDeviation,
    Drift,
    FinitePopulation,
    Hinge,
    Linear,
    LinearSigns,
    Median,
    Quantile,
    breast_cancer,
    diabetes,
    engel,
)
from dpsco_verify.problems.losses import Loss
from dpsco_verify.problems.populations import cube
from loss_properties import FUNCTION_ROUNDING

# ── linear signs ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_linear_signs_have_the_declared_norm_and_mean():
    """Hoeffding: with n = 10⁵ signs each mean is off by more than 0.025 with probability below 1e-13 (fixed seed)."""
    mean = np.array([0.5, -0.25, 0.0, 1.0, -1.0])
    population = LinearSigns(mean, lipschitz=3.0)
    z = population.sample(np.random.default_rng(1), (100, 1000))
    assert z.shape == (100, 1000, 5)
    assert (population.dimension, population.data_dimension, population.data_radius) == (5, 5, 3.0)
    norms = np.sqrt(np.sum(z * z, axis=-1))
    assert norms.max() <= population.lipschitz == 3.0
    assert norms.min() == pytest.approx(3.0, rel=1e-14)
    signs = z.reshape(-1, 5) / (3.0 / math.sqrt(5.0))
    assert np.abs(signs.mean(axis=0) - mean).max() <= 0.025
    # Independence of the coordinates: the products have the product of the means.
    products = (signs[:, :2].prod(axis=-1)).mean()
    assert abs(products - mean[0] * mean[1]) <= 0.025


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 10, 100, 1000])
def test_linear_signs_never_exceed_the_lipschitz_constant(dimension):
    population = LinearSigns(np.zeros(dimension), lipschitz=0.1)
    z = population.sample(np.random.default_rng(0), 3)
    assert (np.sqrt(np.sum(z * z, axis=-1)) <= 0.1).all()


def test_linear_signs_risk_is_the_mean_over_all_sign_vectors():
    mean = np.array([0.5, -0.25, 0.125])
    population = LinearSigns(mean)
    w = np.array([1.0, 2.0, -3.0])
    expected = 0.0
    for signs in itertools.product([-1.0, 1.0], repeat=3):
        s = np.array(signs)
        expected += np.prod((1.0 + s * mean) / 2.0) * -(w @ s) / math.sqrt(3.0)
    assert population.risk(w) == pytest.approx(expected, rel=1e-14)
    assert population.risk(np.stack([w, -w])).tolist() == [population.risk(w), population.risk(-w)]


def test_linear_signs_minima_in_closed_form():
    population = LinearSigns([0.6, -0.8], lipschitz=math.sqrt(2.0))  # E z = (0.6, -0.8)
    ball = population.minimum(L2Ball([1.0, 1.0], 2.0))
    assert ball.value == pytest.approx(0.2 - 2.0, rel=1e-14)
    assert ball.w == pytest.approx([2.2, -0.6], rel=1e-14)
    assert population.minimum(Box([-1.0, -2.0], [3.0, 4.0])).w.tolist() == [3.0, -2.0]
    assert population.minimum(Simplex(2)).w.tolist() == [1.0, 0.0]
    for minimum in (ball, population.minimum(Simplex(2))):
        assert (minimum.gap, minimum.method) == (0.0, "closed form")
        assert not minimum.w.flags.writeable


def test_linear_signs_without_a_mean_are_flat():
    population = LinearSigns(np.zeros(3))
    minimum = population.minimum(L2Ball(np.full(3, 5.0), 1.0))
    assert (minimum.value, minimum.gap) == (0.0, 0.0)
    assert population.minimum(WholeSpace(3)).value == 0.0


@pytest.mark.slow
def test_linear_signs_over_a_set_known_by_its_projection_alone():
    mean = np.array([0.6, -0.8, 0.0])
    population = LinearSigns(mean, lipschitz=math.sqrt(3.0))
    lens = Intersection([L2Ball([1.0, 0.0, 0.0], 1.5), L2Ball([-1.0, 0.0, 0.0], 1.5)])
    minimum = population.minimum(lens)
    assert minimum.method == "proximal points"
    assert lens.contains(minimum.w)
    assert 0.0 <= minimum.gap <= 1e-3
    # The extreme point of the lens lies on the rim, at (0, -√1.25, 0).
    assert minimum.lower_bound <= -0.8 * math.sqrt(1.25) <= minimum.value + 1e-9


def test_linear_signs_refuse_what_is_no_mean_of_signs():
    for mean, message in (
        ([0.0, 1.5], r"mean\[1\]=.*1\.5"),
        ([math.nan], "mean"),
        ([], "empty"),
        ([[0.0]], "shape"),
    ):
        with pytest.raises(InputError, match=message):
            LinearSigns(mean)
    with pytest.raises(InputError, match="lipschitz="):
        LinearSigns([0.0], lipschitz=0.0)


def test_unbounded_risk_is_refused():
    for population in (LinearSigns([0.5]), Drift(), FinitePopulation([[1.0, 1.0]], Hinge())):
        with pytest.raises(InputError, match="unbounded"):
            population.minimum(WholeSpace(1))


# ── drift and median ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_drift():
    population = Drift(2.0)
    assert population.sample(np.random.default_rng(0), (3, 2)).tolist() == [[[2.0]] * 2] * 3
    assert population.risk(np.array([[1.0], [-3.0]])).tolist() == [-2.0, 6.0]
    minimum = population.minimum(L2Ball([0.0], 0.5))
    assert (minimum.w.tolist(), minimum.value, minimum.gap) == ([0.5], -1.0, 0.0)
    assert (population.lipschitz, population.data_radius, population.dimension) == (2.0, 2.0, 1)


def test_median_inside_and_outside_the_interval():
    population = Median([0.0, 1.0, 5.0], [0.25, 0.35, 0.4], lipschitz=2.0)
    assert population.risk(np.array([1.0])) == pytest.approx(2.0 * (0.25 + 1.6), rel=1e-15)
    inside = population.minimum(Box([-10.0], [10.0]))
    assert (inside.w.tolist(), inside.gap) == ([1.0], 0.0)
    assert inside.value == pytest.approx(3.7, rel=1e-15)
    outside = population.minimum(L2Ball([4.0], 1.5))
    assert outside.w.tolist() == [2.5]
    assert population.minimum(WholeSpace(1)).w.tolist() == [1.0]
    assert population.lipschitz == 2.0
    assert population.sample(np.random.default_rng(0), 4).shape == (4, 2)


def test_median_refuses_bad_laws():
    with pytest.raises(InputError, match="empty"):
        Median([])
    with pytest.raises(InputError, match="probabilities"):
        Median([0.0, 1.0], [0.5, 0.6])


# ── finite populations ───────────────────────────────────────────────────────────────────────────────────────────────


def test_samples_follow_the_probabilities():
    """Hoeffding: with n = 10⁵ a frequency is off by more than 0.015 with probability below 1e-18 (fixed seed)."""
    data = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    for probabilities in (None, [0.5, 0.0, 0.5], [0.1, 0.2, 0.7]):
        population = FinitePopulation(data, AbsoluteDeviation(), probabilities)
        drawn = population.sample(np.random.default_rng(3), 100_000)
        frequencies = [(drawn[:, 0] == row[0]).mean() for row in data]
        assert frequencies == pytest.approx(population.probabilities, abs=0.015)
        assert population.sample(np.random.default_rng(3), (2, 0)).shape == (2, 0, 2)


def test_risk_in_blocks_agrees_with_one_parameter_at_a_time():
    population = breast_cancer("logistic")
    w = np.random.default_rng(0).normal(size=(130, 31))
    risk = population.risk(w)
    alone = np.array([population.risk(row) for row in w])
    # A mean of 569 positive values, each as far off as exp and log are, added in the same order.
    np.testing.assert_allclose(risk, alone, rtol=FUNCTION_ROUNDING + summation_error(569))
    linear = breast_cancer("hinge")
    assert linear.risk(w).tobytes() == np.array([linear.risk(row) for row in w]).tobytes()
    expected = population.loss.value(w[7], population.data).mean()
    assert risk[7] == pytest.approx(expected, rel=1e-14)


def test_linear_loss_on_finite_data():
    population = FinitePopulation([[1.0, 2.0], [3.0, -2.0]], Linear(), [0.75, 0.25])
    assert population.risk(np.array([1.0, 1.0])) == -2.5
    minimum = population.minimum(L2Ball(np.zeros(2), 1.0))
    assert minimum.value == pytest.approx(-math.hypot(1.5, 1.0), rel=1e-15)
    assert minimum.gap == 0.0


class Distance(Loss):
    """``f(w, z) = ‖w − z‖₂``, a loss of no linear predictor."""

    name = "distance"

    def data_dimension(self, dimension):
        return dimension

    def features(self, z):
        return z

    def value(self, w, z):
        return np.sqrt(np.sum((w - z) ** 2, axis=-1))

    def subgradient(self, w, z):
        return (w - z) / np.maximum(self.value(w, z), 1e-300)[..., None]

    def lipschitz(self, data_radius):
        del data_radius
        return 1.0


@pytest.mark.slow
def test_a_loss_of_the_users_own_gets_a_risk_and_a_certificate():
    corners = np.array([[1.0, 0.0], [-0.5, math.sqrt(0.75)], [-0.5, -math.sqrt(0.75)]]) + np.array([0.3, 0.1])
    population = FinitePopulation(corners, Distance())
    w = np.random.default_rng(0).normal(size=(5, 2))
    assert population.risk(w).tobytes() == np.array([population.risk(row) for row in w]).tobytes()
    ball = L2Ball([0.25, 0.0], 2.0)
    minimum = population.minimum(ball)
    assert minimum.method == "subgradient averaging"
    # The geometric median of the triangle's corners is its centre, at distance 1 from each.
    assert minimum.lower_bound <= 1.0 <= minimum.value
    assert minimum.gap <= 1.1 * ball.diameter / math.sqrt(4000.0)


def test_a_start_at_the_minimum_is_recognised():
    population = FinitePopulation([[1.0, 0.0], [-1.0, 0.0]], Distance())
    minimum = population.minimum(L2Ball([0.0, 0.0], 2.0))
    assert (minimum.value, minimum.method) == (1.0, "stationary point")
    assert 0.0 <= minimum.gap <= 1e-11


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": [[math.nan, 1.0]]}, r"data\[0, 0\]"),
        ({"data": [1.0, 1.0]}, "data.shape"),
        ({"data": np.empty((0, 2))}, "empty"),
        ({"data": [[1.0]]}, "at least 2 numbers"),
        ({"data": [[1.0, 0.0]]}, "label="),
        ({"probabilities": [0.5, 0.4]}, r"sum\(probabilities\)=0.9"),
        ({"probabilities": [1.5, -0.5]}, r"probabilities\[1\]=.*negative"),
        ({"probabilities": [1.0]}, "probabilities.shape"),
        ({"probabilities": [math.nan, 1.0]}, "probabilities"),
        ({"data_radius": 4.9}, "data_radius=4.9 is too small.*5.0"),
        ({"data_radius": math.nan}, "data_radius="),
        ({"lipschitz": 4.9}, "lipschitz=4.9 is too small.*5.0"),
    ],
)
def test_finite_populations_refuse_what_does_not_fit(arguments, message):
    good = {"data": [[3.0, 4.0, 1.0], [1.0, 0.0, -1.0]], "loss": Hinge()}
    FinitePopulation(**good)
    with pytest.raises(InputError, match=message):
        FinitePopulation(**(good | arguments))


def test_a_declared_radius_counts():
    population = FinitePopulation([[3.0, 4.0, 1.0]], Hinge(), data_radius=6.0, lipschitz=7.0)
    assert (population.data_radius, population.lipschitz) == (6.0, 6.0)


def test_wrong_shapes_are_refused_where_they_enter():
    population = FinitePopulation([[3.0, 4.0, 1.0]], Hinge())
    with pytest.raises(InputError, match=r"w\.shape"):
        population.risk(np.zeros(3))
    with pytest.raises(InputError, match=r"w\[1\]"):
        population.risk(np.array([0.0, math.nan]))
    with pytest.raises(InputError, match=r"convex_set\.dimension=3"):
        population.minimum(L2Ball(np.zeros(3), 1.0))


def test_the_data_cannot_be_changed_from_outside():
    data = np.array([[3.0, 4.0, 1.0]])
    population = FinitePopulation(data, Hinge())
    data[0, 0] = 99.0
    assert population.data[0, 0] == 3.0
    with pytest.raises(ValueError, match="read-only"):
        population.data[0, 0] = 1.0


def test_minima_are_computed_once_for_equal_sets():
    population = FinitePopulation([[3.0, 4.0, 1.0], [1.0, 0.0, -1.0]], Hinge())
    first = population.minimum(L2Ball([0.0, 0.0], 1.0))
    assert population.minimum(L2Ball([0.0, 0.0], 1.0)) is first
    assert population.minimum(L2Ball([0.0, 0.0], 2.0)) is not first
    assert population.minimum(Box([-1.0, -1.0], [1.0, 1.0])) is not first


def test_populations_travel_to_other_processes():
    population = FinitePopulation([[3.0, 4.0, 1.0], [1.0, 0.0, -1.0]], Hinge())
    minimum = population.minimum(L2Ball([0.0, 0.0], 1.0))
    copy = pickle.loads(pickle.dumps(population))  # noqa: S301  our own bytes
    assert copy.minimum(L2Ball([0.0, 0.0], 1.0)).value == minimum.value


# ── real data ────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("build", "count", "dimension"),
    [(breast_cancer, 569, 31), (diabetes, 442, 11), (engel, 235, 2)],
)
def test_real_data_are_scaled_as_documented(build, count, dimension):
    population = build()
    assert population.data.shape == (count, dimension + 1)
    assert (population.dimension, population.data_radius) == (dimension, 1.0)
    features, targets = population.data[:, :-1], population.data[:, -1]
    norms = np.sqrt(np.sum(features**2, axis=-1))
    assert 1.0 - 1e-12 <= norms.max() <= 1.0
    # One common scale: the intercept column is constant, the others are centred with equal spread.
    intercept = features[0, 0]
    assert np.ptp(features[:, 0]) == 0.0
    assert np.abs(features[:, 1:].mean(axis=0)).max() <= 1e-15
    assert features[:, 1:].std(axis=0) == pytest.approx(intercept, rel=1e-12)
    assert np.abs(targets).max() == pytest.approx(1.0, abs=1e-15)
    if build is breast_cancer:
        assert (targets == 1.0).sum() == 357
    else:
        assert abs(targets.mean()) <= 1e-15


def test_real_data_take_the_named_losses():
    assert breast_cancer("logistic").name == "breast cancer, logistic"
    assert diabetes("huber", threshold=0.5).lipschitz == 0.5
    assert engel(level=0.25).loss == Quantile(0.25)
    assert engel(level=0.9).lipschitz == 0.9
    for build in (breast_cancer, diabetes, engel):
        with pytest.raises(InputError, match="loss='square' is unknown; give one of"):
            build("square")
    with pytest.raises(InputError, match="level="):
        diabetes("quantile", level=1.5)


@pytest.mark.parametrize("dimension", range(1, 9))
def test_the_corners_are_of_norm_1_from_below(dimension):
    """Exactly: a point of norm above 1 would have a gradient above the Lipschitz constant."""
    (squares,) = {
        sum(Fraction(entry) ** 2 for entry in row) for row in cube._unit(cube._corners(dimension)).tolist()
    }
    assert 1 - Fraction(1, 2**40) < squares <= 1
