"""Closed-form values, errors and extremes of the convex sets."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    AffineSubspace,
    Box,
    HalfSpace,
    Intersection,
    L1Ball,
    L2Ball,
    LpBall,
    Simplex,
    WholeSpace,
)
from dpsco_verify.geometry.norms import euclidean_norm, p_norm, summation_error

ONES = np.ones(3)
EVERY_SET = [
    L2Ball(ONES, 2.0),
    Box(-ONES, ONES),
    Simplex(3),
    L1Ball(3, 2.0, ONES),
    LpBall(3, 1.5, 2.0, ONES),
    LpBall(3, 4.0, 2.0),
    HalfSpace(ONES, 1.0),
    AffineSubspace([[1.0, 1.0, 1.0]], [1.0]),
    WholeSpace(3),
    Intersection([Simplex(3), Box(-ONES, 0.6 * ONES)]),
]
names = [f"{type(convex_set).__name__}{i}" for i, convex_set in enumerate(EVERY_SET)]


@pytest.mark.parametrize(
    ("convex_set", "x", "expected"),
    [
        (L2Ball([0, 0], 1.0), [3.0, 4.0], [0.6, 0.8]),
        (L2Ball([1, 0], 2.0), [1.0, 8.0], [1.0, 2.0]),
        (L2Ball([1, 0], 2.0), [1.0, 1.0], [1.0, 1.0]),
        (Box([-1, 0], [1, 2]), [-3.0, 1.5], [-1.0, 1.5]),
        (Box([1, 1], [1, 1]), [-3.0, 1.5], [1.0, 1.0]),
        (Simplex(3), [1.0, 1.0, 1.0], [1 / 3] * 3),
        (Simplex(3), [2.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
        (Simplex(3, 3.0), [2.0, 1.0, -5.0], [2.0, 1.0, 0.0]),
        (Simplex(1, 4.0), [-7.0], [4.0]),
        (L1Ball(2, 1.0), [2.0, -0.5], [1.0, 0.0]),
        (L1Ball(2, 1.0), [1.0, -1.0], [0.5, -0.5]),
        (L1Ball(2, 1.0, [5, 5]), [5.25, 5.25], [5.25, 5.25]),
        (LpBall(2, 3.0, 1.0), [5.0, 0.0], [1.0, 0.0]),
        (LpBall(2, 1.5, 1.0), [-7.0, -7.0], [-(0.5 ** (2 / 3))] * 2),
        (LpBall(2, 2.0, 1.0, [1, 1]), [4.0, 5.0], [1.6, 1.8]),
        (HalfSpace([0, 2], 2.0), [3.0, 5.0], [3.0, 1.0]),
        (HalfSpace([0, 2], 2.0), [3.0, 0.5], [3.0, 0.5]),
        (AffineSubspace([[1, 1]], [2]), [3.0, 1.0], [2.0, 0.0]),
        (AffineSubspace([[1, 0], [0, 1]], [2, 3]), [9.0, 9.0], [2.0, 3.0]),
        (AffineSubspace(np.zeros((0, 2)), []), [9.0, 8.0], [9.0, 8.0]),
        (WholeSpace(2), [1e300, -0.0], [1e300, -0.0]),
        (Intersection([Box([0, 0], [1, 1]), HalfSpace([1, 1], 1.0)]), [2.0, 2.0], [0.5, 0.5]),
        (Intersection([Simplex(2), Box([0, 0], [0.75, 1])]), [5.0, 0.0], [0.75, 0.25]),
    ],
)
def test_projections_have_their_closed_form_values(convex_set, x, expected):
    slack = 4e-10 if isinstance(convex_set, Intersection) else 4e-16
    np.testing.assert_allclose(convex_set.project(x), expected, rtol=slack, atol=slack)


@pytest.mark.parametrize(
    ("convex_set", "diameter", "max_norm"),
    [
        (L2Ball([3, 4], 2.0), 4.0, 7.0),
        (Box([-1, 0], [2, 4]), 5.0, math.hypot(2, 4)),
        (Simplex(3, 2.0), 2 * math.sqrt(2), 2.0),
        (Simplex(1, 2.0), 0.0, 2.0),
        (L1Ball(2, 2.0), 4.0, 2.0),
        (L1Ball(2, 2.0, [1, -3]), 4.0, math.hypot(1, 5)),
        (LpBall(4, 4.0, 1.0), 2 * 4**0.25, 4**0.25),
        (LpBall(4, 1.5, 1.0), 2.0, 1.0),
        (HalfSpace([1, 0], 1.0), math.inf, math.inf),
        (AffineSubspace([[1, 0]], [3]), math.inf, math.inf),
        (AffineSubspace([[1, 0], [0, 2]], [3, 8]), 0.0, 5.0),
        (WholeSpace(2), math.inf, math.inf),
        (Intersection([L2Ball([0, 0], 1.0), WholeSpace(2)]), 2.0, 1.0),
    ],
)
def test_extents_are_exact(convex_set, diameter, max_norm):
    assert convex_set.diameter == pytest.approx(diameter, rel=1e-15)
    assert convex_set.max_norm == pytest.approx(max_norm, rel=1e-15)


def test_the_diameter_of_each_bounded_set_is_attained():
    """Not only an upper bound: two members are that far apart."""
    e = np.eye(4)
    for convex_set, x, y in [
        (L1Ball(4, 2.0), e[0], -e[0]),
        (LpBall(4, 1.5, 2.0), e[0], -e[0]),
        (LpBall(4, 4.0, 2.0), e.sum(axis=0), -e.sum(axis=0)),
        (Simplex(4), e[0], e[1]),
        (Box(-e[0], e[1]), e[0] - e[1], e[1] - e[0]),
    ]:
        far = 100 * (np.stack([x, y]))
        v, w = convex_set.project(far)
        assert np.linalg.norm(v - w) == pytest.approx(convex_set.diameter, rel=1e-12)


@pytest.mark.parametrize("convex_set", EVERY_SET, ids=names)
def test_shapes_follow_the_leading_axes(convex_set):
    points = np.random.default_rng(0).standard_normal((4, 2, 3))
    assert convex_set.dimension == 3
    assert convex_set.project(points).shape == (4, 2, 3)
    for method in (
        convex_set.contains,
        convex_set.violation,
        convex_set.rounding,
        convex_set.projection_error,
    ):
        assert method(points).shape == (4, 2)
        assert method(points[0, 0]).shape == ()
    assert convex_set.contains(points).dtype == np.bool_
    assert convex_set.project(points[:0]).shape == (0, 2, 3)
    assert convex_set.project([1, 2, 3]).dtype == np.float64


@pytest.mark.parametrize("convex_set", EVERY_SET, ids=names)
def test_sets_survive_pickling(convex_set):
    copy = pickle.loads(pickle.dumps(convex_set))  # noqa: S301  our own bytes
    x = np.array([5.0, -1.0, 0.25])
    assert copy.project(x).tobytes() == convex_set.project(x).tobytes()
    assert type(convex_set).__name__ in repr(copy)


@pytest.mark.parametrize("convex_set", EVERY_SET, ids=names)
def test_reprs_of_small_sets_evaluate(convex_set):
    copy = eval(repr(convex_set))  # noqa: S307  our own repr
    x = np.array([5.0, -1.0, 0.25])
    assert copy.project(x).tobytes() == convex_set.project(x).tobytes()


def test_reprs_of_large_sets_are_short():
    zero = np.zeros(1000)
    for convex_set in (
        L2Ball(zero, 1.0),
        Box(zero, zero),
        HalfSpace(zero + 1, 0.0),
        AffineSubspace([zero + 1], [0.0]),
    ):
        assert len(repr(convex_set)) < 300


@pytest.mark.parametrize("convex_set", EVERY_SET, ids=names)
def test_points_are_checked(convex_set):
    for method in (convex_set.project, convex_set.contains, convex_set.violation):
        with pytest.raises(InputError, match=r"x\.shape=\(2,\) .*\(\.\.\., 3\)"):
            method([1.0, 2.0])
        with pytest.raises(InputError, match=r"x\.shape=\(\)"):
            method(1.0)
        with pytest.raises(InputError, match=r"x\[1\]=.*nan.*not finite"):
            method([1.0, math.nan, 2.0])
        with pytest.raises(InputError, match="not finite"):
            method([1.0, math.inf, 2.0])
        with pytest.raises(InputError, match="above 1e\\+300"):
            method([1.0, 1e301, 2.0])
        with pytest.raises(InputError, match="give real numbers"):
            method(["a", "b", "c"])
    with pytest.raises(InputError, match="tolerance=-1"):
        convex_set.contains([1.0, 2.0, 3.0], tolerance=-1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: L2Ball([0.0], 0.0), "radius=0.0 is not positive"),
        (lambda: L2Ball([0.0], math.inf), "radius=inf is infinite"),
        (lambda: L2Ball([0.0], 1e251), "rescale"),
        (lambda: L2Ball([0.0], 1e-251), "rescale"),
        (lambda: L2Ball([math.nan], 1.0), "center"),
        (lambda: L2Ball([], 1.0), "empty"),
        (lambda: L2Ball([[1.0]], 1.0), r"center\.shape"),
        (lambda: L2Ball([1e251], 1.0), "center has entries"),
        (lambda: Box([0, 1], [1, 0]), r"low\[1\]=.* is above high\[1\]"),
        (lambda: Box([0, 1], [1]), r"high\.shape"),
        (lambda: Box([0], [math.inf]), "high"),
        (lambda: Simplex(0), "dimension=0"),
        (lambda: Simplex(2.0), "dimension=2.0"),
        (lambda: Simplex(2, -1.0), "total=-1.0"),
        (lambda: L1Ball(2, 1.0, [1.0]), r"center\.shape"),
        (lambda: LpBall(2, 1.0, 1.0), "p=1.0"),
        (lambda: LpBall(2, math.inf, 1.0), "p=inf"),
        (lambda: HalfSpace([0.0, 0.0], 1.0), "normal=.* is zero"),
        (lambda: HalfSpace([1.0], math.nan), "offset"),
        (lambda: HalfSpace([1e-200], 1e100), "offset=1e\\+100 puts"),
        (lambda: AffineSubspace([[1, 1], [2, 2]], [1, 3]), "rhs contradicts itself"),
        (lambda: AffineSubspace([[0, 0]], [1]), r"rhs\[0\]=.*row of zeros"),
        (lambda: AffineSubspace([[1, 1]], [1, 2]), r"rhs\.shape"),
        (lambda: AffineSubspace([1, 1], [1]), r"matrix\.shape"),
        (lambda: AffineSubspace([[1e-200, 0]], [1e100]), "rescale"),
        (lambda: WholeSpace(-1), "dimension=-1"),
        (lambda: Intersection([]), "sets"),
        (lambda: Intersection([Simplex(2), Simplex(3)]), r"\[2, 3\]"),
        (lambda: Intersection([Simplex(2), "ball"]), r"sets\[1\] of type str"),
        (lambda: Intersection([Simplex(2)], tolerance=0.0), "tolerance=0.0"),
        (lambda: Intersection([Simplex(2)], max_iterations=0), "max_iterations=0"),
        (lambda: Intersection([Simplex(2)], scale=0.0), "scale=0.0"),
    ],
)
def test_constructors_say_what_is_wrong(build, message):
    with pytest.raises(InputError, match=message):
        build()


def test_sets_keep_their_own_copy_of_what_describes_them():
    center = np.zeros(2)
    ball = L2Ball(center, 1.0)
    center[:] = 100
    assert ball.contains([0.5, 0.5])
    with pytest.raises(ValueError, match="read-only"):
        ball.center[0] = 1


@pytest.mark.parametrize("convex_set", EVERY_SET[:-1], ids=names[:-1])
@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e150, 1e299])
def test_no_magnitude_breaks_a_projection(convex_set, magnitude):
    for direction in ([1.0, 1.0, 1.0], [1.0, -1.0, 1e-3], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]):
        w = convex_set.project(np.array(direction) * magnitude)
        assert convex_set.contains(w)


def test_far_points_project_as_directions():
    direction = np.array([3.0, 4.0])
    assert L2Ball([0, 0], 1.0).project(direction * 1e299) == pytest.approx([0.6, 0.8], rel=1e-15)
    assert Simplex(2).project([1e299, 1e299 * (1 + 1e-15)]).tolist() == [0.0, 1.0]
    assert Simplex(2).project([1e299, 1e299]).tolist() == [0.5, 0.5]
    # Exact on the normal, where one step of the formula would be off by 1e134.
    assert HalfSpace([1, 1], 1.0).project([1e150, 1e150]) == pytest.approx([0.5, 0.5], rel=1e-15)


def test_tiny_and_huge_sets_keep_their_relative_precision():
    for scale in (1e-200, 1e200):
        x = np.array([3.0, 4.0]) * scale
        assert L2Ball([0, 0], scale).project(x) / scale == pytest.approx([0.6, 0.8], rel=1e-15)
        assert Simplex(2, scale).project(x) / scale == pytest.approx([0.0, 1.0], rel=1e-15)
        assert L1Ball(2, 2 * scale).project(x) / scale == pytest.approx([0.5, 1.5], rel=1e-15)
        assert LpBall(2, 2.0, scale).project(x) / scale == pytest.approx([0.6, 0.8], rel=1e-14)


def test_contains_separates_what_lies_beyond_the_rounding():
    for convex_set, member, step in [
        (L2Ball([0, 0], 1.0), [0.6, 0.8], [0.6, 0.8]),
        (Box([0, 0], [1, 1]), [1.0, 0.5], [1.0, 0.0]),
        (Simplex(2), [0.5, 0.5], [1.0, 1.0]),
        (Simplex(2), [1.0, 0.0], [1.0, -1.0]),
        (L1Ball(2, 1.0), [0.5, 0.5], [1.0, 1.0]),
        (LpBall(2, 3.0, 1.0), [1.0, 0.0], [1.0, 0.0]),
        (HalfSpace([1, 0], 1.0), [1.0, 7.0], [1.0, 0.0]),
        (AffineSubspace([[1, 0]], [1]), [1.0, 7.0], [1.0, 0.0]),
    ]:
        beyond = np.array(member) + 1e-13 * np.array(step)
        assert convex_set.contains(member)
        assert not convex_set.contains(beyond)
        assert convex_set.contains(beyond, tolerance=2e-13)
        assert not convex_set.contains(np.array(member) + 1e-6 * np.array(step), tolerance=1e-7)


def test_the_rounding_bounds_stay_close_to_machine_precision():
    """Bounds that are much larger would let broken projections through."""
    for dimension in (1, 10, 1000):
        limit = 2e-14 if dimension < 1000 else 4e-14
        zero = np.zeros(dimension)
        assert L2Ball(zero, 1.0).rounding(zero) < limit
        assert Simplex(dimension).rounding(zero) < limit
        assert L1Ball(dimension, 1.0).rounding(zero) < limit
        assert HalfSpace(zero + 1, 1.0).rounding(zero) < limit
        assert Box(zero, zero).rounding(zero) == 0
        assert LpBall(dimension, 2.0, 1.0).rounding(zero) < limit


@pytest.mark.slow
def test_summation_bounds_hold_for_the_sums_that_numpy_makes():
    rng = np.random.default_rng(7)
    for dimension in (1, 7, 100, 1000, 20_000):
        x, y = rng.standard_normal((2, 20, dimension))
        exact = np.array([math.fsum((a * b).tolist()) for a, b in zip(x, y, strict=True)])
        off = np.abs(np.sum(x * y, axis=-1) - exact) / np.sum(np.abs(x * y), axis=-1)
        assert (off <= summation_error(dimension)).all()


def test_norms_neither_overflow_nor_underflow():
    x = np.array([[3e-200, 4e-200], [3e200, 4e200], [0.0, 0.0], [5e-324, 0.0], [3e299, -4e299]])
    expected = [5e-200, 5e200, 0.0, 5e-324, 5e299]
    np.testing.assert_allclose(euclidean_norm(x), expected, rtol=1e-15)
    np.testing.assert_allclose(p_norm(x, 2.0), expected, rtol=1e-15)
    assert p_norm(np.array([1.0, 1.0]), 1000.0) == pytest.approx(2**0.001, rel=1e-15)
