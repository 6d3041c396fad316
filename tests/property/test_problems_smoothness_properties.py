"""``‖∇f(w) − ∇f(v)‖ ≤ β‖w − v‖`` for every smooth loss at whatever points Hypothesis finds, with a β that is needed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems import Huber, Linear, Logistic
from dpsco_verify.problems.losses import Loss
from dpsco_verify.strategies.problems import data_points, losses, parameter_points
from loss_properties import smoothness_violation

pytestmark = pytest.mark.slow


def smooth_losses() -> st.SearchStrategy[Loss]:
    return st.one_of(st.just(Linear()), st.builds(Huber, st.floats(1e-3, 1e3)), st.just(Logistic()))


@st.composite
def instances(draw, chosen):
    """Draw a loss, two sets of parameters, apart or near each other, and data, row for row."""
    loss = draw(chosen)
    dimension, radius = draw(st.integers(1, 5)), draw(st.sampled_from([1.0, 1e3]))
    w = draw(parameter_points(dimension, count=4, bound=draw(st.sampled_from([1.0, 1e3]))))
    u = draw(parameter_points(dimension, count=4, bound=1.0))
    if draw(st.booleans()):
        u = w + 10.0 ** draw(st.integers(-9, 0)) * u
    return loss, w, u, draw(data_points(loss, dimension, count=4, radius=radius, target_bound=radius))


@given(instances(smooth_losses()))
def test_the_gradient_is_lipschitz(instance):
    loss, w, u, z = instance
    assert loss.smoothness(1.0) is not None
    assert smoothness_violation(loss, w, u, z) is None


@given(instances(losses()))
def test_what_a_loss_promises_holds_and_smoothness_grows_with_the_square_of_the_radius(instance):
    loss, w, u, z = instance
    assert smoothness_violation(loss, w, u, z) is None
    beta = loss.smoothness(3.0)
    assert beta is None or beta == 9.0 * loss.smoothness(1.0)


@given(st.data())
def test_the_constant_is_approached(data):
    """About the score of the largest curvature, along the features; at a tenth of the threshold for Huber's loss."""
    loss = data.draw(st.one_of(st.builds(Huber, st.floats(1e-3, 1e3)), st.just(Logistic())))
    z = data.draw(data_points(loss, data.draw(st.integers(1, 5)), count=1, radius=1.0, target_bound=1.0))
    a = loss.features(z)
    a = np.where(np.abs(a) > 1e-3, a, 0.1)
    z[:, :-1] = a
    centre = z[0, -1] if isinstance(loss, Huber) else 0.0
    shift = 0.1 * loss.threshold if isinstance(loss, Huber) else 1e-3
    squared_norm = float(np.sum(a * a))
    w, u = (a * (centre + sign * shift) / squared_norm for sign in (-1.0, 1.0))
    change = euclidean_norm(loss.subgradient(w, z) - loss.subgradient(u, z))[0]
    beta = loss.smoothness(float(euclidean_norm(a)[0]))
    assert change >= 0.999 * beta * euclidean_norm(w - u)[0]


@given(st.data())
def test_a_linear_loss_has_one_gradient(data):
    """β = 0 is exact: not a bit of the gradient depends on the parameter."""
    dimension = data.draw(st.integers(1, 5))
    w, u = data.draw(parameter_points(dimension, count=2))
    z = data.draw(data_points(Linear(), dimension, count=1))[0]
    assert Linear().subgradient(w, z).tobytes() == Linear().subgradient(u, z).tobytes()
