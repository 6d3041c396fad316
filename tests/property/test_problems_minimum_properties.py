"""Certified minima: no feasible point undercuts the lower bound, and the gap is as small as promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpsco_verify.geometry import Box, ConvexSet, L1Ball, L2Ball, Simplex
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems import AbsoluteDeviation, Hinge, LinearSigns, Median, Quantile
from dpsco_verify.problems.losses.loss import inner_product
from dpsco_verify.problems.minimisation import support
from dpsco_verify.problems.minimisation.predictor_risk import PredictorRisk
from dpsco_verify.strategies.problems import (
    data_points,
    finite_populations,
    parameter_points,
    predictor_losses,
)
from loss_properties import minimum_violation


@st.composite
def sets(draw, dimension):
    """Draw a ball, a box (flat in some coordinates, at times) or a simplex of moderate size."""
    center = draw(hnp.arrays(np.float64, dimension, elements=st.floats(-5.0, 5.0)))
    kind = draw(st.sampled_from(["ball", "box", "simplex"]))
    if kind == "ball":
        return L2Ball(center, draw(st.floats(0.01, 20.0)))
    if kind == "box":
        width = st.sampled_from([0.0, 1.0]) | st.floats(0.01, 20.0)
        return Box(center, center + draw(hnp.arrays(np.float64, dimension, elements=width)))
    return Simplex(dimension, draw(st.floats(0.01, 20.0)))


@st.composite
def points_of(draw, convex_set):
    """Draw points of the set, inside and on its boundary."""
    scale = draw(st.sampled_from([1.0, 30.0, 1e3]))
    raw = draw(parameter_points(convex_set.dimension, count=4, bound=scale))
    return convex_set.project(raw)


@pytest.mark.slow
@given(st.data())
def test_finite_populations_of_predictor_losses(data):
    population = data.draw(finite_populations(loss=predictor_losses()))
    convex_set = data.draw(sets(population.dimension))
    minimum = population.minimum(convex_set)
    assert minimum_violation(population, convex_set, minimum, data.draw(points_of(convex_set))) is None
    # The dual value's own rounding margin is what is left when L·D is small beside the risk itself.
    rounding = 1e-12 * (abs(minimum.value) + population.lipschitz * convex_set.max_norm + 100.0)
    assert minimum.gap <= 1e-6 * population.lipschitz * convex_set.diameter + rounding


@given(st.data())
def test_linear_signs(data):
    dimension = data.draw(st.integers(1, 4))
    mean = data.draw(hnp.arrays(np.float64, dimension, elements=st.floats(-1.0, 1.0)))
    population = LinearSigns(mean, lipschitz=data.draw(st.floats(0.1, 100.0)))
    convex_set = data.draw(sets(dimension))
    minimum = population.minimum(convex_set)
    assert (minimum.gap, minimum.method) == (0.0, "closed form")
    assert minimum_violation(population, convex_set, minimum, data.draw(points_of(convex_set))) is None


@given(st.data())
def test_median(data):
    count = data.draw(st.integers(1, 8))
    points = data.draw(hnp.arrays(np.float64, count, elements=st.floats(-10.0, 10.0)))
    weights = data.draw(hnp.arrays(np.float64, count, elements=st.floats(0.01, 1.0)))
    population = Median(points, weights / weights.sum(), lipschitz=data.draw(st.floats(0.1, 100.0)))
    convex_set = data.draw(sets(1))
    minimum = population.minimum(convex_set)
    assert minimum.gap == 0.0
    assert minimum_violation(population, convex_set, minimum, data.draw(points_of(convex_set))) is None


class Anonymous(ConvexSet):
    """A set of which nothing is known but its projection."""

    def __init__(self, known):
        super().__init__(known.dimension)
        self.known = known
        self.diameter, self.max_norm = known.diameter, known.max_norm

    diameter = max_norm = 0.0

    def _project(self, x):
        return self.known.project(x)

    def _violation(self, x):
        return self.known.violation(x)

    def _projection_error(self, x):
        return self.known.projection_error(x)


@pytest.mark.slow
@given(st.data())
def test_support_bounds_every_point_and_is_attained(data):
    """Closed forms against points of the set, and projections against the closed forms."""
    dimension = data.draw(st.integers(1, 5))
    scale = data.draw(st.sampled_from([1.0, 1e-310, 1e300]))
    direction = scale * data.draw(hnp.arrays(np.float64, dimension, elements=st.floats(-10.0, 10.0)))
    convex_set = data.draw(sets(dimension) | st.builds(L1Ball, st.just(dimension), st.floats(0.01, 20.0)))
    found = support(convex_set, direction)
    size = euclidean_norm(direction) * convex_set.max_norm + 1e-300
    attained = inner_product(direction, found.point)
    assert convex_set.contains(found.point)
    points = data.draw(points_of(convex_set))
    assert (inner_product(points, direction) <= found.upper_bound + 1e-14 * size).all()
    assert found.upper_bound <= attained + 1e-13 * size

    projected = support(Anonymous(convex_set), direction)
    assert convex_set.contains(projected.point)
    assert projected.upper_bound >= attained - 1e-14 * size
    assert projected.upper_bound <= attained + 1e-2 * size


@given(st.data())
def test_the_lower_bound_stays_below_its_exact_value(data):
    """In rational arithmetic the dual value is exact; the computed bound, whatever it rounds, is no larger."""
    loss = data.draw(st.sampled_from([AbsoluteDeviation(), Hinge(), Quantile(0.25)]))
    dimension, count = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    z = data.draw(data_points(loss, dimension, count=count, radius=1e6, target_bound=1e6))
    low, high = (np.broadcast_to(end, count) for end in loss.conjugate_domain(z[:, -1]))
    share = data.draw(hnp.arrays(np.float64, count, elements=st.floats(0.0, 1.0)))
    slopes = np.clip(low + share * (high - low), low, high)
    probabilities = np.full(count, 1.0 / count)
    corner = data.draw(hnp.arrays(np.float64, dimension, elements=st.floats(-1e6, 1e6)))
    box = Box(corner, corner + data.draw(st.floats(0.0, 1e6)))

    exact = Fraction(0)
    g = [Fraction(0)] * dimension
    for p, theta, row in zip(probabilities, slopes, z, strict=True):
        weight = Fraction(p) * Fraction(theta)
        exact -= weight * Fraction(row[-1])
        g = [total + weight * Fraction(a) for total, a in zip(g, row[:-1], strict=True)]
    exact += sum(
        min(gj * Fraction(lo), gj * Fraction(hi)) for gj, lo, hi in zip(g, box.low, box.high, strict=True)
    )

    bound = PredictorRisk(loss, z[:, :-1], z[:, -1], probabilities).lower_bound(slopes, box).value
    assert Fraction(bound) <= exact
    size = float(np.abs(z).max()) * (1.0 + box.max_norm) * dimension + 2.0
    assert float(exact - Fraction(bound)) <= 1e-12 * size
