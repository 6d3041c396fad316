"""The exact worst case of the single step, against quadrature, random configurations and dp-accounting."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from dpsco_verify.papers.arora2020.single_step.exact import Adjacency, sufficient_factor
from dpsco_verify.papers.arora2020.single_step.present import RARE
from dpsco_verify.privacy import NeighbouringStep, inner_epsilon
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.single_step import (
    inner_epsilon_ball,
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
    zero_out_upper_bound,
)

PLACES = [(0.5, 0.8, 1.0), (0.1, 0.2, 2.0), (1 / 64, 0.05, 0.7), (1.0, 1.0, 1.5), (0.25, 3.0, 0.5)]
PLACES_BY_DAY = [
    place if k % 2 == 0 else pytest.param(*place, marks=pytest.mark.long) for k, place in enumerate(PLACES)
]


def value(curve, p, epsilon, sigma):
    low, _ = enclose(lambda: curve(ball(p), ball(epsilon), ball(sigma)))
    return low


def by_quadrature(p, epsilon, sigma, g, g_prime, h):
    """``∫ (pN(g) + (1−p)N(h) − e^ε(pN(g') + (1−p)N(h)))_+`` by the trapezoidal rule.

    Its error is of the order of the squared spacing, 1e-10 of σ², at the integrand's kinks.
    """
    x = np.linspace(-1 - 12 * sigma, 1 + 12 * sigma, 2_000_001)

    def density(mean):
        return np.exp(-0.5 * ((x - mean) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))

    first = p * density(g) + (1 - p) * density(h)
    second = p * density(g_prime) + (1 - p) * density(h)
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum()) * (x[1] - x[0])


@pytest.mark.slow
@pytest.mark.parametrize(("p", "epsilon", "sigma"), PLACES_BY_DAY)
def test_worst_cases_are_attained(p, epsilon, sigma):
    assert value(replace_one_delta, p, epsilon, sigma) == pytest.approx(
        by_quadrature(p, epsilon, sigma, 1, -1, -1), rel=1e-8
    )
    if p < 1.0:
        assert value(zero_out_present_delta, p, epsilon, sigma) == pytest.approx(
            by_quadrature(p, epsilon, sigma, 1, 0, -1), rel=1e-8
        )
    assert value(zero_out_absent_delta, p, epsilon, sigma) == pytest.approx(
        by_quadrature(p, epsilon, sigma, 0, 1, 1), rel=1e-8
    )


def hockey_stick_in_the_plane(p, epsilon, sigma, g, g_prime, h):
    """Return the divergence for gradients in the unit disc, by a grid over the plane."""
    axis = np.linspace(-1 - 9 * sigma, 1 + 9 * sigma, 501)
    x, y = np.meshgrid(axis, axis)

    def density(mean):
        return np.exp(-((x - mean[0]) ** 2 + (y - mean[1]) ** 2) / (2 * sigma**2)) / (2 * math.pi * sigma**2)

    first = p * density(g) + (1 - p) * density(h)
    second = p * density(g_prime) + (1 - p) * density(h)
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum()) * (axis[1] - axis[0]) ** 2


@pytest.mark.slow
@pytest.mark.parametrize(("p", "epsilon", "sigma"), PLACES_BY_DAY)
def test_no_configuration_in_the_plane_is_worse(p, epsilon, sigma):
    rng = np.random.default_rng(7)
    replaced = value(replace_one_delta, p, epsilon, sigma)
    present = value(zero_out_present_delta, p, epsilon, sigma)
    absent = value(zero_out_absent_delta, p, epsilon, sigma)
    for _ in range(8):
        directions = rng.standard_normal((3, 2))
        lengths = rng.choice([1.0, 1.0, rng.uniform()], size=3)
        g, g_prime, h = lengths[:, None] * directions / np.linalg.norm(directions, axis=1, keepdims=True)
        zero = np.zeros(2)
        spacing = (2 + 18 * sigma) / 500
        room = (spacing / sigma) ** 2 / 4  # the trapezoidal rule at a kink
        assert hockey_stick_in_the_plane(p, epsilon, sigma, g, g_prime, h) <= replaced * (1 + room) + 1e-9
        assert hockey_stick_in_the_plane(p, epsilon, sigma, g, zero, h) <= present * (1 + room) + 1e-9
        assert hockey_stick_in_the_plane(p, epsilon, sigma, zero, g, h) <= absent * (1 + room) + 1e-9


@pytest.mark.parametrize(("p", "epsilon", "sigma"), PLACES)
def test_bounds_are_in_order(p, epsilon, sigma):
    upper = value(zero_out_upper_bound, p, epsilon, sigma)
    assert value(zero_out_present_delta, p, epsilon, sigma) <= upper * (1 + 1e-12)
    assert value(zero_out_absent_delta, p, epsilon, sigma) <= upper * (1 + 1e-12)
    assert upper <= value(replace_one_delta, p, epsilon, sigma) * (1 + 1e-12)


@pytest.mark.slow
def test_against_dp_accounting():
    """The pair h = g' is a subsampled Gaussian with sensitivity 2, which the accountant knows as Poisson sampling."""
    from dp_accounting.pld import privacy_loss_distribution

    p, sigma = 0.1, 3.0
    pld = privacy_loss_distribution.from_gaussian_mechanism(
        sigma, sensitivity=2.0, sampling_prob=p, value_discretization_interval=1e-4
    )
    for epsilon in (0.05, 0.1, 0.2):
        assert pld.get_delta_for_epsilon(epsilon) == pytest.approx(
            value(replace_one_delta, p, epsilon, sigma), rel=2e-3
        )


@pytest.mark.parametrize("p", [1e-8, 1e-3, 0.5, 1.0])
@pytest.mark.parametrize("epsilon", [1e-10, 0.01, 1.0, 50.0, 1e4])
def test_inner_epsilon(p, epsilon):
    got = float(inner_epsilon(p, epsilon))
    low, _ = enclose(lambda: inner_epsilon_ball(ball(p), ball(epsilon)))
    assert got == pytest.approx(low, rel=1e-12)
    assert got >= epsilon * (1 - 1e-12)


def pair(**changes):
    base = {"n": 6, "m": 3, "fresh": 4, "g": Fraction(1), "g_prime": Fraction(-1), "h": Fraction(-1, 2)}
    return NeighbouringStep(**base | changes)


def test_the_mixture_by_enumeration():
    import itertools

    step = pair()
    expected: dict[Fraction, Fraction] = {}
    batches = list(itertools.combinations(range(step.n), step.m))
    for batch in batches:
        fresh = [i for i in batch if i < step.fresh]
        gradients = [step.g if i == 0 else step.h for i in fresh]
        mean = sum(gradients, Fraction(0)) / len(gradients) if gradients else Fraction(0)
        expected[mean] = expected.get(mean, Fraction(0)) + Fraction(1, len(batches))
    assert dict(step.mixture(step.g)) == expected
    assert sum(weight for _, weight in step.mixture(step.g)) == 1


def test_the_threshold_found_is_the_best():
    step = pair(n=16, m=1, fresh=16, h=Fraction(-1))
    epsilon, sigma = 0.1, 2.0
    threshold = step.best_threshold(epsilon, sigma)
    with flint.ctx.workprec(128):
        gap = float(
            step.probability(step.g, threshold, ball(sigma))
            - ball(epsilon).exp() * step.probability(step.g_prime, threshold, ball(sigma))
        )
    assert gap == pytest.approx(value(replace_one_delta, Fraction(1, 16), epsilon, sigma), rel=1e-6)


@pytest.mark.parametrize(("epsilon", "delta", "factor"), [(10.0, 0.5, 2.96), (1.256, 1e-30, 1.544)])
def test_the_noise_that_one_step_needs_for_large_n(epsilon, delta, factor):
    """As n grows (1 + (e^x − 1)/n is e^ε for the lemma's ε at x = ε̃, and δ/n is allowed): the Gaussian mechanism's.

    So σ = 2L/μ with ``Φ(μ/2 − ε̃/μ) − e^ε̃ Φ(−μ/2 − ε̃/μ) = δ`` (Balle and Wang 2018, Theorem 8).
    """

    def excess(mu):
        return (
            norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon + norm.logcdf(-mu / 2 - epsilon / mu)) - delta
        )

    limit = 2 / brentq(excess, 0.01, 50, xtol=1e-14) * epsilon / math.sqrt(-3 * math.log(delta))
    assert limit == pytest.approx(factor, abs=0.002)
    n, m = RARE
    place = {"epsilon_tilde": Fraction(epsilon), "delta": Fraction(delta)}
    found = sufficient_factor(adjacency=Adjacency.REPLACE_ONE, n=n, m=m, **place)
    assert found == pytest.approx(limit, rel=1e-3)
    assert found < limit
