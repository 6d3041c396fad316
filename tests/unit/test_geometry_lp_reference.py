"""Projections onto lp balls against the same equations solved with 40 digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpsco_verify.geometry import L1Ball, L2Ball, LpBall

pytestmark = pytest.mark.slow  # the everyday part has two minutes

DIGITS = 40


def reference(v, p):
    """Return the projection of v >= 0 onto the unit lp ball, ||v||_p > 1, by bisection in log mu and log w."""

    def weight(entry, m):
        if entry == 0:
            return mp.mpf(0)
        log_v = mp.log(entry)
        t = min(log_v, (log_v - m) / (p - 1))
        for _ in range(200):
            value = mp.log(mp.e**t + mp.e ** (m + (p - 1) * t))
            share = mp.e ** (m + (p - 1) * t - value)
            step = (value - log_v) / (1 - share + (p - 1) * share)
            t -= step
            if abs(step) < mp.mpf(10) ** -30 * max(1, abs(t)):
                break
        return mp.e**t

    def excess(m):
        return sum(weight(entry, m) ** p for entry in v) - 1

    high = mp.log(sum(entry ** (p / (p - 1)) for entry in v)) * (p - 1) / p
    width = mp.mpf(1)
    while excess(high - width) < 0:
        width *= 2
    low = high - width
    for _ in range(110):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return [weight(entry, low) for entry in v]


@pytest.mark.parametrize(
    ("kind", "p"),
    [
        pytest.param(kind, p, marks=[pytest.mark.long] * ((i + j) % 2))
        for i, kind in enumerate(["near", "spread", "close", "tiny"])
        for j, p in enumerate([1.01, 1.5, 3.0, 50.0])
    ],
)
def test_the_error_is_within_the_stated_bound(p, kind):
    rng = np.random.default_rng([int(100 * p), len(kind)])
    radius = 10.0 ** rng.integers(-100, 100)
    ball = LpBall(3, p, radius)
    x = {
        "near": 3 * radius * rng.uniform(1, 2, 3),
        "spread": radius * 10.0 ** rng.integers(1, 40, 3),
        "close": ball.project(100 * radius * rng.standard_normal(3)) * (1 + 1e-9),
        "tiny": radius * np.array([2.0, 1e-30, 0.0]),
    }[kind]
    with mp.workdps(DIGITS):
        v = [mp.mpf(abs(float(entry))) / mp.mpf(radius) for entry in x]
        exact = reference(v, mp.mpf(p))
        computed = [mp.mpf(abs(float(entry))) / mp.mpf(radius) for entry in ball.project(x)]
        off = mp.sqrt(sum((a - b) ** 2 for a, b in zip(computed, exact, strict=True)))
        assert off <= mp.mpf(float(ball.projection_error(x))) / mp.mpf(radius)


def test_the_ends_of_the_range_are_the_neighbouring_balls():
    """p = 2 is the l2 ball exactly; at p = 1 + 1e-6 the l1 ball is within 1e-5 (d^(1/p) is within 1e-5 of d)."""
    rng = np.random.default_rng(0)
    x = 5 * rng.standard_normal((20, 6))
    np.testing.assert_allclose(
        LpBall(6, 2.0, 1.0).project(x), L2Ball(np.zeros(6), 1.0).project(x), atol=1e-14
    )
    np.testing.assert_allclose(LpBall(6, 1 + 1e-6, 1.0).project(x), L1Ball(6, 1.0).project(x), atol=1e-4)
    # For large p the ball tends to the cube.
    np.testing.assert_allclose(LpBall(6, 1e4, 1.0).project(x), np.clip(x, -1, 1), atol=2e-3)


def test_signs_and_zeros_are_kept():
    w = LpBall(4, 1.5, 1.0).project([3.0, -3.0, 0.0, -0.0])
    assert w[0] == -w[1] > 0
    assert w[2:].tolist() == [0.0, 0.0]
