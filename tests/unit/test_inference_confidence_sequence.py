"""The confidence sequence against its definition, at the edges, and its cost."""

from __future__ import annotations

import math
import time

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from dpsco_verify.errors import InputError
from dpsco_verify.inference import BettingConfidenceSequence, BettingEProcess
from dpsco_verify.inference.bets import bet_fractions
from dpsco_verify.inference.binomial import clopper_pearson_interval
from dpsco_verify.inference.confidence_sequence import _FEW_VALUES

FRACTIONS = bet_fractions(depth=22)


def log_wealth_against(mean, data, low):
    """The definition in plain numpy: (1/K) Σ_k Π (1 + θ_k (x − m)/(m − low))."""
    capital = np.log1p(np.multiply.outer(FRACTIONS, (np.asarray(data) - mean) / (mean - low))).sum(axis=1)
    return np.logaddexp.reduce(capital) - math.log(FRACTIONS.size)


SAMPLES = {
    "beta": lambda rng, n: rng.beta(2.0, 5.0, n),
    "rare": lambda rng, n: (rng.random(n) < 5.0 / n).astype(float),
    "coin": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "long tail": lambda rng, n: np.minimum(rng.lognormal(-8.0, 2.0, n), 1.0),
    "near the top": lambda rng, n: 1.0 - 1e-6 * rng.random(n),
    "grid": lambda rng, n: rng.integers(0, 1000, n) / 1000.0,
    "both ends": lambda rng, n: rng.beta(0.05, 0.05, n),
}


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("n", [20, 700, 20_000])
def test_bounds_are_the_roots_of_the_wealth_rounded_outwards(name, n):
    data = SAMPLES[name](np.random.default_rng(5), n)
    alpha = 0.01
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=alpha)
    sequence.update(data)
    lower, upper = sequence.interval
    threshold = math.log(2.0 / alpha)
    assert 0.0 <= lower <= data.mean() <= upper <= 1.0
    # No u below the lower bound is kept wrongly; none much above it is thrown out.
    if lower > 0.0:
        assert log_wealth_against(lower, data, 0.0) >= threshold
    assert log_wealth_against(lower + 2e-3 * (data.mean() - lower) + 1e-12, data, 0.0) < threshold
    if upper < 1.0:
        assert log_wealth_against(1.0 - upper, 1.0 - data, 0.0) >= threshold - 1e-9
    assert log_wealth_against(1.0 - upper + 2e-3 * (upper - data.mean()) + 1e-12, 1.0 - data, 0.0) < threshold


@pytest.mark.slow
def test_wealth_at_the_bound_clears_the_threshold_in_60_digits():
    data = np.random.default_rng(6).beta(0.3, 2.0, 150)
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    sequence.update(data)
    with mpmath.workdps(60):

        def wealth(u, y):
            products = [
                mpmath.fprod(
                    1 - mpmath.mpf(float(t)) + mpmath.mpf(float(t)) * mpmath.mpf(float(v)) / u for v in y
                )
                for t in FRACTIONS
            ]
            return mpmath.fsum(products) / len(products)

        for y, u in ((data, mpmath.mpf(sequence.lower)), (1.0 - data, 1 - mpmath.mpf(sequence.upper))):
            assert wealth(u, y) >= 40
            assert wealth(u * (1 + mpmath.mpf(1e-8)), y) < 40


@pytest.mark.slow
def test_excluded_exactly_when_the_e_process_at_that_mean_rejects():
    rng = np.random.default_rng(7)
    data = rng.random(400)
    for mean in (0.3, 0.4, 0.44, 0.47, 0.5):
        sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.1, side="lower")
        process = BettingEProcess(low=-mean, high=1.0 - mean, alpha=0.1, fractions=FRACTIONS)
        for batch in np.split(data, 20):
            sequence.update(batch)
            process.update(batch - mean)
            assert (sequence.lower > mean) == (process.log_wealth >= math.log(10.0))


def test_bounds_scale_with_the_unit_and_mirror():
    data = np.random.default_rng(8).beta(2.0, 3.0, 300)
    plain = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    plain.update(data)
    scaled = BettingConfidenceSequence(low=-3.0, high=5.0, alpha=0.05)
    scaled.update(-3.0 + 8.0 * data)
    mirrored = BettingConfidenceSequence(low=-1.0, high=0.0, alpha=0.05)
    mirrored.update(-data)
    assert scaled.lower == pytest.approx(-3.0 + 8.0 * plain.lower, abs=1e-8)
    assert scaled.upper == pytest.approx(-3.0 + 8.0 * plain.upper, abs=1e-8)
    assert mirrored.lower == pytest.approx(-plain.upper, abs=1e-9)
    assert mirrored.upper == pytest.approx(-plain.lower, abs=1e-9)


def test_one_side_gets_all_of_alpha():
    data = np.random.default_rng(9).random(500)
    both, lower, upper = (
        BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.1 if side == "both" else 0.05, side=side)
        for side in ("both", "lower", "upper")
    )
    for sequence in (both, lower, upper):
        sequence.update(data)
    assert lower.interval == (both.lower, 1.0)
    assert upper.interval == (0.0, both.upper)


@pytest.mark.slow
def test_looking_does_not_change_the_bounds():
    data = np.random.default_rng(10).random(600)
    looked = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    for batch in np.split(data, 30):
        looked.update(batch)
        assert looked.lower < looked.upper
    at_once = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    at_once.update(data)
    assert looked.interval == at_once.interval
    assert looked.samples == at_once.samples == 600


@pytest.mark.slow
def test_width_is_within_a_factor_of_two_of_the_fixed_sample_interval():
    rng = np.random.default_rng(11)
    for n in (300, 10_000, 100_000):
        data = rng.beta(2.0, 5.0, n)
        sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=1e-6)
        sequence.update(data)
        fixed = 2.0 * norm.isf(5e-7) * data.std() / math.sqrt(n)
        assert sequence.upper - sequence.lower < 2.0 * fixed
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=1e-6)
    sequence.update(np.repeat([1.0, 0.0], [30, 99_970]))
    lower, upper = clopper_pearson_interval(30, 100_000, alpha=1e-6)
    assert sequence.upper - sequence.lower < 2.0 * (upper - lower)


def test_edges():
    sequence = BettingConfidenceSequence(low=-1.0, high=3.0, alpha=0.05)
    assert sequence.interval == (-1.0, 3.0)
    sequence.update([])
    assert sequence.interval == (-1.0, 3.0)
    sequence.update(-1.0)
    assert sequence.lower == -1.0
    # One draw at the very bottom: a mean of 3 − 4u lets that happen with probability at most u.
    assert 3.0 - 4.0 * 0.025 < sequence.upper < 3.0
    sequence.update(np.full(1000, -1.0))
    assert sequence.lower == -1.0
    assert -1.0 < sequence.upper < -0.9
    top = BettingConfidenceSequence(low=-1.0, high=3.0, alpha=0.05)
    top.update(np.full(1000, 3.0))
    assert top.upper == 3.0
    assert 2.9 < top.lower < 3.0
    assert top.alpha == 0.05


def test_smallest_doubles_do_no_harm():
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    sequence.update([5e-324, 0.0, 1e-310])
    assert sequence.lower == 0.0
    sequence.update([1e-200] * 500)
    assert 0.0 < sequence.lower < 1e-200
    assert sequence.upper < 0.1


@pytest.mark.parametrize("value", [math.nan, math.inf, -0.1, 1.1])
def test_observations_outside_of_the_bounds_are_refused(value):
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    with pytest.raises(InputError, match="observations"):
        sequence.update([0.5, value])
    assert sequence.samples == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"low": 1.0, "high": 1.0, "alpha": 0.05},
        {"low": 0.0, "high": math.inf, "alpha": 0.05},
        {"low": 0.0, "high": 1.0, "alpha": 1.0},
        {"low": 0.0, "high": 1.0, "alpha": 0.05, "side": "left"},
        {"low": 0.0, "high": 1.0, "alpha": 0.05, "fractions": [2.0]},
    ],
)
def test_unusable_designs_are_refused(arguments):
    with pytest.raises(InputError):
        BettingConfidenceSequence(**arguments)


def test_many_distinct_values_take_the_fast_path_at_a_bounded_cost():
    data = np.random.default_rng(12).beta(2.0, 5.0, 100_000)
    sequence = BettingConfidenceSequence(low=0.0, high=1.0, alpha=0.05)
    sequence.update(data)
    assert np.unique(data).size > _FEW_VALUES
    start = time.process_time()
    _ = sequence.interval
    # Some 20 ms a bound on an idle core; the room is for busy machines.
    assert time.process_time() - start < 0.5
