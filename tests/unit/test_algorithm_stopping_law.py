"""The law of the stopping time: three routes that must agree."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from dpsco_verify.algorithm.stopping_law import (
    RECURSION_LIMIT,
    janson_exponent,
    mean_iterations,
    relative_error,
    survival,
    tail_exact,
)
from dpsco_verify.errors import InputError


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_by_enumeration(n):
    for t in range(6):
        sequences = list(itertools.product(range(n), repeat=t))
        for m in range(1, n + 1):
            late = sum(len(set(sequence)) < m for sequence in sequences)
            assert tail_exact(n, m, t) == Fraction(late, len(sequences))


@pytest.mark.parametrize("n", [2, 5, 16, 17, 33, 60])
def test_the_recursion_in_doubles_keeps_its_error_bound(n):
    for m in {1, n // 2 + 1, (n + 1) // 2, n}:
        tails = survival(n, m, 3 * n)
        for t in range(0, 3 * n + 1, 5):
            exact = tail_exact(n, m, t)
            if exact > 0:
                assert abs(Fraction(float(tails[t])) / exact - 1) <= Fraction(relative_error(m, t))
            else:
                assert tails[t] == 0.0


def test_tails_beyond_the_doubles_underflow_to_zero():
    tails = survival(1200, 601, 2400)
    assert tails[0] == 1.0
    assert tails[-1] == 0.0  # log_survival has it, see test_stopping_tails.py


def test_the_mean_is_the_sum_of_the_tails():
    n, m = 24, 13
    tails = survival(n, m, 40 * n)
    assert math.fsum(tails) == pytest.approx(float(mean_iterations(n, m)), rel=1e-12)


@pytest.mark.parametrize("n", [16, 17, 64, 200, 512])
def test_jansons_bound_lies_above_the_exact_tail(n):
    for m in (n // 2 + 1, (n + 1) // 2):
        mean = float(mean_iterations(n, m)) / n
        for horizon in (1.0, 1.5, 2.0):
            exponent = janson_exponent(
                fewest_left=1 - (m - 1) / n, mean_per_point=mean, horizon_per_point=horizon
            )
            tails = survival(n, m, math.ceil(horizon * n))
            assert tails[math.ceil(horizon * n) - 1] <= math.exp(-exponent * n)


def test_the_exponent_grows_as_the_mean_falls():
    exponents = [
        janson_exponent(fewest_left=0.5, mean_per_point=mean, horizon_per_point=2.0)
        for mean in (1.9, 1.5, 1.0, 0.8, 0.7)
    ]
    assert exponents == sorted(exponents)


def test_below_the_mean_the_bound_is_refused():
    with pytest.raises(InputError, match="horizon_per_point=1.0"):
        janson_exponent(fewest_left=0.5, mean_per_point=1.5, horizon_per_point=1.0)


@pytest.mark.parametrize(("n", "m", "name"), [(0, 1, "n=0"), (3, 0, "m=0"), (3, 4, "m=4"), (2.0, 1, "n=2.0")])
def test_bad_counts(n, m, name):
    with pytest.raises(InputError, match=name):
        tail_exact(n, m, 1)


def test_too_large_for_the_recursion():
    with pytest.raises(InputError, match=f"n={RECURSION_LIMIT + 1}"):
        survival(RECURSION_LIMIT + 1, 2, 1)
