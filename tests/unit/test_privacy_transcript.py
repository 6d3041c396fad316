"""The bounds on the transcript, against quadrature of its true law and against exact shuffled randomised response."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from scipy.stats import norm

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
    smallest_factor,
    sum_delta,
    used_at_least,
    used_at_most,
    whole_run_delta,
)
from dpsco_verify.privacy.whole_run import WholeRun, delta_lower, moments
from dpsco_verify.privacy.whole_run.bounds import sum_of
from dpsco_verify.privacy.whole_run.functional_bounds import planned_upper
from dpsco_verify.privacy.whole_run.moments import moment_bound
from dpsco_verify.privacy.whole_run.plan import FINE


def two_steps(g, h, sigma, axis):
    """The density of two iterations on two points with gradients g and h, repeat draws hidden."""
    phi = {mean: norm.pdf(axis, mean, sigma) for mean in {g, h, 0.0}}
    return 0.25 * (
        np.outer(phi[g], phi[0.0])
        + np.outer(phi[g], phi[h])
        + np.outer(phi[h], phi[g])
        + np.outer(phi[h], phi[0.0])
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "epsilon"),
    [
        pytest.param(sigma, epsilon, marks=[pytest.mark.long] * ((i + j) % 3 > 0))
        for i, sigma in enumerate([0.7, 2.0, 5.0])
        for j, epsilon in enumerate([0.05, 0.5, 1.5])
    ],
)
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


def test_the_whole_run_proves_what_one_use_does_not():
    run, mu, delta = loop_transcript(10**6), ball(Fraction(1, 2)), ball(Fraction(1, 10**6))
    eps = ball(Fraction(1, 100))
    assert not one_use_delta(run, eps, mu) <= delta
    assert proves(run, epsilon=eps, delta=delta, mu=mu) is Route.WHOLE_RUN
    assert proves(run, epsilon=eps / 10, delta=delta, mu=mu) is Route.NONE
    assert decide(run, epsilon=eps / 10, delta=delta, mu=mu).status is Status.OPEN


def test_a_run_that_uses_every_point_has_no_bound_but_one_use():
    run = Transcript(n=100, used=100, increments=100)
    assert whole_run_delta(run, ball(1), ball(1), target=ball(Fraction(1, 10))) is None


@pytest.mark.parametrize(
    ("n", "epsilon", "sigma"), [(16, 0.1, 30.0), (1000, 0.05, 6.0), (10**4, 0.01, 5.145), (10**6, 0.002, 4.0)]
)
def test_the_moment_is_above_the_convolution_and_not_far(n, epsilon, sigma):
    """A jump that alone makes δ is what it is bad at; here the run is about a Gaussian mechanism.

    The convolution is that of the same envelope, not of the narrowed law.
    """
    sharp = math.exp(planned_upper(sum_of(WholeRun(n=n, sigma=sigma), n // 2 + 1, epsilon), FINE)[0])
    with flint.ctx.workprec(192):
        bound = moment_bound(
            n=n,
            points=n // 2 + 1,
            epsilon=ball(epsilon),
            mu=2 / ball(sigma),
            target=ball(sharp),
        )
    assert 1.0 < float(bound) / sharp < 15.0


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_the_moment_is_above_the_exact_curve_of_two_points(epsilon):
    """n = 3, K = 1: one Gaussian step with the point in it with probability 1/3."""
    exact = float(replace_one_delta(ball(Fraction(1, 3)), ball(epsilon), ball(2)))
    bound = moment_bound(n=3, points=1, epsilon=ball(epsilon), mu=ball(1), target=ball(exact))
    assert exact <= float(bound) < 30.0 * exact


def test_the_moment_turns_with_a_wrong_potential(monkeypatch):
    """With half the distance the bound falls below what is attained."""
    n, epsilon, sigma = 1000, 0.05, 6.0
    attained = delta_lower(WholeRun(n=n, sigma=sigma), epsilon)

    def bound():
        found = moment_bound(
            n=n, points=n // 2 + 1, epsilon=ball(epsilon), mu=2 / ball(sigma), target=ball(attained)
        )
        return float(found)

    assert bound() > attained
    monkeypatch.setattr(moments, "_potential", potential_of_half)
    assert bound() < attained


def potential_of_half(t, alpha, mu, whole=moments._potential):
    """Return the envelope's potential at half the distance of the means."""
    return whole(t, alpha, mu / 2)


@pytest.mark.parametrize(("n", "tau"), [(5, 7), (16, 16), (40, 80), (200, 100)])
def test_the_number_of_points_is_rarely_outside_its_bounds(n, tau):
    """Against the exact law of the number of distinct draws."""
    law = np.zeros(n + 1)
    law[0] = 1.0
    for _ in range(tau):
        moved = law * (1 - np.arange(n + 1) / n)
        law = law * np.arange(n + 1) / n
        law[1:] += moved[:-1]
    run, bites = fixed_transcript(n, tau), 0
    for exponent in (1, 2, 4, 8):
        beta = ball(Fraction(1, 10**exponent))
        most, least = used_at_most(run, beta), used_at_least(run, beta)
        assert law[most.points + 1 :].sum() <= (10.0**-exponent if most.rare else 0.0)
        assert law[: least.points].sum() <= (10.0**-exponent if least.rare else 0.0)
        bites += most.rare + least.rare
    assert bites >= (3 if n > 5 else 0)


@pytest.mark.slow
def test_few_distinct_points_help_when_the_number_of_iterations_is_fixed():
    """At τ = n only 63 % of the points are used; an order is proven that the cap K < n alone does not give."""
    n = 10**6
    mu, delta, eps = ball(Fraction(1, 2)), ball(Fraction(1, 10**6)), Fraction(1, 100)
    fixed = fixed_transcript(n, n)
    capped = Transcript(n=n, used=n - 1, increments=n)
    orders = [
        smallest_factor(
            lambda f, t=t: proves(t, epsilon=ball(eps * f), delta=delta, mu=mu) is Route.WHOLE_RUN,
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
