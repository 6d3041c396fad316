"""The Gaussian mechanism's privacy curve: doubles, balls, mpmath and dp-accounting tell the same."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from scipy.optimize import brentq

from dpsco_verify.errors import InputError
from dpsco_verify.privacy import balls, gaussian_delta, log_gaussian_delta

EPSILONS = [0.0, 1e-300, 1e-12, 1e-6, 0.01, 0.5, 1.0, 3.0, 30.0, 700.0, 1e4]
DISTANCES = [1e-300, 1e-12, 1e-6, 1e-3, 0.1, 0.9, 1.1, 4.0, 30.0, 300.0]


def reference(epsilon, mu):
    with mpmath.workdps(60 + int(3 * epsilon / math.log(10))):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)
        return mpmath.log(mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m))


def log_delta(epsilon, mu):
    """Return it of one pair, which is found on its own, and see that it is that of many."""
    one, many = float(log_gaussian_delta(epsilon, mu)), log_gaussian_delta([epsilon, 0.5], mu)
    assert one == pytest.approx(many[0], rel=2e-15, abs=1e-15)
    return one


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("mu", DISTANCES)
def test_doubles_against_balls(epsilon, mu):
    got = log_delta(epsilon, mu)
    if epsilon / mu >= 1e6:  # δ below exp(-5e11): only that it is as small as that
        assert got < -1e10
        return
    low, high = balls.enclose(
        lambda: balls.gaussian_delta(balls.ball(epsilon), balls.ball(mu)).log(), relative=1e-14
    )
    assert got == pytest.approx(low, rel=1e-12, abs=1e-12)
    assert low <= high


@pytest.mark.parametrize(("epsilon", "mu"), [(0.5, 0.3), (1.0, 1.0), (3.0, 0.4), (0.01, 0.001), (30.0, 9.0)])
def test_doubles_against_mpmath(epsilon, mu):
    assert log_delta(epsilon, mu) == pytest.approx(float(reference(epsilon, mu)), rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 1e-6), (1.0, 1e-5), (2.0, 1e-10)])
def test_against_dp_accounting(epsilon, delta):
    from dp_accounting.pld import privacy_loss_distribution

    mu = brentq(lambda m: float(log_gaussian_delta(epsilon, m)) - math.log(delta), 1e-3, 10.0)
    pld = privacy_loss_distribution.from_gaussian_mechanism(1.0 / mu, value_discretization_interval=1e-4)
    assert pld.get_delta_for_epsilon(epsilon) == pytest.approx(delta, rel=1e-3)


def test_vectorised_and_monotone():
    epsilons = np.linspace(0.0, 5.0, 101)
    deltas = gaussian_delta(epsilons[:, None], np.array([0.5, 1.0, 2.0]))
    assert deltas.shape == (101, 3)
    assert (np.diff(deltas, axis=0) < 0).all()
    assert (np.diff(deltas, axis=1) > 0).all()


def test_at_zero_epsilon_it_is_the_total_variation():
    assert float(gaussian_delta(0.0, 2.0)) == pytest.approx(math.erf(1 / math.sqrt(2.0)), rel=1e-14)


def test_ends_of_the_range():
    assert log_delta(1.0, 0.0) == -math.inf
    assert log_delta(math.inf, 1.0) == -math.inf
    assert log_delta(1.0, 1e300) == log_delta(1.0, math.inf) == 0.0
    assert log_gaussian_delta([1.0], [[2.0]]).shape == (1, 1)
    assert float(gaussian_delta(1.0, math.inf)) == 1.0
    assert float(gaussian_delta(1e5, 1e-3)) == 0.0


@pytest.mark.parametrize(("epsilon", "mu"), [(-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.nan)])
def test_nan_and_negative_numbers_are_refused(epsilon, mu):
    with pytest.raises(InputError, match="epsilon and mu"):
        log_gaussian_delta(epsilon, mu)
    with pytest.raises(InputError, match="epsilon and mu"):
        log_gaussian_delta([epsilon, 1.0], mu)
