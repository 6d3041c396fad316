"""The Euclidean distance at whatever points Hypothesis finds, and its certified minima."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpsco_verify.geometry import Box, L2Ball, Simplex
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems import EuclideanDistance, FinitePopulation
from dpsco_verify.problems.minimisation.distance_risk import DistanceRisk, SmoothedDistanceRisk
from dpsco_verify.problems.minimisation.domain import domain_of
from dpsco_verify.strategies.problems import data_points, finite_populations, parameter_points
from loss_properties import (
    attainment_violation,
    batch_violation,
    loss_violations,
    minimum_violation,
)

pytestmark = pytest.mark.slow

LOSS = EuclideanDistance()
DISTANCES = st.just(LOSS)


@st.composite
def instances(draw, *, max_dimension=5, count=3):
    """Draw two sets of parameters and data, row for row; some rows lie near, or on, the kink."""
    dimension = draw(st.integers(1, max_dimension))
    w = draw(parameter_points(dimension, count=count))
    u = draw(parameter_points(dimension, count=count))
    z = draw(data_points(LOSS, dimension, count=count))
    nearness = draw(st.sampled_from([1.0, 1e-9, 1e-300, 0.0]))
    return z + nearness * w, z + nearness * u, z


@given(instances())
def test_the_properties_of_a_loss(instance):
    assert loss_violations(LOSS, *instance) == []


@given(instances(max_dimension=40))
def test_same_bits_alone_and_in_a_batch(instance):
    w, _, z = instance
    assert batch_violation(LOSS, w, z) is None


@given(instances())
def test_the_subgradient_has_norm_one_but_at_the_kink(instance):
    w, _, z = instance
    norms = euclidean_norm(LOSS.subgradient(w, z))
    same = (w == z).all(axis=-1)
    assert (norms[same] == 0.0).all()
    assert (np.abs(norms[~same] - 1.0) <= 1e-14).all()


@given(st.data())
def test_the_lipschitz_constant_is_attained(data):
    z = data.draw(data_points(LOSS, data.draw(st.integers(1, 5)), count=1))
    z = np.where(np.abs(z) > 1e-6, z, 1.0)
    assert attainment_violation(LOSS, z) is None


@st.composite
def sets(draw, dimension):
    center = draw(hnp.arrays(np.float64, dimension, elements=st.floats(-5.0, 5.0)))
    kind = draw(st.sampled_from(["ball", "box", "simplex"]))
    if kind == "ball":
        return L2Ball(center, draw(st.floats(0.01, 20.0)))
    if kind == "box":
        width = st.sampled_from([0.0, 1.0]) | st.floats(0.01, 20.0)
        return Box(center, center + draw(hnp.arrays(np.float64, dimension, elements=width)))
    return Simplex(dimension, draw(st.floats(0.01, 20.0)))


@given(st.data())
def test_certified_minima(data):
    population = data.draw(finite_populations(loss=DISTANCES))
    convex_set = data.draw(sets(population.dimension))
    minimum = population.minimum(convex_set)
    scale = data.draw(st.sampled_from([1.0, 30.0]))
    near = 1e-3 * data.draw(parameter_points(population.dimension, count=4, bound=1.0))
    points = np.vstack(
        [
            data.draw(parameter_points(population.dimension, count=4, bound=scale)),
            minimum.w + near,
            population.data,
        ]
    )
    assert (
        minimum_violation(population, convex_set, minimum, np.atleast_2d(convex_set.project(points))) is None
    )
    rounding = 1e-12 * (abs(minimum.value) + convex_set.max_norm + 100.0)
    assert minimum.gap <= 1e-6 * convex_set.diameter + rounding


@given(finite_populations(loss=DISTANCES, max_dimension=9, max_count=40), st.data())
def test_the_risk_is_the_mean_distance_with_the_same_bits_alone(population, data):
    w = data.draw(parameter_points(population.dimension, count=4))
    risk = population.risk(w)
    mean = np.linalg.norm(w[:, None, :] - population.data, axis=-1) @ population.probabilities
    # The oracle squares, and loses what is below 1e-154.
    assert (np.abs(risk - mean) <= 1e-13 * mean + 1e-150).all()
    for layout in (np.asfortranarray(w), np.repeat(w, 2, axis=-1)[:, ::2]):
        assert population.risk(layout).tobytes() == risk.tobytes()
    assert np.array([population.risk(row) for row in w]).tobytes() == risk.tobytes()


@given(st.data())
def test_the_lower_bound_stays_below_its_exact_value(data):
    """In rational arithmetic the dual value is exact; the computed bound, whatever it rounds, is no larger."""
    dimension, count = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 6))
    z = data.draw(data_points(LOSS, dimension, count=count, radius=1e6))
    raw = data.draw(hnp.arrays(np.float64, (count, dimension), elements=st.floats(-1.0, 1.0)))
    directions = raw / np.maximum(1.0, euclidean_norm(raw))[:, None]
    probabilities = np.full(count, 1.0 / count)
    corner = data.draw(hnp.arrays(np.float64, dimension, elements=st.floats(-1e6, 1e6)))
    box = Box(corner, corner + data.draw(st.floats(0.0, 1e6)))

    exact = Fraction(0)
    g = [Fraction(0)] * dimension
    for p, direction, row in zip(probabilities, directions, z, strict=True):
        for j in range(dimension):
            exact -= Fraction(p) * Fraction(direction[j]) * Fraction(row[j])
            g[j] += Fraction(p) * Fraction(direction[j])
    exact += sum(
        min(gj * Fraction(lo), gj * Fraction(hi)) for gj, lo, hi in zip(g, box.low, box.high, strict=True)
    )

    bound = DistanceRisk(z, probabilities).lower_bound(directions, box).value
    assert Fraction(bound) <= exact
    size = float(np.abs(z).max()) * dimension + box.max_norm + 2.0
    assert float(exact - Fraction(bound)) <= 1e-12 * size


@given(st.data())
def test_the_smoothing_has_the_derivatives_that_it_says(data):
    """Central differences of the value and the gradient; no eigenvalue of the Hessian is negative."""
    dimension, count = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 5))
    z = data.draw(data_points(LOSS, dimension, count=count, radius=2.0))
    domain = domain_of(L2Ball(np.zeros(dimension), 2.0))
    population = FinitePopulation(z, LOSS)
    risk = SmoothedDistanceRisk.build(DistanceRisk(population.data, population.probabilities), domain)
    v = data.draw(hnp.arrays(np.float64, dimension, elements=st.floats(-0.9, 0.9)))
    mu = data.draw(st.floats(0.05, 1.0)) / count
    gradient, hessian = risk.derivatives(v, mu)
    step = 1e-5
    for j in range(dimension):
        shift = step * np.eye(dimension)[j]
        slope = (risk.value(v + shift, mu) - risk.value(v - shift, mu)) / (2.0 * step)
        assert abs(slope - gradient[j]) <= 1e-6
        after, before = risk.derivatives(v + shift, mu)[0], risk.derivatives(v - shift, mu)[0]
        assert np.abs((after - before) / (2.0 * step) - hessian[:, j]).max() <= 1e-5
    assert np.linalg.eigvalsh(hessian).min() >= -1e-14


@given(st.data())
def test_the_smoothing_is_close_to_the_distance(data):
    """``max_u {<u, r> + μ·log(1 − ‖u‖²)}`` lies below ``‖r‖`` and above it at any u, as at ``u = r/(‖r‖ + μ)``."""
    dimension = data.draw(st.integers(1, 4))
    z = data.draw(data_points(LOSS, dimension, count=1, radius=2.0))
    domain = domain_of(L2Ball(np.zeros(dimension), 1.0))
    risk = SmoothedDistanceRisk.build(DistanceRisk(z, np.ones(1)), domain)
    mu = 10.0 ** data.draw(st.floats(-9.0, 0.0))
    distance = float(euclidean_norm(z)[0])
    u = distance / (distance + mu)
    value = risk.value(np.zeros(dimension), mu)
    assert value <= distance + 1e-14
    assert value >= distance * u + mu * np.log1p(-(u**2)) - 1e-14
