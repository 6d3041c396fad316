"""The ensemble equals the oracle, run by run, on the same draws and noise: to the last bit where there is no exp."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.algorithm import (
    Averaging,
    GeneratorTape,
    NoiseConvention,
    Options,
    StoppingRule,
    ensemble,
    private_sgd,
    record,
    run_ensemble,
)
from dpsco_verify.geometry import Box, L2Ball, Simplex, WholeSpace
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Linear, Logistic, Quantile
from loss_properties import FUNCTION_ROUNDING

LOSSES = [Linear(), AbsoluteDeviation(), Quantile(0.3), Huber(0.5), Hinge(), Logistic()]


def sets(d):
    return [
        L2Ball(np.full(d, 0.1), 0.7),
        Box(np.full(d, -0.5), np.full(d, 0.4)),
        Simplex(d, 1.0),
        WholeSpace(d),
    ]


@st.composite
def settings_of_a_run(draw):
    d = draw(st.sampled_from([1, 2, 3, 7, 33]))
    n = draw(st.integers(2, 14))
    loss = draw(st.sampled_from(LOSSES))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    runs = draw(st.integers(1, 5))
    k = loss.data_dimension(d)
    data = rng.standard_normal((runs, n, k))
    if isinstance(loss, Logistic):
        data /= np.linalg.norm(data[..., :-1], axis=-1, keepdims=True)
    if isinstance(loss, Hinge | Logistic):
        data[..., -1] = np.sign(data[..., -1])
    return {
        "data": data,
        "loss": loss,
        "convex_set": draw(st.sampled_from(sets(d))),
        "step_size": draw(st.sampled_from([0.1, 1.0, lambda t: 1.0 / t])),
        "sigma": draw(st.sampled_from([0.0, 0.3, 2.0])),
        "lipschitz": 1e3,
        "rng": rng,
        "options": Options(
            stopping=draw(st.sampled_from(list(StoppingRule))),
            averaging=draw(st.sampled_from(list(Averaging))),
            noise=draw(st.sampled_from(list(NoiseConvention))),
            batch_size=draw(st.integers(1, min(n, 4))),
        ),
    }


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


def compare(chosen):
    data, options = chosen.pop("data"), chosen["options"]
    runs, n, _ = data.shape
    d = chosen["convex_set"].dimension
    tape = record(GeneratorTape(chosen.pop("rng"), runs, n, d, options.batch_size), 40 * n)
    together = run_ensemble(data, tape=tape, **chosen)
    for r in range(runs):
        alone = private_sgd(data[r], tape=tape.of_run(r), **chosen)
        assert alone.iterations == together.iterations[r]
        assert alone.distinct_points == together.distinct_points[r]
        assert alone.gradient_queries == together.gradient_queries[r]
        assert (alone.output is not None) == together.defined[r]
        if alone.output is None:
            assert np.isnan(together.outputs[r]).all()
        else:
            same_output(alone.output, together.outputs[r], chosen=chosen, iterations=alone.iterations)


@pytest.mark.slow
@given(settings_of_a_run())
def test_the_ensemble_is_the_oracle(chosen):
    compare(chosen)


def test_a_wrong_ensemble_is_noticed(monkeypatch):
    right = ensemble.noisy_step

    def wrong(w, batch, fresh, noise, **keywords):
        return right(w, batch, fresh, noise * (1.0 + 2.0**-50), **keywords)

    monkeypatch.setattr(ensemble, "noisy_step", wrong)
    rng = np.random.default_rng(1)
    chosen = {
        "data": rng.standard_normal((2, 6, 2)),
        "loss": Linear(),
        "convex_set": WholeSpace(2),
        "step_size": 0.1,
        "sigma": 1.0,
        "lipschitz": 1e3,
        "rng": rng,
        "options": Options(),
    }
    with pytest.raises(AssertionError):
        compare(chosen)
