"""Bregman divergences against arithmetic with 400 digits: close points, far points, all magnitudes."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest

from dpsco_verify.geometry import Euclidean, NegativeEntropy, PNorm, bregman_divergence, conjugate_divergence
from dpsco_verify.geometry.potentials.potential import relative_divergence_error
from dpsco_verify.geometry.potentials.remainders import (
    entropy_remainder,
    exponential_remainder,
    power_remainder,
)

DIGITS = 400
PAIRS = 30
SMALLEST = mp.mpf(10) ** -290


def exact(values):
    return [mp.mpf(float(value)) for value in values]


def half_square(x, y, a):
    """Divergence of 1/2 ||.||_a^2 from its definition."""
    x, y, a = exact(x), exact(y), mp.mpf(a)

    def norm(v):
        return sum(abs(entry) ** a for entry in v) ** (1 / a)

    slope = sum(mp.sign(b) * abs(b) ** (a - 1) * entry for entry, b in zip(x, y, strict=True))
    slope = slope * norm(y) ** (2 - a) if any(y) else mp.mpf(0)
    divergence = norm(x) ** 2 / 2 + norm(y) ** 2 / 2 - slope
    # 400 digits of the terms leave nothing reliable below.
    return divergence if divergence > (norm(x) + norm(y)) ** 2 * mp.mpf(10) ** (40 - DIGITS) else mp.mpf(0)


def entropy(x, y):
    return sum(a * mp.log(a / b) - a + b for a, b in zip(exact(x), exact(y), strict=True))


def exponential(x, y):
    return sum(
        mp.e ** (a - 1) - mp.e ** (b - 1) * (1 + a - b) for a, b in zip(exact(x), exact(y), strict=True)
    )


def pairs(seed, *, positive=False):
    """Pairs at all distances: equal but for a few units, relatively close, absolutely close, unrelated."""
    rng = np.random.default_rng(seed)
    for trial in range(PAIRS):
        size = int(rng.integers(1, 6))
        y = rng.standard_normal(size) * 10.0 ** rng.integers(-140, 140)
        if trial % 3 == 0:
            y = y * 10.0 ** rng.integers(-50, 50, size)
        x = [
            rng.standard_normal(size) * np.abs(y).max(),
            y * (1 + rng.standard_normal(size) * 10.0 ** -float(rng.integers(0, 15))),
            y + rng.standard_normal(size) * np.abs(y).max() * 10.0 ** -float(rng.integers(0, 20)),
            y * 10.0 ** rng.integers(-10, 10, size),
            y * (1 + 3e-16 * rng.integers(0, 5, size)),
        ][trial % 5]
        x, y = np.clip(x, -1e150, 1e150), np.clip(y, -1e150, 1e150)
        if (x != y).any():
            yield (np.abs(x), np.abs(y)) if positive else (x, y)


def assert_close(computed, reference, bound):
    if reference > SMALLEST:
        assert abs(mp.mpf(float(computed)) - reference) <= bound


@pytest.mark.slow
@pytest.mark.parametrize(
    "p", [1.001, *(pytest.param(p, marks=pytest.mark.long) for p in (1.1, 1.9)), 1.5, 2.0]
)
def test_divergences_of_the_p_norm(p):
    potential = PNorm(p)
    with mp.workdps(DIGITS):
        for x, y in pairs(int(1000 * p)):
            # What the potential itself promises.
            reference = half_square(x, y, potential.p)
            assert_close(potential.divergence(x, y), reference, reference * relative_divergence_error(x))
            reference = half_square(x, y, potential.q)
            bound = reference * relative_divergence_error(x) * potential.q
            assert_close(potential.conjugate_divergence(x, y), reference, bound)


def test_divergences_of_the_negative_entropy():
    with mp.workdps(DIGITS):
        for x, y in pairs(1, positive=True):
            reference = entropy(x, y)
            assert_close(
                bregman_divergence(NegativeEntropy(), x, y), reference, reference * mp.mpf(2) ** -53 * 64
            )


@pytest.mark.slow
def test_divergences_of_its_conjugate():
    rng = np.random.default_rng(2)
    with mp.workdps(DIGITS):
        for trial in range(PAIRS):
            y = rng.uniform(-300, 300, 3)
            x = y + rng.standard_normal(3) * 10.0 ** -float(trial % 16)
            reference = exponential(x, y)
            # exp turns the rounding of its argument, up to 300, into a relative error.
            assert_close(
                conjugate_divergence(NegativeEntropy(), x, y), reference, reference * mp.mpf(2) ** -53 * 1000
            )


def test_the_euclidean_divergence_is_the_half_square():
    x, y = np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-15])
    assert bregman_divergence(Euclidean(), x, y) == pytest.approx(0.5 * float(y[1] - 2) ** 2, rel=1e-15)
    assert conjugate_divergence(Euclidean(), x, y) == bregman_divergence(Euclidean(), x, y)


@pytest.mark.parametrize("potential", [Euclidean(), PNorm(1.1), PNorm(1.5), NegativeEntropy()], ids=repr)
def test_divergences_vanish_on_the_diagonal_alone(potential):
    x = np.array([1e-150, 1.0, 1e150])
    assert potential.divergence(x, x) == 0
    assert potential.conjugate_divergence([1.0, 2.0], [1.0, 2.0]) == 0
    assert potential.divergence([1.0, 2.0], [1.0, np.nextafter(2.0, 3.0)]) > 0


def test_zeros_are_allowed_where_the_limit_exists():
    assert NegativeEntropy().divergence([0.0, 1.0], [2.0, 1.0]) == 2.0
    assert NegativeEntropy().divergence([0.0, 1.0], [0.0, 1.0]) == 0.0
    assert PNorm(1.5).divergence([0.0, 0.0], [3.0, 4.0]) == pytest.approx(
        float(PNorm(1.5).value([3.0, 4.0])), rel=1e-15
    )
    assert PNorm(1.5).divergence([3.0, 4.0], [0.0, 0.0]) == pytest.approx(
        float(PNorm(1.5).value([3.0, 4.0])), rel=1e-15
    )


def test_remainders_keep_their_digits():
    """With functions right to 4u, what is subtracted 16 times what remains, 32 times for the power a < 1.

    ``16 (4u + u)`` for the exponential, ``32 (2·4u + 3u)`` for a power, whose exponent magnifies what 1 + t is off.
    """
    t = np.array([1e-200, -1e-150, 1e-17, -1e-9, 3e-5, -0.12, 0.124, -0.126, 0.13, -0.9, 0.9])
    with mp.workdps(DIGITS):
        for i, value in enumerate(exact(t)):
            if abs(value) > 1e-140:
                computed = float(exponential_remainder(t)[i])
                reference = mp.e**value - 1 - value
                assert abs(computed - reference) <= reference * mp.mpf(2) ** -53 * 80
            for a in (1e-3, 0.5, 1.0 + 1e-9, 1.5, 2.0, 7.0, 1000.0):
                reference = (1 + value) ** mp.mpf(a) - 1 - mp.mpf(a) * value
                if abs(reference) > SMALLEST:
                    computed = float(power_remainder(t, a)[i])
                    bound = (352 if a < 1 else 176) * max(1, a / 8)
                    assert abs(computed - reference) <= abs(reference) * mp.mpf(2) ** -53 * bound
        small = t[np.abs(t) < 0.125]
        for i, value in enumerate(exact(small)):
            reference = (1 + value) * mp.log(1 + value) - value
            if reference > SMALLEST:
                assert abs(float(entropy_remainder(small)[i]) - reference) <= reference * mp.mpf(2) ** -53 * 8
    assert power_remainder(np.array([-1.0]), 0.5) == pytest.approx([-0.5])
    assert power_remainder(np.array([-1.0]), 1.5) == pytest.approx([0.5])
