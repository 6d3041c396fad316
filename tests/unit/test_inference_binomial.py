"""Binomial bounds, tests and power against independent computations, exactly."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.stats import binom, binomtest
from statsmodels.stats.proportion import proportion_confint

from dpsco_verify.errors import InputError
from dpsco_verify.inference import binomial

CASES = [(0, 10), (1, 10), (5, 10), (9, 10), (10, 10), (1, 1), (0, 1), (37, 400), (123_456, 1_000_000)]


@pytest.mark.parametrize(("k", "n"), CASES)
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1e-9])
def test_interval_agrees_with_statsmodels(k, n, alpha):
    lower, upper = proportion_confint(k, n, alpha=alpha, method="beta")
    ours = binomial.clopper_pearson_interval(k, n, alpha=alpha)
    assert ours == pytest.approx((0.0 if k == 0 else lower, 1.0 if k == n else upper), rel=1e-9)


@pytest.mark.parametrize(("k", "n"), [(1, 10), (7, 60), (59, 60)])
@pytest.mark.parametrize("alpha", [1e-3, 1e-15, 1e-40])
def test_bounds_solve_their_equation_in_60_digits(k, n, alpha):
    with mpmath.workdps(60):

        def at_least(count, p):
            p = mpmath.mpf(p)
            return mpmath.fsum(mpmath.binomial(n, j) * p**j * (1 - p) ** (n - j) for j in range(count, n + 1))

        lower = binomial.clopper_pearson_lower(k, n, alpha=alpha)
        upper = binomial.clopper_pearson_upper(k, n, alpha=alpha)
        assert float(at_least(k, lower) / alpha) == pytest.approx(1.0, rel=1e-9)
        if 1.0 - upper > 1e-6:  # the complement of a double near 1 has few digits
            assert float((1 - at_least(k + 1, upper)) / alpha) == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_coverage_is_at_least_nominal_for_every_p(alpha):
    n = 23
    counts = np.arange(n + 1)
    lower = binomial.clopper_pearson_lower(counts, n, alpha=alpha)
    upper = binomial.clopper_pearson_upper(counts, n, alpha=alpha)
    misses_low, misses_high = [], []
    # The worst p lie next to the bounds themselves.
    for p in np.concatenate([np.linspace(0.0, 1.0, 401), lower - 1e-12, upper + 1e-12]).clip(0.0, 1.0):
        law = binom.pmf(counts, n, p)
        misses_low.append(law[lower > p].sum())
        misses_high.append(law[upper < p].sum())
    for misses in (misses_low, misses_high):
        assert 0.99 * alpha < max(misses) <= alpha * (1.0 + 1e-9)


def test_arrays_and_scalars_agree():
    counts = np.array([0, 3, 8])
    trials = np.array([8, 8, 8])
    lower = binomial.clopper_pearson_lower(counts, trials, alpha=0.01)
    upper = binomial.clopper_pearson_upper(counts, 8, alpha=0.01)
    for i, k in enumerate(counts):
        assert lower[i] == binomial.clopper_pearson_lower(int(k), 8, alpha=0.01)
        assert upper[i] == binomial.clopper_pearson_upper(int(k), 8, alpha=0.01)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize(("k", "n", "p0"), [(0, 10, 0.3), (10, 10, 0.3), (4, 10, 0.3), (17, 1000, 0.01)])
def test_p_values_agree_with_scipy(alternative, k, n, p0):
    ours = binomial.p_value(k, n, null_probability=p0, alternative=alternative)
    assert ours == pytest.approx(binomtest(k, n, p0, alternative=alternative).pvalue, rel=1e-10)


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize("p0", [0.02, 0.5, 0.9])
def test_power_is_the_mass_of_the_rejecting_counts(alternative, p0):
    n, alpha, p = 37, 0.03, 0.6
    counts = np.arange(n + 1)
    rejecting = np.array(
        [binomial.p_value(int(k), n, null_probability=p0, alternative=alternative) <= alpha for k in counts]
    )
    exact = binom.pmf(counts, n, p)[rejecting].sum()
    ours = binomial.exact_power(n, probability=p, null_probability=p0, alpha=alpha, alternative=alternative)
    assert ours == pytest.approx(exact, abs=1e-12)
    level = binomial.exact_power(n, probability=p0, null_probability=p0, alpha=alpha, alternative=alternative)
    assert level <= alpha


def test_no_count_rejects_when_the_level_is_too_small():
    assert binomial.critical_count(3, null_probability=0.5, alpha=0.1) is None
    assert binomial.exact_power(3, probability=1.0, null_probability=0.5, alpha=0.1) == 0.0
    assert binomial.minimum_detectable_violation(3, null_probability=0.5, alpha=0.1) == math.inf


@pytest.mark.parametrize("alternative", ["greater", "less"])
@pytest.mark.parametrize(("n", "p0", "alpha"), [(50, 0.2, 0.05), (100_000, 1e-3, 1e-9), (10**9, 0.5, 1e-12)])
def test_minimum_detectable_violation_has_exactly_the_power(alternative, n, p0, alpha):
    sign = 1.0 if alternative == "greater" else -1.0
    v = binomial.minimum_detectable_violation(n, null_probability=p0, alpha=alpha, alternative=alternative)

    def power(violation):
        return binomial.exact_power(
            n, probability=p0 + sign * violation, null_probability=p0, alpha=alpha, alternative=alternative
        )

    assert power(v) == pytest.approx(0.9, abs=1e-6)
    assert power(0.9 * v) < 0.9


@pytest.mark.slow
def test_required_samples_is_enough_and_nearly_least():
    design = {"probability": 0.27, "null_probability": 0.2, "alpha": 0.01}
    n = binomial.required_samples(**design)

    def power(trials):
        return binomial.exact_power(trials, **design)

    assert power(n) >= 0.9
    first = next(m for m in range(1, n + 1) if power(m) >= 0.9)
    assert n <= 1.05 * first
    less = binomial.required_samples(probability=0.73, null_probability=0.8, alpha=0.01, alternative="less")
    assert less == n


def test_required_samples_for_the_impossible():
    with pytest.raises(InputError, match="does not violate"):
        binomial.required_samples(probability=0.1, null_probability=0.2, alpha=0.05)
    with pytest.raises(InputError, match="does not violate"):
        binomial.required_samples(probability=0.3, null_probability=0.2, alpha=0.05, alternative="less")


@pytest.mark.parametrize(
    "call",
    [
        lambda: binomial.clopper_pearson_lower(-1, 10, alpha=0.05),
        lambda: binomial.clopper_pearson_lower(11, 10, alpha=0.05),
        lambda: binomial.clopper_pearson_upper(0, 0, alpha=0.05),
        lambda: binomial.clopper_pearson_upper(1.0, 10, alpha=0.05),
        lambda: binomial.clopper_pearson_interval(1, 10, alpha=math.nan),
        lambda: binomial.p_value(1, 10, null_probability=0.0),
        lambda: binomial.p_value(1, 10, null_probability=0.5, alternative="two-sided"),
        lambda: binomial.exact_power(10, probability=1.5, null_probability=0.5, alpha=0.05),
        lambda: binomial.critical_count(0, null_probability=0.5, alpha=0.05),
        lambda: binomial.minimum_detectable_violation(10, null_probability=0.5, alpha=0.05, power=1.0),
    ],
)
def test_unusable_arguments_are_refused(call):
    with pytest.raises(InputError):
        call()
