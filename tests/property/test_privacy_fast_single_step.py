"""The single step in doubles holds 1e-9 against its enclosures, over the whole range; and the comparison can fail."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.errors import InputError
from dpsco_verify.privacy import StepCurve, inner_epsilon, log_step_delta, single_step_doubles, step_delta
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.single_step import (
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
    zero_out_upper_bound,
)

pytestmark = pytest.mark.slow  # the everyday part has two minutes


ALLOWED = 1e-9
"""Relative error of δ where δ > 1e-300, and of log δ below."""

LOG_TINY = math.log(1e-300)

TWINS = {
    StepCurve.REPLACE_ONE: replace_one_delta,
    StepCurve.ZERO_OUT_PRESENT: zero_out_present_delta,
    StepCurve.ZERO_OUT_ABSENT: zero_out_absent_delta,
    StepCurve.ZERO_OUT_UPPER: zero_out_upper_bound,
}
"""The same curves as balls."""

PROBABILITIES = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 1 - 1e-12, 1.0]
ORDERS = [1e-8, 1e-4, 1e-2, 0.5, 1.0, 1.0 + 1e-9, 3.0, 30.0, 100.0]
SIGMAS = [1e-2, 0.1, 0.5, 1.0, 1.0 + 1e-9, 2.0, 10.0, 1e3, 1e6]
DEPTHS = [-30.0, -1.0, -0.999, 0.0, 1.0, 11.9, 12.1, 25.0, 36.0]


def sigma_at_depth(p, epsilon, z):
    """Return a σ in [1e-2, 1e6] for which the event has a probability of about Q(z), so that δ is of that size."""
    inner = float(inner_epsilon(p, epsilon))
    root = math.sqrt(z * z + 2.0 * inner)
    mu = root - z if z <= 0 else 2.0 * inner / (root + z)
    return min(max(1.5 / mu, 1e-2), 1e6)


def error(curve, p, epsilon, sigma, got):
    """Return the error of `got`, in the measure that :data:`ALLOWED` speaks of; None where Arb itself gives up."""
    if got < -1e9:  # only that it is as deep as that: Arb's erfc underflows at larger arguments
        return None
    try:
        low, _ = enclose(lambda: TWINS[curve](ball(p), ball(epsilon), ball(sigma)).log(), relative=1e-15)
    except InputError:  # far deeper than what was got
        return math.inf
    return abs(got - low) if low > LOG_TINY else abs(got / low - 1.0)


def grid():
    cases = list(itertools.product(PROBABILITIES, ORDERS, SIGMAS))
    cases += [(p, e, sigma_at_depth(p, e, z)) for p, e, z in itertools.product(PROBABILITIES, ORDERS, DEPTHS)]
    return np.array(cases)


def worst_error(curve, places):
    got = log_step_delta(curve, *places.T)
    errors = [
        error(curve, *map(float, place), float(value)) for place, value in zip(places, got, strict=True)
    ]
    known = [e for e in errors if e is not None]
    assert len(known) > len(places) / 2
    return max(known)


@pytest.mark.parametrize("curve", StepCurve)
def test_the_grid_against_balls(curve):
    assert worst_error(curve, grid()) <= ALLOWED


probabilities = st.one_of(
    st.floats(-12.0, 0.0).map(lambda x: 10.0**x), st.sampled_from(PROBABILITIES), st.floats(1e-12, 1.0)
)
orders = st.one_of(st.floats(-8.0, 2.0).map(lambda x: 10.0**x), st.sampled_from(ORDERS))
sigmas = st.floats(-2.0, 6.0).map(lambda x: 10.0**x)
depths = st.floats(-50.0, 38.0)


@given(st.sampled_from(StepCurve), probabilities, orders, sigmas)
def test_anywhere_against_balls(curve, p, epsilon, sigma):
    found = error(curve, p, epsilon, sigma, float(log_step_delta(curve, p, epsilon, sigma)))
    assert found is None or found <= ALLOWED


@given(st.sampled_from(StepCurve), probabilities, orders, depths)
def test_where_delta_is_a_double_against_balls(curve, p, epsilon, depth):
    sigma = sigma_at_depth(p, epsilon, depth)
    found = error(curve, p, epsilon, sigma, float(log_step_delta(curve, p, epsilon, sigma)))
    assert found is None or found <= ALLOWED


@given(
    st.sampled_from([StepCurve.REPLACE_ONE, StepCurve.ZERO_OUT_UPPER]), probabilities, orders, sigmas, depths
)
def test_the_curves_are_in_order(curve, p, epsilon, sigma, depth):
    room = 1.0 + 1e-13
    for scale in (sigma, sigma_at_depth(p, epsilon, depth)):
        parts = [
            float(log_step_delta(part, p, epsilon, scale))
            for part in (StepCurve.ZERO_OUT_PRESENT, StepCurve.ZERO_OUT_ABSENT)
        ]
        bound = float(log_step_delta(curve, p, epsilon, scale))
        assert max(parts) <= bound / room + 1e-11
        assert bound <= math.log(p) + 1e-11


def by_mpmath(p, epsilon, sigma, gradients):
    """``p Q(c − g) + (1−p) Q(c − h) − e^ε (…)`` at the c where the two densities balance, in 60 digits."""
    g, g_prime, h = gradients
    with mpmath.workdps(60):
        p, epsilon, sigma = mpmath.mpf(p), mpmath.mpf(epsilon), mpmath.mpf(sigma)

        def gap(function, c):
            here = p * function((c - g) / sigma) + (1 - p) * function((c - h) / sigma)
            there = p * function((c - g_prime) / sigma) + (1 - p) * function((c - h) / sigma)
            return here - mpmath.exp(epsilon) * there

        sign = 1 if g > g_prime else -1
        low, high = -60 * sigma - 60, 60 * sigma + 60
        for _ in range(220):
            middle = (low + high) / 2
            below = gap(mpmath.npdf, sign * middle) < 0
            low, high = (middle, high) if below else (low, middle)
        return mpmath.log(
            sign * gap(lambda z: mpmath.ncdf(-z), sign * low) + (0 if sign > 0 else gap_at_all(epsilon))
        )


def gap_at_all(epsilon):
    """Return the gap of the whole line, ``1 − e^ε``."""
    return 1 - mpmath.exp(epsilon)


@pytest.mark.parametrize(
    ("curve", "gradients"),
    [
        (StepCurve.REPLACE_ONE, (1, -1, -1)),
        (StepCurve.ZERO_OUT_PRESENT, (1, 0, -1)),
        (StepCurve.ZERO_OUT_ABSENT, (0, 1, 1)),
    ],
)
@pytest.mark.parametrize(
    ("p", "epsilon", "sigma"),
    [
        (1e-3, 1e-3, 1.0),
        (0.5, 1e-8, 20.0),
        (0.1, 2.0, 0.6),
        (1e-6, 1e-7, 50.0),
        (0.9, 0.3, 0.3),
        (1.0, 1.0, 2.0),
    ],
)
def test_by_the_definition_in_mpmath(curve, gradients, p, epsilon, sigma):
    """Not through the closed form: the two mixtures' gap at the threshold where their densities balance."""
    want = float(by_mpmath(p, epsilon, sigma, gradients))
    assert float(log_step_delta(curve, p, epsilon, sigma)) == pytest.approx(want, rel=0, abs=1e-11)


def subtracted(a, width):
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(single_step_doubles.mills(a) - single_step_doubles.mills(a + width), 0.0))


def two_nodes(monkeypatch):
    from dpsco_verify.privacy import mills

    nodes, weights = np.polynomial.legendre.leggauss(2)
    monkeypatch.setattr(mills, "_NODES", nodes)
    monkeypatch.setattr(mills, "_WEIGHTS", weights)


def patch(name, replacement):
    return lambda monkeypatch: monkeypatch.setattr(single_step_doubles, name, replacement)


balance = single_step_doubles._balance


def beside(*arguments):
    return balance(*arguments) * (1.0 + 1e-6)


MUTANTS = {
    "cancelling subtraction": (StepCurve.ZERO_OUT_PRESENT, patch("log_mills_difference", subtracted)),
    "too coarse a rule": (StepCurve.REPLACE_ONE, two_nodes),
    "order not amplified": (
        StepCurve.REPLACE_ONE,
        patch("inner_epsilon", lambda p, e: np.broadcast_arrays(p, e)[1]),
    ),
    "order amplified to first order": (StepCurve.ZERO_OUT_ABSENT, patch("inner_epsilon", lambda p, e: e / p)),
    "threshold beside the balance": (
        StepCurve.ZERO_OUT_PRESENT,
        patch("_balance", beside),
    ),
}


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_comparison_can_fail(mutant, monkeypatch):
    curve, break_it = MUTANTS[mutant]
    assert worst_error(curve, grid()[::7]) <= ALLOWED
    break_it(monkeypatch)
    assert worst_error(curve, grid()[::7]) > ALLOWED


def test_shapes_broadcast_and_log_and_plain_agree():
    p, epsilon, sigma = (
        np.array([0.1, 0.5])[:, None, None],
        np.array([0.1, 1.0, 2.0])[:, None],
        np.arange(1.0, 5.0),
    )
    for curve in StepCurve:
        plain = step_delta(curve, p, epsilon, sigma)
        assert plain.shape == (2, 3, 4)
        np.testing.assert_allclose(
            np.log(plain), log_step_delta(curve, p, epsilon, sigma), rtol=0, atol=1e-13
        )
    assert float(step_delta(StepCurve.REPLACE_ONE, 0.1, 100.0, 1e3)) == 0.0


def test_at_order_zero_it_is_the_total_variation():
    for curve, distance in (
        (StepCurve.REPLACE_ONE, 2.0),
        (StepCurve.ZERO_OUT_ABSENT, 1.0),
        (StepCurve.ZERO_OUT_PRESENT, 1.0),
    ):
        want = 0.25 * math.erf(distance / (2.0 * 3.0 * math.sqrt(2.0)))
        assert float(step_delta(curve, 0.25, 0.0, 3.0)) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"p": 0.0}, "p=0.0"),
        ({"p": 1.5}, "p=1.5"),
        ({"p": math.nan}, "p=nan"),
        ({"epsilon": -1.0}, "epsilon=-1.0"),
        ({"epsilon": math.inf}, "epsilon=inf"),
        ({"sigma": 0.0}, "sigma=0.0"),
        ({"sigma": math.nan}, "sigma=nan"),
    ],
)
def test_arguments_out_of_range_are_refused(change, name):
    with pytest.raises(InputError, match=name):
        log_step_delta(StepCurve.REPLACE_ONE, **{"p": 0.5, "epsilon": 1.0, "sigma": 1.0} | change)


def test_ends_of_the_range_are_finite_or_minus_infinite():
    ends = np.array(list(itertools.product([1e-300, 1.0], [0.0, 1e-300, 1.0, 1e50], [1e-50, 1.0, 1e50])))
    for curve in StepCurve:
        values = log_step_delta(curve, *ends.T)
        assert not np.isnan(values).any()
        assert (values <= np.log(ends[:, 0]) + 1e-11).all()
