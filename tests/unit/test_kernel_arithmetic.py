"""The kernel's arithmetic without the compiler, bit for bit against numpy and the sets of ``geometry``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.algorithm.kernel import arithmetic, mirror, projections
from dpsco_verify.algorithm.kernel.kinds import ROOM, PotentialKind, SetKind, plan_set
from dpsco_verify.geometry import Box, HalfSpace, L1Ball, L2Ball, Simplex
from dpsco_verify.geometry.norms import euclidean_norm

SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 135, 136, 137, 200, 255, 256, 257, 264, 1000, 1025, 4097)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """Each part is what Python makes of it, so that a change of a line is seen at once."""
    for module in (arithmetic, mirror, projections):
        for name, found in list(vars(module).items()):
            if hasattr(found, "py_func"):
                monkeypatch.setattr(module, name, found.py_func)
    with np.errstate(all="ignore"):  # compiled code does not warn
        yield


def numbers(size, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    return scale * rng.standard_normal(size) * 10.0 ** rng.integers(-8, 8, size)


@pytest.mark.parametrize("size", SIZES)
def test_sums_are_numpys(size):
    terms, room = numbers(size + 5), np.zeros(ROOM + 2 * size + 16)
    assert arithmetic.pairwise_sum(terms, 3, size, room) == np.sum(terms[3 : 3 + size])
    other = numbers(size + 2, seed=1)
    assert arithmetic.inner_product(terms, 3, other, 2, size, room) == np.sum(terms[3 : 3 + size] * other[2:])


@pytest.mark.parametrize("scale", [1.0, 1e-150, 1e-300, 1e145, 1e155, 1e290])
@pytest.mark.parametrize("size", [1, 5, 8, 130])
def test_norms_are_those_of_the_geometry(size, scale):
    x, room = numbers(size + 2, scale=scale), np.zeros(ROOM + 2 * size + 16)
    assert arithmetic.euclidean_norm(x, 2, size, room) == euclidean_norm(x[2:])
    assert arithmetic.euclidean_norm(np.zeros(size), 0, size, room) == 0.0


def test_entries_up_to_the_limit_are_bounded():
    x = np.array([np.nan, 1.0, -3.0, 3.0, np.inf])
    assert arithmetic.bounded(x, 1, 3, 3.0)
    assert not arithmetic.bounded(x, 1, 3, math.nextafter(3.0, 0.0))
    assert not arithmetic.bounded(x, 0, 3, 1e308)
    assert not arithmetic.bounded(x, 1, 4, 1e308)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 33])
def test_a_heap_sorts(size):
    rng = np.random.default_rng(size)
    for values in (
        rng.standard_normal(size),
        rng.integers(0, 4, size).astype(float),
        np.arange(size)[::-1] * 1.0,
    ):
        x = np.concatenate([[9.0], values, [-9.0]])
        arithmetic.sort(x, 1, size)
        assert x.tolist() == [9.0, *sorted(values), -9.0]


def sets(d):
    center = numbers(d, seed=7, scale=1e-3)
    normal = np.linspace(-1.0, 2.0, d) + 0.1
    return [
        L2Ball(np.zeros(d), 1.5),
        L2Ball(center, 1.5),
        Box(-np.ones(d), np.linspace(0.5, 2.0, d)),
        HalfSpace(normal, 0.3),
        Simplex(d, 1.5),
        L1Ball(d, 2.0),
        L1Ball(d, 2.0, center=center),
    ]


@pytest.mark.parametrize("d", [1, 2, 3, 9, 130])
def test_projections_are_those_of_the_geometry(d):
    rng = np.random.default_rng(d)
    rows = np.concatenate(
        [scale * rng.standard_normal((4, d)) for scale in (1e-3, 0.3, 3.0, 1e4)]
        + [np.ones((1, d)), np.zeros((1, d)), np.full((1, d), 1e-170), np.full((1, d), 1e160)]
    )
    for one in sets(d):
        plan = plan_set(one)
        assert plan is not None, one
        x, room, distances = rows.ravel().copy(), np.zeros(ROOM + 2 * d), np.zeros(len(rows))
        flat = (plan.numbers, plan.vectors.ravel(), room, distances)
        assert projections.project(x, len(rows), d, int(plan.kind), *flat)
        expected = np.array([one.project(row) for row in rows])
        assert np.array_equal(x.reshape(rows.shape), expected), one
        for bad in (np.nan, 1e301):
            x = rows.ravel().copy()
            x[-1] = bad
            assert not projections.project(x, len(rows), d, int(plan.kind), *flat), (one, bad)


def entropy_step(tilt, kind, *, total=1.0, bounds=()):
    x = np.array(tilt, dtype=np.float64)
    room = np.zeros(ROOM + 2 * x.size)
    fine = mirror._entropy_step(x, x.size, int(kind), np.array([total]), np.array(bounds), room)
    return fine, x


def test_the_entropys_minimiser_in_closed_form():
    """Weights of 1 : 2 : 5 on the simplex, whatever is added to the tilt; ``exp(x − 1)``, clipped, elsewhere."""
    for shift in (0.0, 1e4, -1e4):
        fine, x = entropy_step(shift + np.log([1.0, 2.0, 5.0]), SetKind.SIMPLEX, total=2.0)
        assert fine
        np.testing.assert_allclose(x, [0.25, 0.5, 1.25], rtol=1e-11)  # the tilt's own rounding at 1e4
    tilt = 1.0 + np.log([0.5, 3.0, 0.1])
    fine, x = entropy_step(tilt, SetKind.WHOLE_SPACE)
    assert fine
    np.testing.assert_allclose(x, [0.5, 3.0, 0.1], rtol=1e-14)
    fine, x = entropy_step(tilt, SetKind.BOX, bounds=[0.25, 0.25, -1.0, 1.0, 2.0, 0.05])
    assert fine
    np.testing.assert_allclose(x, [0.5, 2.0, 0.05], rtol=1e-14)


def test_the_entropys_gradient_needs_positive_weights():
    room = np.zeros(ROOM + 4)
    for weights, fine in (([1.0, 0.5], True), ([0.0, 0.5], False), ([1.0, -0.5], False)):
        x = np.array(weights)
        assert mirror._dual_point(x, 2, int(PotentialKind.NEGATIVE_ENTROPY), 1.0, room) == fine
        if fine:
            np.testing.assert_allclose(x, [1.0, 1.0 - math.log(2.0)], rtol=1e-15)


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_the_gradient_of_half_a_squared_norm_and_its_inverse(scale):
    """At x = (1, −2, 0) and exponent 3 it is (1, −4, 0)/9^(1/3); that of the exponent 3/2 leads back."""
    x, room = scale * np.array([1.0, -2.0, 0.0]), np.zeros(ROOM + 6)
    assert mirror._half_square_gradient(x, 3, 3.0, 2.0, room)
    np.testing.assert_allclose(x, scale * np.array([1.0, -4.0, 0.0]) / 9.0 ** (1 / 3), rtol=1e-14)
    assert mirror._dual_point(x, 3, int(PotentialKind.P_NORM), 1.5, room)
    np.testing.assert_allclose(x, scale * np.array([1.0, -2.0, 0.0]), rtol=1e-14)
    zero = np.zeros(3)
    assert mirror._half_square_gradient(zero, 3, 3.0, 2.0, room)
    assert zero.tolist() == [0.0, 0.0, 0.0]


def test_a_point_on_the_boundary_of_an_l1_ball_stays_as_it_is():
    """In doubles the centre and the difference from it do not add up to the point."""
    center = np.array([0.3])
    x = np.array([next(v for v in np.linspace(-1.0, 1.0, 101) if 0.3 + (v - 0.3) != v)])
    ball = L1Ball(1, float(abs(x - center)[0]), center=center)
    plan = plan_set(ball)
    moved = x.copy()
    flat = (plan.numbers, plan.vectors.ravel(), np.zeros(ROOM + 2), np.zeros(1))
    assert projections.project(moved, 1, 1, int(plan.kind), *flat)
    assert moved[0] == x[0] == ball.project(x)[0]
