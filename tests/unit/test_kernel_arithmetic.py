"""The kernel's arithmetic without the compiler, bit for bit against numpy and the sets of ``geometry``."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.algorithm.kernel import arithmetic, projections
from dpsco_verify.algorithm.kernel.kinds import ROOM, plan_set
from dpsco_verify.geometry import Box, HalfSpace, L1Ball, L2Ball, Simplex
from dpsco_verify.geometry.norms import euclidean_norm

SIZES = (1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 135, 136, 137, 200, 255, 256, 257, 264, 1000, 1025, 4097)


@pytest.fixture(autouse=True)
def _interpreted(monkeypatch):
    """Each part is what Python makes of it, so that a change of a line is seen at once."""
    for module in (arithmetic, projections):
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
