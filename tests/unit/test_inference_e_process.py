"""The e-process as a piece of arithmetic: wealth, batches, rounding, refusals."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.inference import BettingEProcess, CellCounts, PrivacyEventTest, privacy_event_test
from dpsco_verify.inference.bets import bet_fractions, depth_for_range, log_wealth_error


def exact_log_wealth(payoffs, low, fractions):
    """The definition, (1/K) Σ_k Π (1 + θ_k x/|low|), with 60 digits."""
    with mpmath.workdps(60):
        stake = [mpmath.mpf(float(theta)) / -mpmath.mpf(low) for theta in fractions]
        products = [mpmath.fprod(1 + bet * mpmath.mpf(float(x)) for x in payoffs) for bet in stake]
        return float(mpmath.log(mpmath.fsum(products) / len(products)))


def test_grid_is_fixed_increasing_and_reaches_near_the_largest_bet():
    grid = bet_fractions(depth=14)
    assert (np.diff(grid) > 0.0).all()
    assert grid[0] == 2.0**-14
    assert grid[-1] == 0.99
    assert depth_for_range(-1.0, 1.0) == 15
    assert depth_for_range(-1e-4, 1.0) == 21


@pytest.mark.slow
@pytest.mark.parametrize(("low", "high"), [(-1.0, 1.0), (-0.01, 3.0), (-20.0, 0.5)])
def test_log_wealth_is_the_mean_of_the_products(low, high):
    rng = np.random.default_rng(1)
    payoffs = rng.uniform(low, high, 300)
    process = BettingEProcess(low=low, high=high, alpha=0.05)
    exact = exact_log_wealth(payoffs, low, process.fractions)
    assert process.update(payoffs) == pytest.approx(exact, abs=1e-11)
    assert abs(process.log_wealth - exact) <= log_wealth_error(process.fractions, high / -low, 300)


@pytest.mark.slow
def test_batches_do_not_matter():
    rng = np.random.default_rng(2)
    payoffs = rng.uniform(-1.0, 1.1, 5000)
    whole = BettingEProcess(low=-1.0, high=1.1, alpha=1e-3)
    whole.update(payoffs)
    pieces = BettingEProcess(low=-1.0, high=1.1, alpha=1e-3)
    for piece in np.split(payoffs, [1, 2, 700, 700, 4999]):
        pieces.update(piece)
    single = BettingEProcess(low=-1.0, high=1.1, alpha=1e-3)
    for payoff in payoffs:
        single.update(payoff)
    assert whole.rejected
    for other in (pieces, single):
        assert other.decision.rejected_at == whole.decision.rejected_at
        assert other.samples == 5000
        assert other.log_wealth == pytest.approx(whole.log_wealth, abs=1e-10)
        assert other.max_log_wealth == pytest.approx(whole.max_log_wealth, abs=1e-10)


def test_counts_and_categories_agree_with_the_payoffs_one_by_one():
    rng = np.random.default_rng(3)
    values = np.array([-0.7, -0.1, 0.4])
    codes = rng.integers(0, 3, 3000)
    one_by_one = BettingEProcess(low=-0.7, high=0.4, alpha=0.05)
    one_by_one.update(values[codes])
    by_code = BettingEProcess(low=-0.7, high=0.4, alpha=0.05)
    by_code.update_categories(values, codes)
    by_count = BettingEProcess(low=-0.7, high=0.4, alpha=0.05)
    by_count.update_counts(values, np.bincount(codes))
    # The logarithms of a table may differ in the last digits from those of the payoffs one by one.
    assert by_code.decision.rejected_at == one_by_one.decision.rejected_at
    assert by_code.samples == one_by_one.samples
    assert by_code.log_wealth == pytest.approx(one_by_one.log_wealth, abs=1e-10)
    assert by_code.max_log_wealth == pytest.approx(one_by_one.max_log_wealth, abs=1e-10)
    assert by_count.log_wealth == pytest.approx(one_by_one.log_wealth, abs=1e-10)
    assert by_count.samples == 3000
    # Inside the batch nobody looked.
    assert by_count.max_log_wealth == max(0.0, by_count.log_wealth) <= one_by_one.max_log_wealth + 1e-10


def test_a_batch_is_looked_at_only_at_its_end():
    # Up, then down again: the path crosses, the batch's end does not.
    path = BettingEProcess(low=-1.0, high=1.0, alpha=0.05)
    path.update(np.repeat([1.0, -1.0], [20, 200]))
    counted = BettingEProcess(low=-1.0, high=1.0, alpha=0.05)
    counted.update_counts([1.0, -1.0], [20, 200])
    assert path.rejected
    assert path.decision.rejected_at == 8  # (1/18) Σ_k (1 + θ_k)^t is 16.6 at 7 and 30.4 at 8
    assert path.log_wealth < 0.0 < path.decision.log_threshold < path.max_log_wealth
    assert not counted.rejected
    assert counted.decision.p_value == 1.0


def test_decision_carries_the_p_value_of_the_maximum():
    process = BettingEProcess(low=-1.0, high=1.0, alpha=0.01)
    process.update(np.ones(5))
    decision = process.decision
    assert decision.p_value == pytest.approx(math.exp(-decision.max_log_wealth))
    assert decision.log_threshold == pytest.approx(math.log(100.0))
    assert decision.alpha == 0.01
    assert decision.rejected == (decision.p_value <= 0.01)


@pytest.mark.slow
def test_many_small_batches_round_no_worse_than_one_large_one():
    process = BettingEProcess(low=-1.0, high=1.0, alpha=0.5, fractions=[0.99])
    naive = 0.0
    gain = 99 * math.log1p(-0.99) + 101 * math.log1p(0.99)
    for _ in range(8_000):
        process.update_counts([-1.0, 1.0], [99, 101])
        naive += gain
    with mpmath.workdps(40):
        theta = mpmath.mpf(0.99)
        exact = 8_000 * (99 * mpmath.log1p(-theta) + 101 * mpmath.log1p(theta))
        error = abs(float((process.log_wealth - exact) / exact))
        naive_error = abs(float((naive - exact) / exact))
    assert error < 1e-15
    assert naive_error > 1e-14


def test_threshold_must_be_cleared_by_more_than_the_rounding_error():
    # Two bets of 1/2: the wealth after k payoffs of 1 is (3/2)^k up to rounding; the level is set to its inverse.
    process = BettingEProcess(low=-1.0, high=1.0, alpha=(2.0 / 3.0) ** 7, fractions=[0.5])
    process.update(np.ones(7))
    assert process.log_wealth == pytest.approx(process.decision.log_threshold, abs=1e-14)
    assert not process.rejected
    process.update(1.0)
    assert process.decision.rejected_at == 8


def test_a_hundred_million_samples_cost_nothing_by_counts():
    process = BettingEProcess(low=-1.0, high=1.0, alpha=1e-8)
    process.update_counts([-1.0, 1.0], [50_000_000, 50_060_000])
    # The exact growth of the best bet is about n·mean²/2 = 18 nats minus the price of the mixture, log 18.
    assert 12.0 < process.log_wealth < 18.0
    assert process.samples == 100_060_000


def test_empty_updates_change_nothing():
    process = BettingEProcess(low=-1.0, high=1.0, alpha=0.05)
    before = process.decision
    process.update([])
    process.update_counts([-1.0, 1.0], [0, 0])
    process.update_categories([1.0], np.array([], dtype=np.int64))
    assert process.decision == before


@pytest.mark.parametrize("payoff", [math.nan, math.inf, -1.0000001, 1.5])
def test_payoffs_outside_of_the_bounds_are_refused(payoff):
    process = BettingEProcess(low=-1.0, high=1.0, alpha=0.05)
    with pytest.raises(InputError, match="payoffs"):
        process.update([0.5, payoff])
    with pytest.raises(InputError, match="values"):
        process.update_counts([payoff], [1])
    assert process.samples == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"low": 0.0, "high": 1.0, "alpha": 0.05},
        {"low": -1.0, "high": 0.0, "alpha": 0.05},
        {"low": 1.0, "high": -1.0, "alpha": 0.05},
        {"low": -math.inf, "high": 1.0, "alpha": 0.05},
        {"low": -1.0, "high": math.nan, "alpha": 0.05},
        {"low": -1.0, "high": 1.0, "alpha": 0.0},
        {"low": -1.0, "high": 1.0, "alpha": 1.0},
        {"low": -1.0, "high": 1.0, "alpha": 0.05, "fractions": []},
        {"low": -1.0, "high": 1.0, "alpha": 0.05, "fractions": [0.5, 1.0]},
        {"low": -1.0, "high": 1.0, "alpha": 0.05, "fractions": [0.0]},
    ],
)
def test_unusable_designs_are_refused(arguments):
    with pytest.raises(InputError):
        BettingEProcess(**arguments)


@pytest.mark.parametrize(
    "counts", [[1], [1, -1], [0.5, 1.0], [[1, 2]]], ids=["shape", "negative", "float", "axes"]
)
def test_unusable_counts_are_refused(counts):
    process = BettingEProcess(low=-1.0, high=1.0, alpha=0.05)
    with pytest.raises(InputError, match="counts"):
        process.update_counts([-1.0, 1.0], counts)


@pytest.mark.parametrize("codes", [np.array([2]), np.array([-1]), np.array([0.0]), np.array([[0]])])
def test_unusable_categories_are_refused(codes):
    process = BettingEProcess(low=-1.0, high=1.0, alpha=0.05)
    with pytest.raises(InputError, match="categories"):
        process.update_categories([-1.0, 1.0], codes)


def test_privacy_test_is_the_e_process_of_its_payoff():
    rng = np.random.default_rng(4)
    epsilon, delta = 0.7, 0.03
    on_d = rng.random(800) < 0.5
    on_neighbour = rng.random(800) < 0.2
    test = PrivacyEventTest(epsilon=epsilon, delta=delta, alpha=0.01)
    decision = test.update(on_d, on_neighbour)
    factor = math.exp(epsilon)
    process = BettingEProcess(low=-factor - delta, high=1.0 - delta, alpha=0.01)
    process.update(on_d - factor * on_neighbour - delta)
    assert decision.rejected_at == process.decision.rejected_at
    assert decision.log_wealth == pytest.approx(process.log_wealth, abs=1e-10)
    counted = PrivacyEventTest(epsilon=epsilon, delta=delta, alpha=0.01)
    assert counted.update_counts(CellCounts.from_indicators(on_d, on_neighbour)).log_wealth == pytest.approx(
        decision.log_wealth, abs=1e-10
    )
    assert counted.decision.samples == 800


def test_cell_counts_count_the_pairs():
    counts = CellCounts.from_indicators([1, 1, 1, 0, 0, 0, 0], [1, 0, 0, 1, 1, 1, 0])
    assert counts == CellCounts(n11=1, n10=2, n01=3, n00=1)


def test_decide_stops_at_the_first_rejection():
    seen = []

    def chunks():
        for i in range(100):
            seen.append(i)
            yield CellCounts(n11=0, n10=10, n01=0, n00=10)

    decision = privacy_event_test.decide(chunks(), epsilon=0.0, delta=0.0, alpha=1e-6)
    assert decision.rejected
    assert decision.samples == decision.rejected_at == 20 * len(seen) < 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"epsilon": -0.1, "delta": 0.0, "alpha": 0.05},
        {"epsilon": 701.0, "delta": 0.0, "alpha": 0.05},
        {"epsilon": math.nan, "delta": 0.0, "alpha": 0.05},
        {"epsilon": 1.0, "delta": 1.0, "alpha": 0.05},
        {"epsilon": 1.0, "delta": -1e-9, "alpha": 0.05},
        {"epsilon": 1.0, "delta": 0.0, "alpha": 0.0},
    ],
)
def test_unusable_privacy_claims_are_refused(arguments):
    with pytest.raises(InputError):
        PrivacyEventTest(**arguments)


def test_unusable_indicators_are_refused():
    test = PrivacyEventTest(epsilon=1.0, delta=0.0, alpha=0.05)
    with pytest.raises(InputError, match="indicators"):
        test.update([0, 2], [0, 1])
    with pytest.raises(InputError, match="indicators"):
        test.update([0.0, math.nan], [0, 1])
    with pytest.raises(InputError, match="differ"):
        test.update([0, 1], [0, 1, 1])
    with pytest.raises(InputError, match="n11"):
        CellCounts(n11=-1, n10=0, n01=0, n00=0)
