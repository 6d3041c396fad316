"""The kernel's runs are the oracle's: replayed with its draws, numpy gives the same, to the last bit without exp."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.algorithm import (
    Averaging,
    NoiseConvention,
    Options,
    StoppingRule,
    private_sgd,
    record_ensemble,
    run_ensemble,
)
from dpsco_verify.geometry import Box, HalfSpace, L1Ball, L2Ball, Simplex, WholeSpace
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Quantile
from loss_properties import FUNCTION_ROUNDING

pytestmark = pytest.mark.slow  # the everyday part has two minutes


LOSSES = [Linear(), AbsoluteDeviation(), Quantile(0.3), Huber(0.5), Hinge(), Logistic()]


def sets(d):
    return [
        WholeSpace(d),
        L2Ball(np.zeros(d), 0.7),
        L2Ball(np.full(d, 0.1), 0.3),
        Box(np.full(d, -0.5), np.full(d, 0.4)),
        HalfSpace(np.linspace(1.0, 2.0, d), -0.1),
        Simplex(d, 1.5),
        L1Ball(d, 0.8),
        L1Ball(d, 0.4, np.full(d, -0.2)),
    ]


@st.composite
def settings_of_a_run(draw):
    d = draw(st.sampled_from([1, 2, 3, 7, 8, 9, 33, 129, 300]))
    n = draw(st.integers(2, 14))
    loss = draw(st.sampled_from(LOSSES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    runs = draw(st.sampled_from([1, 2, 5, 70]))
    data = rng.standard_normal((runs, n, loss.data_dimension(d))) * draw(st.sampled_from([1.0, 0.05]))
    if isinstance(loss, Logistic):
        data /= np.maximum(1.0, np.linalg.norm(data[..., :-1], axis=-1, keepdims=True))
    if isinstance(loss, Hinge | Logistic):
        data[..., -1] = np.where(data[..., -1] < 0, -1.0, 1.0)
    if draw(st.booleans()) and not isinstance(loss, Logistic):
        data = np.round(data, 1)  # ties, zeros, points on a kink
    if draw(st.booleans()):
        data = np.broadcast_to(data[0], data.shape)
    return {
        "data": data,
        "loss": loss,
        "convex_set": draw(st.sampled_from(sets(d))),
        "step_size": draw(st.sampled_from([0.1, 1.0, lambda t: 1.0 / t])),
        "sigma": draw(st.sampled_from([0.0, 0.3, 2.0])),
        "lipschitz": 1e4,
        "rng": rng,
        "options": Options(
            stopping=draw(st.sampled_from(list(StoppingRule))),
            noise=draw(st.sampled_from(list(NoiseConvention))),
            batch_size=draw(st.integers(1, min(n, 4))),
        ),
    }


def same(left, right):
    for field in dataclasses.fields(left):
        a, b = getattr(left, field.name), getattr(right, field.name)
        assert a.tobytes() == b.tobytes(), field.name


def same_output(left, right, *, chosen, iterations):
    """To the last bit; a loss that goes through exp as far as that reaches.

    Its points have norm at most 1 here, so that its gradients are 1/4-Lipschitz, and a step of size at most 1 moves no
    two points apart; nor do projections, nor averages. What a step's slope is off, at most η·2⁻⁴⁸, and its rounding,
    relative to the largest iterate, add up over the steps.
    """
    if chosen["loss"].is_bitwise:
        assert left.tobytes() == right.tobytes()
        return
    eta = chosen["step_size"]
    largest = eta(1) if callable(eta) else eta
    reach = 1.0 + iterations * largest * (1.0 + 8.0 * chosen["sigma"])
    np.testing.assert_allclose(left, right, rtol=0.0, atol=(1 + iterations) * FUNCTION_ROUNDING * reach)


def compare(chosen, *, oracle_runs=2):
    chosen = dict(chosen)
    data = chosen.pop("data")
    compiled, tape = record_ensemble(data, **chosen)
    rng = chosen.pop("rng")
    del rng
    replayed = run_ensemble(data, tape=tape, **chosen)
    for field in dataclasses.fields(compiled):
        a, b = getattr(compiled, field.name), getattr(replayed, field.name)
        if field.name != "outputs":
            assert a.tobytes() == b.tobytes(), field.name
    same_output(compiled.outputs, replayed.outputs, chosen=chosen, iterations=int(compiled.iterations.max()))
    for r in range(min(oracle_runs, len(data))):
        alone = private_sgd(data[r], tape=tape.of_run(r), **chosen)
        same_output(alone.output, compiled.outputs[r], chosen=chosen, iterations=alone.iterations)
        assert alone.iterations == compiled.iterations[r]


@given(settings_of_a_run())
def test_the_kernel_is_the_oracle(chosen):
    compare(chosen)


@given(settings_of_a_run(), st.integers(0, 2**32))
def test_recording_changes_nothing(chosen, seed):
    data = chosen.pop("data")
    chosen.pop("rng")
    recorded, _ = record_ensemble(data, rng=np.random.default_rng(seed), **chosen)
    same(recorded, run_ensemble(data, rng=np.random.default_rng(seed), engine="compiled", **chosen))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.name)
@pytest.mark.parametrize("position", range(8))
def test_every_loss_on_every_set(loss, position):
    rng = np.random.default_rng(position)
    for d in (2, 17):
        data = rng.standard_normal((3, 9, loss.data_dimension(d)))
        data /= np.linalg.norm(data[..., :-1], axis=-1, keepdims=True) + 1e-300
        data[..., -1] = np.sign(data[..., -1])
        chosen = {
            "loss": loss,
            "convex_set": sets(d)[position],
            "step_size": 0.3,
            "sigma": 0.5,
            "lipschitz": 1e3,
            "rng": rng,
            "options": Options(batch_size=1 + position % 3),
        }
        compare({"data": data, **chosen})


def test_the_literal_average_is_left_to_numpy():
    chosen = {
        "loss": Linear(),
        "convex_set": WholeSpace(1),
        "step_size": 0.1,
        "sigma": 1.0,
        "lipschitz": 1.0,
        "options": Options(averaging=Averaging.DATA_INDICES),
    }
    auto = run_ensemble(np.ones((4, 6, 1)), rng=np.random.default_rng(0), **chosen)
    numpy = run_ensemble(np.ones((4, 6, 1)), rng=np.random.default_rng(0), engine="numpy", **chosen)
    same(auto, numpy)


def test_a_few_units_in_the_last_place_are_noticed():
    data = np.random.default_rng(1).standard_normal((2, 6, 2))
    chosen = {
        "loss": Linear(),
        "convex_set": WholeSpace(2),
        "step_size": 0.1,
        "sigma": 1.0,
        "lipschitz": 1e3,
    }
    compiled, tape = record_ensemble(data, rng=np.random.default_rng(2), **chosen)
    tape.normals *= 1.0 + 2.0**-50
    with pytest.raises(AssertionError, match="outputs"):
        same(compiled, run_ensemble(data, tape=tape, **chosen))
