"""The guarantees' levels at the boundary of their claims, and their power at the MDV that they state.

Frequencies are held to bounds by exact binomial tests at 1e-9 a side, so that a correct program fails with probability
at most 1e-9 per assertion. A rate of false alarms of 0.16 in place of 0.05, or a power outside of [0.8, 0.985], fails
400 runs with probability above 0.9.
"""

import math

import numpy as np
import pytest

from benchmarks import guarantee_validity
from dpsco_verify.guarantees import rates, tails
from dpsco_verify.guarantees.mean_tests import BoundedMean, UnboundedMean
from dpsco_verify.inference.binomial import clopper_pearson_lower, clopper_pearson_upper, exact_power
from dpsco_verify.inference.unbounded_mean import Spread

CHECK, RUNS, SAMPLES, ALPHA = 1e-9, 400, 400, 0.05


def coin(mean, rng):
    return (rng.random(SAMPLES) < mean).astype(float)


def narrow(mean, rng):
    return mean + 0.2 * (rng.random(SAMPLES) - 0.5)


def heavy(mean, rng):
    return mean + rng.standard_t(5, SAMPLES) / math.sqrt(5.0 / 3.0)


BOUNDED = {"coin": (coin, 0.3), "rare": (coin, 0.02), "narrow": (narrow, 0.4)}


def bounded(bound):
    return BoundedMean(bound=bound, low=0.0, high=1.0, alpha=ALPHA)


def unbounded(spread):
    return UnboundedMean(bound=0.0, scale=1.0, spread=spread, alpha=ALPHA)


CASES = {
    **{name: (lambda b=b: bounded(b), law, b) for name, (law, b) in BOUNDED.items()},
    "deviation": (lambda: unbounded(Spread.STANDARD_DEVIATION), heavy, 0.0),
    "tail": (
        lambda: unbounded(Spread.SUB_GAUSSIAN),
        lambda mean, rng: mean + rng.standard_normal(SAMPLES),
        0.0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_means_hold_their_level_and_have_their_power(name):
    test, law, bound = CASES[name]
    rng = np.random.default_rng(20)
    mdv = test().detectable(law(bound, rng), SAMPLES)
    alarms = sum(test().update(law(bound, rng)).rejected for _ in range(RUNS))
    found = sum(test().update(law(bound + mdv, rng)).rejected for _ in range(RUNS))
    assert clopper_pearson_lower(alarms, RUNS, alpha=CHECK) <= ALPHA
    assert clopper_pearson_upper(found, RUNS, alpha=CHECK) >= 0.85
    assert clopper_pearson_lower(found, RUNS, alpha=CHECK) <= 0.97


@pytest.mark.parametrize("name", ["quantile_at_most", "ratio_at_most"])
def test_calls_hold_their_level_and_have_their_power(name):
    # By the calls themselves; the other kinds are as long in `python -m benchmarks.guarantee_validity`.
    check = guarantee_validity.KINDS[name]
    alarms = guarantee_validity.violated(check, 0.0, RUNS)
    found = guarantee_validity.violated(check, guarantee_validity.detectable(check), RUNS)
    assert clopper_pearson_lower(alarms, RUNS, alpha=CHECK) <= ALPHA
    assert clopper_pearson_upper(found, RUNS, alpha=CHECK) >= 0.85
    assert clopper_pearson_lower(found, RUNS, alpha=CHECK) <= 0.97


def test_a_test_of_the_wrong_bound_is_seen_to_break_its_level():
    rng = np.random.default_rng(21)
    alarms = sum(bounded(0.25).update(coin(0.3, rng)).rejected for _ in range(RUNS))
    assert clopper_pearson_lower(alarms, RUNS, alpha=CHECK) > ALPHA


@pytest.mark.parametrize("probability", [0.5, 0.01])
def test_tails_are_exact(probability):
    # No repetitions: the law of the count is known.
    n, alpha = 1000, 1e-3
    level = exact_power(n, probability=probability, null_probability=probability, alpha=alpha)
    assert level <= alpha
    mdv = tails.tail_mdv(n, probability, alpha)
    power = exact_power(n, probability=probability + mdv, null_probability=probability, alpha=alpha)
    assert power == pytest.approx(0.9, abs=1e-6)


def test_rates_hold_their_level_and_have_their_power():
    ratios = np.array([10.0, 2.0])
    scale = np.array([1.0, 0.5])
    rng = np.random.default_rng(22)

    def runs(exponent):
        small = rng.random((RUNS, SAMPLES, 2)) * scale
        large = rng.random((RUNS, SAMPLES, 2)) * scale * ratios**exponent
        return small, large

    small, large = runs(-0.5)
    mdv = rates._detectable_exponent(small[0], large[0], ratios, -0.5, ALPHA)
    bounds = [rates.exponent_bounds(s, x, ratios, ALPHA) for s, x in zip(small, large, strict=True)]
    for missed in (sum(low > -0.5 for low, _ in bounds), sum(high < -0.5 for _, high in bounds)):
        assert clopper_pearson_lower(missed, RUNS, alpha=CHECK) <= ALPHA
    found = sum(
        rates._log_wealth(s, x, ratios, -0.5) >= -math.log(ALPHA)
        for s, x in zip(*runs(-0.5 + mdv), strict=True)
    )
    assert clopper_pearson_upper(found, RUNS, alpha=CHECK) >= 0.85
    assert clopper_pearson_lower(found, RUNS, alpha=CHECK) <= 0.97
