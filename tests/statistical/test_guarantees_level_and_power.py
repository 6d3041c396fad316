"""The guarantees' levels at the boundary of their claims, and their power at the MDV that they state.

Rates are held to bounds by sequential tests, so that a correct program fails with probability at most 1e-9 a bound. A
rate of false alarms of 0.2 in place of 0.05, or a power outside of [0.6, 0.999], passes with probability at most 1e-3.
`python -m benchmarks.guarantee_validity` sees smaller errors.
"""

import itertools
import math

import numpy as np
import pytest

from benchmarks import guarantee_validity
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.guarantees import rates, tails
from dpsco_verify.guarantees.mean_tests import BoundedMean, UnboundedMean
from dpsco_verify.inference.binomial import exact_power
from dpsco_verify.inference.unbounded_mean import Spread
from sequential import rate_holds

SAMPLES, ALPHA = 400, 0.05
LEVEL = (ALPHA, 0.2)
POWER = ((0.85, 0.6), (0.97, 0.999))


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


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_means_hold_their_level_and_have_their_power(name):
    test, law, bound = CASES[name]
    rng = np.random.default_rng(20)
    mdv = test().detectable(law(bound, rng), SAMPLES)
    assert rate_holds((test().update(law(bound, rng)).rejected for _ in itertools.count()), LEVEL)
    assert rate_holds((test().update(law(bound + mdv, rng)).rejected for _ in itertools.count()), *POWER)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quantile_at_most", "ratio_at_most"])
def test_calls_hold_their_level_and_have_their_power(name):
    # By the calls themselves; the other kinds are as long in `python -m benchmarks.guarantee_validity`.
    check = guarantee_validity.KINDS[name]
    mdv = guarantee_validity.detectable(check)
    with guarantee_validity.without_mdv():
        for violation, claims in ((0.0, [LEVEL]), (mdv, POWER)):
            verdicts = (check(violation, seed).verdict for seed in itertools.count(1))
            assert rate_holds((verdict is AuditVerdict.VIOLATED for verdict in verdicts), *claims)


@pytest.mark.slow
@pytest.mark.long
def test_a_difference_of_one_coordinate_is_found_in_the_plane():
    """In about nine of ten runs; unions of cells, fitted to noise, once took the half-lines' place, and it was two.

    A power of 0.4 or less passes with probability at most 1e-3.
    """
    check = guarantee_validity.FOR_POWER["equal_law, vector"]
    mdv = guarantee_validity.detectable(check)
    verdicts = (check(mdv, seed).verdict for seed in itertools.count(1))
    assert rate_holds((verdict is AuditVerdict.VIOLATED for verdict in verdicts), (0.85, 0.4))


def test_a_test_of_the_wrong_bound_is_seen_to_break_its_level():
    rng = np.random.default_rng(21)
    assert not rate_holds((bounded(0.25).update(coin(0.3, rng)).rejected for _ in itertools.count()), LEVEL)


@pytest.mark.parametrize("probability", [0.5, 0.01])
def test_tails_are_exact(probability):
    # No repetitions: the law of the count is known.
    n, alpha = 1000, 1e-3
    level = exact_power(n, probability=probability, null_probability=probability, alpha=alpha)
    assert level <= alpha
    mdv = tails.tail_mdv(n, probability, alpha)
    power = exact_power(n, probability=probability + mdv, null_probability=probability, alpha=alpha)
    assert power == pytest.approx(0.9, abs=1e-6)


@pytest.mark.slow
def test_rates_hold_their_level_and_have_their_power():
    ratios = np.array([10.0, 2.0])
    scale = np.array([1.0, 0.5])
    rng = np.random.default_rng(22)

    def run(exponent):
        return rng.random((SAMPLES, 2)) * scale, rng.random((SAMPLES, 2)) * scale * ratios**exponent

    mdv = rates._detectable_exponent(*run(-0.5), ratios, -0.5, ALPHA)
    bounds = [rates.exponent_bounds(*run(-0.5), ratios, ALPHA) for _ in range(100)]
    assert rate_holds((low > -0.5 for low, _ in bounds), LEVEL)
    assert rate_holds((high < -0.5 for _, high in bounds), LEVEL)
    wealth = (rates._log_wealth(*run(-0.5 + mdv), ratios, -0.5) for _ in itertools.count())
    assert rate_holds((w >= -math.log(ALPHA) for w in wealth), *POWER)
