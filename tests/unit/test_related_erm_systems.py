"""Output and objective perturbation, phased ERM and the empirical optimum: numbers, conditions, what fit does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from dpsco_verify.geometry import Box, L2Ball, WholeSpace
from dpsco_verify.privacy.claims import PureDP, ZeroConcentratedDP
from dpsco_verify.problems import (
    AbsoluteDeviation,
    FinitePopulation,
    Hinge,
    Huber,
    Linear,
    LinearSigns,
    Logistic,
    Quantile,
)
from dpsco_verify.problems.losses import EuclideanDistance, LinearPredictorLoss
from dpsco_verify.related import ConditionError, PrivacyBudget, Task
from dpsco_verify.related.empirical_optimum import EmpiricalOptimum
from dpsco_verify.related.objective_perturbation import ObjectivePerturbation, SharpObjectivePerturbation
from dpsco_verify.related.output_perturbation import OutputPerturbation, radial_noise
from dpsco_verify.related.phased_erm import PhasedErm, SharpPhasedErm
from dpsco_verify.related.solvers import SolverError, augmented

pytestmark = pytest.mark.slow  # the everyday part has two minutes

BUDGET = PrivacyBudget(1.0, 1e-6)
PRIVATE = [
    OutputPerturbation(),
    ObjectivePerturbation(),
    SharpObjectivePerturbation(),
    PhasedErm(),
    SharpPhasedErm(),
]
ALL = [EmpiricalOptimum(), *PRIVATE]
LOSSES = [
    Linear(),
    AbsoluteDeviation(),
    Hinge(),
    Quantile(0.3),
    Huber(0.25),
    Logistic(),
    EuclideanDistance(),
]


def id_of(thing):
    return getattr(thing, "id", None) or thing.name


def task_of(loss, *, d=3, radius=1.0, data_radius=1.0):
    return Task(loss, L2Ball(np.zeros(d), radius), data_radius)


def sample_of(loss, *, runs=4, n=40, d=3, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(runs, n, d))
    a /= np.linalg.norm(a, axis=-1, keepdims=True)
    if not isinstance(loss, LinearPredictorLoss):
        return a
    t = a[..., 0] + 0.3 * rng.normal(size=(runs, n))
    if isinstance(loss, Hinge | Logistic):
        t = np.where(t > 0, 1.0, -1.0)
    return np.concatenate([a, t[..., None]], axis=-1)


@pytest.mark.parametrize("system", ALL, ids=id_of)
@pytest.mark.parametrize("loss", LOSSES, ids=id_of)
def test_every_system_runs_on_every_loss_that_meets_its_conditions(system, loss):
    task, sample = task_of(loss), sample_of(loss)
    conditions = system.conditions(task, 40, BUDGET)
    if not all(condition.holds for condition in conditions):
        assert isinstance(system, ObjectivePerturbation)
        assert loss.smoothness(1.0) is None
        with pytest.raises(ConditionError, match="no Lipschitz gradient"):
            system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(0))
        return
    fits = [
        system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(1), keep_transcript=True)
        for _ in range(2)
    ]
    assert fits[0].solution.shape == (4, 3)
    assert np.array_equal(fits[0].solution, fits[1].solution)
    assert task.convex_set.contains(fits[0].solution).all()
    assert (fits[0].gradient_queries >= 38).all()
    assert fits[0].optimality_gap >= 0.0
    assert system.calibrate(task, 40, BUDGET).gradient_queries >= 38
    bound = system.risk_bound(task, 40, BUDGET)
    assert (bound is None) == (not system.is_private)


@pytest.mark.parametrize("system", ALL, ids=id_of)
def test_the_rounding_that_is_allowed_for_is_that_of_a_sum(system):
    """A sum of n gradients of length L at most is off by up to n − 1 roundings of nL."""
    task, n = task_of(Linear()), 40
    sums = [each for each in system.sensitivities(task, n, BUDGET) if each.what.startswith("sum of")]
    assert all(each.rounding >= (n - 1) * 2.0**-53 * n * task.lipschitz for each in sums)
    assert bool(sums) == isinstance(system, ObjectivePerturbation)


@pytest.mark.parametrize(
    ("system", "loss"),
    [
        (system, loss)
        for system in ALL
        for loss in (Linear(), Huber(0.25), EuclideanDistance())
        if all(condition.holds for condition in system.conditions(task_of(loss), 40, BUDGET))
    ],
)
def test_a_view_of_one_sample_stands_for_its_copies(system, loss):
    task, one = task_of(loss), sample_of(loss, runs=1)[0]
    view = np.broadcast_to(one, (5, *one.shape))
    fits = [
        system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(2))
        for sample in (view, view.copy())
    ]
    assert np.allclose(fits[0].solution, fits[1].solution, atol=1e-9)
    assert fits[0].gradient_queries.shape == (5,)


def test_claims():
    task = task_of(Logistic())
    for system in PRIVATE[:3]:
        assert system.claim(task, 40, BUDGET) == PureDP(1.0)
    for system in PRIVATE[3:]:
        claim = system.claim(task, 40, BUDGET)
        assert claim == ZeroConcentratedDP(0.5 * BUDGET.concentrated**2)
        assert claim.delta(1.0) <= 1e-6
    assert EmpiricalOptimum().claim(task, 40, BUDGET) is None


@pytest.mark.parametrize(
    ("system", "task", "n", "budget", "words"),
    [
        (OutputPerturbation(), Task(Linear(), WholeSpace(2), 1.0), 9, BUDGET, "diameter=inf"),
        (ObjectivePerturbation(), Task(Logistic(), WholeSpace(2), 1.0), 9, BUDGET, "diameter=inf"),
        (ObjectivePerturbation(), task_of(Hinge()), 9, BUDGET, "loss=hinge has no Lipschitz gradient"),
        (ObjectivePerturbation(), task_of(Logistic(), data_radius=1.5), 9, BUDGET, "data_radius=1.5"),
        (ObjectivePerturbation(), task_of(Huber(2.0)), 9, BUDGET, "lipschitz=2"),
        (PhasedErm(), Task(Hinge(), WholeSpace(2), 1.0), 9, BUDGET, "diameter=inf"),
        (PhasedErm(), task_of(Hinge()), 9, PrivacyBudget(1.0, 0.0), "delta=0"),
        (PhasedErm(), task_of(Hinge()), 1, BUDGET, "n=1"),
        (EmpiricalOptimum(), Task(Linear(), WholeSpace(2), 1.0), 9, BUDGET, "diameter=inf"),
    ],
)
def test_an_unmet_condition_is_named(system, task, n, budget, words):
    with pytest.raises(ConditionError, match=rf"{system.id}: .*{words}"):
        system.calibrate(task, n, budget)


def test_a_given_regularisation_needs_no_diameter():
    sample = sample_of(Logistic())
    for system in (OutputPerturbation(regularisation=0.3), ObjectivePerturbation(regularisation=0.3)):
        task = Task(Logistic(), WholeSpace(3), 1.0)
        assert system.calibrate(task, 40, BUDGET).figures["Λ"] == 0.3
        assert system.risk_bound(task, 40, BUDGET) is None
        fitted = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(3))
        assert np.isfinite(fitted.solution).all()


def test_radial_noise_has_the_law_that_it_says():
    """Fixed seed; by the Kolmogorov–Smirnov test a wrong law of this size would have a p-value far below 1e-9."""
    rng = np.random.default_rng(4)
    for d in (1, 2, 7):
        noise = radial_noise(rng, runs=20_000, dimension=d, scale=0.3)
        norm = np.linalg.norm(noise, axis=-1)
        assert stats.kstest(norm, stats.gamma(d, scale=0.3).cdf).pvalue > 1e-3
        assert stats.kstest(norm, stats.gamma(d + 1, scale=0.3).cdf).pvalue < 1e-9
        assert np.abs(np.mean(noise / norm[:, None], axis=0)).max() <= 6.0 / math.sqrt(20_000 * d)


def test_output_perturbation_adds_its_noise_to_the_minimiser():
    system, task, sample = OutputPerturbation(), task_of(Linear(), radius=100.0), sample_of(Linear())
    n, d = 40, 3
    lam = 2.0 / 200.0 * math.sqrt((1 + d) / n)
    figures = system.calibrate(task, n, BUDGET).figures
    assert figures["Λ"] == pytest.approx(lam)
    # At L = 1 the source's noise, Gamma(d, 2/(nΛε)), and a thousandth for the solver.
    assert figures["noise scale"] == pytest.approx(1.001 * 2.0 / (n * lam))
    fitted = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(5))
    noise = radial_noise(np.random.default_rng(5), runs=4, dimension=d, scale=figures["noise scale"])
    expected = task.convex_set.project(sample.mean(axis=1) / lam + noise)
    assert np.allclose(fitted.solution, expected, atol=1e-9)
    bound = 0.5 * lam * 200**2 + 2 / (n * lam) + 1e-3 / (n * lam) + 1.001 * 2 * d / (n * lam)
    assert system.risk_bound(task, n, BUDGET) == pytest.approx(bound)


def test_objective_perturbation_has_the_source_s_numbers():
    task, n, c, spent = task_of(Logistic()), 40, 0.25, 0.999
    first = ObjectivePerturbation(regularisation=0.5).perturbation(task, n, BUDGET)
    assert (first.extra, first.total) == (0.0, 0.5)
    assert first.epsilon_prime == pytest.approx(
        spent - math.log(1 + 2 * c / (n * 0.5) + (c / (n * 0.5)) ** 2)
    )
    assert first.scale == pytest.approx(2.0 / first.epsilon_prime)
    second = ObjectivePerturbation(regularisation=1e-4).perturbation(task, n, BUDGET)
    assert second.total == pytest.approx(c / (n * math.expm1(spent / 4)))
    assert second.epsilon_prime == pytest.approx(spent / 2)
    sharp = SharpObjectivePerturbation(regularisation=1e-4).perturbation(task, n, BUDGET)
    assert sharp.total == pytest.approx(c / (n * math.expm1(spent / 2)))


@pytest.mark.parametrize("system", [ObjectivePerturbation, SharpObjectivePerturbation], ids=id_of)
@pytest.mark.parametrize("regularisation", [None, 1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_objective_perturbation_spends_epsilon_and_no_more(system, regularisation, epsilon):
    """Gradients, determinant and solver together."""
    chosen, n = system(regularisation=regularisation), 40
    for loss in (Logistic(), Huber(0.25), Linear()):
        task = task_of(loss)
        numbers = chosen.perturbation(task, n, PrivacyBudget(epsilon, 0.0))
        curvature = loss.smoothness(1.0)
        determinant = system.determinant_power * math.log1p(curvature / (n * numbers.total))
        gradients = 2.0 * task.lipschitz / numbers.scale
        assert numbers.epsilon_prime > 0.0
        assert gradients + determinant <= numbers.spent * (1 + 1e-12)
        assert gradients + determinant >= numbers.spent * (1 - 1e-9)
        if regularisation is None:
            assert numbers.extra == 0.0
            assert numbers.epsilon_prime >= 0.5 * numbers.spent * (1 - 1e-12)


def test_objective_perturbation_minimises_the_perturbed_objective():
    """Against scipy on the same b; over all of space the minimiser is where the gradient vanishes."""
    task, sample, n = Task(Logistic(), WholeSpace(3), 1.0), sample_of(Logistic(), runs=3), 40
    system = ObjectivePerturbation(regularisation=0.2)
    numbers = system.perturbation(task, n, BUDGET)
    fitted = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(6))
    b = radial_noise(np.random.default_rng(6), runs=3, dimension=3, scale=numbers.scale)
    for r in range(3):

        def goal(w, r=r):
            risk = np.mean(task.loss.value(w, sample[r])) + b[r] @ w / n + 0.5 * numbers.total * w @ w
            gradient = np.mean(task.loss.subgradient(w, sample[r]), axis=0) + b[r] / n + numbers.total * w
            return risk, gradient

        found = optimize.minimize(goal, np.zeros(3), jac=True, method="BFGS", options={"gtol": 1e-9})
        # The noise that covers the solver is of the order 1e-7 here.
        assert np.allclose(fitted.solution[r], found.x, atol=1e-5)
        assert np.linalg.norm(goal(fitted.solution[r])[1]) <= 1e-5


def test_phases():
    system, task, kappa = PhasedErm(step_size=0.8), task_of(Hinge()), BUDGET.concentrated
    phases = system.phases(task, 43, BUDGET)
    assert [phase.count for phase in phases] == [21, 10, 5, 2, 1]
    assert [phase.first for phase in phases] == [0, 21, 31, 36, 38]
    for i, phase in enumerate(phases, start=1):
        assert phase.step_size == 0.8 / 4**i
        assert phase.sigma == pytest.approx(4 * phase.step_size / kappa)
        assert phase.regularisation == pytest.approx(2 / (phase.step_size * phase.count))
    sharp = SharpPhasedErm(step_size=0.8).phases(task, 43, BUDGET)
    assert sharp[0].sigma == pytest.approx(0.3 * phases[0].sigma)


def test_the_transcript_is_what_each_phase_released():
    system, task, sample = PhasedErm(), task_of(Hinge()), sample_of(Hinge())
    options = {"task": task, "budget": BUDGET, "keep_transcript": True}
    fitted = system.fit(sample, rng=np.random.default_rng(7), **options)
    assert fitted.transcript.shape == (4, 5, 3)
    assert np.array_equal(task.convex_set.project(fitted.transcript[:, -1]), fitted.solution)
    changed = sample.copy()
    changed[:, 21, -1] *= -1.0  # the second phase's first point
    other = system.fit(changed, rng=np.random.default_rng(7), **options)
    assert np.array_equal(fitted.transcript[:, 0], other.transcript[:, 0])
    assert (fitted.transcript[:, 1] != other.transcript[:, 1]).any(axis=-1).all()
    unused = sample.copy()
    unused[:, 39, -1] *= -1.0  # 20 + 10 + 5 + 2 + 1 points are used
    assert np.array_equal(
        system.fit(unused, rng=np.random.default_rng(7), **options).transcript, fitted.transcript
    )
    assert system.fit(sample, rng=np.random.default_rng(7), task=task, budget=BUDGET).transcript is None


@pytest.mark.parametrize("system", [PhasedErm(), SharpPhasedErm()], ids=id_of)
@pytest.mark.parametrize("n", [10, 1000, 100_000])
@pytest.mark.parametrize("d", [1, 20])
def test_the_default_step_minimises_the_risk_bound(system, n, d):
    task = task_of(Hinge(), d=d)
    eta, best = system.step_size(task, n, BUDGET), system.risk_bound(task, n, BUDGET)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert type(system)(step_size=factor * eta).risk_bound(task, n, BUDGET) > best
    if isinstance(system, SharpPhasedErm):
        return
    # The bound of the docstring; D = 2.
    rate = 2.0 * (5.0 / math.sqrt(n) + 64.0 * math.sqrt(d) / (BUDGET.concentrated * n))
    assert best <= (1.3 if n == 10 else 1.05) * rate


@pytest.mark.parametrize("system", PRIVATE, ids=id_of)
def test_risk_stays_below_its_bound(system):
    """The bounds leave a factor of several here, tens of standard errors of 200 runs: no chance of a false alarm."""
    population = LinearSigns(np.full(3, 0.3))
    task = Task.of(population, L2Ball(np.zeros(3), 0.5))
    rng = np.random.default_rng(8)
    fitted = system.fit(population.sample(rng, (200, 2000)), task=task, budget=BUDGET, rng=rng)
    excess = float(np.mean(population.risk(fitted.solution))) - population.minimum(task.convex_set).value
    assert 0.0 < excess <= 0.5 * system.risk_bound(task, 2000, BUDGET)


@pytest.mark.parametrize("loss", LOSSES, ids=id_of)
@pytest.mark.parametrize("convex_set", [L2Ball(np.zeros(3), 1.0), Box(-np.ones(3), 0.3 * np.ones(3))])
def test_the_empirical_optimum_is_within_its_gap(loss, convex_set):
    task, sample = Task(loss, convex_set, 1.0), sample_of(loss)
    fitted = EmpiricalOptimum().fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(9))
    wanted = 1e-3 * task.lipschitz * task.diameter / math.sqrt(40)
    assert fitted.optimality_gap <= wanted
    for r in range(2):
        population = FinitePopulation(sample[r], loss)
        minimum = population.minimum(convex_set)
        excess = float(population.risk(fitted.solution[r])) - minimum.value
        assert -minimum.gap - 1e-12 <= excess <= fitted.optimality_gap + 1e-12


@pytest.mark.parametrize("system", [PhasedErm(), OutputPerturbation(), ObjectivePerturbation()], ids=id_of)
def test_without_a_certificate_nothing_is_released(system, monkeypatch):
    task, sample = task_of(Logistic()), sample_of(Logistic())
    monkeypatch.setattr(augmented, "_ITERATIONS", 0)
    with pytest.raises(SolverError, match="nothing is released"):
        system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(10))
