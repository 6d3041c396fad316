"""The gradient-based systems: each against a literal run, its formulas, its conditions, its privacy arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import (
    Box,
    L1Ball,
    L2Ball,
    Simplex,
    WholeSpace,
)
from dpsco_verify.problems import (
    AbsoluteDeviation,
    FinitePopulation,
    Hinge,
    Huber,
    Linear,
    LinearSigns,
    Logistic,
    Loss,
)
from dpsco_verify.related import ConditionError, PrivacyBudget, Task
from dpsco_verify.related.algorithm_one import PrintedAlgorithmOne
from dpsco_verify.related.estimator_steps import EstimatorBatches, EstimatorPasses
from dpsco_verify.related.iteration_sgd import HalvingIterationSgd, IterationSgd
from dpsco_verify.related.minibatch_sgd import MinibatchSgd
from dpsco_verify.related.mirror_descent import (
    EntropicMirrorDescent,
    EuclideanMirrorDescent,
    PNormMirrorDescent,
)
from dpsco_verify.related.noisy_sgd_erm import NoisySgdErm, ShortNoisySgdErm, ShortScaledNoisySgdErm
from dpsco_verify.related.phased_sgd import PhasedSgd, TightPhasedSgd
from dpsco_verify.related.private_mirror_descent import (
    PrivateEntropicMirrorDescent,
    PrivatePNormMirrorDescent,
)
from dpsco_verify.related.proximal import envelope_gradient
from dpsco_verify.related.smoothed_minibatch_sgd import SmoothedMinibatchSgd
from dpsco_verify.related.subsampled_one_pass import SubsampledOnePass, SubsampledScaledOnePass
from euclidean_mirror import PrivateEuclideanMirrorDescent

pytestmark = pytest.mark.slow

BUDGET = PrivacyBudget(1.0, 1e-6)
HALF = PrivacyBudget(0.5, 1e-6)
SYSTEMS = (
    EuclideanMirrorDescent(),
    PNormMirrorDescent(),
    EntropicMirrorDescent(),
    PrivateEuclideanMirrorDescent(),
    PrivatePNormMirrorDescent(),
    PrivateEntropicMirrorDescent(),
    NoisySgdErm(),
    NoisySgdErm(steps=7),
    ShortNoisySgdErm(),
    ShortScaledNoisySgdErm(),
    MinibatchSgd(),
    MinibatchSgd(noise_factor=1.5),
    SmoothedMinibatchSgd(),
    PhasedSgd(),
    TightPhasedSgd(),
    IterationSgd(),
    HalvingIterationSgd(),
    EstimatorBatches(),
    EstimatorPasses(),
    SubsampledOnePass(),
    SubsampledScaledOnePass(),
)
D = 3
SIGNS = LinearSigns(np.array([0.6, -0.2, 0.1]))
LINEAR = Task.of(SIGNS, L2Ball(np.zeros(D), 1.0))
ON_SIMPLEX = Task.of(SIGNS, Simplex(D))


def population(loss, seed=3, count=30):
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((count, D))
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    labels = np.where(features @ [1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(count) > 0, 1.0, -1.0)
    return FinitePopulation(np.column_stack([features, labels]), loss, data_radius=1.0)


PROBLEMS = (
    (SIGNS, L2Ball(np.zeros(D), 1.0)),
    (SIGNS, Simplex(D)),
    (population(Logistic()), L1Ball(D, 1.0)),
    (population(Hinge()), L2Ball([0.2, 0.0, 0.0], 0.5)),
    (population(AbsoluteDeviation()), Box(np.full(D, -0.2), np.full(D, 0.3))),
)


def meets(system, task, n, budget=BUDGET):
    return all(condition.holds for condition in system.conditions(task, n, budget))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.id)
def test_every_run_ends_in_the_set_with_the_queries_that_were_announced(system):
    n, runs = 40, (2, 3)
    met = 0
    for law, convex_set in PROBLEMS:
        task = Task.of(law, convex_set)
        if not meets(system, task, n):
            with pytest.raises(ConditionError, match=system.id):
                system.fit(np.zeros((n, law.data_dimension)) + 1.0, task=task, budget=BUDGET, rng=None)
            continue
        met += 1
        sample = law.sample(np.random.default_rng(1), (*runs, n))
        sample.setflags(write=False)
        fit = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(2), keep_transcript=True)
        again = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(2))
        calibration = system.calibrate(task, n, BUDGET)
        assert fit.solution.shape == (*runs, D)
        assert np.array_equal(fit.solution, again.solution)
        assert again.transcript is None
        assert convex_set.contains(fit.solution, tolerance=1e-12).all()
        assert (fit.gradient_queries == calibration.gradient_queries).all()
        assert all(math.isfinite(figure) for figure in calibration.figures.values())
        if system.is_private:
            assert fit.transcript is not None
            assert fit.transcript.shape[:2] == runs
            assert fit.transcript.shape[-1] == D
            assert system.claim(task, n, BUDGET).delta(BUDGET.epsilon) <= BUDGET.delta * (1.0 + 1e-9)
            assert system.sensitivities(task, n, BUDGET)
        else:
            assert system.claim(task, n, BUDGET) is None
    assert met


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.id)
def test_the_mean_risk_stays_below_the_stated_bound(system):
    # The bounds are on expectations; the mean of 100 runs is allowed ten standard errors more, which a true bound
    # needs with probability below 1e-15, and the draws are fixed.
    n = 96
    for law, convex_set in PROBLEMS:
        task = Task.of(law, convex_set)
        if not meets(system, task, n):
            continue
        bound = system.risk_bound(task, n, BUDGET)
        if bound is None:
            assert system.id.startswith(("noisy-sgd-erm", "estimator")) or system._noise_factor != 1.0
            continue
        sample = law.sample(np.random.default_rng(5), (100, n))
        fit = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(6))
        excess = law.risk(fit.solution) - law.minimum(convex_set).value
        error = float(np.std(excess)) / math.sqrt(100.0)
        assert excess.mean() <= bound + 10.0 * error


# Literal runs, one at a time, with the same draws.


def draws(seed):
    return np.random.default_rng(seed)


def data(law, n, runs=3, seed=11):
    return law.sample(np.random.default_rng(seed), (runs, n))


@pytest.mark.parametrize("system", [PhasedSgd(), TightPhasedSgd()], ids=lambda s: s.id)
def test_phased_sgd_is_its_pseudo_code(system):
    n, law, runs = 45, population(Logistic()), 3
    task = Task.of(law, L2Ball(np.zeros(D), 1.0))
    sample = data(law, n)
    fit = system.fit(sample, task=task, budget=BUDGET, rng=draws(1), keep_transcript=True)
    kappa = BUDGET.concentrated
    assert kappa**2 / 2 + kappa * math.sqrt(2 * math.log(1e6)) == pytest.approx(1.0)
    eta = 2.0 * min(4 / math.sqrt(n), kappa / (2 * math.sqrt(D)))
    factor = 4.0 if type(system) is PhasedSgd else 2.0
    rng = draws(1)
    noise = [rng.standard_normal((runs, D)) for _ in range(5)]
    for r in range(runs):
        w, first = np.zeros(D), 0
        for i in range(1, 6):  # ⌊log₂ 45⌋ = 5
            count, step = n // 2**i, eta / 4**i
            iterates = [w]
            for z in sample[r, first : first + count]:
                iterates.append(
                    task.convex_set.project(iterates[-1] - step * task.loss.subgradient(iterates[-1], z))
                )
            first += count
            noisy = np.mean(iterates[:-1], axis=0) + factor * step / kappa * noise[i - 1][r]
            assert fit.transcript[r, i - 1] == pytest.approx(noisy, rel=1e-9, abs=1e-12)
            w = task.convex_set.project(noisy)
        assert fit.solution[r] == pytest.approx(w, rel=1e-9)
        assert fit.gradient_queries[r] == 22 + 11 + 5 + 2 + 1


@pytest.mark.parametrize("system", [IterationSgd(), HalvingIterationSgd()], ids=lambda s: s.id)
def test_iteration_sgd_is_its_pseudo_code(system):
    n, law, runs = 150, population(Logistic()), 3
    task = Task.of(law, L2Ball(np.zeros(D), 1.0))
    sample = data(law, n)
    fit = system.fit(sample, task=task, budget=BUDGET, rng=draws(1), keep_transcript=True)
    schedule = system.schedule(task, n, BUDGET)
    rng = draws(1)
    noise = [rng.standard_normal((runs, D)) for _ in schedule.steps]
    for r in range(runs):
        w, first = np.zeros(D), 0
        for t, (eta, count) in enumerate(zip(schedule.steps, schedule.batches, strict=True)):
            mean = np.mean([task.loss.subgradient(w, z) for z in sample[r, first : first + count]], axis=0)
            moved = w - eta * (mean + noise[t][r] / math.sqrt(D))
            w = task.convex_set.project(moved)
            first += count
        assert fit.transcript[r, 0] == pytest.approx(moved, rel=1e-9)
        assert fit.solution[r] == pytest.approx(w, rel=1e-9)


@pytest.mark.parametrize("system", [MinibatchSgd(), SmoothedMinibatchSgd()], ids=lambda s: s.id)
def test_minibatch_sgd_is_its_pseudo_code(system):
    n, law, runs = 110, population(Logistic()), 3
    task = Task.of(law, L2Ball(np.zeros(D), 0.5))
    sample = data(law, n)
    fit = system.fit(sample, task=task, budget=BUDGET, rng=draws(1), keep_transcript=True)
    log = math.log(1e6)
    T = math.floor(min(n / 8, n * n / (32 * D * log)))
    m = math.ceil(n * math.sqrt(1 / (4 * T)))
    sigma, eta = math.sqrt(8 * T * log) / n, 1 / math.sqrt(T)
    beta = min(math.sqrt(n) / 4, n / (8 * math.sqrt(D * log)))
    rng = draws(1)
    w, total = np.zeros((runs, D)), np.zeros((runs, D))
    for t in range(T):
        total += w
        drawn, noise = rng.integers(n, size=(runs, m)), rng.standard_normal((runs, D))
        for r in range(runs):
            points = sample[r, drawn[r]]
            if type(system) is MinibatchSgd:
                gradients = [task.loss.subgradient(w[r], z) for z in points]
            else:
                gradients = [envelope_gradient(task.loss, w[r], z, beta=beta) for z in points]
            noisy = np.mean(gradients, axis=0) + sigma * noise[r]
            assert fit.transcript[r, t] == pytest.approx(noisy, rel=1e-9, abs=1e-12)
            w[r] = task.convex_set.project(w[r] - eta * noisy)
    assert fit.solution == pytest.approx(total / T, rel=1e-9)
    assert (fit.gradient_queries == T * m).all()
    assert (fit.optimality_gap is None) == (type(system) is MinibatchSgd)


@pytest.mark.parametrize(
    ("system", "T", "noise_steps"),
    [
        (NoisySgdErm(), 144, 144),
        (NoisySgdErm(steps=9), 9, 144),
        (ShortNoisySgdErm(), math.ceil(144 / math.sqrt(D)), 144),
        (ShortScaledNoisySgdErm(), math.ceil(144 / math.sqrt(D)), math.ceil(144 / math.sqrt(D))),
    ],
)
def test_noisy_sgd_for_erm_is_its_pseudo_code(system, T, noise_steps):
    n, law, runs = 12, population(Hinge()), 3
    task = Task.of(law, L2Ball(np.zeros(D), 0.5))
    sample = data(law, n)
    fit = system.fit(sample, task=task, budget=BUDGET, rng=draws(1), keep_transcript=True)
    log = math.log(1e6)
    sigma = math.sqrt(32 * noise_steps * math.log(n * 1e6) * log)
    G = math.sqrt(n * n + D * sigma**2)
    rng = draws(1)
    drawn = rng.integers(n, size=(T - 1, runs))
    noise = sigma * rng.standard_normal((T - 1, runs, D))
    for r in range(runs):
        w = np.zeros(D)
        for t in range(1, T):
            noisy = n * task.loss.subgradient(w, sample[r, drawn[t - 1, r]]) + noise[t - 1, r]
            assert fit.transcript[r, t - 1] == pytest.approx(noisy, rel=1e-9)
            w = task.convex_set.project(w - 1.0 / (math.sqrt(t) * G) * noisy)
        assert fit.solution[r] == pytest.approx(w, rel=1e-9)
    assert (fit.gradient_queries == T - 1).all()
    figures = system.calibrate(task, n, BUDGET).figures
    assert figures["T"] == T
    assert figures["σ"] == pytest.approx(sigma)
    assert figures["empirical risk"] == pytest.approx(2 * G * (2 + math.log(T)) / (n * math.sqrt(T)))


def test_noisy_sgd_for_erm_draws_its_noise_in_blocks_of_one_stream(monkeypatch):
    law = population(Hinge())
    task = Task.of(law, L2Ball(np.zeros(D), 0.5))
    sample = data(law, 10)
    monkeypatch.setattr("dpsco_verify.related.noisy_sgd_erm._BLOCK", 27)  # three steps
    fit = NoisySgdErm().fit(sample, task=task, budget=BUDGET, rng=draws(1), keep_transcript=True)
    assert fit.transcript.shape == (3, 99, D)
    assert len(np.unique(fit.transcript[..., 0])) == 3 * 99


@pytest.mark.parametrize("system", [SubsampledOnePass(), SubsampledScaledOnePass()], ids=lambda s: s.id)
def test_the_subsampled_pass_uses_each_point_once_in_random_order(system):
    n, runs = 140, 4
    law = population(Hinge())
    task = Task.of(law, L2Ball(np.zeros(D), 0.5))
    sample = data(law, n, runs)
    fit = system.fit(sample, task=task, budget=BUDGET, rng=draws(1), keep_transcript=True)
    batches, sigma = system.batches(task, n, BUDGET), system.noise(task, n, BUDGET)
    eta = 1.0 / math.sqrt(sum(1 + D * s * s for s in sigma))
    rng = draws(1)
    order = rng.permuted(np.tile(np.arange(n), (runs, 1)), axis=1)
    assert not np.array_equal(order[0], order[1])
    w, total, first = np.zeros((runs, D)), np.zeros((runs, D)), 0
    for t, count in enumerate(batches):
        total += w
        noise = rng.standard_normal((runs, D))
        for r in range(runs):
            points = sample[r, order[r, first : first + count]]
            noisy = np.mean([task.loss.subgradient(w[r], z) for z in points], axis=0) + sigma[t] * noise[r]
            assert fit.transcript[r, t] == pytest.approx(noisy, rel=1e-9, abs=1e-12)
            w[r] = task.convex_set.project(w[r] - eta * noisy)
        first += count
    assert fit.solution == pytest.approx(total / len(batches), rel=1e-9)
    assert (fit.gradient_queries == batches.sum()).all()
    assert batches.sum() <= n


# Conditions.


@pytest.mark.parametrize(
    ("system", "task", "n", "budget", "words"),
    [
        (
            EuclideanMirrorDescent(),
            Task(Linear(), WholeSpace(2), 1.0),
            10,
            BUDGET,
            "diameter=inf must be finite",
        ),
        (
            EuclideanMirrorDescent(),
            Task(Linear(), Simplex(1), 1.0),
            10,
            BUDGET,
            "diameter=0 must be positive",
        ),
        (
            EuclideanMirrorDescent(),
            Task(Linear(), Simplex(2), 0.0),
            10,
            BUDGET,
            "lipschitz=0 must be positive",
        ),
        (PhasedSgd(), LINEAR, 1, BUDGET, "n=1 must be at least"),
        (PhasedSgd(), LINEAR, 10, PrivacyBudget(1.0, 0.0), "delta=0 must be positive"),
        (PhasedSgd(), Task(Hinge(), L2Ball(np.zeros(2), 1.0), 1.0), 10, BUDGET, "hinge has no Lipschitz"),
        (
            PhasedSgd(),
            Task(Huber(1e-3), L2Ball(np.zeros(2), 1.0), 1.0),
            100,
            BUDGET,
            "smoothness=1 must be at most 2/η₁=",
        ),
        (IterationSgd(), LINEAR, 5, BUDGET, "n=5 must be at least the last batch"),
        (
            IterationSgd(),
            Task(Huber(1e-3), L2Ball(np.zeros(2), 1.0), 1.0),
            100,
            BUDGET,
            "smoothness=1 must be at most 2/η=",
        ),
        (SubsampledOnePass(), LINEAR, 5, BUDGET, "n=5 must be at least the last batch"),
        (MinibatchSgd(), LINEAR, 7, BUDGET, "T=min.* must be at least 1"),
        (MinibatchSgd(), LINEAR, 100, PrivacyBudget(1.5, 1e-6), "epsilon=1.5 must be at most 1"),
        (MinibatchSgd(), Task(Huber(1e-3), L2Ball(np.zeros(2), 1.0), 1.0), 100, BUDGET, "smoothness=1 must"),
        (SmoothedMinibatchSgd(beta=1e6), LINEAR, 100, BUDGET, "beta=1e.06 must be at most 2/η="),
        (NoisySgdErm(), LINEAR, 10, PrivacyBudget(8.0, 1e-6), "epsilon=8 must be at most 7.43"),
        (NoisySgdErm(steps=101), LINEAR, 10, BUDGET, "steps=101 must be at most n²=100"),
        (ShortNoisySgdErm(), LINEAR, 10, PrivacyBudget(2.0, 1e-6), "steps=231 must be at most n²=100"),
        (
            ShortScaledNoisySgdErm(),
            Task(Linear(), L2Ball(np.zeros(5000), 1.0), 1.0),
            100,
            BUDGET,
            "epsilon=1 must be at least what composition proves",
        ),
        (PNormMirrorDescent(), LINEAR, 10, BUDGET, "must be a simplex or an l1 ball about 0"),
        (PrivateEntropicMirrorDescent(), LINEAR, 10, BUDGET, "must be a simplex, where"),
        (PrivateEuclideanMirrorDescent(), LINEAR, 1, BUDGET, "n=1 must be at least"),
        (
            PrintedAlgorithmOne(),
            LINEAR,
            300,
            PrivacyBudget(0.5, 0.06),
            "delta=0.06 must be at most 3e⁻⁴=0.0549",
        ),
        # 16 log(6·10⁶) = 249.7 and 16 log(3·10⁶)/0.5² = 954.5.
        (PrintedAlgorithmOne(), LINEAR, 249, HALF, r"n=249 must be at least 16 log\(6/δ\)=249.7;"),
        (PrintedAlgorithmOne(), LINEAR, 955, HALF, r"n=955 must be at most 16 log\(3/δ\)/ε²=954.5,"),
    ],
)
def test_what_does_not_meet_a_condition_is_told_which(system, task, n, budget, words):
    for ask in (system.calibrate, system.claim, system.risk_bound, system.sensitivities):
        with pytest.raises(ConditionError, match=words):
            ask(task, n, budget)


def test_the_printed_regime_holds_up_to_its_ends():
    assert [meets(PrintedAlgorithmOne(), LINEAR, n, HALF) for n in (249, 250, 954, 955)] == [
        False,
        True,
        True,
        False,
    ]


def test_smoothing_knows_losses_of_a_linear_predictor_alone():
    class Distance(Linear):
        name = "distance"

    task = Task(Distance(), L2Ball(np.zeros(D), 1.0), 1.0)
    assert meets(SmoothedMinibatchSgd(), task, 100)  # it is linear

    class Other(Loss):
        name = "other"
        data_dimension = features = value = subgradient = None

        def lipschitz(self, data_radius):
            return data_radius

    strange = Task(Other(), L2Ball(np.zeros(D), 1.0), 1.0)
    with pytest.raises(ConditionError, match="loss=other has no known proximal point"):
        SmoothedMinibatchSgd().calibrate(strange, 100, BUDGET)
    with pytest.raises(InputError, match="loss=other has no known proximal point"):
        envelope_gradient(strange.loss, np.zeros(D), np.zeros(D), beta=1.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NoisySgdErm(steps=1), "steps=1"),
        (lambda: MinibatchSgd(noise_factor=0.0), "noise_factor=0.0"),
        (lambda: SmoothedMinibatchSgd(beta=-1.0), "beta=-1.0"),
        (lambda: PNormMirrorDescent(p=2.5), "p=2.5"),
        (lambda: EntropicMirrorDescent(dual_lipschitz=math.nan), "dual_lipschitz=nan"),
    ],
)
def test_options_are_checked(make, words):
    with pytest.raises(InputError, match=words):
        make()


# Risk arithmetic.


def test_risk_bounds_have_their_sources_form():
    n = 4096
    wide = Task(Linear(), L2Ball(np.zeros(5), 1.0), 1.0)
    private = math.sqrt(5 * math.log(1e6)) / n
    assert MinibatchSgd().risk_bound(wide, n, BUDGET) == pytest.approx(20 * max(private, 1 / 64))
    smooth = SmoothedMinibatchSgd()
    assert smooth.risk_bound(wide, n, BUDGET) == pytest.approx(
        20 * max(private, 1 / 64) + 0.5 / smooth.beta(wide, n, BUDGET)
    )
    assert EuclideanMirrorDescent().risk_bound(wide, n, BUDGET) == pytest.approx(2 / 64)
    assert EntropicMirrorDescent().risk_bound(ON_SIMPLEX, n, BUDGET) == pytest.approx(
        math.sqrt(2 * math.log(3)) / 64
    )
    # Four times the points halve the bounds where statistics rule.
    loose = PrivacyBudget(1.0, 1e-2)
    for system in (PhasedSgd(), TightPhasedSgd(), HalvingIterationSgd()):
        ratio = system.risk_bound(wide, 4**8, loose) / system.risk_bound(wide, 4**9, loose)
        assert ratio == pytest.approx(2.0, rel=0.15)
    # With n fixed and the dimension large, they grow as √d.
    for system in (PhasedSgd(), TightPhasedSgd()):
        high = [
            system.risk_bound(Task(Linear(), L2Ball(np.zeros(d), 1.0), 1.0), n, BUDGET) for d in (400, 1600)
        ]
        assert high[1] / high[0] == pytest.approx(2.0, rel=0.05)


def test_the_bound_of_phased_sgd_is_its_sum():
    task = Task(Linear(), L2Ball(np.zeros(2), 1.0), 1.0)
    system = PhasedSgd()
    phases = system.phases(task, 4, BUDGET)
    assert [count for count, _, _ in phases] == [2, 1]
    (n1, e1, s1), (n2, e2, s2) = phases
    by_hand = 4 / (2 * e1 * n1) + e1 / 2 + 2 * s1**2 / (2 * e2 * n2) + e2 / 2 + s2 * math.sqrt(2)
    assert system.risk_bound(task, 4, BUDGET) == pytest.approx(by_hand)


def test_with_the_same_noise_fewer_steps_cost_risk_and_with_theirs_they_do_not():
    n, task = 200, Task(Linear(), L2Ball(np.zeros(20), 1.0), 1.0)
    full = NoisySgdErm().empirical_risk_bound(task, n, BUDGET)
    short = ShortNoisySgdErm().empirical_risk_bound(task, n, BUDGET)
    scaled = ShortScaledNoisySgdErm().empirical_risk_bound(task, n, BUDGET)
    assert short > 1.5 * full
    assert scaled < full
