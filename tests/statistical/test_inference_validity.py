"""Thousands of null runs with a look at every step: false alarms stay below the level, and broken versions do not.

Every test of this file compares a frequency with a probability that is known. It fails only when the exact one-sided
Clopper–Pearson bound of the frequency at 1e-9 lies on the wrong side, so a correct program fails with probability at
most 1e-9 per assertion; with 1000 runs it sees a false-alarm rate of 0.12 in place of 0.05, or a power of 0.8 in place
of 0.9, with probability above 0.99. The seeds are fixed.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import geom, norm

from dpsco_verify.inference import (
    BettingConfidenceSequence,
    BettingEProcess,
    BoundedMeanTest,
    CellCounts,
    PrivacyEventTest,
    bounded_mean,
    goodness_of_fit,
    privacy_event_test,
)
from dpsco_verify.inference.bets import log_factors, log_wealth_of_counts
from dpsco_verify.inference.binomial import clopper_pearson_lower, clopper_pearson_upper

CHECK = 1e-9


def surely_above(count, runs, probability):
    """Whether the frequency shows that the event has more than this probability."""
    return clopper_pearson_lower(int(count), runs, alpha=CHECK) > probability


def surely_below(count, runs, probability):
    """Whether the frequency shows that the event has less than this probability."""
    return clopper_pearson_upper(int(count), runs, alpha=CHECK) < probability


def test_the_checker_itself_sees_both_sides():
    assert surely_above(300, 3000, 0.05)
    assert not surely_above(170, 3000, 0.05)
    assert surely_below(2550, 3000, 0.9)
    assert not surely_below(2670, 3000, 0.9)


def coin(rng, n):
    return rng.integers(0, 2, n) - 0.5


def rare_gain(rng, n):
    return np.where(rng.random(n) < 0.05, 0.95, -0.05)


def rare_loss(rng, n):
    return np.where(rng.random(n) < 0.05, -0.95, 0.05)


def uniform(rng, n):
    return rng.uniform(-1.0, 1.0, n)


def dependent(rng, n):
    """A martingale difference that is not independent: its size is 1 after a loss and 1/8 after a gain."""
    signs = 2.0 * rng.integers(0, 2, n + 1) - 1.0
    return np.where(signs[:-1] < 0.0, 1.0, 0.125) * signs[1:]


LAWS = {
    "coin": (coin, -0.5, 0.5),
    "rare gain": (rare_gain, -0.05, 0.95),
    "rare loss": (rare_loss, -0.95, 0.05),
    "uniform": (uniform, -1.0, 1.0),
    "dependent": (dependent, -1.0, 1.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LAWS)
def test_null_runs_cross_no_more_often_than_the_level(name):
    draw, low, high = LAWS[name]
    rng = np.random.default_rng(100)
    runs, n = 1000, 400
    p_values = np.empty(runs)
    capped = np.empty(runs)
    for run in range(runs):
        process = BettingEProcess(low=low, high=high, alpha=0.05)
        process.update(draw(rng, n))
        p_values[run] = process.decision.p_value
        capped[run] = min(20.0, math.exp(process.log_wealth))
    for level in (0.01, 0.05, 0.2, 0.5):
        assert not surely_above((p_values <= level).sum(), runs, level)
    # The mean e-value is at most 1; cut at 20 it is bounded, and the test of a bounded mean has a level of its own.
    assert not bounded_mean.decide(capped, bound=1.0, low=0.0, high=20.0, alpha=CHECK).rejected


@pytest.mark.slow
def test_broken_e_values_are_caught():
    # The running maximum is not an e-value, and a bet picked in hindsight is not a bet.
    rng = np.random.default_rng(101)
    runs, n = 3000, 400
    maxima = np.empty(runs)
    hindsight = 0
    for run in range(runs):
        process = BettingEProcess(low=-0.5, high=0.5, alpha=0.2)
        payoffs = coin(rng, n)
        process.update(payoffs)
        maxima[run] = min(20.0, math.exp(process.max_log_wealth))
        path = np.cumsum(log_factors(process.fractions, payoffs / 0.5), axis=1).max()
        hindsight += path >= -math.log(0.2)
    assert bounded_mean.decide(maxima, bound=1.0, low=0.0, high=20.0, alpha=CHECK).rejected
    assert surely_above(hindsight, runs, 0.2)


def laplace_pair(rng, n, epsilon):
    """E = {x < 0} under Laplace(0, 1/ε) and Laplace(1, 1/ε): P(E|D) = 1/2 = e^ε P(E|D')."""
    return rng.laplace(0.0, 1.0 / epsilon, n) < 0.0, rng.laplace(1.0, 1.0 / epsilon, n) < 0.0


def gaussian_pair(rng, n, epsilon, mu):
    """The event that is worst for N(0, 1) against N(μ, 1) at ε: {x < μ/2 − ε/μ}."""
    threshold = mu / 2.0 - epsilon / mu
    return rng.standard_normal(n) < threshold, rng.standard_normal(n) + mu < threshold


def gaussian_delta(epsilon, mu):
    return norm.cdf(mu / 2.0 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2.0 - epsilon / mu)


BOUNDARY = {
    "laplace": (lambda rng, n: laplace_pair(rng, n, 0.7), 0.7, 0.0),
    "gaussian, epsilon 0": (lambda rng, n: gaussian_pair(rng, n, 0.0, 0.5), 0.0, gaussian_delta(0.0, 0.5)),
    "gaussian, epsilon 1": (lambda rng, n: gaussian_pair(rng, n, 1.0, 1.0), 1.0, gaussian_delta(1.0, 1.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", BOUNDARY)
def test_mechanisms_on_the_boundary_of_their_claim_are_rarely_refuted(name):
    draw, epsilon, delta = BOUNDARY[name]
    rng = np.random.default_rng(102)
    runs, n = 1000, 400
    false_alarms = 0
    for _ in range(runs):
        false_alarms += (
            PrivacyEventTest(epsilon=epsilon, delta=delta, alpha=0.05).update(*draw(rng, n)).rejected
        )
    assert not surely_above(false_alarms, runs, 0.05)


@pytest.mark.slow
def test_mechanisms_beyond_their_claim_are_refuted_within_the_planned_samples():
    # Laplace noise for ε = 1 that claims ε = 0.5.
    rng = np.random.default_rng(103)
    q = math.exp(-1.0) / 2.0
    n = privacy_event_test.required_samples(
        violation=0.5 - math.exp(0.5) * q, epsilon=0.5, delta=0.0, q=q, alpha=1e-3
    )
    runs = 1000
    found = 0
    for _ in range(runs):
        found += (
            PrivacyEventTest(epsilon=0.5, delta=0.0, alpha=1e-3).update(*laplace_pair(rng, n, 1.0)).rejected
        )
    assert not surely_below(found, runs, 0.9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "samples", "alpha"),
    [
        (0.0, 0.0, 0.5, 2000, 0.05),
        (1.0, 1e-5, 0.1, 10_000, 1e-6),
        (3.0, 1e-4, 1e-3, 200_000, 1e-8),
        (0.5, 1e-3, 0.0, 10_000, 1e-3),
        (1.0, 1e-6, 0.2, 100_000_000, 1e-8),
    ],
)
def test_privacy_mdv_is_sound_and_tight_at_large_samples(epsilon, delta, q, samples, alpha):
    rng = np.random.default_rng(104)
    v = privacy_event_test.minimum_detectable_violation(
        epsilon=epsilon, delta=delta, q=q, samples=samples, alpha=alpha
    )
    factor = math.exp(epsilon)
    payoffs = np.array([-delta, -factor - delta, 1.0 - delta, 1.0 - factor - delta])
    process = BettingEProcess(low=payoffs[1], high=payoffs[2], alpha=alpha)
    runs = 3000

    def found(violation):
        first = rng.binomial(samples, factor * q + delta + violation, runs)
        second = rng.binomial(samples, q, runs)
        both = rng.hypergeometric(first, samples - first, second)
        cells = np.stack([samples - first - second + both, second - both, first - both, both], axis=-1)
        wealth = log_wealth_of_counts(process.fractions, payoffs / -payoffs[1], cells)
        return (wealth >= process.decision.log_threshold).sum()

    assert not surely_below(found(v), runs, 0.9)
    assert surely_below(found(v / 2.0), runs, 0.9)


MEAN_LAWS = {
    # The law at mean m with the standard deviation given beside it, on [0, 1].
    "uniform": (lambda rng, n, m: m + rng.uniform(-0.1, 0.1, n), 0.2 / math.sqrt(12.0)),
    "beta": (lambda rng, n, m: rng.beta(20.0 * m, 20.0 * (1.0 - m), n), 0.5 / math.sqrt(21.0)),
    "three points": (lambda rng, n, m: m + 0.2 * rng.integers(-1, 2, n), 0.2 * math.sqrt(2.0 / 3.0)),
}


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
@pytest.mark.parametrize("name", MEAN_LAWS)
def test_mean_mdv_is_sound_and_tight_on_laws_with_many_values(name, alpha):
    # alpha = 1e-6 asks for tightness too: there half the violation is not found with power 0.9 under any of these laws.
    draw, deviation = MEAN_LAWS[name]
    rng = np.random.default_rng(105)
    design = {"bound": 0.4, "low": 0.0, "high": 1.0, "alpha": alpha}
    samples, runs = 300, 500
    v = bounded_mean.minimum_detectable_violation(samples=samples, standard_deviation=deviation, **design)

    def found(violation):
        return sum(
            bounded_mean.decide(draw(rng, samples, 0.4 + violation), **design).rejected for _ in range(runs)
        )

    assert not surely_below(found(v), runs, 0.9)
    if alpha == 1e-6:
        assert surely_below(found(v / 2.0), runs, 0.9)


@pytest.mark.slow
def test_confidence_sequence_covers_at_all_times():
    # By the class itself, for a law with many values. For two values its miss probability is computed exactly in
    # tests/unit; that it excludes a mean exactly when the e-process rejects it, in tests/property.
    rng = np.random.default_rng(106)
    runs = 120
    missed = 0
    for _ in range(runs):
        sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.2)
        for batch in np.split(rng.beta(0.5, 1.5, 200), [2, 5, 10, 20, 35, 60, 100, 150]):
            sequence.update(batch)
            if not sequence.lower <= 0.25 <= sequence.upper:
                missed += 1
                break
    assert not surely_above(missed, runs, 0.2)


@pytest.mark.slow
def test_fixed_sample_interval_peeked_at_every_draw_is_caught():
    # The same checker, on what must not be done: 30 to 45 % of the runs miss, where 5 % were promised.
    rng = np.random.default_rng(107)
    runs, n, p = 100, 2000, 0.3
    trials = np.arange(1, n + 1)
    missed = 0
    for _ in range(runs):
        counts = np.cumsum(rng.random(n) < p)
        lower = clopper_pearson_lower(counts, trials, alpha=0.025)
        upper = clopper_pearson_upper(counts, trials, alpha=0.025)
        missed += ((lower > p) | (upper < p)).any()
    assert surely_above(missed, runs, 0.05)
    # The exact probability is 0.441 (tests/unit): the simulation agrees.
    assert not surely_above(missed, runs, 0.4415)
    assert not surely_below(missed, runs, 0.4405)


@pytest.mark.slow
def test_goodness_of_fit_keeps_its_level_and_finds_a_wrong_law():
    rng = np.random.default_rng(109)
    runs, n = 500, 100
    law = geom(0.3)
    refuted = {"right": 0, "wrong": 0}
    for _ in range(runs):
        refuted["right"] += goodness_of_fit.decide(rng.geometric(0.3, n), law.cdf, alpha=0.05).rejected
        refuted["wrong"] += goodness_of_fit.decide(rng.geometric(0.6, n), law.cdf, alpha=0.05).rejected
    # sup |F − G| is 0.33 here, above the minimum detectable distance of 0.243.
    assert goodness_of_fit.minimum_detectable_distance(n, alpha=0.05) < 0.3
    assert not surely_above(refuted["right"], runs, 0.05)
    assert not surely_below(refuted["wrong"], runs, 0.9)


def test_chunks_and_streams_reach_the_same_end():
    rng = np.random.default_rng(110)
    pair = laplace_pair(rng, 5000, 1.0)
    stream = PrivacyEventTest(epsilon=0.5, delta=0.0, alpha=1e-3)
    stream.update(*pair)
    chunks = [CellCounts.from_indicators(a, b) for a, b in zip(*(np.split(x, 50) for x in pair), strict=True)]
    decision = privacy_event_test.decide(chunks, epsilon=0.5, delta=0.0, alpha=1e-3)
    assert stream.decision.rejected
    assert decision.rejected
    # The stream looked after each pair, the chunks after each hundred.
    assert stream.decision.rejected_at <= decision.rejected_at


def test_test_of_a_mean_is_the_e_process_of_the_excess():
    data = np.random.default_rng(111).beta(2.0, 3.0, 500)
    test = BoundedMeanTest(bound=0.35, low=0.0, high=1.0, alpha=0.05)
    test.update(data[:200])
    test.update(data[200:])
    process = BettingEProcess(low=-0.35, high=0.65, alpha=0.05)
    process.update(data - 0.35)
    assert test.decision.log_wealth == pytest.approx(process.log_wealth, abs=1e-11)
    assert test.decision.rejected_at == process.decision.rejected_at
