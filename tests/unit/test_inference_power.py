"""The design twins are sound and tight within a factor of two, by exact enumeration: no simulation.

Sound: at the minimum detectable violation (MDV) the exact power is at least the one wanted. Tight: at half of it the
exact power, with a look after every draw where that is affordable, is not.
"""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpsco_verify.errors import InputError
from dpsco_verify.inference import BettingEProcess, binomial, bounded_mean, privacy_event_test
from dpsco_verify.inference.bets import log_wealth_of_counts
from dpsco_verify.inference.search import smallest_integer, smallest_violation


def peeking_power(bound, low, high, law, samples, alpha):
    """P(the mean test rejects at some t ≤ samples) for the law {x₀: 1 − p, x₁: p} given as (x₀, x₁, p), exactly."""
    x0, x1, p = law
    process = BettingEProcess(low=low - bound, high=high - bound, alpha=alpha)
    ratios = (np.array([x0, x1]) - bound) / (bound - low)
    alive = np.array([1.0])
    power = 0.0
    for t in range(1, samples + 1):
        ahead = np.zeros(t + 1)
        ahead[:-1] += alive * (1.0 - p)
        ahead[1:] += alive * p
        ups = np.arange(t + 1)
        out = log_wealth_of_counts(process.fractions, ratios, np.stack([t - ups, ups], axis=-1)) >= -math.log(
            alpha
        )
        power += ahead[out].sum()
        ahead[out] = 0.0
        alive = ahead
    return power


def end_power(bound, low, high, law, samples, alpha):
    """P(the wealth at the end is at least 1/alpha) for the same law, exactly."""
    x0, x1, p = law
    process = BettingEProcess(low=low - bound, high=high - bound, alpha=alpha)
    ratios = (np.array([x0, x1]) - bound) / (bound - low)
    ups = np.arange(samples + 1)
    wealth = log_wealth_of_counts(process.fractions, ratios, np.stack([samples - ups, ups], axis=-1))
    return binom.pmf(ups, samples, p)[wealth >= -math.log(alpha)].sum()


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
@pytest.mark.parametrize("bound", [0.02, 0.3, 0.8])
def test_worst_case_mean_mdv_is_sound_and_tight(bound, alpha):
    samples = 400
    v = bounded_mean.minimum_detectable_violation(
        bound=bound, low=0.0, high=1.0, samples=samples, alpha=alpha
    )
    assert end_power(bound, 0.0, 1.0, (0.0, 1.0, bound + v), samples, alpha) >= 0.9
    assert peeking_power(bound, 0.0, 1.0, (0.0, 1.0, bound + v / 2.0), samples, alpha) < 0.9
    # Other laws of that mean, less spread, are found as well.
    for spread in (0.05, 0.5):
        width = spread * min(bound + v, 1.0 - bound - v)
        law = (bound + v - width, bound + v + width, 0.5)
        assert end_power(bound, 0.0, 1.0, law, samples, alpha) >= 0.9


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_worst_case_power_is_the_bound_that_the_module_derives(alpha):
    # min over r of P(W(Y) < 1/(αr))/(1 − r), with the sum over all counts in place of the search for the critical one.
    samples, bound, mean = 60, 0.3, 0.72
    process = BettingEProcess(low=-bound, high=1.0 - bound, alpha=alpha)
    ups = np.arange(samples + 1)
    ratios = np.array([-1.0, (1.0 - bound) / bound])
    wealth = log_wealth_of_counts(process.fractions, ratios, np.stack([samples - ups, ups], axis=-1))
    law = binom.pmf(ups, samples, mean)
    misses = [
        law[wealth < -math.log(alpha * r)].sum() / (1.0 - r)
        for r in (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01, 1e-3)
    ]
    ours = bounded_mean.power_lower_bound(
        mean=mean, bound=bound, low=0.0, high=1.0, samples=samples, alpha=alpha
    )
    assert 0.0 < ours < 1.0
    assert ours == pytest.approx(1.0 - min(misses), abs=1e-12)


def two_point_laws(mean, deviation, low, high):
    """Laws of this mean and standard deviation: one atom at low, symmetric, one atom at high."""
    down, up = mean - low, high - mean
    return {
        "atom at low": (low, mean + deviation**2 / down, down**2 / (down**2 + deviation**2)),
        "symmetric": (mean - deviation, mean + deviation, 0.5),
        "atom at high": (mean - deviation**2 / up, high, deviation**2 / (up**2 + deviation**2)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.05, 1e-6])
@pytest.mark.parametrize(
    ("bound", "deviation"), [(0.3, 0.2), (0.3, 0.02), (0.6, 0.1), (0.05, 0.04), (0.9, 0.01)]
)
def test_variance_aware_mean_mdv_is_sound_and_tight(bound, deviation, alpha):
    samples = 400
    design = {"bound": bound, "low": 0.0, "high": 1.0, "alpha": alpha, "standard_deviation": deviation}
    v = bounded_mean.minimum_detectable_violation(samples=samples, **design)
    assert v <= bounded_mean.minimum_detectable_violation(
        samples=samples, **(design | {"standard_deviation": None})
    )
    for law in two_point_laws(bound + v, deviation, 0.0, 1.0).values():
        assert end_power(bound, 0.0, 1.0, law, samples, alpha) >= 0.9
    # It speaks of all laws with this deviation, so it is tight when the hardest of them is not found at half of it …
    half = two_point_laws(bound + v / 2.0, deviation, 0.0, 1.0)
    assert peeking_power(bound, 0.0, 1.0, half["atom at low"], samples, alpha) < 0.9
    # … and at small levels the price of the uniformity is small enough that symmetric laws are not found either.
    if alpha == 1e-6:
        assert peeking_power(bound, 0.0, 1.0, half["symmetric"], samples, alpha) < 0.9


def test_mean_mdv_at_power_close_to_one():
    v = bounded_mean.minimum_detectable_violation(
        bound=0.3, low=0.0, high=1.0, samples=1000, alpha=1e-6, power=1.0 - 1e-9
    )
    miss = 1.0 - end_power(0.3, 0.0, 1.0, (0.0, 1.0, 0.3 + v), 1000, 1e-6)
    assert miss <= 1e-9 + 1e-13
    assert v < 2.0 * bounded_mean.minimum_detectable_violation(
        bound=0.3, low=0.0, high=1.0, samples=1000, alpha=1e-6
    )


def test_mean_mdv_is_infinite_when_nothing_would_be_found():
    design = {"bound": 0.5, "low": 0.0, "high": 1.0, "alpha": 1e-6}
    assert bounded_mean.minimum_detectable_violation(samples=10, **design) == math.inf
    # Not even 10 times the top is enough there, as the test itself says.
    assert not bounded_mean.decide(np.ones(10), **design).rejected
    assert bounded_mean.power_lower_bound(mean=1.0, samples=10, **design) == 0.0


def test_mean_mdv_does_not_depend_on_the_unit():
    unit = bounded_mean.minimum_detectable_violation(
        bound=0.3, low=0.0, high=1.0, samples=500, alpha=1e-3, standard_deviation=0.1
    )
    scaled = bounded_mean.minimum_detectable_violation(
        bound=-2.0 + 0.3 * 40.0, low=-2.0, high=38.0, samples=500, alpha=1e-3, standard_deviation=4.0
    )
    assert scaled == pytest.approx(40.0 * unit, rel=1e-6)


@pytest.mark.parametrize("deviation", [None, 0.1, 0.0])
def test_required_mean_samples_are_enough_and_half_is_not_certified(deviation):
    design = {"bound": 0.3, "low": 0.0, "high": 1.0, "alpha": 1e-6, "standard_deviation": deviation}
    n = bounded_mean.required_samples(violation=0.04, **design)
    assert bounded_mean.power_lower_bound(mean=0.34, samples=n, **design) >= 0.9
    assert bounded_mean.power_lower_bound(mean=0.34, samples=n // 2, **design) < 0.9
    assert bounded_mean.minimum_detectable_violation(samples=n, **design) <= 0.04


@pytest.mark.parametrize(("alpha", "factor"), [(0.05, 3.3), (1e-3, 2.1), (1e-6, 1.65), (1e-9, 1.5)])
@pytest.mark.parametrize(("p0", "p1"), [(0.5, 0.55), (0.5, 0.8), (0.01, 0.015), (0.01, 0.1), (0.9, 0.92)])
def test_price_of_being_valid_at_every_time(p0, p1, alpha, factor):
    # Against the exact fixed-sample binomial test, which may be looked at once only.
    fixed = binomial.required_samples(probability=p1, null_probability=p0, alpha=alpha)
    anytime = bounded_mean.required_samples(violation=p1 - p0, bound=p0, low=0.0, high=1.0, alpha=alpha)
    assert fixed < anytime <= factor * fixed


def exact_privacy_power(epsilon, delta, p, q, samples, alpha):
    """P(the wealth at the end is at least 1/alpha), over all cell counts of `samples` pairs."""
    n = samples
    factor = math.exp(epsilon)
    payoffs = np.array([-delta, -factor - delta, 1.0 - delta, 1.0 - factor - delta])
    process = BettingEProcess(low=payoffs[1], high=payoffs[2], alpha=alpha)
    power = 0.0
    for n_first in range(n + 1):
        # Given n_first, the B-indicators split into those beside an A and those beside none.
        both = np.arange(n_first + 1)[:, np.newaxis]
        alone = np.arange(n - n_first + 1)[np.newaxis, :]
        cells = np.broadcast_arrays(n - n_first - alone, alone, n_first - both, both)
        wealth = log_wealth_of_counts(process.fractions, payoffs / -payoffs[1], np.stack(cells, axis=-1))
        law = binom.pmf(both, n_first, q) * binom.pmf(alone, n - n_first, q)
        power += binom.pmf(n_first, n, p) * law[wealth >= -math.log(alpha)].sum()
    return power


@pytest.mark.slow
@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "samples", "alpha", "power"),
    [
        (0.0, 0.0, 0.3, 100, 0.05, 0.9),
        (0.5, 0.02, 0.1, 100, 0.05, 0.9),
        (1.0, 1e-5, 0.02, 100, 1e-6, 0.9),
        (0.1, 0.05, 0.0, 100, 1e-4, 0.9),
        (0.5, 0.02, 0.1, 100, 0.05, 1.0 - 1e-9),
        pytest.param(1.5, 0.0, 0.01, 140, 1e-2, 1.0 - 1e-6, marks=pytest.mark.long),
    ],
)
def test_privacy_mdv_is_sound_and_tight(epsilon, delta, q, samples, alpha, power):
    design = {"epsilon": epsilon, "delta": delta, "q": q, "samples": samples, "alpha": alpha}
    v = privacy_event_test.minimum_detectable_violation(power=power, **design)
    boundary = math.exp(epsilon) * q + delta
    assert 0.0 < v <= 1.0 - boundary
    assert 1.0 - exact_privacy_power(p=boundary + v, **design) <= 1.0 - power + 1e-13
    assert 1.0 - exact_privacy_power(p=boundary + v / 2.0, **design) > 1.0 - power
    bound = privacy_event_test.power_lower_bound(p=boundary + v, precision=power, **design)
    assert power - 1e-12 <= bound <= exact_privacy_power(p=boundary + v, **design) + 1e-13


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "factor"), [(0.05, 3.3), (1e-6, 1.8)])
@pytest.mark.parametrize(
    ("epsilon", "delta", "q", "violation"),
    [(0.0, 0.0, 0.5, 0.02), (1.0, 1e-3, 0.1, 0.01), (3.0, 1e-5, 1e-3, 0.01), (0.5, 0.01, 0.0, 0.01)],
)
def test_required_pairs_against_the_fixed_sample_normal_test(epsilon, delta, q, violation, alpha, factor):
    n = privacy_event_test.required_samples(
        violation=violation, epsilon=epsilon, delta=delta, q=q, alpha=alpha
    )
    p = math.exp(epsilon) * q + delta + violation
    deviation = math.sqrt(p * (1.0 - p) + math.exp(2.0 * epsilon) * q * (1.0 - q))
    fixed = ((norm.isf(alpha) + norm.ppf(0.9)) * deviation / violation) ** 2
    assert 0.8 * fixed < n <= factor * fixed
    # The twins agree, up to the discreteness of the counts.
    v = privacy_event_test.minimum_detectable_violation(
        epsilon=epsilon, delta=delta, q=q, samples=n, alpha=alpha
    )
    assert 0.98 * violation <= v <= violation


@pytest.mark.slow
def test_a_hundred_million_pairs_are_planned_in_no_time():
    start = time.process_time()
    v = privacy_event_test.minimum_detectable_violation(
        epsilon=1.0, delta=1e-6, q=0.1, samples=10**8, alpha=1e-8, power=1.0 - 1e-9
    )
    assert time.process_time() - start < 1.0
    deviation = math.sqrt(0.27 * 0.73 + math.e**2 * 0.09) * 1e-4
    assert (
        (norm.isf(1e-8) + norm.isf(1e-9)) * deviation
        < v
        < 2.0 * (norm.isf(1e-8) + norm.isf(1e-9)) * deviation
    )


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 700.0])
@pytest.mark.parametrize("samples", [1, 600, 10**9])
@pytest.mark.parametrize("fractions", [None, [0.3], [1e-9, 0.5, 0.5]])
def test_the_count_needed_is_the_smallest_that_reaches_the_threshold(epsilon, samples, fractions):
    design = privacy_event_test._Design.of(
        epsilon=epsilon, delta=1e-3, samples=samples, alpha=1e-3, fractions=fractions
    )
    b = np.unique(np.floor(np.linspace(0.0, samples, 7)))[:, np.newaxis]
    overlap = np.floor(b * [[0.0, 0.3, 1.0]])
    needed = design._needed(b, overlap)

    def reached(n10):
        counts = np.stack([samples - b - n10, b - overlap, n10, overlap], axis=-1)
        logs = counts @ design.factors.T + design.log_weights
        return np.logaddexp.reduce(logs, axis=-1) >= design.threshold - 1e-12 * samples

    rest = samples - b + 0.0 * overlap
    some, all_fail = needed <= rest, needed == rest + 1.0
    assert (some | all_fail).all()
    assert reached(needed)[some].all()
    fewer = np.maximum(needed - 1.0 - 1e-6 * needed, 0.0).round()
    assert not reached(fewer)[needed > 0.0].any()


def test_privacy_mdv_is_infinite_when_nothing_would_be_found():
    assert (
        privacy_event_test.minimum_detectable_violation(
            epsilon=5.0, delta=0.0, q=1e-3, samples=100, alpha=1e-8
        )
        == math.inf
    )
    # e^ε q + δ ≥ 1: there is no violation with this q.
    assert (
        privacy_event_test.minimum_detectable_violation(
            epsilon=3.0, delta=0.0, q=0.5, samples=10**6, alpha=0.05
        )
        == math.inf
    )


@pytest.mark.slow
def test_violations_below_the_reach_of_the_smallest_bet_need_more_than_any_number():
    assert (
        privacy_event_test.required_samples(violation=1e-9, epsilon=0.0, delta=0.0, q=0.5, alpha=0.05) is None
    )


@pytest.mark.slow
def test_mdv_falls_with_samples_and_rises_with_power_and_certainty():
    def mdv(samples=10_000, alpha=1e-6, power=0.9):
        return privacy_event_test.minimum_detectable_violation(
            epsilon=1.0, delta=1e-5, q=0.1, samples=samples, alpha=alpha, power=power
        )

    assert mdv(samples=40_000) < mdv() < mdv(alpha=1e-9)
    assert mdv() < mdv(power=0.99) < mdv(power=1.0 - 1e-9)


def test_searches():
    assert smallest_integer(lambda n: n >= 1) == 1
    assert smallest_integer(lambda n: n >= 1000) == 1000
    assert smallest_integer(lambda _: False) is None
    assert smallest_violation(lambda v: v >= 0.3, largest=1.0) == pytest.approx(0.3, rel=1e-6)
    assert smallest_violation(lambda v: v >= 0.3, largest=1.0) >= 0.3
    assert smallest_violation(lambda v: v >= 2.0, largest=1.0) == math.inf
    assert smallest_violation(lambda _: True, largest=0.0) == math.inf
    assert smallest_violation(lambda _: True, largest=1.0) == 0.0


MEAN = {"bound": 0.3, "low": 0.0, "high": 1.0, "alpha": 0.05}
PRIVACY = {"epsilon": 1.0, "delta": 0.0, "q": 0.1, "alpha": 0.05}


@pytest.mark.parametrize(
    "call",
    [
        lambda: bounded_mean.decide([0.1], **(MEAN | {"bound": 1.0})),
        lambda: bounded_mean.decide([0.1], **(MEAN | {"bound": 0.0})),
        lambda: bounded_mean.decide([0.1], **(MEAN | {"low": 2.0})),
        lambda: bounded_mean.decide([1.1], **MEAN),
        lambda: bounded_mean.decide([math.nan], **MEAN),
        lambda: bounded_mean.minimum_detectable_violation(samples=0, **MEAN),
        lambda: bounded_mean.minimum_detectable_violation(samples=10, standard_deviation=-1.0, **MEAN),
        lambda: bounded_mean.minimum_detectable_violation(samples=10, power=1.0, **MEAN),
        lambda: bounded_mean.required_samples(violation=0.8, **MEAN),
        lambda: bounded_mean.required_samples(violation=0.0, **MEAN),
        lambda: bounded_mean.power_lower_bound(mean=0.3, samples=10, **MEAN),
        lambda: privacy_event_test.minimum_detectable_violation(samples=0, **PRIVACY),
        lambda: privacy_event_test.minimum_detectable_violation(samples=10, **(PRIVACY | {"q": 1.1})),
        lambda: privacy_event_test.minimum_detectable_violation(samples=10, power=0.0, **PRIVACY),
        lambda: privacy_event_test.required_samples(violation=0.9, **PRIVACY),
        lambda: privacy_event_test.required_samples(violation=-0.1, **PRIVACY),
        lambda: privacy_event_test.power_lower_bound(p=2.0, samples=10, **PRIVACY),
    ],
)
def test_unusable_arguments_are_refused(call):
    with pytest.raises(InputError):
        call()
