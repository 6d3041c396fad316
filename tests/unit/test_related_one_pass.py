"""The compiled steps of the systems are numpy's, and where the kernel stops numpy says why."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, HalfSpace, L1Ball, L2Ball, Simplex
from dpsco_verify.problems import (
    AbsoluteDeviation,
    EuclideanDistance,
    Hinge,
    Huber,
    Linear,
    Logistic,
    Quantile,
)
from dpsco_verify.related import one_pass
from dpsco_verify.related.one_pass import Steps, take_steps

LOSSES = (Linear(), Hinge(), AbsoluteDeviation(), Quantile(0.3), Huber(0.4), Logistic())


def sets(d):
    return (
        L2Ball(np.zeros(d), 0.3),
        L2Ball(np.full(d, 0.1), 0.7),
        Box(np.full(d, -0.5), np.full(d, 0.4)),
        HalfSpace(np.linspace(1.0, 2.0, d), -0.1),
        Simplex(d),
        L1Ball(d, 0.8),
    )


def in_numpy(monkeypatch, *arguments, **more):
    with monkeypatch.context() as patch:
        patch.setattr(one_pass, "plan_run", lambda **_: None)
        return take_steps(*arguments, **more)


def problem(loss, convex_set, runs, batch, *, steps=4, seed=0):
    """Return steps in random order with noise, samples, and first points."""
    rng = np.random.default_rng(seed)
    d, n = convex_set.dimension, steps * batch
    sample = rng.standard_normal((runs, n, loss.data_dimension(d))) / np.sqrt(d)
    if loss.data_dimension(d) > d:
        sample[..., -1] = np.sign(sample[..., -1])
    plan = Steps(
        order=np.stack([rng.permutation(n) for _ in range(runs)], axis=1),
        sizes=rng.uniform(0.05, 0.3, steps),
        batches=np.full(steps, batch),
        sigmas=rng.uniform(0.1, 0.5, steps),
        scale=1.5,
    )
    return plan, sample, np.tile(convex_set.project(rng.standard_normal(d)), (runs, 1))


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 9, 140])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
def test_the_compiled_steps_are_those_of_numpy(monkeypatch, loss, d):
    for convex_set, runs, batch in itertools.product(sets(d), (1, 3), (1, 9, 150)):
        steps, sample, start = problem(loss, convex_set, runs, batch)
        found = []
        for take in (take_steps, lambda *a, **k: in_numpy(monkeypatch, *a, **k)):
            rng, released = np.random.default_rng(1), np.empty((runs, 4, d))
            ends = take(steps, sample, start, loss=loss, convex_set=convex_set, rng=rng, released=released)
            found.append((*ends, released))
        for compiled, literal in zip(*found, strict=True):
            if loss.is_bitwise:
                assert np.array_equal(compiled, literal)
            else:
                np.testing.assert_allclose(compiled, literal, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("loss", [*LOSSES, EuclideanDistance()], ids=lambda loss: loss.name)
def test_the_mean_gradient_of_many_points_is_that_of_numpy(monkeypatch, loss):
    for d, runs, batch in ((1, 2, 5000), (3, 1, 4000), (9, 3, 500)):
        _, sample, start = problem(loss, L2Ball(np.zeros(d), 1.0), runs, batch, steps=1)
        assert sample.size >= 2**13
        together = one_pass.mean_gradient(loss, start, sample)
        with monkeypatch.context() as patch:
            patch.setattr(one_pass, "plan_run", lambda **_: None)
            literal = one_pass.mean_gradient(loss, start, sample)
        if loss.is_bitwise:
            assert np.array_equal(together, literal)
        else:
            np.testing.assert_allclose(together, literal, rtol=1e-12, atol=1e-14)


def test_steps_by_hand():
    steps = Steps(order=np.array([[0], [1]]), sizes=np.array([0.5, 0.25]))
    sample = np.array([[[1.0, 0.0], [0.0, 8.0]], [[-1.0, 0.0], [0.0, -1.0]]])
    last, total = take_steps(
        steps, sample, np.zeros((2, 2)), loss=Linear(), convex_set=Box([-1.0, -1.0], [1.0, 1.0])
    )
    assert last.tolist() == [[0.5, 1.0], [-0.5, -0.25]]
    assert total.tolist() == [[0.5, 0.0], [-0.5, 0.0]]


@pytest.mark.parametrize("loss", [Linear(), EuclideanDistance()], ids=lambda loss: loss.name)
def test_blocks_of_noise_change_nothing(monkeypatch, loss):
    steps, sample, start = problem(loss, L2Ball(np.zeros(2), 0.3), 3, 2)
    found = []
    for numbers in (2**20, 1, 12):
        monkeypatch.setattr(one_pass, "_NUMBERS_AT_ONCE", numbers)
        released = np.empty((3, 4, 2))
        rng = np.random.default_rng(1)
        ends = take_steps(
            steps, sample, start, loss=loss, convex_set=L2Ball(np.zeros(2), 0.3), rng=rng, released=released
        )
        found.append(np.concatenate([*ends, *np.swapaxes(released, 0, 1)]).tolist())
    assert found[0] == found[1] == found[2]


def test_without_noise_the_gradients_are_what_is_released():
    steps = Steps(
        order=np.arange(4)[:, np.newaxis], sizes=np.full(2, 0.1), batches=np.array([1, 3]), scale=2.0
    )
    sample = np.arange(8.0).reshape(1, 4, 2)
    released = np.empty((1, 2, 2))
    take_steps(
        steps, sample, np.zeros((1, 2)), loss=Linear(), convex_set=L2Ball(np.zeros(2), 1.0), released=released
    )
    assert released.tolist() == [[[-0.0, -2.0], [-8.0, -10.0]]]


@pytest.mark.parametrize("compiled", [True, False])
def test_a_gradient_that_is_too_long_is_refused(monkeypatch, compiled):
    sample = np.array([[[0.6, 0.0], [0.6, 0.8], [3.0, 4.0]]])
    ball = L2Ball(np.zeros(2), 1.0)
    if not compiled:
        monkeypatch.setattr(one_pass, "plan_run", lambda **_: None)
    for count, fine in ((2, True), (3, False)):
        steps = Steps(order=np.arange(count)[:, None], sizes=np.full(count, 0.1), longest=1.0 + 1e-9)
        if fine:
            take_steps(steps, sample, np.zeros((1, 2)), loss=Linear(), convex_set=ball)
        else:
            with pytest.raises(InputError, match=r"lipschitz=1 is too small; a gradient has the norm 5"):
                take_steps(steps, sample, np.zeros((1, 2)), loss=Linear(), convex_set=ball)


def test_a_step_that_leaves_the_doubles_is_refused_as_numpy_refuses_it():
    sample = np.array([[[1.0], [1e300]]])
    steps = Steps(order=np.array([[0], [1]]), sizes=np.array([1.0, 10.0]))
    with pytest.raises(InputError, match=r"above 1e\+300"):
        take_steps(steps, sample, np.zeros((1, 1)), loss=Linear(), convex_set=Box([-1.0], [1.0]))
