"""Tails of the stopping time at every size: exact ones against rationals, certified ones above them."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from dpsco_verify.algorithm import stopping_law
from dpsco_verify.algorithm.stopping_law import (
    janson_exponent,
    log_survival,
    log_tail_bound,
    log_tail_enclosure,
    mean_iterations,
    relative_error,
    survival,
    tail_exact,
)
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball

SMALL = [
    (n, m) for n in (1, 2, 3, 7, 16, 17, 60) for m in sorted({1, 2, n // 2 + 1, (n + 1) // 2, n}) if m <= n
]
LOGARITHM = 2.0**-51
"""Relative rounding of a logarithm."""


def encloses(interval, probability):
    """Say, rigorously, whether ``low ≤ log(probability) ≤ high``."""
    low, high = interval
    if probability == 0:
        return low == high == -math.inf
    with flint.ctx.workprec(256):
        log = ball(probability).log()
        return bool(ball(low) <= log) and bool(log <= ball(high))


@pytest.mark.parametrize(("n", "m"), SMALL)
def test_enclosure_contains_the_rational_tail(n, m):
    for t in [*range(2 * n + 2), 3 * n, 10 * n]:
        interval = log_tail_enclosure(n, m, t)
        exact = tail_exact(n, m, t)
        if exact in (0, 1):
            assert interval == ((0.0, 0.0) if exact else (-math.inf, -math.inf))
        else:
            assert encloses(interval, exact)
            width = interval[1] - interval[0]
            assert width <= 1e-14 * abs(interval[0]) or width <= 2.0**-58


@pytest.mark.parametrize(("n", "m"), SMALL)
def test_bound_lies_above_the_rational_tail(n, m):
    for t in [*range(2 * n + 2), 3 * n, 10 * n]:
        bound, exact = log_tail_bound(n, m, t), tail_exact(n, m, t)
        assert bound <= 0.0
        if exact == 0:
            assert bound == -math.inf
        else:
            with flint.ctx.workprec(256):
                assert not ball(exact).log() > ball(bound)


@pytest.mark.slow
@pytest.mark.parametrize("n", [600, 1200])
def test_log_survival_keeps_its_error_bound_below_the_doubles(n):
    m = n // 2 + 1
    tails = log_survival(n, m, 3 * n)
    assert tails[-1] < -n
    for t in range(0, 3 * n + 1, n // 4):
        low, high = log_tail_enclosure(n, m, t)
        room = relative_error(m, t) * 1.001 + LOGARITHM * abs(low)
        assert low - room <= tails[t] <= high + room


@pytest.mark.parametrize("m", [1, 2, 9, 16, 17])
def test_log_survival_is_that_of_survival(m):
    with np.errstate(divide="ignore"):
        want = np.log(survival(17, m, 80))
    np.testing.assert_allclose(log_survival(17, m, 80), want, rtol=1e-14, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize(
    "t", [5_001, *(pytest.param(t, marks=pytest.mark.long) for t in (7_000, 8_000)), 20_000]
)
def test_ten_thousand_points_by_both_routes(t):
    n, m = 10_000, 5_001
    low, high = log_tail_enclosure(n, m, t)
    tail = log_survival(n, m, t)[t]
    room = relative_error(m, t) + LOGARITHM * abs(low)
    assert low - room <= tail <= high + room
    assert low <= log_tail_bound(n, m, t)


@pytest.mark.slow
@pytest.mark.parametrize("n", [16, 100, 1_000, 10_000])
def test_bound_misses_a_factor_of_the_order_of_the_root(n):
    m = n // 2 + 1
    for t in (n, 2 * n, 4 * n):
        slack = log_tail_bound(n, m, t) - log_tail_enclosure(n, m, t)[0]
        assert 0.0 <= slack <= math.log(60.0 * math.sqrt(n))


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
def test_bound_at_sizes_that_nothing_else_reaches(n):
    m = n // 2 + 1
    bound = log_tail_bound(n, m, 2 * n)
    assert bound / n == pytest.approx(-0.70276208, abs=2e-5)  # the exponent at n → ∞, see the test below
    janson = janson_exponent(fewest_left=1 - (m - 1) / n, mean_per_point=math.log(2.0), horizon_per_point=2.0)
    assert bound < -janson * n


@pytest.mark.slow
def test_the_limiting_exponent_by_legendre():
    """``sup_{α > 1/2} ∫_0^{1/2} log((α − x)/(1 − x)) dx − 2 log α``, by the integral's closed form."""

    def rate(alpha):
        def integral(top):
            return top * math.log(top) - (top - 0.5) * math.log(top - 0.5) - 0.5

        return integral(alpha) - integral(1.0) - 2.0 * math.log(alpha)

    best = max(rate(0.5 + k * 1e-6) for k in range(1, 100_000, 3))
    assert best == pytest.approx(0.70276208, abs=1e-8)


def test_bound_falls_and_is_trivial_up_to_the_mean():
    n, m = 10**6, 10**6 // 2 + 1
    mean = math.floor(float(sum(1.0 / (n - k) for k in range(m))) * n)
    assert log_tail_bound(n, m, m - 1) == 0.0
    assert log_tail_bound(n, m, mean - 2) == 0.0
    bounds = [log_tail_bound(n, m, mean + k) for k in (10, 1_000, 10_000, n, 10 * n)]
    assert bounds == sorted(bounds, reverse=True)
    assert -1e-3 < bounds[0] <= 0.0
    assert bounds[-1] < -6 * n


def test_the_comparison_with_the_bound_can_fail():
    """The bound on another tail, at twice the draws or for fewer points, lies below the exact one."""
    n, m, t = 60, 60, 400
    exact = tail_exact(n, m, t)
    assert log_tail_bound(n, m, t) > math.log(exact)
    assert log_tail_bound(n, m, 2 * t) < math.log(exact)
    assert log_tail_bound(n, n // 2 + 1, t) < math.log(exact)


def test_the_enclosure_is_wrong_if_one_power_is(monkeypatch):
    powers = stopping_law._powers

    def wrong(m, t):
        return (power * (2 if i == 6 else 1) for i, power in enumerate(powers(m, t)))

    assert encloses(log_tail_enclosure(17, 9, 20), tail_exact(17, 9, 20))
    monkeypatch.setattr(stopping_law, "_powers", wrong)
    assert not encloses(log_tail_enclosure(17, 9, 20), tail_exact(17, 9, 20))


@pytest.mark.slow
def test_without_exponents_of_their_own_the_states_that_count_are_lost(monkeypatch):
    def common(state, exponents):
        largest = np.frexp(state.max())[1]
        state[:] = np.ldexp(state, -largest)
        exponents += largest
        return True

    n, m, t = 10_000, 5_001, 20_000
    low, _ = log_tail_enclosure(n, m, t)
    assert log_survival(n, m, t)[t] == pytest.approx(low, rel=1e-13)
    monkeypatch.setattr(stopping_law, "_rescale", common)
    with np.errstate(divide="ignore"):
        assert log_survival(n, m, t)[t] < low * 1.005


def test_powers_by_the_sieve():
    with flint.ctx.workprec(2_000):
        for i, power in enumerate(stopping_law._powers(101, 37)):
            assert power.contains(flint.fmpz(i) ** 37)
    assert [float(x) for x in stopping_law._powers(3, 0)] == [1.0, 1.0, 1.0]


@pytest.mark.slow
def test_the_mean_is_that_of_the_tails_at_a_larger_size():
    n = 2_000
    m = n // 2 + 1
    total = math.fsum(survival(n, m, 3 * n))
    assert total == pytest.approx(float(mean_iterations(n, m)), rel=1e-11)


@pytest.mark.parametrize("function", [log_survival, log_tail_enclosure, log_tail_bound])
@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 1, 1), "n=0"), ((3, 4, 1), "m=4"), ((3, 2, -1), "=-1"), ((3, 2, 1.5), "=1.5")],
)
def test_bad_arguments_are_refused(function, arguments, name):
    with pytest.raises(InputError, match=name):
        function(*arguments)


def test_the_whole_law_in_doubles_against_rationals():
    """The whole law at n = 40 within its proven error, in rational arithmetic."""
    tails = survival(40, 21, 120)
    for t in range(0, 121, 7):
        exact = tail_exact(40, 21, t)
        assert abs(Fraction(float(tails[t])) / exact - 1) <= Fraction(relative_error(21, t))
