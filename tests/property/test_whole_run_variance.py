"""The bound with the smaller variance, step by step, and adversaries against it (``docs/whole-run.md``, 5)."""

from __future__ import annotations

import functools
import math

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, signal, stats

from dpsco_verify.privacy.whole_run import (
    WholeRun,
    convolution,
    delta_lower,
    delta_upper,
    functional_bounds,
    law,
    narrowing,
    refinement,
)
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.plan import CHECKABLE, Plan

NODES = np.linspace(-9.0, 9.0, 361)
WEIGHTS = stats.norm.pdf(NODES) * (NODES[1] - NODES[0])
EXTREMES = [(1.0, -1.0, -1.0), (1.0, -1.0, 1.0)]


def in_ball(point, radius):
    return point * min(1.0, radius / max(float(np.linalg.norm(point)), 1e-300))


def variance(g, g_prime, h, alpha):
    a, b = np.asarray(g) - h, np.asarray(g_prime) - h
    return math.exp(a @ a) - 2.0 * alpha * math.exp(a @ b) + alpha**2 * math.exp(b @ b) - (1.0 - alpha) ** 2


def largest(alpha, mu):
    return alpha**2 * math.expm1(mu * mu)


@given(st.integers(1, 4), st.integers(0, 10**6), st.floats(1.0, 4.0), st.floats(0.05, 2.5))
def test_no_triple_in_the_ball_has_a_larger_variance(dimension, seed, alpha, mu):
    rng = np.random.default_rng(seed)
    triple = [in_ball(rng.normal(size=dimension) * mu, mu / 2) for _ in range(3)]
    assert variance(*triple, alpha) <= largest(alpha, mu) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("alpha", "mu"), [(1.0, 0.3), (1.0, 2.0), (1.5, 1.0)])
def test_a_search_for_a_larger_variance_ends_on_the_bound(alpha, mu):
    rng = np.random.default_rng(5)

    def gap(parameters):
        triple = [in_ball(part, mu / 2) for part in parameters.reshape(3, 2)]
        return 1.0 - variance(*triple, alpha) / largest(alpha, mu)

    found = [optimize.minimize(gap, x, method="Nelder-Mead").fun for x in rng.normal(size=(6, 6)) * mu]
    assert -1e-12 < min(found) < 1e-2


def test_distances_alone_would_not_do():
    """An equilateral triangle of side μ is in no ball of radius μ/2, and has more."""
    triple = [np.array([0.0, 0.0]), np.array([1.0, 0.0]), np.array([0.5, math.sqrt(0.75)])]
    assert variance(*triple, 1.0) > 1.2 * largest(1.0, 1.0)


def test_the_circumcircle_term_by_term():
    rng = np.random.default_rng(2)
    for _ in range(300):
        p, x, y = rng.exponential(size=3)
        a, b = p + x, p + y
        d = a * b * (x + y) / (a * b - p * p)
        assert all(d**k >= (a**k + b**k - 2.0 * p**k) * (1 - 1e-12) for k in range(1, 30))


def bent_mean(g, g_prime, h, alpha, s, kappa):
    """E ψ((W − s)₊) by the trapezoidal rule in the plane of the three means."""
    a, b = np.asarray(g) - h, np.asarray(g_prime) - h
    x, y = NODES[:, None], NODES[None, :]
    w = np.exp(a[0] * x + a[1] * y - a @ a / 2) - alpha * np.exp(b[0] * x + b[1] * y - b @ b / 2)
    v = kappa * np.maximum(w - s, 0.0)
    return float(WEIGHTS @ (np.expm1(-v) + v) @ WEIGHTS)


@functools.cache
def narrow(epsilon, mu, kappa):
    """W̃ as points and masses, on a lattice so wide that nothing is cut that would be seen."""
    law_of = refinement.Envelope(epsilon, mu)
    lowest, highest = 8.0, 100.0
    bounded = narrowing.bounded_by_variance(law_of, lowest, highest)
    mean = law_of.mean(lowest)
    target = narrowing._moment(bounded, kappa, mean) * (1 + 1e-8)
    fine = law_of.potential(narrowing._fine(law_of, lowest, highest))
    bent = refinement.Bend(kappa=kappa, touch=1.0)
    kept = narrowing.Kept(
        narrow=refinement.Narrow(
            bend=bent, lowest=lowest, turn=bounded.knots[-2], top=bounded.knots[-1], foot=0.0
        ),
        law=narrowing._cut(law_of, fine, kappa, lowest, target),
        target=target,
        gain=0.0,
    )
    placed = narrowing.placed(law_of, kept, 0.02, highest)
    found = refinement.narrowed(
        epsilon=epsilon, mu=mu, narrow=placed.narrow, step=0.02, below=placed.below, above=placed.above
    )
    return None if found is None else (found.origin + found.step * np.arange(len(found.masses)), found.masses)


@pytest.mark.slow
@given(
    st.integers(0, 10**6),
    st.sampled_from([(0.0, 0.5), (0.1, 0.7), (0.3, 0.4)]),
    st.sampled_from([0.02, 0.2, 0.5]),
    st.data(),
)
@settings(max_examples=40)
def test_no_triple_has_a_larger_bent_mean(seed, order, kappa, data):
    epsilon, mu = order
    alpha, rng = math.exp(epsilon), np.random.default_rng(seed)
    x, masses = narrow(epsilon, mu, kappa)
    triple = [in_ball(rng.normal(size=2) * mu, mu / 2) for _ in range(3)]
    if data.draw(st.booleans()):
        corner = [mu / 2 * np.array([side, 0.0]) for side in data.draw(st.sampled_from(EXTREMES))]
        triple = corner
    s = data.draw(st.floats(-4.0, 2.0))
    v = kappa * np.maximum(x - s, 0.0)
    assert bent_mean(*triple, alpha, s, kappa) <= float(masses @ (np.expm1(-v) + v)) * (1 + 1e-4) + 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("kappa", [0.02, 0.2, 0.5])
def test_a_variance_that_is_too_small_is_seen(monkeypatch, kappa):
    """With 0.8 of V the law is refused in balls; and unrefused it has less than a triple at the bound has."""
    epsilon, mu, s = 0.0, 0.5, -3.0

    def holds():
        x, masses = narrow.__wrapped__(epsilon, mu, kappa)
        v = kappa * np.maximum(x - s, 0.0)
        bound = float(masses @ (np.expm1(-v) + v)) * (1 + 1e-6)
        triples = [[mu / 2 * np.array([side, 0.0]) for side in sides] for sides in EXTREMES]
        return max(bent_mean(*triple, 1.0, s, kappa) for triple in triples) <= bound

    assert holds()
    right = refinement.Envelope.__init__

    def wrong(self, epsilon, mu):
        right(self, epsilon, mu)
        self.variance *= 0.8

    monkeypatch.setattr(refinement.Envelope, "__init__", wrong)
    assert narrow.__wrapped__(epsilon, mu, kappa) is None
    monkeypatch.setattr(refinement, "_wanted", lambda *_: flint.arb(0))
    assert not holds()


def test_the_narrow_law_keeps_the_mean_and_loses_variance():
    epsilon, mu = 0.1, 0.6
    x, masses = narrow(epsilon, mu, 0.1)
    envelope = law.envelope(epsilon=epsilon, mu=mu, step=0.02, below=400, above=5000)
    points = envelope.step * (envelope.first + np.arange(len(envelope.masses)))
    before = float(envelope.masses @ (points - 1.0 + math.exp(epsilon)) ** 2)
    mean = float(masses @ x)
    assert masses.sum() == pytest.approx(1.0, abs=1e-9)
    assert mean == pytest.approx(refinement.Envelope(epsilon, mu).mean(8.0), abs=1e-8)
    assert largest(math.exp(epsilon), mu) <= masses @ (x - mean) ** 2 < 0.95 * before


@given(st.floats(0.05, 30.0), st.floats(0.01, 10.0))
def test_the_majorant_is_above_the_payoff_and_touches_it(ratio, theta):
    bent = refinement.bend(theta, ratio)
    d = np.geomspace(1e-6, 300.0, 2000) / theta
    above = bent.payoff(d) - np.maximum(d - bent.shift, 0.0)
    assert np.all(above >= -1e-12 * (1.0 + d))
    touch = bent.touch / bent.kappa
    assert bent.payoff(np.array([touch]))[0] == pytest.approx(touch - bent.shift, rel=1e-9, abs=1e-12)
    assert 0.0 <= bent.log_cost(theta) <= math.log(math.e / 2.0) + 1e-9


def test_the_sum_is_that_of_a_plain_convolution():
    """One transform with a tilt against numpy's convolution of three steps, masses and payoff taken as they are."""
    problem = Sum(epsilon=0.02, mu=0.4, n=12, points=3)
    bend = refinement.bend(1.0, 2.0)
    x = np.linspace(-1.0, 3.0, 81)
    masses = np.exp(-(x**2)) / np.exp(-(x**2)).sum()
    choices = refinement.Narrow(bend=bend, lowest=1.0, turn=0.0, top=1.0, foot=-1.0)
    plan = Plan(theta=1.0, step=0.05, size=4096, below=1, above=79, reach=400, narrow=choices)
    found = law.LatticeLaw(origin=-1.0, step=0.05, first=0, masses=masses)
    three = np.convolve(np.convolve(masses, masses), masses)
    d = -3.0 + 0.05 * np.arange(len(three)) - problem.threshold + bend.shift
    plain = float(three @ bend.payoff(np.maximum(d, 0.0)))
    sharp = math.exp(convolution.log_hockey_stick(found, plan, 3, problem.threshold, upper=True))
    assert plain * (1 - 1e-12) <= sharp <= plain * (1 + 1e-6)


def best_adversary(payoff, k, epsilon, mu, points):
    """sup E payoff(ΣW) over adaptive choices between the extremes; the grid makes it a little too large."""
    alpha, x, value = math.exp(epsilon), points, payoff(points)
    slope = (value[-1] - value[-2]) / (x[-1] - x[-2])
    z, weights = NODES[::3], 3.0 * WEIGHTS[::3]
    steps = []
    for g, g_prime, h in [*EXTREMES, (1.0, -1.0, 0.0)]:
        a, b = (g - h) * mu / 2, (g_prime - h) * mu / 2
        steps.append(np.exp(a * z - a * a / 2) - alpha * np.exp(b * z - b * b / 2))
    for _ in range(k):
        moved = [x[:, None] + w[None, :] for w in steps]
        value = np.max(
            [(np.interp(m, x, value) + slope * np.maximum(m - x[-1], 0.0)) @ weights for m in moved], axis=0
        )
    return float(np.interp(0.0, x, value))


@pytest.mark.slow
def test_no_adaptive_adversary_is_above_the_refined_bound():
    """At n = 200: in smaller runs the majorant costs more than the variance gains, and the envelope is taken."""
    n, k, epsilon, mu = 200, 101, 0.07, 0.4
    run, threshold = WholeRun(n=n, mu=mu, points=k), (n - k) * math.expm1(epsilon)
    envelope = math.exp(
        functional_bounds.planned_upper(Sum(epsilon=epsilon, mu=mu, n=n, points=k), CHECKABLE)[0]
    )
    grid = np.linspace(-12.0, 30.0, 841)
    best = best_adversary(lambda x: np.maximum(x - threshold, 0.0), k, epsilon, mu, grid) / n
    upper = delta_upper(run, epsilon)
    assert delta_lower(run, epsilon) <= best * 1.01
    assert best * 0.99 <= upper < 0.8 * envelope


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "mu", "kappa"), [(0.0, 0.5, 0.02), (0.0, 0.4, 0.2), (0.1, 0.7, 0.5)])
def test_no_adaptive_adversary_is_above_the_narrow_law_on_the_majorant(epsilon, mu, kappa):
    """A few steps, and a payoff of the class: the induction where it bites at any size."""
    k, start = 5, 1.0
    x, masses = narrow(epsilon, mu, kappa)
    sums, law_of_sum = k * x[0] + 0.02 * np.arange(k * (len(x) - 1) + 1), masses
    for _ in range(k - 1):
        law_of_sum = signal.fftconvolve(law_of_sum, masses)
    payoff = functools.partial(bent_payoff, start=start, kappa=kappa)
    best = best_adversary(payoff, k, epsilon, mu, np.linspace(-30.0, 60.0, 1801))
    bound = float(law_of_sum @ payoff(sums))
    assert 0.8 * bound < best <= bound * (1 + 1e-3)


def bent_payoff(x, *, start, kappa):
    v = kappa * np.maximum(x - start, 0.0)
    return (np.expm1(-v) + v) / kappa**2
