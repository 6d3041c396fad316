"""The bounds on the transcript, against quadrature of its true law and against exact shuffled randomised response."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from scipy.stats import binom, norm

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.single_step import replace_one_delta
from dpsco_verify.privacy.transcript import (
    Route,
    Status,
    Transcript,
    decide,
    first_increment_delta,
    fixed_transcript,
    loop_transcript,
    one_use_delta,
    probability_drawn,
    proves,
    shuffled_epsilon,
    smallest_factor,
    sum_delta,
)


def two_steps(g, h, sigma, axis):
    """The density of two iterations on two points with gradients g and h, repeat draws hidden."""
    phi = {mean: norm.pdf(axis, mean, sigma) for mean in {g, h, 0.0}}
    return 0.25 * (
        np.outer(phi[g], phi[0.0])
        + np.outer(phi[g], phi[h])
        + np.outer(phi[h], phi[g])
        + np.outer(phi[h], phi[0.0])
    )


@pytest.mark.parametrize("sigma", [0.7, 2.0, 5.0])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.5])
def test_the_true_curve_of_two_iterations_lies_between_the_bounds(sigma, epsilon):
    axis = np.linspace(-1 - 9 * sigma, 1 + 9 * sigma, 1201)
    cell = (axis[1] - axis[0]) ** 2
    true = {}
    for h in (-1.0, 0.0, 1.0):
        gap = two_steps(1.0, h, sigma, axis) - math.exp(epsilon) * two_steps(-1.0, h, sigma, axis)
        true[h] = float(np.maximum(gap, 0.0).sum() * cell)
    transcript, mu = fixed_transcript(2, 2), ball(Fraction(2) / Fraction(sigma))
    eps = ball(Fraction(epsilon))
    slack = 1e-4 * max(true.values()) + 1e-9  # the quadrature's error
    assert max(true.values()) <= float(one_use_delta(transcript, eps, mu)) + slack
    assert float(sum_delta(transcript, eps, mu)) <= true[0.0] + slack
    assert float(first_increment_delta(transcript, eps, mu)) <= true[-1.0] + slack
    if epsilon <= 0.5:
        assert float(sum_delta(transcript, eps, mu)) > 0.3 * true[0.0]


def test_one_iteration_is_the_exact_single_step():
    for n in (2, 50):
        transcript, eps, mu = fixed_transcript(n, 1), ball(Fraction(1, 20)), ball(Fraction(3, 2))
        exact = replace_one_delta(ball(Fraction(1, n)), eps, 2 / mu)
        assert one_use_delta(transcript, eps, mu).overlaps(exact)
        assert first_increment_delta(transcript, eps, mu).overlaps(exact)


def test_the_sum_takes_the_best_half_line():
    transcript, eps, mu = fixed_transcript(4, 3), 0.2, 1.5
    q, shift = float(probability_drawn(4, 3)), mu / (2 * math.sqrt(3))
    assert q == pytest.approx(1 - 0.75**3)
    t = np.linspace(-10, 10, 20_001)
    up, none, down = norm.sf(t - shift), norm.sf(t), norm.sf(t + shift)
    best = (q * up + (1 - q) * none - math.exp(eps) * (q * down + (1 - q) * none)).max()
    assert float(sum_delta(transcript, ball(eps), ball(mu))) == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("epsilon_0", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("k", [2000, 20_000])
def test_the_shuffling_theorem_holds_for_randomised_response(epsilon_0, k):
    """k bits by randomised response, shuffled: the count of ones is sufficient, and its law is exact."""
    delta = 1e-5
    order = float(shuffled_epsilon(k, ball(epsilon_0), ball(delta)))
    p = math.exp(epsilon_0) / (1 + math.exp(epsilon_0))
    for ones in (0, k // 2, k - 1):
        counts = np.arange(k + 1)
        others = np.convolve(
            binom.pmf(np.arange(ones + 1), ones, p), binom.pmf(np.arange(k - ones), k - 1 - ones, 1 - p)
        )
        one, zero = np.zeros(k + 1), np.zeros(k + 1)
        one[:-1] += others * (1 - p)
        one[1:] += others * p
        zero[:-1] += others * p
        zero[1:] += others * (1 - p)
        assert counts.size == one.size
        for first, second in ((one, zero), (zero, one)):
            assert np.maximum(first - math.exp(order) * second, 0.0).sum() <= delta


def test_the_shuffling_theorem_keeps_to_its_condition():
    """16 log(4/δ) e^ε₀ ≤ k."""
    delta = ball(Fraction(1, 1000))
    edge = 16 * math.log(4000.0)
    assert shuffled_epsilon(math.ceil(edge * math.e), flint.arb(1), delta) is not None
    assert shuffled_epsilon(math.floor(edge * math.e), flint.arb(1), delta) is None
    assert shuffled_epsilon(10**6, flint.arb(1), flint.arb(1)) is None


def test_shuffling_proves_what_one_use_does_not():
    transcript, mu, delta = loop_transcript(10**6), ball(Fraction(1, 20)), ball(Fraction(1, 10**6))
    eps = ball(Fraction(1, 100))
    assert not one_use_delta(transcript, eps, mu) <= delta
    assert proves(transcript, epsilon=eps, delta=delta, mu=mu) is Route.SHUFFLING
    assert proves(transcript, epsilon=eps / 100, delta=delta, mu=mu) is Route.NONE
    assert decide(transcript, epsilon=eps / 100, delta=delta, mu=mu).status is Status.OPEN


def test_few_distinct_points_help_when_the_number_of_iterations_is_fixed():
    """At τ = n only 63 % of the points are used; an order is proven that the cap K ≤ n alone does not give."""
    n = 10**6
    mu, delta, eps = ball(Fraction(1, 20)), ball(Fraction(1, 10**6)), Fraction(57, 10_000)
    fixed = fixed_transcript(n, n)
    capped = Transcript(n=n, used=n, increments=n)
    orders = [
        smallest_factor(
            lambda f, t=t: proves(t, epsilon=ball(eps * f), delta=delta, mu=mu) is Route.SHUFFLING,
            low=0.1,
            high=10,
        )
        for t in (fixed, capped)
    ]
    assert orders[0] < 0.85 * orders[1]


def test_a_broken_claim_is_seen():
    transcript, mu = loop_transcript(16), ball(3)
    decision = decide(transcript, epsilon=ball(Fraction(1, 100)), delta=ball(Fraction(1, 100)), mu=mu)
    assert decision.status is Status.FAILS


def test_the_smallest_factor():
    assert smallest_factor(lambda f: f * f >= 2, low=0.1, high=10) == pytest.approx(math.sqrt(2), rel=2e-3)
    assert smallest_factor(lambda f: f > 100, low=0.1, high=10) is None


def test_transcripts_that_are_none():
    with pytest.raises(InputError, match="used=5"):
        Transcript(n=4, used=5, increments=9)
    with pytest.raises(InputError, match="increments=0"):
        fixed_transcript(4, 0)
    assert loop_transcript(17).used == 9
