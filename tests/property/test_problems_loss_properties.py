"""The shipped losses have the properties that a loss must have, at whatever points Hypothesis finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpsco_verify.geometry.norms import summation_error
from dpsco_verify.problems.losses import Hinge, Logistic
from dpsco_verify.strategies.problems import (
    data_points,
    finite_populations,
    losses,
    neighbouring_data,
    parameter_points,
    predictor_losses,
)
from loss_properties import (
    FUNCTION_ROUNDING,
    attainment_violation,
    batch_violation,
    convexity_violation,
    lipschitz_violation,
    subgradient_inequality_violation,
)


@st.composite
def instances(draw, *, max_dimension=5, max_count=3, bound=1e6):
    """Draw a loss, two sets of parameters and data, row for row."""
    loss = draw(losses())
    dimension = draw(st.integers(1, max_dimension))
    count = draw(st.integers(1, max_count))
    w = draw(parameter_points(dimension, count=count, bound=bound))
    u = draw(parameter_points(dimension, count=count, bound=bound))
    # Points close to each other see the curvature, and a kink between them.
    if draw(st.booleans()):
        u = w + 1e-6 * u
    return loss, w, u, draw(data_points(loss, dimension, count=count))


@given(instances())
def test_subgradient_inequality(instance):
    loss, w, u, z = instance
    assert subgradient_inequality_violation(loss, w, u, z) is None


@given(instances(), st.floats(0.0, 1.0))
def test_convex_along_segments(instance, fraction):
    loss, w, u, z = instance
    assert convexity_violation(loss, w, u, z, np.full(w.shape[0], fraction)) is None


@given(instances())
def test_lipschitz_bound(instance):
    loss, w, u, z = instance
    assert lipschitz_violation(loss, w, u, z) is None


@given(instances(max_dimension=40, max_count=3))
def test_same_bits_alone_and_in_a_batch(instance):
    loss, w, _, z = instance
    assert batch_violation(loss, w, z) is None


@given(st.data())
def test_lipschitz_constant_is_attained(data):
    loss = data.draw(losses())
    z = data.draw(data_points(loss, data.draw(st.integers(1, 5)), count=1))
    assume(np.abs(loss.features(z)).max() > 1e-6)
    assert attainment_violation(loss, z) is None


@given(st.data())
def test_the_kink_belongs_to_the_subdifferential(data):
    """At a score that equals the target, or its label's margin of 1, the inequality still holds on both sides."""
    loss = data.draw(predictor_losses())
    target = data.draw(st.sampled_from([-1.0, 1.0]))
    z = np.array([[1.0, target]])
    w = np.array([[target]])
    u = np.array([[data.draw(st.floats(-1e3, 1e3))]])
    assert subgradient_inequality_violation(loss, w, u, z) is None
    assert subgradient_inequality_violation(loss, u, w, z) is None


@given(st.data())
def test_smoothing_and_conjugate_belong_to_the_loss(data):
    """``φ + φ*(θ) ≥ θs`` everywhere, with equality at the loss's own slope; smoothed slopes stay in the domain."""
    loss = data.draw(predictor_losses())
    score = data.draw(st.floats(-1e6, 1e6))
    z = data.draw(data_points(loss, 1, count=1))
    target = z[0, -1]
    low, high = loss.conjugate_domain(target)
    value = loss.score_value(np.float64(score), target)
    size = 1.0 + abs(value) + loss.slope_bound * (1.0 + abs(score) + abs(target) + loss.slope_bound)

    own = loss.score_slope(np.float64(score), target)
    assert low <= own <= high
    assert abs(value + loss.conjugate(own, target) - own * score) <= 1e-13 * size

    weight = 10.0 ** data.draw(st.floats(-15, 3))
    for theta in (
        loss.smoothing(np.float64(score), target, np.float64(weight)).slope,
        low,
        high,
        0.5 * (low + high),
    ):
        assert low <= theta <= high
        assert value + loss.conjugate(np.float64(theta), target) - theta * score >= -1e-13 * size


@given(st.data())
def test_smoothing_has_the_derivatives_that_it_says(data):
    loss = data.draw(predictor_losses())
    target = np.float64(data.draw(st.sampled_from([-1.0, 1.0])))
    score = np.float64(data.draw(st.floats(-4.0, 4.0)))
    weight = np.float64(data.draw(st.floats(0.05, 2.0)))
    step = 1e-5
    here = loss.smoothing(score, target, weight)
    after, before = (loss.smoothing(score + sign * step, target, weight) for sign in (1, -1))
    size = 1.0 + loss.slope_bound
    assert abs((after.value - before.value) / (2 * step) - here.slope) <= 1e-8 * size
    assert abs((after.slope - before.slope) / (2 * step) - here.curvature) <= 1e-7 * size
    assert here.curvature >= 0.0


@given(st.floats(1e4, 1e308), st.sampled_from([-1.0, 1.0]), st.sampled_from([-1.0, 1.0]))
def test_logistic_at_extreme_margins(margin, sign, label):
    """``f = max(0, −m)`` and ``g = −y·1{m < 0}·a`` to the last bit once ``e^{−|m|}`` is below the doubles."""
    loss, z = Logistic(), np.array([1.0, label])
    w = np.array([sign * margin])
    m = label * sign * margin
    assert loss.value(w, z) == max(0.0, -m)
    assert loss.subgradient(w, z)[0] == (-label if m < 0 else 0.0)


@given(finite_populations(max_dimension=9, max_count=40), st.data())
def test_risk_is_the_mean_of_values_with_the_same_bits_alone(population, data):
    w = data.draw(parameter_points(population.dimension, count=data.draw(st.integers(1, 5))))
    risk = population.risk(w)
    values = population.loss.value(w[:, None, :], population.data)
    size = population.lipschitz * np.sqrt((w**2).sum(axis=-1)) + np.abs(values).max(axis=-1)
    assert (np.abs(risk - values @ population.probabilities) <= 1e-13 * size + 1e-300).all()
    alone = np.array([population.risk(row) for row in w])
    layouts = (w.reshape(1, *w.shape), np.asfortranarray(w), np.repeat(w, 2, axis=-1)[:, ::2])
    for other in (alone, *(population.risk(layout).reshape(risk.shape) for layout in layouts)):
        if population.loss.is_bitwise:
            assert other.tobytes() == risk.tobytes()
        else:
            # Means of positive values that are as far off as exp and log are.
            np.testing.assert_allclose(other, risk, rtol=FUNCTION_ROUNDING + summation_error(40), atol=1e-300)


@given(st.data())
def test_data_points_respect_the_radius_and_the_labels(data):
    loss = data.draw(losses())
    dimension, radius = data.draw(st.integers(1, 20)), data.draw(st.floats(1e-3, 1e3))
    points = data.draw(data_points(loss, dimension, count=3, radius=radius))
    assert points.shape == (3, loss.data_dimension(dimension))
    assert (np.linalg.norm(loss.features(points), axis=-1) <= radius).all()
    loss.require_data(points, dimension=dimension)


@pytest.mark.slow
@given(st.data())
def test_neighbours_differ_in_exactly_one_row(data):
    loss = data.draw(losses())
    count = data.draw(st.integers(1, 5))
    pair = data.draw(neighbouring_data(loss, data.draw(st.integers(1, 4)), count=count))
    different = (pair.data != pair.neighbour).any(axis=-1)
    assert different.tolist() == [i == pair.row for i in range(count)]


@given(hnp.arrays(np.float64, 4, elements=st.floats(-1e6, 1e6)), st.sampled_from([-1.0, 1.0]))
def test_a_mirrored_label_mirrors_the_classification_losses(point, label):
    """``f(w, (a, y)) = f(−w, (a, −y))``: both labels are treated alike."""
    for loss in (Hinge(), Logistic()):
        z, mirrored = np.append(point, label), np.append(point, -label)
        w = np.ones(4)
        assert loss.value(w, z) == loss.value(-w, mirrored)
        assert np.array_equal(loss.subgradient(w, z), -loss.subgradient(-w, mirrored))
