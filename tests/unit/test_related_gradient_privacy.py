"""The privacy arithmetic of the gradient-based systems, against exact compositions and at its edges."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import stats
from scipy.special import ndtr

from dpsco_verify.geometry import (
    Box,
    L2Ball,
)
from dpsco_verify.privacy.balls import ball, gaussian_delta, upper_tail
from dpsco_verify.problems import (
    Linear,
    LinearSigns,
)
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.batch_shuffling import (
    batch_counts,
    least_constant_noise,
    least_noise_by_size,
    proves_batches,
    shuffled_epsilon,
)
from dpsco_verify.related.iteration_schedule import halving_phases
from dpsco_verify.related.iteration_sgd import HalvingIterationSgd, IterationSgd
from dpsco_verify.related.minibatch_sgd import MinibatchSgd
from dpsco_verify.related.noisy_sgd_erm import NoisySgdErm, composed_epsilon
from dpsco_verify.related.subsampled_one_pass import SubsampledOnePass, SubsampledScaledOnePass

pytestmark = pytest.mark.slow

BUDGET = PrivacyBudget(1.0, 1e-6)
D = 3
SIGNS = LinearSigns(np.array([0.6, -0.2, 0.1]))
LINEAR = Task.of(SIGNS, L2Ball(np.zeros(D), 1.0))


@pytest.mark.parametrize("system", [IterationSgd(), HalvingIterationSgd()], ids=lambda s: s.id)
@pytest.mark.parametrize(("n", "dimension"), [(60, 3), (1000, 5), (3000, 20)])
def test_every_batch_by_iteration_spends_at_most_kappa(system, n, dimension):
    task = Task(Linear(), L2Ball(np.zeros(dimension), 1.0), 1.0)
    kappa = BUDGET.concentrated
    schedule = system.schedule(task, n, BUDGET)
    later = np.cumsum(schedule.steps[::-1] ** 2)[::-1] / dimension  # Σ_{s≥t} η_s²σ²
    spent = 2 * schedule.steps / schedule.batches / np.sqrt(later)
    assert (spent <= kappa * (1 + 1e-12)).all()
    assert spent.max() >= 0.95 * kappa
    # One point fewer in any batch of more than one would be too few.
    fewer = spent * schedule.batches / np.maximum(schedule.batches - 1, 1)
    assert (fewer[schedule.batches > 1] > kappa).all()
    assert schedule.batches.sum() <= n
    # T is the largest: the next schedule needs more than n points.
    assert len(system.schedule(task, n + int(schedule.batches.max()) * 4, BUDGET).steps) > len(schedule.steps)


def test_the_batches_for_a_constant_step_are_too_small_for_halving_steps():
    task = Task(Linear(), L2Ball(np.zeros(5), 1.0), 1.0)
    constant = IterationSgd().schedule(task, 20_000, BUDGET).batches
    halving = HalvingIterationSgd().schedule(task, 20_000, BUDGET)
    later = np.cumsum(halving.steps[::-1] ** 2)[::-1] / 5
    printed = constant[-len(halving.steps) :]
    spent = 2 * halving.steps / printed / np.sqrt(later)
    assert spent.max() > 2.0 * BUDGET.concentrated


def test_the_phases_of_halving_steps_cover_all_iterates():
    for steps in range(200):
        phases = halving_phases(steps)
        assert sum(phases) == steps + 1
        assert phases[-1] == 1
        assert min(phases) >= 1
    assert halving_phases(7) == (4, 2, 1, 1)


def test_by_iteration_the_first_batch_of_a_loss_without_curvature_spends_exactly_kappa():
    # Nothing is projected: the last iterate is Gaussian, shifted by 2Lη/B₁, with variance Tη²σ².
    task = Task(Linear(), L2Ball(np.zeros(3), 1.0), 1.0)
    schedule = IterationSgd().schedule(task, 500, BUDGET)
    T = len(schedule.steps)
    ratio = (2.0 / schedule.batches[0]) / math.sqrt(T / 3.0)
    wanted = 2 * math.sqrt(3) / (BUDGET.concentrated * math.sqrt(T))
    assert schedule.batches[0] == math.ceil(wanted)
    assert ratio == pytest.approx(BUDGET.concentrated * wanted / math.ceil(wanted))
    assert ratio <= BUDGET.concentrated


@pytest.mark.parametrize("epsilon_0", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("k", [2000, 20_000])
def test_the_shuffling_theorem_holds_for_randomised_response(epsilon_0, k):
    """k bits by randomised response, shuffled: the count of ones is sufficient, and its law is exact."""
    delta = 1e-5
    order = float(shuffled_epsilon(k, ball(epsilon_0), ball(delta)))
    p = math.exp(epsilon_0) / (1 + math.exp(epsilon_0))
    for ones in (0, k // 2, k - 1):
        counts = np.arange(k + 1)
        others = np.convolve(
            stats.binom.pmf(np.arange(ones + 1), ones, p),
            stats.binom.pmf(np.arange(k - ones), k - 1 - ones, 1 - p),
        )
        one, zero = np.zeros(k + 1), np.zeros(k + 1)
        one[:-1] += others * (1 - p)
        one[1:] += others * p
        zero[:-1] += others * p
        zero[1:] += others * (1 - p)
        assert counts.size == one.size
        for first, second in ((one, zero), (zero, one)):
            assert np.maximum(first - math.exp(order) * second, 0.0).sum() <= delta


def test_the_shuffling_theorem_keeps_to_its_condition():
    """16 log(4/δ) e^ε₀ ≤ k."""
    delta = ball(Fraction(1, 1000))
    edge = 16 * math.log(4000.0)
    assert shuffled_epsilon(math.ceil(edge * math.e), flint.arb(1), delta) is not None
    assert shuffled_epsilon(math.floor(edge * math.e), flint.arb(1), delta) is None
    assert shuffled_epsilon(10**6, flint.arb(1), flint.arb(1)) is None


@pytest.mark.parametrize("n", [30, 300, 3000])
def test_subsampling_single_points_needs_no_more_than_one_use_of_each(n):
    counts = ((1, n),)
    least = least_constant_noise(counts, n, 1.0, 1e-6)
    assert least_noise_by_size(counts, n, 1.0, 1e-6)[1] == pytest.approx(least, rel=2e-3)
    one_use = float(gaussian_delta(ball(1), 2 / ball(Fraction(least))))
    if n < 3000:
        assert one_use <= 1e-6 < float(gaussian_delta(ball(1), 2 / ball(Fraction(0.997 * least))))
    else:
        assert one_use > 1e-6  # the shuffling theorem proves it


def test_subsampled_noise_is_the_least_that_the_bounds_prove():
    n = 2000
    task = Task(Linear(), L2Ball(np.zeros(5), 1.0), 1.0)
    system, scaled = SubsampledOnePass(), SubsampledScaledOnePass()
    counts = batch_counts(system.batches(task, n, BUDGET))
    sigma = float(system.noise(task, n, BUDGET)[0])

    def holds(factor):
        scale = 2 / ball(Fraction(sigma * factor))
        return proves_batches(
            counts, n=n, epsilon=ball(1.0), delta=ball(1e-6), ratio=lambda size: scale / size
        )

    assert holds(1.0)
    assert not holds(0.99)
    assert sigma > 5.0 / math.sqrt(5)  # ten times the noise of iteration

    # Where the noise follows the batch, the large sizes, of few batches, rest on one use each, and no less would do.
    by_size = scaled.noise(task, n, BUDGET) * system.batches(task, n, BUDGET)
    used = sum(size * count for size, count in counts)
    order = ball(math.log1p(math.expm1(1.0) * n / used))

    def one_use(factor):
        return float(gaussian_delta(order, 2 / ball(Fraction(by_size[-1] * factor)))) * used / n

    assert one_use(1.0) <= 1e-6 < one_use(0.99)
    assert scaled.risk_bound(task, n, BUDGET) < system.risk_bound(task, n, BUDGET)


def test_the_shuffling_of_batches_compares_whole_gradients():
    # 4000 batches of 5 points: with the ratio of one point's share the shuffling bound would prove what one use
    # does not, with that of whole gradients it does not.
    mu = flint.arb(7) / 20

    def shown(size):
        return proves_batches(
            ((size, 4000),), n=4000 * size, epsilon=ball(1.0), delta=ball(1e-6), ratio=lambda _: mu
        )

    assert not gaussian_delta(ball(1.0), mu) <= ball(1e-6)
    assert shown(1)
    assert not shown(5)


@pytest.mark.parametrize(("steps", "mu"), [(50, 0.3), (2500, 0.05), (2500, 1.0)])
def test_composition_of_sampled_answers_is_above_the_exact_one(steps, mu):
    n, delta = 50, 1e-6
    exact = pld.from_gaussian_mechanism(
        1.0 / mu, sampling_prob=1.0 / n, value_discretization_interval=1e-3
    ).self_compose(steps)
    proven = composed_epsilon(steps=steps, n=n, mu=mu, delta=delta)
    assert exact.get_epsilon_for_delta(delta) <= proven
    assert composed_epsilon(steps=steps, n=n, mu=100.0, delta=delta) == math.inf


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("n", [2, 30, 10_000])
def test_noisy_sgd_for_erm_is_proven_up_to_epsilon_1(n, delta):
    for epsilon in (0.01, 0.3, 1.0):
        assert NoisySgdErm().proven_epsilon(LINEAR, n, PrivacyBudget(epsilon, delta)) <= epsilon


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_at_the_end_of_its_sources_range_the_chain_of_noisy_sgd_for_erm_does_not_close(delta):
    end = 2 * math.sqrt(-math.log(delta))
    assert NoisySgdErm().proven_epsilon(LINEAR, 1000, PrivacyBudget(end, delta)) > end


def test_half_the_noise_of_noisy_sgd_for_erm_is_not_proven():
    system = NoisySgdErm()
    mu = 2 * 100 / system.noise(LINEAR, 100, BUDGET)
    assert composed_epsilon(steps=9999, n=100, mu=2 * mu, delta=1e-6) > 1.0


TERMS = 200
GRID = np.linspace(-2.0, 20.0, 4401)


def drawn_sum_delta(
    *, n: int, batch: int, steps: int, epsilon: float, ratio: Fraction, threshold: Fraction
) -> flint.arb:
    """Return ``P(E|S) − e^ε P(E|S')``, which is a lower bound on δ(ε), for E a half-line of the sum of `steps` answers.

    An answer is the mean of the gradients of `batch` points drawn with replacement out of n, plus N(0, σ²). In S'
    all gradients are −L; in S one point's is +L. The point is drawn ``K ~ Bin(batch·steps, 1/n)`` times in all,
    and the sum of the answers, centred and over ``σ√steps``, has the law of ``K·ratio/√steps + N(0, 1)`` for S
    and N(0, 1) for S', with ``ratio = 2L/(batch·σ)``. E is the event that it exceeds `threshold`. The terms K >
    200 are left out, as they may be from a lower bound.
    """
    draws = batch * steps
    p, t = ball(Fraction(1, n)), ball(threshold)
    shift = ball(ratio) / flint.arb(steps).sqrt()
    inside = flint.arb(0)
    for k in range(min(draws, TERMS) + 1):
        weight = flint.arb(flint.fmpz(math.comb(draws, k))) * p**k * (1 - p) ** (draws - k)
        inside += weight * upper_tail(t - k * shift)
    return inside - ball(epsilon).exp() * upper_tail(t)


def best_threshold(*, n: int, batch: int, steps: int, epsilon: float, ratio: float) -> Fraction:
    """Return the threshold of a grid at which doubles find the difference largest."""
    k = np.arange(min(batch * steps, TERMS) + 1)
    weights = stats.binom.pmf(k, batch * steps, 1.0 / n)
    inside = weights @ ndtr((k * (ratio / math.sqrt(steps)))[:, np.newaxis] - GRID)
    return Fraction(float(GRID[np.argmax(inside - math.exp(epsilon) * ndtr(-GRID))]))


def refutation(system, task, n, budget, steps):
    batch = system.batch_size(task, n, budget)
    ratio = 2 * task.lipschitz / (batch * system.noise(task, n, budget))
    threshold = best_threshold(n=n, batch=batch, steps=steps, epsilon=budget.epsilon, ratio=ratio)
    return drawn_sum_delta(
        n=n,
        batch=batch,
        steps=steps,
        epsilon=budget.epsilon,
        ratio=Fraction(ratio),
        threshold=threshold,
    )


FIVE = Task(Linear(), L2Ball(np.zeros(5), 1.0), 1.0)


@pytest.mark.parametrize(("n", "steps", "at_least"), [(80, 1, 1.05e-5), (100, 4, 1.08e-5), (150, 10, 1.6e-6)])
def test_the_printed_noise_of_minibatch_sgd_is_refuted_for_small_n(n, steps, at_least):
    system = MinibatchSgd()
    assert system.steps(FIVE, n, BUDGET) == max(steps, 2)
    assert refutation(system, FIVE, n, BUDGET, steps) > at_least
    assert refutation(MinibatchSgd(noise_factor=1.5), FIVE, n, BUDGET, steps) < 1e-6


def exact_minibatch_delta(system, n, budget, steps):
    """δ by composition of the instance's binomial mixture of Gaussians."""
    batch = system.batch_size(FIVE, n, budget)
    counts = np.arange(15)
    weights = stats.binom.pmf(counts, batch, 1.0 / n)
    composed = pld.from_mixture_gaussian_mechanism(
        standard_deviation=system.noise(FIVE, n, budget),
        sensitivities=list(2.0 * counts / batch),
        sampling_probs=list(weights / weights.sum()),
        value_discretization_interval=2e-3,
    ).self_compose(steps)
    return composed.get_delta_for_epsilon(budget.epsilon)


@pytest.mark.slow
@pytest.mark.parametrize("n", [100, 250, pytest.param(1000, marks=pytest.mark.long)])
def test_composition_agrees_on_where_the_printed_noise_suffices(n):
    system = MinibatchSgd()
    steps = system.steps(FIVE, n, BUDGET)
    exact = exact_minibatch_delta(system, n, BUDGET, steps)
    assert (exact <= 1e-6) == (n >= 250)
    assert refutation(system, FIVE, n, BUDGET, steps) <= exact


def test_a_sum_of_answers_about_one_point_alone_is_a_gaussian_mechanism():
    # n = 1: every draw is the point, so the shift of the sum is batch·ratio·√steps.
    found = refutation_of_one(batch=3, steps=4, ratio=0.1)
    exact = float(gaussian_delta(ball(0.5), ball(Fraction(3 * 0.1)) * 2))
    assert float(found) == pytest.approx(exact, rel=1e-4)
    assert float(found) <= exact


def refutation_of_one(*, batch, steps, ratio):
    threshold = best_threshold(n=1, batch=batch, steps=steps, epsilon=0.5, ratio=ratio)
    return drawn_sum_delta(
        n=1, batch=batch, steps=steps, epsilon=0.5, ratio=Fraction(ratio), threshold=threshold
    )


def test_with_two_steps_the_output_of_minibatch_sgd_reveals_the_event_that_refutes_its_noise():
    # On a long thin box that begins at the initial point the first coordinate of the output is half the first step,
    # and the event's threshold lies inside, where nothing is clipped.
    n, system = 80, MinibatchSgd()
    convex_set = Box(np.array([0.0, -0.01, -0.01, -0.01, -0.01]), np.array([1.0, 0.01, 0.01, 0.01, 0.01]))
    task = Task(Linear(), convex_set, 1.0)
    assert system.steps(task, n, BUDGET) == 2
    sample = np.zeros((200, n, 5))
    sample[..., 0] = 1.0
    fit = system.fit(sample, task=task, budget=BUDGET, rng=np.random.default_rng(1), keep_transcript=True)
    eta, sigma = system.step_size(task, n, BUDGET), system.noise(task, n, BUDGET)
    step = np.clip(-eta * fit.transcript[:, 0, 0], 0.0, 1.0)
    assert fit.solution[:, 0] == pytest.approx(0.5 * step)
    batch = system.batch_size(task, n, BUDGET)
    threshold = best_threshold(n=n, batch=batch, steps=1, epsilon=1.0, ratio=2 / (batch * sigma))
    assert 0.0 < eta * (1.0 - sigma * float(threshold)) < 1.0
    assert refutation(system, task, n, BUDGET, 1) > 1.05e-5


@pytest.mark.parametrize(("k", "epsilon_0"), [(1000, 0.5), (10**5, 3.0)])
def test_the_order_of_the_shuffling_theorem_by_hand(k, epsilon_0):
    """log(1 + a(1 − e^−ε₀)/(1 + e^−ε₀/(1 + a))), ``a = 8√(e^ε₀ log(4/δ)/k) + 8e^ε₀/k``; more than with tanh(ε₀/2)."""
    odds, delta = math.exp(epsilon_0), 1e-4
    a = 8 * math.sqrt(odds * math.log(4 / delta) / k) + 8 * odds / k
    cautious = (1 - 1 / odds) / (1 + 1 / (odds * (1 + a)))
    found = float(shuffled_epsilon(k, ball(epsilon_0), ball(delta)))
    assert found == pytest.approx(math.log1p(a * cautious), rel=1e-12)
    assert found > math.log1p(a * math.tanh(epsilon_0 / 2))
