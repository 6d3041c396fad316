"""Dykstra's algorithm: when it stops, when it gives up, and what its results are certified to."""

from __future__ import annotations

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, ConvergenceError, HalfSpace, Intersection, L2Ball, Simplex


@pytest.mark.slow
def test_sets_that_do_not_meet_are_reported():
    apart = Intersection([L2Ball([0, 0], 1.0), L2Ball([3, 0], 1.0)], max_iterations=200)
    with pytest.raises(ConvergenceError, match="max_iterations=200 .* check that the sets meet"):
        apart.project([1.0, 1.0])
    assert issubclass(ConvergenceError, InputError)


@pytest.mark.slow
def test_points_too_far_away_are_reported_rather_than_projected_wrongly():
    wedge = Intersection([L2Ball([0, 0], 1.0), Box([0, 0], [1, 1])], max_iterations=200)
    with pytest.raises(ConvergenceError, match="not too far away"):
        wedge.project([-1e150, 1e150])


def test_one_set_is_projected_onto_exactly():
    ball = L2Ball([1, 2], 1.0)
    x = np.array([[5.0, 5.0], [1.0, 2.0]])
    assert Intersection([ball]).project(x).tolist() == ball.project(x).tolist()


def test_rows_do_not_depend_on_how_long_others_take():
    convex_set = Intersection([Simplex(4), Box(np.zeros(4), np.full(4, 0.4))])
    rows = np.array([[0.25] * 4, [9.0, 1, 0, -3], [100.0, -50, 3, 3], [0.4, 0.3, 0.2, 0.1]])
    together = convex_set.project(rows)
    for row, result in zip(rows, together, strict=True):
        assert convex_set.project(row).tobytes() == result.tobytes()


def test_the_stalling_example_is_passed():
    """Dykstra's plain iteration stands still for some 2500 cycles here (x is far from a small set)."""
    dimension = 50
    convex_set = Intersection(
        [Simplex(dimension), Box(np.zeros(dimension), np.full(dimension, 2 / dimension))]
    )
    x = np.random.default_rng(0).standard_normal(dimension)
    counted = Intersection(convex_set.sets, max_iterations=200)
    w = counted.project(x)
    # The threshold rule: clip(x - t, 0, 2/d) with t such that the sum is 1.
    free = (w > 1e-6) & (w < 2 / dimension - 1e-6)
    t = (x - w)[free]
    assert np.ptp(t) < 1e-8
    np.testing.assert_allclose(np.clip(x - t.mean(), 0, 2 / dimension), w, atol=1e-8)


def test_the_scale_may_be_given_and_is_the_least_extent_otherwise():
    members = [L2Ball([0, 0], 3.0), Box([-1, -1], [1, 1])]
    assert Intersection(members).scale == pytest.approx(np.sqrt(2))
    assert Intersection(members, scale=10.0).scale == 10
    assert Intersection([HalfSpace([1, 0], 1.0)]).scale == 1


def test_contains_asks_every_set():
    wedge = Intersection([L2Ball([0, 0], 1.0), Box([0, 0], [1, 1])])
    assert wedge.contains([[0.5, 0.5], [0.9, 0.9], [-0.1, 0.5]]).tolist() == [True, False, False]
    assert wedge.violation([[0.9, 0.9], [-0.1, 0.5]]) == pytest.approx([0.9 * np.sqrt(2) - 1, 0.1])
