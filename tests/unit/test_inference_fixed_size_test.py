"""The test of fixed size against exact binomial sums, and the checker's arithmetic against its own."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.stats import binom

from dpsco_verify.evidence.checker import EventAtOnce
from dpsco_verify.inference.fixed_size_test import FixedSizeTest

# ε, δ, about P(E), n, α: common and rare events, some that are all but certain, and δ that does all of the claim.
DESIGNS = [
    (1.0, 0.0, 0.5, 8000, 7e-7),
    (1.0, 0.0, 0.03, 8000, 7e-7),
    (1.0, 0.005, 0.0134, 6667, 7e-7),
    (0.0, 0.0, 0.5, 300, 0.05),
    (0.1, 0.0, 0.99, 3000, 0.01),
    (0.0, 0.01, 0.99, 30_000, 1e-9),
    (3.0, 0.0, 0.9, 700, 1e-3),
    (8.0, 1e-6, 0.01, 60_000, 1e-6),
    (1.0, 0.0, 0.5, 40_000, 1e-12),
]


def designed(epsilon, delta, p, n, alpha):
    return FixedSizeTest.aimed(epsilon=epsilon, delta=delta, p=p, samples=n, alpha=alpha)


def rejection(test, t, p, q):
    """P(T ≥ t) by the sum over b, but for values beyond nine standard deviations."""
    n = test.samples
    spread = 9.5 * math.sqrt(n * q * (1.0 - q)) + 30.0
    b = np.arange(max(math.floor(n * q - spread), 0), min(math.ceil(n * q + spread), n) + 1)
    needed = np.ceil((t + test.second_weight * b) / test.first_weight)
    return float(binom.pmf(b, n, q) @ binom.sf(needed - 1.0, n, p))


def half_of_the_boundary(design):
    """A number of occurrences on the second data set, half of what the claim needs at least."""
    epsilon, delta, p, n, _ = design
    return round(0.5 * n * (p - delta) * math.exp(-epsilon))


@pytest.mark.parametrize("design", DESIGNS)
def test_no_pair_within_the_claim_is_rejected_more_often_than_the_level_and_the_worst_nearly_as_often(design):
    epsilon, delta, _, _, alpha = design
    test = designed(*design)
    most = min((1.0 - delta) * math.exp(-epsilon), 1.0)
    places = most / (1.0 + np.exp(-np.linspace(-8.0, 8.0, 33)))
    rates = [
        rejection(test, test.critical(alpha), min(math.exp(epsilon) * q + delta, 1.0), q) for q in places
    ]
    # The bound gives away a factor of two at most: of a test with a level twice as large as it says, this would show.
    assert 0.4 * alpha < max(rates) <= alpha
    # Below the boundary of the claim there is less.
    worst = places[int(np.argmax(rates))]
    assert rejection(test, test.critical(alpha), 0.95 * math.exp(epsilon) * worst, worst) < max(rates)


@pytest.mark.parametrize("design", DESIGNS)
def test_a_p_value_is_the_level_at_which_its_counts_just_reject(design):
    alpha = design[-1]
    test = designed(*design)
    second = half_of_the_boundary(design)
    first = math.ceil((test.critical(alpha) + test.second_weight * second) / test.first_weight)
    assert test.log_p_value(first, second) <= math.log(alpha) < test.log_p_value(first - 1, second)
    assert test.statistic(first, second) >= test.critical(math.exp(test.log_p_value(first, second))) - 1e-6
    assert test.log_p_value(0, test.samples) == 0.0


def test_the_bound_of_a_binomial_probability_holds():
    # Herzog's: the largest probability of Bin(n, r), times sqrt(2e n r(1 − r)).
    r = np.linspace(0.001, 0.999, 999)
    for n in (1, 2, 3, 10, 100, 10_000):
        mode = np.minimum(np.floor((n + 1) * r), n)
        assert (binom.pmf(mode, n, r) * np.sqrt(2.0 * math.e * n * r * (1.0 - r))).max() <= 1.0


@pytest.mark.parametrize("design", DESIGNS)
def test_the_power_is_never_above_the_exact_one_and_hardly_below(design):
    epsilon, delta, p, _, alpha = design
    test = designed(*design)
    boundary = (p - delta) * math.exp(-epsilon)
    for part in (1.0, 0.9, 0.7, 0.4):
        exact = rejection(test, test.critical(alpha), p, part * boundary)
        assert exact - 0.015 <= test.power(p, part * boundary, alpha=alpha) <= exact * (1.0 + 1e-9)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_e_value_has_mean_one_at_most_at_any_time(design):
    epsilon, delta, _, n, _ = design
    test = designed(*design)
    q = min((1.0 - delta) * math.exp(-epsilon), 1.0) * np.linspace(0.0, 1.0, 20_001)
    p = np.minimum(math.exp(epsilon) * q + delta, 1.0)
    one = np.log1p(p * math.expm1(test.first_weight)) + np.log1p(q * math.expm1(-test.second_weight))
    for outputs in (1, n // 3, n):
        # E[e^T] of so many outputs, and what the e-value takes off.
        assert (outputs * one + test.log_e_value(0, 0, outputs)).max() <= 0.0


@pytest.mark.parametrize("design", DESIGNS)
def test_the_checker_computes_the_same_p_value(design):
    epsilon, delta, _, n, alpha = design
    test = designed(*design)
    second = half_of_the_boundary(design)
    first = math.ceil((test.critical(alpha) + test.second_weight * second) / test.first_weight)
    witness = EventAtOnce(
        null_hypothesis="any",
        epsilon=str(Fraction(epsilon)),
        delta=str(Fraction(delta)),
        alpha=str(Fraction(alpha)),
        samples=n,
        first_weight=str(Fraction(test.first_weight)),
        second_weight=str(Fraction(test.second_weight)),
        first=first,
        second=second,
    )
    left, right, _ = witness.sides("any")
    assert left > right
    assert -float(left.log()) == pytest.approx(test.log_p_value(first, second), abs=1e-7)


def test_an_event_that_cannot_break_the_claim_has_no_test():
    assert designed(1.0, 0.1, 0.1, 1000, 0.01) is None
    assert designed(1.0, 0.1, 0.0, 1000, 0.01) is None
    assert designed(1.0, 0.0, 1.0, 1000, 0.01) is not None


@pytest.mark.slow
def test_the_tails_are_those_of_exact_arithmetic_far_out():
    # Where doubles have no probabilities: n = 400, T far beyond, by sums of 60 digits.
    test = designed(1.0, 0.0, 0.5, 400, 1e-6)
    first, second = 390, 0
    with mpmath.workdps(60):

        def tail(q):
            p = mpmath.e * q
            term = [mpmath.binomial(400, b) * q**b * (1 - q) ** (400 - b) for b in range(40)]
            total = mpmath.mpf(0)
            for b in range(40):
                least = math.ceil(
                    (test.statistic(first, second) + test.second_weight * b) / test.first_weight
                )
                total += term[b] * mpmath.fsum(
                    mpmath.binomial(400, a) * p**a * (1 - p) ** (400 - a) for a in range(least, 401)
                )
            return total

        exact = max(mpmath.log(tail(mpmath.mpf(q))) for q in (0.3, 0.34, 0.36, 0.366, 0.3675))
    assert exact < -60.0
    assert test.log_p_value(first, second) >= exact
