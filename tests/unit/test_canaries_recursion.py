"""The bound on the number of right guesses: against a linear programme, exact mechanisms, and published figures."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.special import expit, ndtr, ndtri

from dpsco_verify.auditing.canaries import recursion
from dpsco_verify.auditing.canaries.families import Family, gaussian_epsilon, gaussian_mu
from dpsco_verify.auditing.canaries.guesses import Guesses
from dpsco_verify.auditing.canaries.lines import (
    TradeOffLines,
    approximate_lines,
    claim_lines,
    gaussian_lines,
)
from dpsco_verify.auditing.canaries.one_run import approximate_dp
from dpsco_verify.inference.binomial import at_least
from dpsco_verify.privacy.claims import ApproximateDP, GaussianDP, PureDP, TradeOff, ZeroConcentratedDP


def rejects(lines, correct, guesses, alpha, canaries=None):
    return recursion.rejects(
        lines, correct=correct, guesses=guesses, canaries=canaries or guesses, alpha=alpha
    )


def largest_probability(lines, correct, guesses, canaries):
    """The theorem's inequalities, of every line, as a linear programme over the law of K: the largest P(K ≥ c)."""
    k = np.arange(guesses + 1.0)
    rows, ends = [], []
    for j in range(1, guesses + 1):
        right = np.where(k >= j, k, 0.0) / canaries
        wrong = np.where(k >= j - 1, guesses - k, 0.0) / canaries
        for slope, offset in zip(lines.slopes, lines.offsets, strict=True):
            rows += [right - slope * wrong, slope * right - wrong]
            ends += [offset, slope - 1.0 + offset]
    found = linprog(
        -(k >= correct).astype(float), A_ub=rows, b_ub=ends, A_eq=[np.ones_like(k)], b_eq=[1.0], bounds=(0, 1)
    )
    return -found.fun


@pytest.mark.parametrize("canaries", [8, 14])
@pytest.mark.parametrize(
    "lines", [approximate_lines(1.0, 0.01), approximate_lines(0.5, 0.0), gaussian_lines(0.8)]
)
@pytest.mark.parametrize("correct", [5, 7, 8])
def test_the_recursion_is_the_linear_programme(lines, canaries, correct):
    few = TradeOffLines(lines.slopes[::40], lines.offsets[::40])
    most = largest_probability(few, correct, 8, canaries)
    assert rejects(few, correct, 8, most * (1 + 1e-6), canaries)
    assert not rejects(few, correct, 8, most * (1 - 1e-6), canaries)


@pytest.mark.parametrize("m", [1, 2, 7, 200])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_randomised_response_is_never_refuted_beyond_its_own_law(m, epsilon):
    # K is Bin(m, e^ε/(1 + e^ε)): P(K ≥ c) is exact, and a level of that size must not refute the truth.
    for correct in range(1, m + 1, max(1, m // 9)):
        level = float(at_least(correct, m, float(expit(epsilon))))
        if level > 1e-300:
            assert not rejects(approximate_lines(epsilon, 0.0), correct, m, level * (1 - 1e-9))
    assert rejects(approximate_lines(epsilon, 0.0), 200, 200, 0.05)


@pytest.mark.parametrize("mu", [0.1, 1.0, 3.0])
def test_independent_gaussian_scores_are_never_refuted_beyond_their_own_law(mu):
    accuracy, m = float(ndtr(mu / 2)), 120
    for correct in range(60, m + 1, 6):
        level = float(at_least(correct, m, accuracy))
        if 1e-300 < level < 1:
            assert not rejects(gaussian_lines(mu), correct, m, level * (1 - 1e-9))
    assert rejects(gaussian_lines(mu / 8), 119, m, 0.05)


def test_a_run_that_tells_all_with_probability_delta_is_not_refuted_at_that_level():
    assert not rejects(approximate_lines(1.0, 1e-3), 1000, 1000, 0.999e-3)
    assert rejects(approximate_lines(1.0, 1e-3), 1000, 1000, 2.1e-3)


def test_all_told_together_bounds_what_any_valid_method_could_show():
    # With probability τ every coin passes through randomised response of one ε, else nothing is told: that is μ-GDP for
    # the μ of its corner (τ(1 − q), τq), and all 1,000 are right with probability 0.05. Whoever says more is wrong.
    best = math.inf
    for epsilon in np.linspace(5.9, 16.0, 200):
        q = float(expit(epsilon))
        told = 0.05 / q**1000
        if told <= 1.0:
            best = min(best, float(ndtri(told * q) - ndtri(told * (1.0 - q))))
    assert not rejects(gaussian_lines(best), 1000, 1000, 0.05)


def lower(correct, guesses, canaries, family, alpha=0.05, delta=1e-5):
    low, high = 0.0, family.largest
    for _ in range(50):
        middle = 0.5 * (low + high)
        if rejects(family.lines(middle, delta), correct, guesses, alpha, canaries):
            low = middle
        else:
            high = middle
    return family.epsilon(low, delta)


@pytest.mark.slow
def test_a_thousand_of_a_thousand_right():
    # An independent implementation of f-DP in one run gives 12.34, and of (ε, δ) by Steinke et al. 5.78.
    assert lower(1000, 1000, 1000, Family.GAUSSIAN) == pytest.approx(12.33, abs=0.01)
    assert lower(1000, 1000, 1000, Family.APPROXIMATE) == pytest.approx(5.81, abs=0.01)
    plan = Guesses(top=500, bottom=500, canaries=1000)
    assert approximate_dp(approximate_lines(5.77, 1e-5), plan, 1000, 0.05)
    assert not approximate_dp(approximate_lines(5.79, 1e-5), plan, 1000, 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_theorem_for_approximate_dp_keeps_the_law_of_randomised_response_and_agrees_with_a_plain_sum(
    delta,
):
    from scipy.stats import binom

    n, epsilon = 300, 0.7
    plan, q = Guesses(top=150, bottom=150, canaries=400), float(expit(epsilon))
    for correct in (1, 150, 200, 210, 230, 260, 300):
        total, below, quotient = float(binom.sf(correct - 1, n, q)), 0.0, 0.0
        for i in range(1, correct + 1):
            below += float(binom.pmf(correct - i, n, q))
            quotient = max(quotient, below / i)
        total += 2 * 400 * delta * quotient
        assert approximate_dp(approximate_lines(epsilon, delta), plan, correct, total * (1 + 1e-9))
        assert not approximate_dp(approximate_lines(epsilon, delta), plan, correct, total * (1 - 1e-9))


def test_the_compiled_recursion_is_the_written_one():
    a, b = gaussian_lines(1.0).inverse
    for alpha, correct in ((0.05, 90), (1e-6, 95), (0.3, 60)):
        plain = recursion.least_total(alpha, correct, 100, 120.0, a, b)
        assert recursion._compiled()(alpha, correct, 100, 120.0, a, b) == pytest.approx(plain, rel=1e-12)


@pytest.mark.parametrize("mu", [1e-6, 0.3, 2.0, 8.0])
def test_lines_lie_above_the_gaussian_trade_off_and_close_to_it(mu):
    q = np.concatenate([np.geomspace(1e-18, 0.4, 60), np.linspace(0.4, 1.0, 40)[:-1]])
    exact = ndtr(ndtri(q) + mu)
    lines = gaussian_lines(mu)
    assert (lines.most(q) >= exact * (1 - 1e-12)).all()
    assert (lines.most(q) <= exact * (1 + 1e-3)).all()
    a, b = lines.inverse
    r = lines.most(q)[:, np.newaxis]
    back = np.where(a <= 1, a * r + b, b - a * (1 - r)).max(axis=1)
    inside = lines.most(q) < 1 - 1e-9
    assert back[inside] == pytest.approx(q[inside], rel=1e-6)


@pytest.mark.parametrize(
    "claim",
    [
        PureDP(1.0),
        ApproximateDP(0.5, 1e-3),
        GaussianDP(1.0),
        ZeroConcentratedDP(0.5),
        TradeOff(lambda a: float(ndtr(ndtri(1 - a) - 1.0))),
    ],
)
def test_the_lines_of_a_claim_are_its_curve(claim):
    lines = claim_lines(claim)
    for slope, offset in list(zip(lines.slopes, lines.offsets, strict=True))[::7]:
        assert offset == pytest.approx(claim.delta(math.log(slope)), rel=1e-6, abs=1e-12)


def test_epsilon_and_mu_are_each_others_inverse():
    for mu in (0.05, 1.0, 6.0):
        assert gaussian_mu(gaussian_epsilon(mu, 1e-5), 1e-5) == pytest.approx(mu, rel=1e-6)
    assert gaussian_epsilon(1e-7, 1e-5) == 0.0


@pytest.mark.parametrize(("count", "kept"), [(3, 3), (100, 100), (101, 51), (250, 84)])
def test_a_certificate_has_at_most_a_hundred_orders(count, kept):
    """Every line, every second or every third one, in order, with δ rounded up; lines at δ = 1 say nothing."""
    slopes = np.linspace(1.0, 2.0, count)
    lines = TradeOffLines(slopes, np.linspace(0.9, 0.1, count))
    found = lines.few(slopes[::-1].tolist())
    assert len(found) == kept
    assert [float(Fraction(each.epsilon)) for each in found] == pytest.approx(
        np.log(slopes[:: -(-count // 100)])
    )
    offsets = lines.offsets[:: -(-count // 100)]
    assert all(
        low <= float(Fraction(each.delta)) <= low + 1e-12 for each, low in zip(found, offsets, strict=True)
    )
    assert TradeOffLines(slopes, np.ones(count)).few(slopes.tolist()) == ()
