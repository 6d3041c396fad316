"""Exact probabilities of ever rejecting, by dynamic programming over the counts: no simulation, no error probability.

For payoffs with few values the state after t draws is the vector of counts. The mass that meets the rejection rule is
taken out and added up, so the sum is P(rejects at some t ≤ n), with a look after every draw.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsco_verify.inference import BettingConfidenceSequence, BettingEProcess
from dpsco_verify.inference.bets import log_factors, log_mean_exp, log_wealth_of_counts
from dpsco_verify.inference.binomial import clopper_pearson_lower, clopper_pearson_upper

pytestmark = pytest.mark.slow  # seconds of processes or exact sums: the whole suite has time for them


def crossing_probability(rejects, p, n):
    """P(rejects(t)[S_t] for some t ≤ n), S_t ~ Bin(t, p); also the law of S_n among the paths that never did."""
    alive = np.array([1.0])
    crossed = 0.0
    for t in range(1, n + 1):
        ahead = np.zeros(t + 1)
        ahead[:-1] += alive * (1.0 - p)
        ahead[1:] += alive * p
        out = rejects(t)
        crossed += ahead[out].sum()
        ahead[out] = 0.0
        alive = ahead
    return crossed, alive


def two_point(p):
    """Payoffs −p and 1 − p with P(1 − p) = p: mean exactly 0."""
    return -p, 1.0 - p


def mixture_wealth(low, high, fractions=None):
    grid = BettingEProcess(low=low, high=high, alpha=0.5, fractions=fractions).fractions
    ratios = np.array([-1.0, high / -low])

    def log_wealth(t):
        ups = np.arange(t + 1)
        return log_wealth_of_counts(grid, ratios, np.stack([t - ups, ups], axis=-1))

    return log_wealth


@pytest.mark.parametrize("p", [0.001, 0.03, 0.3, 0.5, 0.7, 0.97, 0.999])
@pytest.mark.parametrize("alpha", [1e-6, 0.05, 0.3, 0.9])
def test_null_two_point_law_crosses_with_probability_at_most_alpha(p, alpha):
    log_wealth = mixture_wealth(*two_point(p))
    crossed, _ = crossing_probability(lambda t: log_wealth(t) >= -math.log(alpha), p, 200)
    assert crossed <= alpha


def test_crossing_of_a_single_small_bet_is_nearly_alpha():
    # Ville's inequality is tight up to the overshoot, so the check above has something to see.
    log_wealth = mixture_wealth(*two_point(0.5), fractions=[0.1])
    crossed, _ = crossing_probability(lambda t: log_wealth(t) >= math.log(20.0), 0.5, 1500)
    assert 0.045 < crossed <= 0.05


@pytest.mark.parametrize("p", [0.03, 0.5, 0.97])
def test_stopped_wealth_has_mean_one_exactly(p):
    log_wealth = mixture_wealth(*two_point(p))
    threshold = math.log(20.0)
    stopped = []
    alive = np.array([1.0])
    for t in range(1, 201):
        ahead = np.zeros(t + 1)
        ahead[:-1] += alive * (1.0 - p)
        ahead[1:] += alive * p
        wealth = log_wealth(t)
        out = (wealth >= threshold) | (t == 200)
        stopped.append(ahead[out] @ np.exp(wealth[out]))
        ahead[out] = 0.0
        alive = ahead
    assert math.fsum(stopped) == pytest.approx(1.0, abs=1e-11)


def test_process_rejects_exactly_where_the_counts_say():
    # The dynamic programme speaks of the class: along every path of 9 draws both see the same crossing.
    low, high = two_point(0.3)
    log_wealth = mixture_wealth(low, high)
    threshold = math.log(4.0)
    for code in range(2**9):
        draws = np.array([(code >> i) & 1 for i in range(9)])
        process = BettingEProcess(low=low, high=high, alpha=0.25)
        process.update(np.where(draws == 1, high, low))
        ups = np.cumsum(draws)
        hits = [t for t in range(1, 10) if log_wealth(t)[ups[t - 1]] >= threshold]
        assert process.decision.rejected_at == (hits[0] if hits else None)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.97])
def test_broken_process_that_picks_its_bet_after_the_data_is_caught(p):
    low, high = two_point(p)
    grid = BettingEProcess(low=low, high=high, alpha=0.5).fractions
    logs = log_factors(grid, np.array([-1.0, high / -low]))

    def best_bet_in_hindsight(t):
        ups = np.arange(t + 1)
        return (logs @ np.stack([t - ups, ups])).max(axis=0)

    crossed, _ = crossing_probability(lambda t: best_bet_in_hindsight(t) >= -math.log(0.3), p, 200)
    assert crossed > 0.3


def test_violated_null_is_found():
    # E[X] is 0.2 in place of at most 0: the same dynamic programme sees it.
    log_wealth = mixture_wealth(*two_point(0.5))
    crossed, _ = crossing_probability(lambda t: log_wealth(t) >= math.log(20.0), 0.7, 200)
    assert crossed > 0.99


@pytest.mark.parametrize(("epsilon", "q", "delta"), [(0.0, 0.3, 0.0), (0.5, 0.2, 0.05), (2.0, 0.02, 0.01)])
def test_privacy_payoff_on_the_boundary_crosses_with_probability_at_most_alpha(epsilon, q, delta):
    # Four payoffs: the state is (n11, n10, n01). P(E|D) = e^ε q + δ exactly.
    factor = math.exp(epsilon)
    p = factor * q + delta
    payoffs = np.array([-delta, -factor - delta, 1.0 - delta, 1.0 - factor - delta])
    process = BettingEProcess(low=payoffs[1], high=payoffs[2], alpha=0.2)
    logs = log_factors(process.fractions, payoffs / -payoffs[1])
    n = 30
    cells = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij")).reshape(3, -1)
    base = logs[:, [3, 2, 1]] @ cells - logs[:, :1] * cells.sum(axis=0)
    alive = np.zeros((n + 1,) * 3)
    alive[0, 0, 0] = 1.0
    crossed = 0.0
    mean = 0.0
    for t in range(1, n + 1):
        ahead = (1.0 - p) * (1.0 - q) * alive
        ahead[1:] += p * q * alive[:-1]
        ahead[:, 1:] += p * (1.0 - q) * alive[:, :-1]
        ahead[:, :, 1:] += (1.0 - p) * q * alive[:, :, :-1]
        wealth = log_mean_exp(base + t * logs[:, :1]).reshape(ahead.shape)
        out = (wealth >= math.log(5.0)) & (ahead > 0.0)
        crossed += ahead[out].sum()
        mean += ahead[out] @ np.exp(wealth[out])
        ahead[out] = 0.0
        alive = ahead
    mean += alive[alive > 0.0] @ np.exp(wealth[alive > 0.0])
    assert 0.0 < crossed <= 0.2
    assert mean == pytest.approx(1.0, abs=1e-10)


def rejection_counts(alpha, p, n, fractions):
    """For each t: the mean p lies above the upper bound up to `low[t]` successes, below the lower from `high[t]` on."""
    low, high = [-1], [1]
    for t in range(1, n + 1):

        def bounds(ups, t=t):
            sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=alpha, fractions=fractions)
            sequence.update(np.repeat([1.0, 0.0], [ups, t - ups]))
            return sequence.interval

        # One more draw moves each border by one success at most.
        below = low[-1]
        while below < t and bounds(below + 1)[1] < p:
            below += 1
        above = high[-1]
        while above <= t and bounds(above)[0] <= p:
            above += 1
        low.append(below)
        high.append(above)
    return low, high


def sequence_miss_probability(alpha, p, n, fractions):
    low, high = rejection_counts(alpha, p, n, fractions)

    def misses(t):
        ups = np.arange(t + 1)
        return (ups <= low[t]) | (ups >= high[t])

    return crossing_probability(misses, p, n)[0]


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_confidence_sequence_misses_at_some_time_with_probability_at_most_alpha(p):
    assert 0.0 < sequence_miss_probability(0.3, p, 60, None) <= 0.3


def test_broken_confidence_sequence_without_the_alpha_split_is_caught(monkeypatch):
    # One bet, so that Ville's inequality is nearly tight and the two sides together need the split.
    assert 0.15 < sequence_miss_probability(0.3, 0.5, 60, [0.4]) <= 0.3
    original = BettingConfidenceSequence.__init__

    def without_split(self, *, alpha, **others):
        original(self, alpha=alpha, **others)
        self._log_threshold = -math.log(alpha)

    monkeypatch.setattr(BettingConfidenceSequence, "__init__", without_split)
    assert sequence_miss_probability(0.3, 0.5, 60, [0.4]) > 0.3


@pytest.mark.parametrize(("p", "expected"), [(0.5, 0.456), (0.3, 0.441), (0.1, 0.394)])
def test_fixed_sample_interval_peeked_at_every_draw_misses_often(p, expected):
    # What the e-processes are for: a 95 % Clopper–Pearson interval, looked at after each of 2000 draws.
    trials = np.arange(2001)
    fewest = binom.ppf(0.025, trials, p)  # the counts whose interval holds p
    most = binom.ppf(0.975, trials, p)

    def misses(t):
        ups = np.arange(t + 1)
        return (ups < fewest[t]) | (ups > most[t])

    for t in (1, 7, 50, 800):  # these are the intervals of this package
        ups = np.arange(t + 1)
        below = clopper_pearson_upper(ups, t, alpha=0.025) < p
        above = clopper_pearson_lower(ups, t, alpha=0.025) > p
        assert np.array_equal(below | above, misses(t))
    crossed, _ = crossing_probability(misses, p, 2000)
    assert crossed == pytest.approx(expected, abs=1e-3)
