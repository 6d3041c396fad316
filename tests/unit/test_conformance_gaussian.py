"""The exact tests of normal noise and their stated power.

The simulations have fixed seeds; for a right implementation each assertion fails for a fraction below 1e-9 of all
seeds, by the bounds named beside them.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from dpsco_verify.algorithm.conformance.checks.steps import projection
from dpsco_verify.algorithm.conformance.explanation import Steps, possible_gradients
from dpsco_verify.algorithm.conformance.gaussian import (
    POWER,
    detectable_correlation,
    detectable_scales,
    detectable_shift,
    lag_test,
    noise_radius,
    scale_test,
)
from dpsco_verify.algorithm.conformance.problems import BOUNDED
from dpsco_verify.errors import InputError
from dpsco_verify.inference import binomial


def _super_uniform(p_values, *, miss=1e-9):
    # Dvoretzky–Kiefer–Wolfowitz–Massart: the distribution function stays below x + t but for probability `miss`.
    ordered = np.sort(p_values)
    above = (np.arange(1, ordered.size + 1) / ordered.size - ordered).max()
    return above <= math.sqrt(math.log(1.0 / miss) / (2.0 * ordered.size))


@pytest.mark.parametrize("dimension", [1, 3, 16])
@pytest.mark.parametrize(("alpha", "steps"), [(0.05, 1), (1e-8, 4000), (1e-12, 10)])
def test_the_radius_is_the_chi_quantile_at_a_part_of_the_level(dimension, alpha, steps):
    radius = noise_radius(alpha=alpha, steps=steps, dimension=dimension)
    assert stats.chi.sf(radius, dimension) == pytest.approx(alpha / steps, rel=1e-6)


def test_a_shift_of_the_detectable_size_leaves_the_radius_whatever_its_direction():
    rng = np.random.default_rng(1)
    radius = noise_radius(alpha=1e-6, steps=1, dimension=3)
    shift = detectable_shift(radius=radius, dimension=3)
    noise = rng.standard_normal((20_000, 3))
    for direction in np.eye(3):
        left = int((np.linalg.norm(noise + shift * direction, axis=1) > radius).sum())
        assert binomial.clopper_pearson_upper(left, 20_000, alpha=1e-10) >= 0.9


@pytest.mark.slow
def test_scale_p_values_are_super_uniform_on_both_sides():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((20_000, 40))
    assert _super_uniform([scale_test(row, alpha=0.05).p_value for row in x])


@pytest.mark.parametrize("alpha", [0.05, 1e-8, 1e-20])
@pytest.mark.parametrize("samples", [10, 700, 14_000])
def test_detectable_scales_have_exactly_the_power(samples, alpha):
    low, high = detectable_scales(samples, alpha=alpha)
    below, above = stats.chi2.ppf(alpha / 2, samples), stats.chi2.isf(alpha / 2, samples)
    assert low < 1 < high
    assert stats.chi2.cdf(below / low**2, samples) == pytest.approx(0.9, abs=1e-6)
    assert stats.chi2.sf(above / high**2, samples) == pytest.approx(0.9, abs=1e-6)


def test_the_scale_test_rejects_at_the_quantiles():
    low, high = stats.chi2.ppf(0.005, 50), stats.chi2.isf(0.005, 50)
    for total, rejected in (
        (low * 0.999, True),
        (low * 1.001, False),
        (high * 0.999, False),
        (high * 1.001, True),
    ):
        decision = scale_test(np.full(50, math.sqrt(total / 50)), alpha=0.01)
        assert decision.rejected is rejected
        assert decision.ratio == pytest.approx(math.sqrt(total / 50))


@pytest.mark.slow
def test_lag_p_values_are_super_uniform_although_pairs_overlap():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((20_000, 12))
    assert _super_uniform([lag_test(row[:-1], row[1:], alpha=0.05).p_value for row in x])


@pytest.mark.slow
def test_a_detectable_correlation_is_found_and_a_much_smaller_one_need_not_be():
    rng = np.random.default_rng(4)
    pairs, rounds, alpha = 400, 3000, 1e-4
    rho = detectable_correlation(pairs, alpha=alpha)
    rates = []
    for correlation in (rho, 0.75 * rho, -rho):
        first = rng.standard_normal((rounds, pairs))
        second = correlation * first + math.sqrt(1 - correlation**2) * rng.standard_normal((rounds, pairs))
        rates.append(sum(lag_test(a, b, alpha=alpha).rejected for a, b in zip(first, second, strict=True)))
    # Binomial bounds at 1e-10 each.
    assert binomial.clopper_pearson_upper(rates[0], rounds, alpha=1e-10) >= 0.9
    assert binomial.clopper_pearson_upper(rates[2], rounds, alpha=1e-10) >= 0.9
    assert binomial.clopper_pearson_upper(rates[1], rounds, alpha=1e-10) < 0.9


def test_too_few_pairs_can_find_nothing():
    assert detectable_correlation(10, alpha=1e-8) == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: scale_test(np.empty(0), alpha=0.05),
        lambda: scale_test(np.ones(3), alpha=0.0),
        lambda: lag_test(np.ones(3), np.ones(2), alpha=0.05),
        lambda: lag_test(np.empty(0), np.empty(0), alpha=0.05),
        lambda: noise_radius(alpha=1.0, steps=1, dimension=1),
        lambda: detectable_shift(radius=3.0, dimension=2, power=1.0),
        lambda: detectable_scales(0, alpha=0.05),
        lambda: detectable_correlation(5, alpha=0.05, power=1.0),
    ],
)
def test_what_cannot_be_tested_is_refused(call):
    with pytest.raises(InputError):
        call()


def test_the_error_of_a_step_that_is_seen_by_hand():
    """η times the longest noise, which is surely passed with the quantile of χ more."""
    start = np.tile(BOUNDED.initial_point, (3, 1))
    ends = BOUNDED.convex_set.project(start - BOUNDED.step_size * possible_gradients(BOUNDED, start)[:, 0])
    radius = 2.5 * BOUNDED.noise
    bench = SimpleNamespace(
        steps=lambda _: Steps(run=np.zeros(3), time=np.arange(3), before=start, after=ends, increments=None),
        radius=lambda _, alpha: radius,
        runs=lambda _: [None] * 7,
    )
    found = projection.judge(bench, 0.01)
    length = BOUNDED.step_size * (
        radius + BOUNDED.noise * math.sqrt(stats.chi2.ppf(POWER, BOUNDED.dimension))
    )
    assert found.detectable.startswith(f"an error of {length:.3g} in one step's end")
    assert (found.violated, found.runs) == (False, 7)
