"""The DKW–Massart test: its statistic by brute force; level and power exactly, for laws on two points."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom, geom, ksone, poisson

from dpsco_verify.errors import InputError
from dpsco_verify.inference import goodness_of_fit
from dpsco_verify.inference.goodness_of_fit import (
    critical_distance,
    decide,
    minimum_detectable_distance,
    required_samples,
)


@pytest.mark.parametrize(
    "law", [poisson(3.0), geom(0.2), binom(5, 0.4)], ids=["poisson", "geometric", "binomial"]
)
def test_distance_is_the_supremum_over_all_integers(law):
    sample = poisson(2.5).rvs(60, random_state=np.random.default_rng(13))
    points = np.arange(-3, 60)
    deviation = (sample[:, np.newaxis] <= points).mean(axis=0) - law.cdf(points)
    for direction, expected in (
        ("both", np.abs(deviation).max()),
        ("above", deviation.max()),
        ("below", (-deviation).max()),
    ):
        decision = decide(sample, law.cdf, alpha=0.05, direction=direction)
        assert decision.distance == pytest.approx(max(expected, 0.0), abs=1e-14)
        assert decision.rejected == (decision.distance >= decision.critical_distance)
        assert decision.rejected == (decision.p_value <= 0.05)
        assert decision.samples == 60


def test_gaps_in_the_sample_are_looked_into():
    # F rises by 0.9 in the gap between the two observed values, where the sample has nothing.
    def cdf(k):
        return np.select([k < 0, k < 5, k < 10], [0.0, 0.05, 0.95], 1.0)

    decision = decide(np.array([0] * 50 + [10] * 50), cdf, alpha=0.05)
    assert decision.distance == pytest.approx(0.45)
    assert decide(
        np.array([0] * 50 + [10] * 50), cdf, alpha=0.05, direction="above"
    ).distance == pytest.approx(0.45)


def two_point_rejection(n, p, q, alpha, direction="both"):
    """P(reject the claim P(X=0) = q) when it is p, exactly."""
    zeros = np.arange(n + 1)
    deviation = zeros / n - q
    distance = {"both": np.abs(deviation), "above": deviation, "below": -deviation}[direction]
    return binom.pmf(zeros, n, p)[distance >= critical_distance(n, alpha=alpha, direction=direction)].sum()


@pytest.mark.parametrize("direction", ["both", "above", "below"])
@pytest.mark.parametrize("alpha", [0.5, 0.05, 1e-6])
def test_level_is_kept_exactly_for_laws_on_two_points(direction, alpha):
    worst = max(
        two_point_rejection(n, q, q, alpha, direction)
        for n in (1, 2, 5, 40, 400)
        for q in np.linspace(0.01, 0.99, 99)
    )
    assert worst <= alpha


def test_level_is_kept_for_continuous_laws_by_their_exact_distribution():
    # One-sided Kolmogorov–Smirnov, exact (Birnbaum & Tingey): Massart's bound lies above it, and close.
    for n in (1, 10, 100):
        for alpha in (0.5, 0.05, 1e-4):
            exact = ksone.sf(critical_distance(n, alpha=alpha, direction="above"), n)
            assert exact <= alpha
    assert ksone.sf(critical_distance(1000, alpha=0.05, direction="above"), 1000) > 0.9 * 0.05


def test_broken_constant_is_caught(monkeypatch):
    # Massart's 2 in the exponent replaced by 4: the level is no longer kept.
    original = goodness_of_fit._root_log
    monkeypatch.setattr(goodness_of_fit, "_root_log", lambda *args: original(*args) / math.sqrt(2.0))
    assert two_point_rejection(400, 0.5, 0.5, 0.05) > 0.05


@pytest.mark.parametrize("direction", ["both", "above"])
@pytest.mark.parametrize(
    ("n", "alpha", "power"), [(200, 0.05, 0.9), (3000, 1e-6, 0.9), (3000, 1e-6, 1.0 - 1e-9)]
)
def test_minimum_detectable_distance_is_sound_and_tight_within_two(direction, n, alpha, power):
    d = minimum_detectable_distance(n, alpha=alpha, direction=direction, power=power)
    for q in np.linspace(0.01, 0.99 - d, 25):
        assert 1.0 - two_point_rejection(n, q + d, q, alpha, direction) <= 1.0 - power
    assert 1.0 - two_point_rejection(n, 0.5 + d / 2.0, 0.5, alpha, direction) > 1.0 - power


def test_required_samples_inverts_the_detectable_distance():
    for distance in (1.0, 0.3, 0.01, 1e-4):
        n = required_samples(distance=distance, alpha=1e-6)
        assert minimum_detectable_distance(n, alpha=1e-6) <= distance
        assert minimum_detectable_distance(n - 1, alpha=1e-6) > distance


def test_nothing_is_detectable_with_too_few_draws():
    assert minimum_detectable_distance(2, alpha=1e-6) == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: decide(np.array([], dtype=int), geom(0.5).cdf, alpha=0.05),
        lambda: decide(np.array([0.5]), geom(0.5).cdf, alpha=0.05),
        lambda: decide(np.array([[1]]), geom(0.5).cdf, alpha=0.05),
        lambda: decide(np.array([1, 2]), lambda k: k * math.nan, alpha=0.05),
        lambda: decide(np.array([1, 2]), lambda k: k * 1.0, alpha=0.05),
        lambda: decide(np.array([1, 5]), lambda k: 1.0 / (1.0 + k), alpha=0.05),
        lambda: decide(np.array([1, 2]), lambda k: np.array([0.5]), alpha=0.05),
        lambda: decide(np.array([1, 2]), geom(0.5).cdf, alpha=0.05, direction="up"),
        lambda: critical_distance(10, alpha=0.6, direction="above"),
        lambda: critical_distance(10, alpha=1.0),
        lambda: required_samples(distance=0.0, alpha=0.05),
        lambda: required_samples(distance=1.1, alpha=0.05),
    ],
)
def test_unusable_arguments_are_refused(call):
    with pytest.raises(InputError):
        call()
