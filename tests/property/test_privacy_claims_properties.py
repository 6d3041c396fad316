"""What holds for every privacy claim: shape in ε, order among notions, and that no allowed event breaks δ."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import special

from dpsco_verify.privacy.claims import (
    ApproximateDP,
    GaussianDP,
    PureDP,
    RenyiDP,
    TradeOff,
    ZeroConcentratedDP,
)
from dpsco_verify.privacy.claims.renyi_region import corner, extreme_point, log_odds_ratio

TOLERANCE = 2e-6
"""What δ may be above the smallest one is 1e-6 of it."""


def log_uniform(low, high):
    return st.floats(math.log(low), math.log(high)).map(math.exp)


orders = st.one_of(st.floats(0.0, 3.0), log_uniform(1e-9, 700.0), st.just(0.0))
alphas = st.one_of(st.just(1.0), log_uniform(1e-3, 1e4).map(lambda k: 1.0 + k))
divergences = log_uniform(1e-12, 100.0)
claims = st.one_of(
    st.builds(PureDP, st.floats(0.0, 30.0)),
    st.builds(ApproximateDP, st.floats(0.0, 30.0), st.floats(0.0, 0.99)),
    st.builds(ZeroConcentratedDP, log_uniform(1e-8, 50.0)),
    st.builds(GaussianDP, log_uniform(1e-6, 50.0)),
    st.builds(RenyiDP, alphas, divergences),
)


def divergence(alpha, p, p_complement, q, q_complement):
    if alpha == 1:
        return p * mpmath.log(p / q) + p_complement * mpmath.log(p_complement / q_complement)
    moment = p**alpha * q ** (1 - alpha) + p_complement**alpha * q_complement ** (1 - alpha)
    return mpmath.log(moment) / (alpha - 1)


@given(claims, orders, orders)
def test_delta_is_a_probability_and_does_not_increase(claim, first, second):
    low, high = sorted((first, second))
    small, large = claim.delta(high), claim.delta(low)
    assert 0.0 <= small <= 1.0
    assert small <= large * (1.0 + TOLERANCE) + 1e-323


@given(claims, orders, orders, st.floats(1e-6, 1.0))
def test_delta_is_convex_in_e_to_the_epsilon(claim, first, second, share):
    # The maximum of p − e^ε q over a set is convex in e^ε.
    low, high = sorted((first, second))
    middle = high + math.log1p((1.0 - share) * math.expm1(low - high))
    assume(low <= middle <= high)
    span = -math.expm1(low - high)
    assume(span > 1e-9)
    weight = -math.expm1(middle - high) / span
    chord = weight * claim.delta(low) + (1.0 - weight) * claim.delta(high)
    # The middle is rounded: δ changes by at most e^ε q ≤ 1 for each unit of ε.
    assert claim.delta(middle) <= chord * (1.0 + TOLERANCE) + 1e-15 * (1.0 + middle)


@given(claims, orders)
def test_both_directions_of_the_pair_are_used(claim, order):
    # P(E) ≤ e^s P'(E) + δ(s), and the same for the complement of E and the exchanged pair, imply a δ at smaller orders.
    for above in (order + 0.01, order + 0.3, 1.5 * order + 1.0):
        corner = (
            (1.0 - claim.delta(above))
            * (math.exp(-order) + 1.0)
            / (math.exp(-order) + math.exp(above - order))
        )
        assert claim.delta(order) <= (1.0 - corner) * (1.0 + TOLERANCE) + 1e-13


@pytest.mark.slow
@given(alphas, divergences, orders, st.floats(0.0, 1.0))
def test_no_bit_that_satisfies_a_renyi_claim_breaks_its_delta(alpha, epsilon, order, place):
    """A random pair (p, q) on the boundary of what the claim allows: p ≤ e^order q + δ, to the last digit."""
    with mpmath.workdps(50):
        a, bound = mpmath.mpf(alpha), mpmath.mpf(epsilon)
        log_q = mpmath.log(0.5) - mpmath.mpf(place) ** 2 * (order + 40.0)
        q = mpmath.exp(log_q)

        def allowed(y):
            p, p_c = 1 / (1 + mpmath.exp(-y)), 1 / (1 + mpmath.exp(y))
            return max(divergence(a, p, p_c, q, 1 - q), divergence(a, q, 1 - q, p, p_c)) <= bound

        low = mpmath.log(q / (1 - q))
        width = mpmath.mpf(1)
        while allowed(low + width):
            width *= 2
        high = low + width
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if allowed(middle) else (low, middle)
        p = 1 / (1 + mpmath.exp(-low))
        assert p <= mpmath.exp(mpmath.mpf(order)) * q + mpmath.mpf(RenyiDP(alpha, epsilon).delta(order))


@given(alphas, divergences, orders)
def test_a_bit_that_satisfies_a_renyi_claim_attains_its_delta(alpha, epsilon, order):
    """The pair (p, q) with the ratio p/q that the search found, on the boundary, allowed in both directions."""
    got = RenyiDP(alpha, epsilon).delta(order)
    t, s = corner(alpha, epsilon)
    with mpmath.workdps(60):
        a, bound = mpmath.mpf(alpha), mpmath.mpf(epsilon)
        if order <= s:
            q = 1 / (1 + mpmath.exp(mpmath.mpf(t) * (1 - mpmath.mpf(10) ** -12)))
            p, p_c, q_c = 1 - q, q, 1 - q
        else:
            ell = extreme_point(alpha, epsilon, order)
            ratio = mpmath.exp(mpmath.mpf(log_odds_ratio(alpha, ell + order)) - mpmath.mpf(ell))
            low, high = mpmath.mpf(-100_000_000), -mpmath.log(ratio)
            for _ in range(100):
                middle = (low + high) / 2
                q = mpmath.exp(middle)
                within = divergence(a, ratio * q, 1 - ratio * q, q, 1 - q) <= bound
                low, high = (middle, high) if within else (low, middle)
            q = mpmath.exp(low)
            p, p_c, q_c = ratio * q, 1 - ratio * q, 1 - q
        assert divergence(a, p, p_c, q, q_c) <= bound
        assert divergence(a, q, q_c, p, p_c) <= bound * (1 + mpmath.mpf(10) ** -7)
        attained = p - mpmath.exp(mpmath.mpf(order)) * q
        assert attained <= got <= attained * (1 + 1e-6) + 1e-12


@given(st.floats(0.0, 20.0), orders)
def test_pure_privacy_implies_the_others(epsilon, order):
    pure = PureDP(epsilon).delta(order)
    assert pure <= ApproximateDP(epsilon, 1e-9).delta(order)
    assert pure <= RenyiDP(3.0, epsilon).delta(order) * (1.0 + 1e-12)
    # Bun and Steinke (2016), Proposition 3.3; the product is rounded up.
    rho = math.nextafter(epsilon * epsilon / 2.0, math.inf)
    assert pure <= ZeroConcentratedDP(rho).delta(order) * (1.0 + 1e-12) + 1e-300


@given(log_uniform(1e-3, 6.0), alphas, orders)
def test_gaussian_privacy_implies_the_others(mu, alpha, order):
    gaussian = GaussianDP(mu).delta(order) * (1.0 - 1e-10)
    assert gaussian <= RenyiDP(alpha, alpha * mu * mu / 2.0).delta(order) + 1e-323
    assert gaussian <= ZeroConcentratedDP(mu * mu / 2.0).delta(order) + 1e-323


@given(log_uniform(1e-8, 50.0), alphas, orders)
def test_zero_concentrated_privacy_implies_each_renyi_bound(rho, alpha, order):
    assert ZeroConcentratedDP(rho).delta(order) <= RenyiDP(alpha, rho * alpha).delta(order) * (
        1.0 + TOLERANCE
    )


@given(alphas, divergences, st.floats(1.0, 3.0), orders)
def test_weaker_claims_allow_more(alpha, epsilon, factor, order):
    here = RenyiDP(alpha, epsilon).delta(order)
    assert here <= RenyiDP(alpha, factor * epsilon).delta(order) * (1.0 + 1e-11)
    # A Rényi divergence increases with α, so the same bound on a larger one says more.
    assert RenyiDP(factor * alpha, epsilon).delta(order) <= here * (1.0 + TOLERANCE) + 1e-323


@given(st.lists(st.tuples(st.floats(0.0, 6.0), st.floats(0.0, 0.5)), min_size=1, max_size=4), orders)
def test_a_trade_off_of_several_claims_implies_the_least_of_their_deltas(parts, order):
    """The largest of the trade-off functions of some (ε, δ): δ is exact up to rounding, by its own vertices."""

    def f(a):
        return max(0.0, *(max(1 - d - math.exp(e) * a, math.exp(-e) * (1 - d - a)) for e, d in parts))

    got = TradeOff(f).delta(order)
    assert got <= min(ApproximateDP(e, d).delta(order) for e, d in parts) * (1.0 + TOLERANCE) + 1e-12
    for level in [
        0.0,
        1e-12,
        1e-6,
        *(k / 64 for k in range(65)),
        *((1 - d) / (1 + math.exp(e)) for e, d in parts),
    ]:
        assert got >= 1.0 - f(level) - math.exp(order) * level


@given(log_uniform(1e-3, 5.0), st.floats(0.0, 30.0))
def test_gaussian_trade_offs(mu, order):
    got, truth = (
        TradeOff(lambda a: float(special.ndtr(-special.ndtri(a) - mu))).delta(order),
        GaussianDP(mu).delta(order),
    )
    assert truth * (1.0 - 1e-11) <= got <= truth * (1.0 + 1e-6) + 1e-12
