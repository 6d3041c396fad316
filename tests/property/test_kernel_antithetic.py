"""Antithetic pairs: the same draws, opposite noise, the law of a run each, and what the mean of a pair gains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.algorithm import (
    GeneratorTape,
    Options,
    private_sgd,
    record,
    record_ensemble,
    run_ensemble,
    utility_step_size,
)
from dpsco_verify.geometry import Box, L2Ball, WholeSpace
from dpsco_verify.problems import AbsoluteDeviation, Drift, Linear

pytestmark = pytest.mark.slow  # the everyday part has two minutes


@given(
    d=st.sampled_from([1, 2, 7, 33, 100, 171, 300]),
    sets=st.sampled_from([1, 2, 3, 33]),
    n=st.integers(2, 12),
    m=st.integers(1, 3),
    seed=st.integers(0, 2**32),
    shared=st.booleans(),
)
def test_a_pair_shares_its_draws_and_has_opposite_noise(d, sets, n, m, seed, shared):
    m = min(m, n)
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((1 if shared else sets, n, d + 1))
    data = np.broadcast_to(data, (sets, n, d + 1))
    common = {
        "loss": AbsoluteDeviation(),
        "convex_set": L2Ball(np.zeros(d), 0.7),
        "step_size": 0.3,
        "sigma": 0.4,
        "lipschitz": 1e3,
        "options": Options(batch_size=m),
    }
    found, tape = record_ensemble(data, rng=rng, antithetic=True, **common)
    assert found.outputs.shape == (2 * sets, d)
    assert np.array_equal(tape.indices[:, ::2], tape.indices[:, 1::2])
    assert np.array_equal(tape.normals[:, ::2], -tape.normals[:, 1::2])
    assert np.array_equal(found.iterations[::2], found.iterations[1::2])
    # Each run is an ordinary one: replayed with its draws, numpy and the oracle give it to the last bit.
    doubled = np.repeat(data, 2, axis=0)
    assert run_ensemble(doubled, tape=tape, **common).outputs.tobytes() == found.outputs.tobytes()
    tape.position = 0
    alone = private_sgd(doubled[1], tape=tape.of_run(1), **common)
    assert alone.output.tobytes() == found.outputs[1].tobytes()


def test_numpy_pairs_the_rows_of_a_tape():
    rng = np.random.default_rng(3)
    data = rng.standard_normal((4, 9, 2))
    common = {
        "loss": Linear(),
        "convex_set": Box([-1, -1], [1, 1]),
        "step_size": 0.1,
        "sigma": 1.0,
        "lipschitz": 9,
    }
    tape = record(GeneratorTape(rng, 4, 9, 2), 200)
    pairs = run_ensemble(data, tape=tape, antithetic=True, **common).outputs
    tape.position = 0
    single = run_ensemble(data, tape=tape, **common).outputs
    assert pairs[::2].tobytes() == single.tobytes()
    assert (pairs[1::2] != single).any()


@pytest.mark.parametrize("engine", ["compiled", "numpy"])
def test_where_nothing_bends_the_noise_cancels_in_a_pair(engine):
    # A linear loss without a constraint: the output is linear in the noise, and the mean of a pair is the run without.
    rng = np.random.default_rng(4)
    data = rng.standard_normal((30, 16, 3))
    common = {
        "loss": Linear(),
        "convex_set": WholeSpace(3),
        "step_size": 0.1,
        "lipschitz": 10,
        "engine": engine,
    }
    noisy = run_ensemble(data, sigma=5.0, rng=np.random.default_rng(5), antithetic=True, **common).outputs
    quiet = run_ensemble(data, sigma=0.0, rng=np.random.default_rng(5), antithetic=True, **common).outputs
    assert np.ptp(noisy[::2] - noisy[1::2]) > 1.0
    np.testing.assert_allclose((noisy[::2] + noisy[1::2]) / 2, quiet[::2], rtol=0, atol=1e-12)


def test_the_mean_of_a_pair_is_unbiased_and_gains_on_the_drift():
    # Runs of the same law with and without pairs: the means differ by at most 6 standard errors (two-sided 2e-9 by the
    # normal approximation), and a pair is worth more than twice two runs. Seeds are fixed.
    n, runs = 64, 20_000
    population = Drift(1.0)
    cube = Box([-0.5], [0.5])
    eta = utility_step_size(diameter=1.0, lipschitz=1.0, sigma=1.0, n=n, dimension=1)
    common = {
        "loss": population.loss,
        "convex_set": cube,
        "step_size": eta,
        "sigma": 1.0,
        "lipschitz": 1.0,
        "initial_point": [-0.5],  # the far end: the drift is to the right
    }
    data = np.broadcast_to(population.sample(np.random.default_rng(0), (1, 1)), (runs, n, 1))
    pairs = population.risk(
        run_ensemble(data, rng=np.random.default_rng(1), antithetic=True, **common).outputs
    )
    single = population.risk(run_ensemble(data, rng=np.random.default_rng(2), **common).outputs)
    means = pairs.reshape(-1, 2).mean(axis=1)
    error = np.sqrt(means.var(ddof=1) / means.size + single.var(ddof=1) / single.size)
    assert abs(means.mean() - single.mean()) < 6.0 * error
    assert pairs[1::2].mean() == pytest.approx(
        single.mean(), abs=6.0 * np.sqrt(2.0) * single.std() / np.sqrt(runs)
    )
    assert single.var(ddof=1) / 2.0 > 2.0 * means.var(ddof=1)
