"""Mirror steps for many runs, and the norms that their risk bounds rest on."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from dpsco_verify.algorithm import GeneratorTape, record, run_ensemble
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    L1Ball,
    L2Ball,
    NegativeEntropy,
    PNorm,
    Simplex,
    bregman_projection,
)
from dpsco_verify.problems import (
    FinitePopulation,
    Hinge,
    Linear,
    LinearSigns,
)
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.algorithm_one import AlgorithmOne
from dpsco_verify.related.mirror_descent import (
    EntropicMirrorDescent,
    EuclideanMirrorDescent,
    PNormMirrorDescent,
)
from dpsco_verify.related.mirror_geometry import mean_square_of_largest, usual_p
from dpsco_verify.related.p_norm_step import minimise_on_simplex
from dpsco_verify.related.private_mirror_descent import (
    PrivateEntropicMirrorDescent,
)
from euclidean_mirror import PrivateEuclideanMirrorDescent

BUDGET = PrivacyBudget(1.0, 1e-6)
D = 3
SIGNS = LinearSigns(np.array([0.6, -0.2, 0.1]))
ON_SIMPLEX = Task.of(SIGNS, Simplex(D))


def population(loss, seed=3, count=30):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((count, D))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.where(features @ [1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(count) > 0, 1.0, -1.0)
    return FinitePopulation(np.column_stack([features, labels]), loss, data_radius=1.0)


def draws(seed):
    return np.random.default_rng(seed)


def data(law, n, runs=3, seed=11):
    return law.sample(np.random.default_rng(seed), (runs, n))


def test_the_euclidean_mirror_step_is_algorithm_1():
    n, runs = 40, 5
    law = population(Hinge())
    task = Task.of(law, L2Ball([0.2, 0.0, 0.0], 0.5))
    sample = data(law, n, runs)
    system, algorithm = PrivateEuclideanMirrorDescent(), AlgorithmOne()
    assert system.noise(task, n, BUDGET) == algorithm.noise(task, n, BUDGET)
    assert system.step_size(task, n, BUDGET) == pytest.approx(algorithm.step_size(task, n, BUDGET))
    tape = record(GeneratorTape(draws(1), runs, n, D), 400)
    ensemble = run_ensemble(
        sample,
        loss=task.loss,
        convex_set=task.convex_set,
        step_size=algorithm.step_size(task, n, BUDGET),
        sigma=algorithm.noise(task, n, BUDGET),
        lipschitz=task.lipschitz,
        tape=tape,
        initial_point=task.initial_point,
        engine="numpy",
    )
    replay = record(GeneratorTape(draws(1), runs, n, D), 400)
    fit = system.run(sample, task, BUDGET, replay, keep_transcript=True)
    assert fit.solution == pytest.approx(ensemble.outputs, rel=1e-9, abs=1e-12)
    assert (fit.gradient_queries == ensemble.gradient_queries).all()
    assert fit.transcript.shape[1] == ensemble.iterations.max()
    ended = np.arange(fit.transcript.shape[1]) >= ensemble.iterations[:, np.newaxis]
    assert (fit.transcript[ended] == 0.0).all()
    assert (fit.transcript[~ended] != 0.0).all()


def test_the_entropic_states_take_the_steps_of_the_potential():
    geometry = EntropicMirrorDescent().geometry(ON_SIMPLEX)
    rng = draws(4)
    state = geometry.begin(ON_SIMPLEX, 6)
    w = geometry.point(state)
    assert w == pytest.approx(np.full((6, D), 1 / D))
    for _ in range(5):
        step = rng.standard_normal((6, D))
        state = geometry.move(state, step)
        unconstrained = w * np.exp(-step)
        w = bregman_projection(NegativeEntropy(), Simplex(D), unconstrained)
        assert geometry.point(state) == pytest.approx(w, rel=1e-12)
    # Steps that would leave no weight in doubles are remembered.
    far = geometry.move(geometry.begin(ON_SIMPLEX, 1), np.array([[1e4, 0.0, 0.0]]))
    back = geometry.move(far, np.array([[-1e4, 0.0, 0.0]]))
    assert geometry.point(far)[0, 0] == 0.0
    assert geometry.point(back) == pytest.approx(np.full((1, D), 1 / D))


@pytest.mark.slow
@pytest.mark.parametrize("convex_set", [Simplex(5, 2.0), L1Ball(5, 0.7)], ids=["simplex", "l1"])
@pytest.mark.parametrize("p", [1.05, 1.4, 1.9, 2.0])
def test_the_p_norm_steps_are_those_of_the_potential(convex_set, p):
    task = Task(Linear(), convex_set, 1.0)
    geometry = PNormMirrorDescent(p=p).geometry(task)
    rng = draws(5)
    state = geometry.begin(task, 40)
    for scale in (0.1, 1.0, 30.0):
        step = scale * rng.standard_normal((40, 5))
        moved = geometry.move(state, step)
        tilt = geometry.potential.gradient(state) - step
        assert moved == pytest.approx(
            geometry.potential.tilted_minimiser(convex_set, tilt), rel=1e-9, abs=1e-12
        )
        state = moved


def test_the_p_norm_step_on_the_simplex_meets_the_variational_inequality():
    tilt = draws(6).standard_normal((50, 7))
    w = minimise_on_simplex(tilt, total=1.0, q=3.0)
    slope = PNorm(1.5).gradient(w) - tilt
    lowest = slope.min(axis=-1, keepdims=True)
    assert np.sum(w, axis=-1) == pytest.approx(1.0)
    assert np.where(w > 1e-12, slope - lowest, 0.0) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 10, 1000])
def test_the_norms_of_the_noise_are_bounded_by_their_expectations(d):
    density = integrate.quad(
        lambda t: t * t * 2 * d * stats.norm.pdf(t) * (2 * stats.norm.cdf(t) - 1) ** (d - 1),
        0.0,
        12.0,
        points=[math.sqrt(2 * math.log(2 * d))],
        epsabs=1e-11,
    )[0]
    assert mean_square_of_largest(d) == pytest.approx(density, rel=1e-8)
    assert mean_square_of_largest(d) <= 1.0 + 2.0 * math.log(2 * d)
    if d == 2:
        assert mean_square_of_largest(d) == pytest.approx(1.0 + 2.0 / math.pi)
    if d >= 2:
        task = Task(Linear(), Simplex(d), 1.0)
        assert PNormMirrorDescent(p=2.0).geometry(task).noise_norm == pytest.approx(math.sqrt(d))
        assert usual_p(d) <= 2.0
    if d == 10:
        geometry = PNormMirrorDescent().geometry(Task(Linear(), Simplex(d), 1.0))
        norms = geometry.potential.dual_norm(draws(8).standard_normal((20_000, d)))
        # The sample's mean square is within 2 % of its expectation: 14 of its standard errors.
        assert np.mean(norms**2) <= geometry.noise_norm**2 * 1.02
        assert np.mean(norms**2) >= geometry.noise_norm**2 * 0.8


@pytest.mark.parametrize("seed", range(5))
def test_the_reach_of_a_potential_bounds_its_divergences(seed):
    rng = draws(seed)
    for system in (PNormMirrorDescent(), EntropicMirrorDescent(), EuclideanMirrorDescent()):
        geometry = system.geometry(ON_SIMPLEX)
        start = geometry.point(geometry.begin(ON_SIMPLEX, 1))[0]
        corners = np.concatenate([np.eye(D), rng.dirichlet(np.ones(D), 20)])
        divergences = geometry.potential.divergence(corners, np.broadcast_to(start, corners.shape))
        assert divergences.max() <= geometry.reach * (1 + 1e-12)
        if system.id != "mirror-descent-euclidean":
            assert divergences.max() == pytest.approx(geometry.reach)


@pytest.mark.slow
def test_a_declared_bound_on_the_dual_norm_narrows_the_step_and_is_checked():
    system = EntropicMirrorDescent(dual_lipschitz=1 / math.sqrt(D))
    sample = data(SIGNS, 20)
    assert system.risk_bound(ON_SIMPLEX, 20, BUDGET) == pytest.approx(
        EntropicMirrorDescent().risk_bound(ON_SIMPLEX, 20, BUDGET) / math.sqrt(D)
    )
    system.fit(sample, task=ON_SIMPLEX, budget=BUDGET, rng=draws(1))
    for wrong in (
        EntropicMirrorDescent(dual_lipschitz=0.5),
        PrivateEntropicMirrorDescent(dual_lipschitz=0.5),
    ):
        with pytest.raises(InputError, match="dual_lipschitz=0.5 is too small"):
            wrong.fit(sample, task=ON_SIMPLEX, budget=BUDGET, rng=draws(1))


@pytest.mark.slow
def test_the_entropic_potential_pays_for_noise_by_the_logarithm_of_the_dimension():
    n = 2000
    ratios = []
    for d in (4, 400):
        task = Task(Linear(), Simplex(d), 1.0)
        euclidean = PrivateEuclideanMirrorDescent().risk_bound(task, n, BUDGET)
        entropic = PrivateEntropicMirrorDescent().risk_bound(task, n, BUDGET)
        ratios.append(entropic / euclidean)
    assert ratios[1] < 0.5
    assert ratios[0] > ratios[1]
