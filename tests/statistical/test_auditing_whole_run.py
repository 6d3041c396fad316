"""The likelihood-ratio audit of whole runs, against enumeration and against the bounds on the transcript.

The statistical assertions hold with probability at least 1 − 1e-9 each; what they would have found is stated.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import flint
import numpy as np
import pytest
from scipy.stats import norm

from dpsco_verify.algorithm import Options, StoppingRule, whole_runs
from dpsco_verify.algorithm.whole_runs import audit_whole_runs, log_likelihood_ratio, use_law
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.transcript import first_increment_delta, loop_transcript, one_use_delta, sum_delta


@pytest.mark.parametrize(
    ("n", "points", "iterations"), [(2, 2, 2), (2, 2, 4), (3, 2, 5), (4, 3, 5), (4, 4, 6)]
)
def test_the_law_of_the_use_by_enumeration(n, points, iterations):
    """All n^T draws: those that stop at T, and when the point 0 is drawn first."""
    first = np.zeros(iterations)
    total = 0
    for draws in itertools.product(range(n), repeat=iterations):
        if len(set(draws)) == points and len(set(draws[:-1])) < points:
            total += 1
            if 0 in draws:
                first[draws.index(0)] += 1
    np.testing.assert_allclose(use_law(n, points, iterations), first / total, rtol=1e-12)


@pytest.mark.parametrize(("n", "points", "iterations"), [(2, 3, 3), (4, 1, 2), (4, 3, 2), (1, 1, 1)])
def test_stops_that_do_not_occur(n, points, iterations):
    with pytest.raises(InputError):
        use_law(n, points, iterations)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 5.0])
def test_the_ratio_by_the_mixture_of_densities(sigma):
    n, points = 5, 3
    rng = np.random.default_rng(3)
    for iterations in (3, 4, 7):
        law = use_law(n, points, iterations)
        x = rng.normal(size=iterations) * sigma
        sides = []
        for sign in (1.0, -1.0):
            noise = norm(scale=sigma).pdf(x)
            used = [
                law[t] * noise.prod() / noise[t] * norm(loc=sign, scale=sigma).pdf(x[t])
                for t in range(iterations)
            ]
            sides.append((1.0 - law.sum()) * noise.prod() + sum(used))
        expected = np.log(sides[0] / sides[1])
        assert log_likelihood_ratio(x, n=n, points=points, sigma=sigma) == pytest.approx(expected, rel=1e-9)
        assert log_likelihood_ratio(-x, n=n, points=points, sigma=sigma) == pytest.approx(-expected, rel=1e-9)


def test_far_tails_do_not_overflow():
    assert np.isfinite(log_likelihood_ratio([1e6, -1e6, 3.0], n=4, points=3, sigma=0.01))


def test_the_payoffs_by_hand(monkeypatch):
    """At n = 2 and T = 2 both times are as likely: increments of (c, c) have a log-ratio of 2c/σ²."""
    runs = iter([1.0, -1.0, 0.5, 0.25])

    def written(data, **_):
        assert data.tolist() == [[1.0], [0.0]]
        c = next(runs)
        return SimpleNamespace(transcript=SimpleNamespace(iterates=np.array([[0.0], [c], [2 * c]])))

    monkeypatch.setattr(whole_runs, "private_sgd", written)
    result = audit_whole_runs(n=2, sigma=1.0, epsilon=0.5, runs=4, alpha=0.1, rng=np.random.default_rng(0))
    payoffs = [-np.expm1(-1.5), 0.0, -np.expm1(-0.5), 0.0]
    assert result.mean == pytest.approx(np.mean(payoffs), rel=1e-12)
    assert 0.0 <= result.low < result.mean < result.high <= 1.0


def test_almost_without_noise_every_run_tells_the_data_sets_apart():
    """Both points are used: the increments have a 1 among noise of 0.1, and a log-ratio above 50.

    At T > 2 only the first draw and the last are fresh, and those between have probability 0.
    """
    result = audit_whole_runs(n=2, sigma=0.1, epsilon=1.0, runs=3, alpha=0.1, rng=np.random.default_rng(0))
    assert result.mean == pytest.approx(1.0, abs=1e-12)


def bounds(n, sigma, epsilon):
    transcript, eps, mu = loop_transcript(n), flint.arb(epsilon), flint.arb(2.0) / flint.arb(sigma)
    lower = max(float(first_increment_delta(transcript, eps, mu)), float(sum_delta(transcript, eps, mu)))
    return lower, float(one_use_delta(transcript, eps, mu))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "sigma", "epsilon"), [(4, 0.5, 0.2), pytest.param(8, 0.4, 0.5, marks=pytest.mark.long)]
)
def test_the_implementation_lies_between_the_bounds(n, sigma, epsilon):
    """At 1500 runs the interval is within 0.12 of the mean at 1e-9."""
    result = audit_whole_runs(
        n=n, sigma=sigma, epsilon=epsilon, runs=1_500, alpha=1e-9, rng=np.random.default_rng(11)
    )
    _, upper = bounds(n, sigma, epsilon)
    assert result.low <= upper
    # The sum of the increments is a function of this pair's transcript, so its divergence is no larger.
    transcript, eps, mu = loop_transcript(n), flint.arb(epsilon), flint.arb(2.0) / flint.arb(sigma)
    assert result.high >= float(sum_delta(transcript, eps, mu))
    assert result.low > 0.0
    assert result.high - result.low < 0.24


@pytest.mark.slow
def test_an_implementation_that_uses_every_point_is_found_above_the_bound(monkeypatch):
    """The differing point is used in every run, not in 5 of 8: the upper bound is 0.62, the mean close to 1."""
    n, sigma, epsilon = 8, 0.1, 0.5
    right = whole_runs.private_sgd
    every = Options(stopping=StoppingRule.ALL_POINTS)
    monkeypatch.setattr(
        whole_runs, "private_sgd", lambda data, **rest: right(data, **(rest | {"options": every}))
    )
    result = audit_whole_runs(
        n=n, sigma=sigma, epsilon=epsilon, runs=400, alpha=1e-9, rng=np.random.default_rng(5)
    )
    assert result.low > bounds(n, sigma, epsilon)[1]


@pytest.mark.slow
def test_more_points_at_the_stop_mean_more_use(monkeypatch):
    results = [
        audit_whole_runs(
            n=6, sigma=0.4, epsilon=0.1, runs=600, alpha=1e-9, rng=np.random.default_rng(2), stopping=rule
        )
        for rule in (StoppingRule.TEXT, StoppingRule.ALL_POINTS)
    ]
    assert results[0].high < results[1].low
