"""Mills' ratio and its differences against ball arithmetic."""

from __future__ import annotations

import functools
import itertools
import math

import flint
import numpy as np
import pytest

from dpsco_verify.privacy import mills
from dpsco_verify.privacy.balls import ball, enclose, upper_tail

POINTS = [-1.0, -0.5, 0.0, 1e-9, 0.7, 1.0, 3.0, 8.0, 10.8, 11.999, 12.0, 12.001, 14.0, 37.0, 300.0, 1e3]
SHARES = [1e-200, 1e-12, 1e-4, 0.03, 0.0999, 0.1, 0.1001, 0.5, 1.0, 10.0, 100.0]
"""Widths in units of the scale max(1, a)."""


def ratio_ball(z):
    density = (-z * z / 2).exp() / (2 * flint.arb.pi()).sqrt()
    return upper_tail(z) / density


def place(a, share):
    return a, share * max(1.0, a)


def reference(a, width):
    """Return ``log(R(a) − R(a + width))``; by the slope where the width is too small for 4096 bits to tell."""
    tiny = width < 1e-100

    def difference():
        start = ratio_ball(ball(a))
        return (1 - ball(a) * start if tiny else start - ratio_ball(ball(a) + ball(width))).log()

    return enclose(difference, relative=1e-15)[0] + (math.log(width) if tiny else 0.0)


@functools.cache
def references():
    return np.array([reference(*place(a, share)) for a, share in itertools.product(POINTS, SHARES)])


def one_by_one(a, width):
    return np.array(
        [mills.log_mills_difference_of_one(*pair) for pair in zip(a.tolist(), width.tolist(), strict=True)]
    )


ROUTES = pytest.mark.parametrize("difference", [mills.log_mills_difference, one_by_one])


def errors(difference):
    places = np.array([place(a, share) for a, share in itertools.product(POINTS, SHARES)])
    want = references()
    return np.abs(difference(*places.T) - want), np.abs(want)


@ROUTES
def test_differences_keep_thirteen_digits_at_any_width(difference):
    found, size = errors(difference)
    assert (found <= 1e-13 + 2e-16 * size).all()


@ROUTES
@pytest.mark.parametrize("broken", ["_CLOSE", "_SERIES_TERMS", "_SERIES_FROM"])
def test_the_comparison_can_fail(broken, difference, monkeypatch):
    """Subtracting where it cancels, too short a series, and a series where it does not hold yet."""
    monkeypatch.setattr(mills, broken, {"_CLOSE": 1e-5, "_SERIES_TERMS": 4, "_SERIES_FROM": 6.0}[broken])
    found, _ = errors(difference)
    assert found.max() > 1e-11


def test_the_ratio():
    for z in (-37.0, -5.0, 0.0, 2.0, 40.0, 1e5):
        want = enclose(lambda z=z: ratio_ball(ball(z)))[0]
        assert float(mills.mills(np.array(z))) == pytest.approx(want, rel=1e-12 if z == -37.0 else 1e-14)
    assert float(mills.mills(np.array(-60.0))) == math.inf
