"""Mirror descent: closed forms of the step, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsco_verify.algorithm import mirror_descent, mirror_step
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    Box,
    Euclidean,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Simplex,
    bregman_projection,
)


def test_the_euclidean_step_is_projected_gradient_descent():
    ball = L2Ball(np.zeros(3), 1.0)
    rng = np.random.default_rng(1)
    for _ in range(20):
        w, g = ball.project(rng.normal(size=3)), rng.normal(size=3)
        step = mirror_step(w, g, potential=Euclidean(), convex_set=ball, step_size=0.7)
        np.testing.assert_array_equal(step, ball.project(w - 0.7 * g))


def test_on_the_simplex_the_entropy_multiplies_weights():
    w, g = np.array([0.2, 0.3, 0.5]), np.array([1.0, -2.0, 0.5])
    step = mirror_step(w, g, potential=NegativeEntropy(), convex_set=Simplex(3), step_size=0.4)
    weights = w * np.exp(-0.4 * g)
    np.testing.assert_allclose(step, weights / weights.sum(), rtol=1e-14)


@pytest.mark.parametrize(
    ("potential", "convex_set"),
    [
        (PNorm(1.5), Box([0.1, 0.2, 0.1], [1.0, 0.9, 2.0])),
        (PNorm(1.25), Simplex(3)),
        (NegativeEntropy(), Box([0.1, 0.2, 0.1], [1.0, 0.9, 2.0])),
        (Euclidean(), Simplex(3)),
    ],
)
def test_the_step_is_the_papers_two_lines(potential, convex_set):
    """First ``∇Φ*(∇Φ(w) − ηg)``, then the Bregman projection: another route through the geometry."""
    rng = np.random.default_rng(2)
    for _ in range(10):
        w = convex_set.project(rng.uniform(0.2, 1.0, size=3))
        w = 0.9 * w + 0.1 * convex_set.minimiser(potential)
        g = rng.normal(size=3)
        free = potential.conjugate_gradient(potential.gradient(w) - 0.3 * g)
        expected = bregman_projection(potential, convex_set, free)
        step = mirror_step(w, g, potential=potential, convex_set=convex_set, step_size=0.3)
        np.testing.assert_allclose(step, expected, atol=1e-12)


def test_the_step_against_a_general_minimiser():
    potential, box = PNorm(1.5), Box([0.1, 0.2], [1.0, 0.9])
    w, g, eta = np.array([0.4, 0.6]), np.array([1.0, -3.0]), 0.2
    free = potential.conjugate_gradient(potential.gradient(w) - eta * g)
    solved = minimize(
        lambda v: float(potential.divergence(v, free)),
        w,
        bounds=list(zip(box.low, box.high, strict=True)),
        options={"ftol": 1e-15, "gtol": 1e-10},
    )
    step = mirror_step(w, g, potential=potential, convex_set=box, step_size=eta)
    np.testing.assert_allclose(step, solved.x, atol=1e-6)


def test_a_run_starts_at_the_minimiser_and_repeats_the_step():
    gradients = np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 2.0]])
    run = mirror_descent(gradients, potential=NegativeEntropy(), convex_set=Simplex(3), step_size=0.5)
    np.testing.assert_allclose(run.iterates[0], 1 / 3)
    weights = np.exp(-0.5 * gradients.sum(axis=0))
    np.testing.assert_allclose(run.iterates[2], weights / weights.sum(), rtol=1e-14)
    assert run.iterates.shape == (3, 3)
    started = mirror_descent(
        gradients,
        potential=NegativeEntropy(),
        convex_set=Simplex(3),
        step_size=0.5,
        initial_point=[0.2, 0.3, 0.5],
    )
    np.testing.assert_array_equal(started.iterates[0], [0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"step_size": 0.0}, "step_size"),
        ({"step_size": float("nan")}, "step_size"),
        ({"gradients": [[1.0, np.nan]]}, "gradients"),
        ({"gradients": [[1.0]]}, "gradients"),
        ({"gradients": np.zeros((0, 2))}, "holds no step"),
        ({"initial_point": [2.0, -1.0]}, "outside W"),
        ({"initial_point": [1.0, 0.0]}, "negative entropy needs"),
    ],
)
def test_what_a_run_refuses(changes, message):
    arguments = {
        "gradients": [[1.0, 2.0]],
        "potential": NegativeEntropy(),
        "convex_set": Simplex(2),
        "step_size": 1.0,
    } | changes
    gradients = arguments.pop("gradients")
    with pytest.raises(InputError, match=message):
        mirror_descent(gradients, **arguments)


def test_shapes_of_a_step_must_fit():
    with pytest.raises(InputError, match="differs from"):
        mirror_step([0.5, 0.5], [1.0], potential=Euclidean(), convex_set=Simplex(2), step_size=1.0)
