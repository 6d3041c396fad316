"""Laws that hold for all inputs: of the wealth, the bounds, the budget."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.errors import InputError
from dpsco_verify.inference import (
    BettingConfidenceSequence,
    BettingEProcess,
    ErrorBudget,
    Spending,
    binomial,
    bounded_mean,
    goodness_of_fit,
    privacy_event_test,
)
from dpsco_verify.inference.bets import bet_fractions

levels = st.floats(1e-12, 0.9)
unit_floats = st.floats(0.0, 1.0)


@st.composite
def bounded_payoffs(draw):
    low = -draw(st.floats(1e-6, 1e3))
    high = draw(st.floats(1e-6, 1e3))
    units = draw(st.lists(unit_floats, min_size=1, max_size=60))
    return low, high, np.clip([low + u * (high - low) for u in units], low, high)


@pytest.mark.slow
@given(bounded_payoffs(), levels, st.randoms(use_true_random=False))
def test_wealth_depends_on_the_multiset_and_its_maximum_on_the_order(payoffs, alpha, random):
    low, high, values = payoffs
    process = BettingEProcess(low=low, high=high, alpha=alpha)
    process.update(values)
    shuffled = list(values)
    random.shuffle(shuffled)
    other = BettingEProcess(low=low, high=high, alpha=alpha)
    for value in shuffled:
        other.update(value)
    assert other.log_wealth == pytest.approx(process.log_wealth, abs=1e-8)
    for one in (process, other):
        decision = one.decision
        assert decision.max_log_wealth >= max(0.0, decision.log_wealth)
        assert 0.0 <= decision.p_value <= 1.0
        assert decision.rejected == (decision.rejected_at is not None)
        if decision.rejected:
            assert decision.max_log_wealth >= decision.log_threshold


@given(bounded_payoffs(), st.integers(0, 59), unit_floats)
def test_wealth_rises_with_each_payoff(payoffs, index, lift):
    low, high, values = payoffs
    raised = values.copy()
    i = index % values.size
    raised[i] = min(high, values[i] + lift * (high - values[i]))
    wealth = []
    for data in (values, raised):
        process = BettingEProcess(low=low, high=high, alpha=0.05)
        wealth.append(process.update(data))
    assert wealth[1] >= wealth[0] - 1e-9


@given(bounded_payoffs())
def test_expected_wealth_after_one_more_fair_payoff_is_the_wealth(payoffs):
    # The martingale property at the two-point law on {low, high} with mean 0, whatever went before.
    low, high, values = payoffs
    after = []
    for last in (low, high):
        process = BettingEProcess(low=low, high=high, alpha=0.05)
        before = process.update(values)
        after.append(process.update(last))
    p_high = -low / (high - low)
    expected = np.logaddexp(math.log1p(-p_high) + after[0], math.log(p_high) + after[1])
    assert expected == pytest.approx(before, abs=1e-8)


@pytest.mark.slow
@given(
    st.lists(unit_floats, min_size=1, max_size=50),
    levels,
    st.floats(-5.0, 5.0),
    st.floats(1e-3, 100.0),
    st.floats(0.01, 0.99),
)
def test_confidence_sequence_keeps_exactly_the_means_that_the_e_process_accepts(
    units, alpha, low, width, place
):
    high = low + width
    data = np.clip(low + width * np.array(units), low, high)
    sequence = BettingConfidenceSequence(low=low, high=high, alpha=alpha)
    sequence.update(data)
    lower, upper = sequence.interval
    assert low <= lower <= upper <= high
    slack = 1e-9 * (abs(low) + width)
    assert lower - slack <= data.mean() <= upper + slack
    mean = low + place * width
    grid = bet_fractions(depth=22)
    above = BettingEProcess(low=low - mean, high=high - mean, alpha=alpha / 2.0, fractions=grid)
    below = BettingEProcess(low=mean - high, high=mean - low, alpha=alpha / 2.0, fractions=grid)
    # Where the mean lies within the tolerance of a bound, rounding may put it on either side.
    if abs(mean - lower) > 1e-6 * width:
        assert (above.update(np.clip(data - mean, low - mean, high - mean)) >= math.log(2.0 / alpha)) == (
            lower > mean
        )
    if abs(mean - upper) > 1e-6 * width:
        assert (below.update(np.clip(mean - data, mean - high, mean - low)) >= math.log(2.0 / alpha)) == (
            upper < mean
        )


@given(st.integers(1, 10**9), st.floats(0.0, 1.0), levels)
def test_binomial_bounds_enclose_the_frequency_and_mirror(trials, part, alpha):
    successes = round(part * trials)
    lower, upper = binomial.clopper_pearson_interval(successes, trials, alpha=alpha)
    mirrored = binomial.clopper_pearson_interval(trials - successes, trials, alpha=alpha)
    assert 0.0 <= lower <= successes / trials * (1.0 + 1e-9)
    assert successes / trials * (1.0 - 1e-9) <= upper <= 1.0
    assert mirrored == pytest.approx((1.0 - upper, 1.0 - lower), abs=1e-9)


@pytest.mark.slow
@given(
    st.floats(0.0, 4.0),
    st.floats(0.0, 0.3),
    st.floats(0.0, 0.3),
    st.integers(1, 10**7),
    levels,
    st.floats(0.05, 1.0 - 1e-9),
)
def test_privacy_mdv_is_certified_by_the_power_bound(epsilon, delta, q, samples, alpha, power):
    design = {"epsilon": epsilon, "delta": delta, "q": q, "samples": samples, "alpha": alpha}
    v = privacy_event_test.minimum_detectable_violation(power=power, **design)
    boundary = math.exp(epsilon) * q + delta
    if math.isinf(v):
        assert boundary >= 1.0 or (
            privacy_event_test.power_lower_bound(p=1.0, precision=power, **design) < power + 1e-12
        )
    else:
        p = min(1.0, boundary + v)
        assert privacy_event_test.power_lower_bound(p=p, precision=power, **design) >= power - 1e-12
        weaker = min(1.0, boundary + 0.999 * v)
        if weaker < p:  # not so where the level alone gives the power, and v is 0
            assert privacy_event_test.power_lower_bound(p=weaker, precision=power, **design) <= power + 1e-12


@pytest.mark.slow
@given(
    st.floats(0.01, 0.99),
    st.integers(1, 10**7),
    levels,
    st.floats(0.05, 1.0 - 1e-9),
    st.none() | st.floats(0.0, 0.6),
)
def test_mean_mdv_is_certified_by_the_power_bound(bound, samples, alpha, power, deviation):
    design = {"bound": bound, "low": 0.0, "high": 1.0, "samples": samples, "alpha": alpha}
    v = bounded_mean.minimum_detectable_violation(power=power, standard_deviation=deviation, **design)
    worst = bounded_mean.minimum_detectable_violation(power=power, **design)
    assert v <= worst
    if math.isfinite(v) and bound + v > bound:
        certified = bounded_mean.power_lower_bound(
            mean=min(1.0, bound + v), standard_deviation=deviation, **design
        )
        assert certified >= power - 1e-12


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=30), st.floats(0.05, 0.95))
def test_distance_to_a_law_lies_between_0_and_1_and_its_directions_make_it_up(sample, p):
    def cdf(k):
        return np.where(k < 0, 0.0, 1.0 - (1.0 - p) ** (np.maximum(k, 0) + 1.0))

    distance = {
        direction: goodness_of_fit.decide(np.array(sample), cdf, alpha=0.05, direction=direction).distance
        for direction in ("both", "above", "below")
    }
    assert 0.0 <= distance["both"] <= 1.0
    assert distance["both"] == max(distance["above"], distance["below"])


names = st.text("abcdef", min_size=1, max_size=3)
weights = st.dictionaries(names, st.floats(1e-6, 1e6), min_size=1, max_size=8)


@pytest.mark.slow
@given(st.floats(1e-250, 0.999), weights, weights)
def test_budget_and_its_parts_sum_to_at_most_the_total_and_can_all_be_spent(total, claims, parts):
    budget = ErrorBudget.split(total, claims)
    assert sum(Fraction(alpha) for _, alpha in budget.shares) <= Fraction(total)
    spending = Spending(budget)
    for claim_id in claims:
        divided = budget.share(claim_id).divide(parts)
        for name in parts:
            spending.spend(divided.part(name))
    assert sum(Fraction(e.alpha) for e in spending.expenses) <= Fraction(total)
    assert spending.spent() == pytest.approx(total, rel=1e-9)


@pytest.mark.slow
@given(weights, st.lists(st.tuples(names, names, st.floats(1e-9, 1e-6)), max_size=30))
def test_no_sequence_of_expenses_overspends(claims, attempts):
    budget = ErrorBudget.split(1e-6, claims)
    spending = Spending(budget)
    for claim_id, part, alpha in attempts:
        if claim_id not in claims:
            continue
        division = budget.share(claim_id).divide([part])
        try:
            spending.spend(division.part(part), alpha=min(alpha, budget.share(claim_id).alpha))
        except InputError:
            continue
    for claim_id, share in budget.shares:
        used = sum((Fraction(e.alpha) for e in spending.expenses if e.claim_id == claim_id), Fraction(0))
        assert used <= Fraction(share)
    assert spending.spent() <= 1e-6
