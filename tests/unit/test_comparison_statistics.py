"""Intervals, exponents and crossovers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsco_verify.comparison.statistics import changes, exponent, mean_interval


def test_the_interval_is_students():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    found = mean_interval(values)
    # t(0.975, 3) = 3.182446305 (a table's), s/√4 = √(5/3)/2.
    half = 3.182446305284263 * math.sqrt(5.0 / 3.0) / 2.0
    assert found.value == 2.5
    assert found.low == pytest.approx(2.5 - half, rel=1e-12)
    assert found.high == pytest.approx(2.5 + half, rel=1e-12)


def test_nothing_is_below_the_least():
    found = mean_interval(np.array([0.0, 0.0, 1.0]), least=0.0)
    assert found.low == 0.0
    assert found.high > 1.0


def test_one_value_has_no_interval():
    found = mean_interval(np.array([0.25]))
    assert (found.value, found.low, found.high) == (0.25, None, None)


def test_a_power_law_has_its_exponent_and_no_width():
    sizes = [10, 100, 1000, 10_000]
    found = exponent(sizes, [3.0 * n**-0.5 for n in sizes])
    assert found.value == pytest.approx(-0.5, abs=1e-12)
    assert found.high - found.low < 1e-7


def test_a_curve_that_is_no_power_has_a_wide_interval():
    sizes = [10, 100, 1000, 10_000]
    found = exponent(sizes, [1.0 / math.log(n) ** 3 + 1e-3 for n in sizes])
    assert found.high - found.low > 0.1


@pytest.mark.parametrize(
    ("sizes", "values"),
    [([10, 100], [1.0, 0.1]), ([10, 10, 10], [1.0, 1.0, 1.0]), ([1, 2, 3], [1.0, 0.0, 1.0]), ([], [])],
)
def test_too_little_has_no_exponent(sizes, values):
    assert exponent(sizes, values) is None


def _around(mean, spread=0.1):
    return mean + spread * np.linspace(-1.0, 1.0, 16)


def test_a_change_of_places_lies_between_the_sizes_that_are_clear():
    first = [_around(1.0), _around(1.0), _around(1.0)]
    # Paired with the first: the differences are −1, hardly 0, and +0.5.
    second = [_around(2.0, 0.2), _around(1.0, -0.1), _around(0.5, 0.2)]
    (change,) = changes([10, 100, 1000], first, second)
    assert (change.above, change.at_most, change.first_before) == (10, 1000, True)
    (other,) = changes([10, 100, 1000], second, first)
    assert (other.above, other.at_most, other.first_before) == (10, 1000, False)


def test_order_that_stays_or_is_not_clear_is_no_change():
    low, high = _around(1.0), _around(2.0, 0.3)
    assert changes([1, 2, 3], [low] * 3, [high] * 3) == []
    assert (
        changes([1, 2], [_around(1.0, 0.1), _around(1.0, 0.1)], [_around(1.01, -1.0), _around(0.99, -1.0)])
        == []
    )


def test_places_may_change_twice():
    low, high = _around(1.0), _around(2.0, 0.3)
    found = changes([1, 2, 3], [low, high, low], [high, low, high])
    assert [(c.above, c.at_most, c.first_before) for c in found] == [(1, 2, True), (2, 3, False)]


@pytest.mark.slow
def test_intervals_cover_as_often_as_they_say():
    """Of 2,000 repetitions with a fixed seed: coverage 0.95 within 0.027 (5.5 standard errors)."""
    rng = np.random.default_rng(3)
    data = rng.standard_normal((2000, 12)) + 1.0
    inside = [i.low <= 1.0 <= i.high for i in map(mean_interval, data)]
    assert abs(np.mean(inside) - 0.95) < 0.027


def test_values_that_are_equal_but_for_rounding_have_the_exponent_0():
    """The fit calls the deviation of equal values undefined, and finds some 1e-16 where one differs in the last bit."""
    sizes = [0.25, 1.0, 4.0]
    for values in ([0.3] * 3, [0.3, math.nextafter(0.3, 1.0), 0.3], [0.3, 0.3, math.nextafter(0.3, 0.0)]):
        found = exponent(sizes, values)
        assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
