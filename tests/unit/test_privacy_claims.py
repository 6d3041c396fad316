"""Privacy claims: each δ agrees with an independent route, is never too small, and a broken formula is seen."""

from __future__ import annotations

import functools
import math
import pickle
from itertools import pairwise

import mpmath
import numpy as np
import pytest
from scipy import special

import dpsco_verify.privacy as privacy_package
from dpsco_verify.errors import InputError
from dpsco_verify.privacy import claims as claims_package
from dpsco_verify.privacy.claims import (
    ApproximateDP,
    GaussianDP,
    PrivacyClaim,
    PrivacyCurve,
    PureDP,
    RenyiDP,
    TradeOff,
    ZeroConcentratedDP,
    claim_from,
    convex_samples,
    renyi_bound,
    renyi_region,
    zero_concentrated,
)

RELATIVE, ABSOLUTE = 1e-6, 1e-12


@pytest.fixture
def fresh_caches():
    """For tests that break something: what was computed before or after is not reused."""
    caches = (renyi_bound.renyi_delta, renyi_region.corner, zero_concentrated._delta)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


def is_sound(delta, truth):
    # The truth is an mpmath number of many digits: not one unit in the last place is given away.
    return mpmath.mpf(delta) >= truth


def is_tight(delta, truth):
    return delta - truth <= max(RELATIVE * truth, ABSOLUTE)


def assert_right(delta, truth, *, absolute=ABSOLUTE):
    assert is_sound(delta, truth)
    assert delta - truth <= max(RELATIVE * truth, absolute)


# --- the truth, by other routes ------------------------------------------------------------------------------------


def bernoulli_divergence(alpha, p, p_complement, q, q_complement):
    if alpha == 1:
        return p * mpmath.log(p / q) + p_complement * mpmath.log(p_complement / q_complement)
    moment = p**alpha * q ** (1 - alpha) + p_complement**alpha * q_complement ** (1 - alpha)
    return mpmath.log(moment) / (alpha - 1)


def largest_p(alpha, bound, q):
    """Return the largest p ≥ q with both divergences at most the bound, by bisection in the log-odds."""

    def allowed(y):
        p, p_c = 1 / (1 + mpmath.exp(-y)), 1 / (1 + mpmath.exp(y))
        return max(
            bernoulli_divergence(alpha, p, p_c, q, 1 - q), bernoulli_divergence(alpha, q, 1 - q, p, p_c)
        )

    low = mpmath.log(q / (1 - q))
    step = mpmath.mpf(1)
    high = low + step
    while allowed(high) <= bound:
        step *= 2
        high = low + step
    # Illinois' method on the excess; its logarithm would do no better.
    f_low, f_high, side = -bound, allowed(high) - bound, 0
    for _ in range(200):
        middle = (low * f_high - high * f_low) / (f_high - f_low)
        value = allowed(middle) - bound
        if value <= 0:
            if -value < bound * mpmath.mpf(10) ** -18:
                low = middle
                break
            if side == -1:
                f_high /= 2
            low, f_low, side = middle, value, -1
        else:
            if side == 1:
                f_low /= 2
            high, f_high, side = middle, value, 1
    return 1 / (1 + mpmath.exp(-low))


@functools.cache
def renyi_truth(alpha, epsilon, order):
    """Return ``max p − e^order q`` over pairs with both divergences at most ε: golden section in log q."""
    with mpmath.workdps(60):
        a, bound, x = mpmath.mpf(alpha), mpmath.mpf(epsilon), mpmath.exp(mpmath.mpf(order))

        def value(log_q):
            q = mpmath.exp(log_q)
            return largest_p(a, bound, q) - x * q

        low, high = mpmath.mpf(-(order + 800)), mpmath.log(mpmath.mpf(1) / 2)
        ratio = (mpmath.sqrt(5) - 1) / 2
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        at_left, at_right = value(left), value(right)
        while high - low > mpmath.mpf(10) ** -9:
            if at_left > at_right:
                high, right, at_right = right, left, at_left
                left = high - ratio * (high - low)
                at_left = value(left)
            else:
                low, left, at_left = left, right, at_right
                right = low + ratio * (high - low)
                at_right = value(right)
        return max(at_left, at_right)


def gaussian_truth(mu, epsilon):
    with mpmath.workdps(60):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def polygon_truth(epsilon, delta, order):
    """Return ``max p − e^order q`` over the vertices of the polygon that (ε, δ)-DP allows."""
    with mpmath.workdps(700):
        x, mass = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(delta)
        corner = (1 - mass) / (1 + x)
        vertices = [(0, 0), (mass, 0), (1 - corner, corner), (1, 1 - mass), (1, 1)]
        largest = max(p - mpmath.exp(mpmath.mpf(order)) * q for p, q in vertices)
        return largest - mpmath.mpf(10) ** -650  # the error of these digits


def gaussian_trade_off(a):
    return float(special.ndtr(-special.ndtri(a) - 1.0))


def polygonal_trade_off(a):
    return max(0.0, 1 - 0.01 - math.e * a, (1 - 0.01 - a) / math.e)


def exact_gaussian_curve(epsilon):
    return GaussianDP(1.0).delta(epsilon)


# --- pure and approximate ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.0, 1e-300, 1e-9, 0.3, 1.0, 20.0, 700.0])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-6, 0.2, 0.999])
@pytest.mark.parametrize("share", [0.0, 1e-12, 0.3, 0.999999, 1.0, 1.5])
def test_polygons_against_their_vertices(epsilon, delta, share):
    order = share * epsilon
    truth = polygon_truth(epsilon, delta, order)
    for claim in (
        [ApproximateDP(epsilon, delta), PureDP(epsilon)] if delta == 0.0 else [ApproximateDP(epsilon, delta)]
    ):
        got = claim.delta(order)
        assert is_sound(got, truth)
        assert got - truth <= 1e-14 * truth + 1e-323


def test_at_its_own_order_a_claim_says_what_was_said():
    assert ApproximateDP(1.0, 1e-6).delta(1.0) == 1e-6
    assert ApproximateDP(1.0, 1e-6).delta(3.0) == 1e-6
    assert PureDP(1.0).delta(1.0) == 0.0
    assert ApproximateDP(0.0, 0.25).delta(0.0) == 0.25


def test_a_polygon_has_one_order():
    assert PureDP(2.0).orders() == (2.0,)
    assert ApproximateDP(0.0, 0.25).orders() == (0.0,)


# --- Gaussian ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mu", "epsilon"),
    [
        *((1e-6, e) for e in (0.0, 1e-7, 1e-6, 3e-5)),
        *((0.1, e) for e in (0.0, 0.01, 0.5, 3.6)),
        *((1.0, e) for e in (0.0, 1.0, 6.0, 36.0)),
        *((8.0, e) for e in (0.0, 32.0, 320.0)),
        *((20.0, e) for e in (0.0, 100.0, 200.0, 700.0)),
        *((50.0, e) for e in (0.0, 700.0)),
    ],
)
def test_gaussian_against_mpmath(mu, epsilon):
    truth = gaussian_truth(mu, epsilon)
    got = GaussianDP(mu).delta(epsilon)
    assert is_sound(got, truth)
    assert got - truth <= 1e-11 * truth


@pytest.mark.parametrize(("mu", "epsilon"), [(1e-6, 700.0), (1e-6, 1e-3), (0.1, 700.0), (1.0, 700.0)])
def test_what_underflows_is_the_smallest_number(mu, epsilon):
    assert GaussianDP(mu).delta(epsilon) == 5e-324
    assert ZeroConcentratedDP(mu * mu / 2.0).delta(epsilon) == 5e-324


@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_gaussian_against_dp_accounting(epsilon):
    from dp_accounting.pld import privacy_loss_distribution

    pld = privacy_loss_distribution.from_gaussian_mechanism(1.0, value_discretization_interval=1e-3)
    assert pld.get_delta_for_epsilon(epsilon) == pytest.approx(GaussianDP(1.0).delta(epsilon), rel=2e-3)


# --- Rényi ---------------------------------------------------------------------------------------------------------

RENYI = [
    *((1.0, 1.0, e) for e in (0.01, 0.5, 3.0)),
    *((1.0, 1e-10, e) for e in (0.0, 1e-4)),
    *((1.001, 0.5, e) for e in (0.0, 0.2, 1.0, 10.0)),
    *((1.5, 1e-4, e) for e in (0.0, 0.001, 0.1)),
    *((2.0, 0.5, e) for e in (0.0, 0.1, 0.28, 0.29, 2.0, 30.0, 690.0)),
    *((2.0, 20.0, e) for e in (5.0, 19.0, 30.0)),
    *((10.0, 0.1, e) for e in (0.05, 0.2, 1.0, 76.0)),
    *((100.0, 3.0, e) for e in (2.9, 3.0, 3.2, 9.9)),
    *((1e4, 1.0, e) for e in (0.5, 0.999, 1.001)),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "epsilon", "order"),
    [pytest.param(*case, marks=[pytest.mark.long] * (number % 4 > 0)) for number, case in enumerate(RENYI)],
)
def test_renyi_against_all_pairs_of_bits(alpha, epsilon, order):
    truth = renyi_truth(alpha, epsilon, order)
    # The search over pairs ends within 1e-11 of the truth, from below, so it cannot catch a δ too small by less.
    assert_right(RenyiDP(alpha, epsilon).delta(order), truth, absolute=0.0)


@pytest.mark.parametrize(
    ("alpha", "epsilon", "order"), [(1e4, 50.0, 700.0), (1e4, 1e-8, 1.0), (30.0, 1.0, 100.0)]
)
def test_renyi_underflows_upwards(alpha, epsilon, order):
    assert 0.0 < RenyiDP(alpha, epsilon).delta(order) < 1e-300


@pytest.mark.parametrize("tiny", [5e-324, 1e-300, 1e-120])
def test_tiny_divergences_are_taken_for_a_larger_one(tiny):
    for claim in (RenyiDP(2.0, tiny), RenyiDP(1.0, tiny), ZeroConcentratedDP(tiny)):
        assert math.sqrt(tiny / 2.0) < claim.delta(0.0) < 1e-49
        assert 0.0 < claim.delta(1.0) <= claim.delta(0.0)
        assert claim.orders() == (0.0,)


@pytest.mark.parametrize("alpha", [1.001, 1.5, 2.0, 8.0, 64.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 5.0])
@pytest.mark.parametrize("order", [0.0, 0.1, 1.0, 7.0])
def test_renyi_is_no_looser_than_dp_accounting(alpha, epsilon, order):
    from dp_accounting.rdp.rdp_privacy_accountant import compute_delta

    theirs, _ = compute_delta([alpha], [epsilon], order)
    assert RenyiDP(alpha, epsilon).delta(order) <= theirs * (1.0 + 1e-12)


def test_at_small_orders_both_directions_count():
    forward_only = (
        math.exp(0.0) * 0.5 * math.sqrt(math.expm1(0.5))
    )  # max p − q with (p − q)² ≤ q(1 − q)(e^ε − 1), q = 1/2
    both = RenyiDP(2.0, 0.5).delta(0.0)
    assert both < 0.94 * forward_only


def test_renyi_of_order_one_is_kullback_leibler_and_continuous():
    near = RenyiDP(1.0 + 1e-9, 0.7)
    limit = RenyiDP(1.0, 0.7)
    for order in (0.0, 0.3, 2.0, 9.0):
        assert near.delta(order) == pytest.approx(limit.delta(order), rel=1e-7)
    assert limit.delta(0.0) <= math.sqrt(0.35)  # Pinsker


def test_a_divergence_of_zero_allows_nothing():
    for claim in (RenyiDP(2.0, 0.0), ZeroConcentratedDP(0.0), GaussianDP(0.0), PureDP(0.0)):
        assert claim.delta(0.0) == claim.delta(1.0) == 0.0
        assert claim.orders() == (0.0,)
        assert claim.headline() == (0.0, 0.0)


# --- zero-concentrated ---------------------------------------------------------------------------------------------

RHOS = [1e-8, 1e-3, 0.1, 0.5, 2.0, 50.0]
RHOS_BY_DAY = [rho if rho in {1e-8, 0.5, 50.0} else pytest.param(rho, marks=pytest.mark.long) for rho in RHOS]


def zcdp_orders(rho):
    _, s = renyi_region.corner(1.0, rho)
    spread = [rho + z * math.sqrt(2.0 * rho) for z in (-1.0, 0.0, 1.0, 3.0, 6.0, 20.0, 36.0)]
    return [0.0, 0.5 * s, s, 1.02 * s, 1.5 * s, *(e for e in spread if 1.5 * s < e <= 700.0)]


@pytest.mark.slow
@pytest.mark.parametrize("rho", RHOS_BY_DAY)
def test_no_order_of_the_divergence_says_more(rho):
    claim = ZeroConcentratedDP(rho)
    for order in zcdp_orders(rho):
        alphas = 1.0 + np.expm1(np.linspace(0.0, math.log(3.0 * (order + rho) / rho), 60))
        least = min(RenyiDP(a, rho * a).delta(order) for a in alphas.tolist())
        assert claim.delta(order) <= least * (1.0 + RELATIVE)


def attaining_pair(rho, order):
    """Return (p, q, 1 − p, 1 − q) on the boundary for the best α, with the ratio p/q that the bound's ℓ and L say."""
    alpha = renyi_region.binding_alpha(rho, order)
    t, s = renyi_region.corner(alpha, rho * alpha)
    if order <= s:
        p, q = 1 / (1 + mpmath.exp(-mpmath.mpf(t))), 1 / (1 + mpmath.exp(mpmath.mpf(t)))
        return p, q, q, p
    ell = renyi_region.extreme_point(alpha, rho * alpha, order)
    ratio = mpmath.exp(mpmath.mpf(renyi_region.log_odds_ratio(alpha, ell + order)) - mpmath.mpf(ell))
    a, bound = mpmath.mpf(alpha), mpmath.mpf(rho) * alpha
    low, high = mpmath.mpf(-2000), -mpmath.log(ratio)
    for _ in range(60):
        middle = (low + high) / 2
        q = mpmath.exp(middle)
        within = bernoulli_divergence(a, ratio * q, 1 - ratio * q, q, 1 - q) <= bound
        low, high = (middle, high) if within else (low, middle)
    q = mpmath.exp(low)
    return ratio * q, q, 1 - ratio * q, 1 - q


@pytest.mark.slow
@pytest.mark.parametrize("rho", RHOS_BY_DAY)
def test_zero_concentrated_is_lossless(rho):
    """One bit that attains δ satisfies the claim at every α and in both directions, to 1e-6 of ρ."""
    claim = ZeroConcentratedDP(rho)
    for order in zcdp_orders(rho):
        with mpmath.workdps(60):
            p, q, p_c, q_c = attaining_pair(rho, order)
            assert claim.delta(order) <= (p - mpmath.exp(mpmath.mpf(order)) * q) * (1 + RELATIVE) + 1e-300
            reach = math.log(10.0 * (order + rho) / rho + 10.0)
            for a in [1.0, *(1.0 + np.expm1(np.linspace(1e-6, reach, 40))).tolist()]:
                exact = mpmath.mpf(a)
                forward = bernoulli_divergence(exact, p, p_c, q, q_c)
                backward = bernoulli_divergence(exact, q, q_c, p, p_c)
                assert max(forward, backward) <= rho * a * (1.0 + RELATIVE)


@pytest.mark.parametrize("rho", RHOS)
def test_the_gaussian_mechanism_satisfies_its_zero_concentrated_claim(rho):
    for order in zcdp_orders(rho):
        truth = GaussianDP(math.sqrt(2.0 * rho)).delta(order)
        assert truth * (1.0 - 1e-9) <= ZeroConcentratedDP(rho).delta(order)
        if order > rho:  # Bun and Steinke (2016), Lemma 3.5
            assert (
                ZeroConcentratedDP(rho).delta(order) <= math.exp(-((order - rho) ** 2) / (4.0 * rho)) + 1e-300
            )


# --- the user's own ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0.0, 0.3, 1.0, 2.5, 5.0, 8.0, 20.0, 700.0, 1e6])
def test_trade_offs_against_their_curves(order):
    # What these f lose to rounding, at most a few 1e-16, is below the accuracy of 1e-15 that they are trusted with.
    for f, claim in [(gaussian_trade_off, GaussianDP(1.0)), (polygonal_trade_off, ApproximateDP(1.0, 0.01))]:
        got, truth = TradeOff(f).delta(order), claim.delta(order)
        assert got >= truth * (1.0 - 1e-11)
        assert is_tight(got, truth)


def test_a_trade_off_is_looked_at_where_it_matters():
    looked = []

    def f(a):
        looked.append(a)
        return gaussian_trade_off(a)

    claim = TradeOff(f)
    claim.delta(1.0)
    first = len(looked)
    claim.delta(1.0)
    assert len(looked) == first < 60
    claim.delta(1.01)
    assert len(looked) < first + 15


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda a: math.nan, r"f\(0\)=nan is not a number"),
        (lambda a: 1.2, r"f\(0\)=1.2 is outside \[0, 1 − 0\]"),
        (lambda a: -0.1, r"f\(0\)=-0.1 is outside"),
        (lambda a: 1.0 - a**2, "is outside"),
        (lambda a: (1.0 - a) * (0.5 + 0.5 * (a > 0.45)), "f increases"),
        (lambda a: (1.0 - a) * (1.0 - 0.5 * (a > 0.45)), "f is not convex"),
        (lambda a: (1.0 - a) / (1.0 + math.exp(40.0 * (a - 0.5))), "f is not convex"),
        (lambda a: "much", "is not a number"),
        (lambda a: None, "is not a number"),
    ],
)
def test_what_is_no_trade_off_function_is_refused(f, message):
    with pytest.raises(InputError, match=message):
        TradeOff(f).delta(0.5)


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        (lambda e: math.nan, r"delta_of_epsilon\(0.5\)=nan"),
        (lambda e: 1.5, r"delta_of_epsilon\(0.5\)=1.5 is outside \[0, 1\]"),
        (lambda e: -1e-9, "is outside"),
        (lambda e: None, "is not a number"),
    ],
)
def test_what_is_no_privacy_curve_is_refused(curve, message):
    with pytest.raises(InputError, match=message):
        PrivacyCurve(curve).delta(0.5)


def test_a_curve_is_taken_at_its_word():
    claim = PrivacyCurve(lambda e: math.exp(-e) / 10, orders=[2, 0.5, 1, 1], label="mine")
    assert claim.orders() == (0.5, 1.0, 2.0)
    assert claim.delta(0.5) == math.exp(-0.5) / 10
    assert claim.headline() == (1.0, math.exp(-1) / 10)
    assert str(claim) == "mine"


# --- where an audit looks, and what reports say --------------------------------------------------------------------

CURVES = [
    GaussianDP(1e-6),
    GaussianDP(1.0),
    GaussianDP(5.0),
    ZeroConcentratedDP(1e-8),
    ZeroConcentratedDP(0.5),
    RenyiDP(1.001, 1.0),
    RenyiDP(2.0, 0.5),
    RenyiDP(1e4, 1.0),
    TradeOff(gaussian_trade_off),
    PrivacyCurve(exact_gaussian_curve),
    PrivacyCurve(lambda e: max(0.001, 0.4 - e)),
]


@pytest.mark.parametrize("claim", CURVES, ids=str)
def test_orders_cover_the_curve(claim):
    orders = claim.orders()
    assert orders == claim.orders()
    assert orders[0] == 0.0
    assert all(a < b for a, b in pairwise(orders))
    assert 8 <= len(orders) <= 17
    assert orders[-1] <= 40.0
    start, end = claim.delta(0.0), claim.delta(orders[-1])
    assert end <= max(2e-9, 1.02 * claim.delta(40.0))
    # No step between neighbouring orders hides most of the curve: δ falls by a factor of at most 2000.
    assert all(claim.delta(a) <= 2000.0 * max(claim.delta(b), 1e-10) for a, b in pairwise(orders))
    assert sum(claim.delta(e) >= 0.05 * start for e in orders) >= 3


@pytest.mark.parametrize("claim", [*CURVES, ZeroConcentratedDP(50.0), GaussianDP(20.0)], ids=str)
def test_a_headline_is_implied_and_the_smallest_of_four_digits(claim):
    epsilon, delta = claim.headline()
    assert claim.delta(epsilon) <= delta
    if epsilon > 0.0:
        unit = 10.0 ** (math.floor(math.log10(epsilon)) - 3)
        assert claim.delta(epsilon - unit * 1.001) > delta * (1.0 - 1e-12)


def test_headlines_that_are_known():
    assert PureDP(1.0).headline() == (1.0, 0.0)
    assert ApproximateDP(1.0, 1e-6).headline() == (1.0, 1e-6)
    assert GaussianDP(1.0).headline() == (4.887, 1e-6)
    assert ApproximateDP(0.0, 0.3).headline() == (0.0, 0.3)
    assert GaussianDP(1e-7).headline() == (0.0, GaussianDP(1e-7).delta(0.0))
    knee, floor = PrivacyCurve(lambda e: max(0.001, 0.4 - e)).headline()
    assert knee == pytest.approx(0.399, abs=1e-4)
    assert floor <= 0.00101


@pytest.mark.parametrize("claim", [GaussianDP(50.0), RenyiDP(10.0, 100.0), RenyiDP(2.0, 1e4)], ids=str)
def test_a_claim_too_weak_to_test_still_answers(claim):
    assert all(0.0 <= claim.delta(e) <= 1.0 for e in claim.orders())
    epsilon, delta = claim.headline()
    assert claim.delta(epsilon) <= delta


# --- objects -------------------------------------------------------------------------------------------------------

ALL = [
    (PureDP(1), "1-DP"),
    (ApproximateDP(1, 1e-6), "(1, 1e-06)-DP"),
    (ZeroConcentratedDP(0.5), "0.5-zCDP"),
    (GaussianDP(1), "1-GDP"),
    (RenyiDP(2, 0.5), "(2, 0.5)-RDP"),
    (PrivacyCurve(exact_gaussian_curve, label="my curve"), "my curve"),
    (PrivacyCurve(exact_gaussian_curve), "privacy curve"),
    (TradeOff(gaussian_trade_off, label="my f"), "my f"),
    (TradeOff(gaussian_trade_off), "trade-off function"),
]


@pytest.mark.parametrize(("claim", "text"), ALL)
def test_claims_are_records(claim, text, monkeypatch):
    # Pickle finds functions by their module, and the runner does not register this one.
    import sys
    import types

    module = types.ModuleType(__name__)
    module.gaussian_trade_off, module.exact_gaussian_curve = gaussian_trade_off, exact_gaussian_curve
    monkeypatch.setitem(sys.modules, __name__, module)
    assert str(claim) == text
    assert isinstance(claim, PrivacyClaim)
    before = claim.delta(0.5)
    copy = pickle.loads(pickle.dumps(claim))  # noqa: S301  just written
    assert copy == claim
    assert hash(copy) == hash(claim)
    assert copy.delta(0.5) == before
    with pytest.raises(AttributeError):
        claim.label = "other"
    assert eval(repr(PureDP(1.0))) == PureDP(1.0)  # noqa: S307  written here


def test_repr_of_an_approximate_claim_can_be_read_back():
    assert repr(ApproximateDP(1, 1e-6)) == "ApproximateDP(epsilon=1.0, delta=1e-06)"


@pytest.mark.parametrize(
    "build",
    [
        lambda: PureDP(-1.0),
        lambda: PureDP(math.nan),
        lambda: PureDP(math.inf),
        lambda: ApproximateDP(1.0, -0.1),
        lambda: ApproximateDP(1.0, 1.0),
        lambda: ApproximateDP(math.inf, 0.1),
        lambda: ZeroConcentratedDP(-1e-9),
        lambda: GaussianDP(math.nan),
        lambda: GaussianDP("one"),
        lambda: RenyiDP(0.5, 1.0),
        lambda: RenyiDP(math.inf, 1.0),
        lambda: RenyiDP(2.0, -1.0),
        lambda: TradeOff(3.0),
        lambda: PrivacyCurve(3.0),
        lambda: PrivacyCurve(exact_gaussian_curve, orders=[]),
        lambda: PrivacyCurve(exact_gaussian_curve, orders=3.0),
        lambda: PrivacyCurve(exact_gaussian_curve, orders=[-1.0]),
    ],
)
def test_unusable_parameters_are_refused(build):
    with pytest.raises(InputError, match="; give"):
        build()


@pytest.mark.parametrize("claim", [claim for claim, _ in ALL])
@pytest.mark.parametrize("order", [-1.0, math.nan, math.inf, "one", True])
def test_unusable_orders_are_refused(claim, order):
    with pytest.raises(InputError, match="epsilon="):
        claim.delta(order)


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        ({"epsilon": 1.0}, PureDP(1.0)),
        ({"epsilon": 1.0, "delta": 0.0}, PureDP(1.0)),
        ({"epsilon": 1.0, "delta": 1e-6}, ApproximateDP(1.0, 1e-6)),
        ({"epsilon": 0.0, "delta": 0.3}, ApproximateDP(0.0, 0.3)),
        ({"rho": 0.5}, ZeroConcentratedDP(0.5)),
        ({"mu": 1.0}, GaussianDP(1.0)),
        ({"renyi_alpha": 2.0, "renyi_epsilon": 0.5}, RenyiDP(2.0, 0.5)),
    ],
)
def test_claims_from_options(options, claim):
    assert claim_from(**options) == claim


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "nothing is claimed; give epsilon"),
        ({"delta": 1e-6}, "delta=1e-06 is half a claim"),
        ({"renyi_alpha": 2.0}, "renyi_alpha=2.0 is half a claim"),
        ({"renyi_epsilon": 2.0}, "renyi_epsilon=2.0 is half a claim"),
        ({"epsilon": 1.0, "rho": 0.5}, r"epsilon=1.0, rho=0.5 make more than one claim"),
        ({"delta": 1e-6, "mu": 1.0}, r"delta=1e-06, mu=1.0 make more than one claim"),
        ({"rho": 0.5, "renyi_alpha": 2.0}, "rho=0.5, renyi_alpha=2.0 make more than one claim"),
        ({"epsilon": -1.0}, "epsilon=-1.0 is negative"),
        ({"epsilon": 1.0, "delta": 2.0}, "delta=2.0 is at least 1"),
    ],
)
def test_options_that_make_no_claim_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        claim_from(**options)


def test_public_names():
    assert set(claims_package.__all__) <= set(privacy_package.__all__)
    assert all(hasattr(privacy_package, name) for name in privacy_package.__all__)


# --- what is broken is seen ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_caches")
@pytest.mark.parametrize("factor", [0.0, 1e-6, 0.3, 0.9, 1.1, 30.0])
def test_a_search_that_errs_makes_no_claim_too_strong(monkeypatch, factor):
    """ℓ, t, s and α are only searched for: wrong ones may cost tightness, never soundness."""
    cases = [(2.0, 0.5, 0.1), (2.0, 0.5, 2.0), (1.0, 1.0, 0.5), (100.0, 3.0, 2.9)]
    truths = [renyi_truth(*case) for case in cases]
    zcdp = [(0.5, order, ZeroConcentratedDP(0.5).delta(order)) for order in (0.0, 0.05, 1.0, 4.0)]
    for cached in (renyi_bound.renyi_delta, zero_concentrated._delta):
        cached.cache_clear()
    right_corner, right_point = renyi_bound.corner, renyi_bound.extreme_point
    right_alpha = zero_concentrated.binding_alpha
    monkeypatch.setattr(
        renyi_bound, "corner", lambda *a: tuple(max(factor, 1e-3) * x for x in right_corner(*a))
    )
    monkeypatch.setattr(renyi_bound, "extreme_point", lambda *a: factor * right_point(*a))
    monkeypatch.setattr(zero_concentrated, "binding_alpha", lambda *a: 1.0 + factor * (right_alpha(*a) - 0.5))
    for case, truth in zip(cases, truths, strict=True):
        assert is_sound(RenyiDP(*case[:2]).delta(case[2]), truth)
    for rho, order, truth in zcdp:
        assert ZeroConcentratedDP(rho).delta(order) >= truth * (1.0 - RELATIVE)


def broken_length(alpha, order, ell):
    return renyi_region.log_odds_ratio(alpha, ell + order) * 1.0001


def proved_without_proof(left, right):
    return True


@pytest.mark.usefixtures("fresh_caches")
@pytest.mark.parametrize("part", ["length", "total variation", "psi", "forward only"])
def test_a_broken_bound_is_seen(monkeypatch, part):
    order = 0.1 if part in {"total variation", "forward only"} else 2.0
    truth = renyi_truth(2.0, 0.5, order)
    if part == "length":
        from flint import arb

        monkeypatch.setattr(renyi_bound, "_certified_length", lambda *a: arb(broken_length(*a)))
    elif part == "total variation":
        right = renyi_bound.corner
        monkeypatch.setattr(renyi_bound, "decide", proved_without_proof)
        monkeypatch.setattr(renyi_bound, "corner", lambda *a: (right(*a)[0] * 0.9999, right(*a)[1]))
    elif part == "psi":
        right_bound = renyi_bound._one_sided
        monkeypatch.setattr(
            renyi_bound, "_one_sided", lambda alpha, epsilon, *a: right_bound(alpha, epsilon * 0.9999, *a)
        )
    else:  # the maximum over D_α(P‖Q) ≤ ε alone
        monkeypatch.setattr(renyi_bound, "corner", lambda *a: (20.0, 0.0))
        monkeypatch.setattr(renyi_bound, "extreme_point", lambda *a: 0.55)
    got = RenyiDP(2.0, 0.5).delta(order)
    if part == "forward only":
        assert not is_tight(got, truth)
    else:
        assert not is_sound(got, truth)


def test_a_maximum_over_samples_alone_would_be_seen(monkeypatch):
    def lowered(self):
        return self._at, self._values

    monkeypatch.setattr(convex_samples.ConvexSamples, "_vertices", lowered)
    assert TradeOff(gaussian_trade_off).delta(0.5) < GaussianDP(1.0).delta(0.5) * (1.0 - 1e-5)


def test_a_wrong_polygon_is_seen():
    # The formula without its second term, and the one that stays at δ below its order.
    truth = polygon_truth(1.0, 0.1, 0.5)
    right = ApproximateDP(1.0, 0.1).delta(0.5)
    assert is_sound(right, truth)
    assert not is_sound(PureDP(1.0).delta(0.5), truth)
    assert not is_sound(ApproximateDP(1.0, 0.1).delta(1.0), truth)


@pytest.mark.parametrize("rho", [1e-300, 1e-100, 1e-60, 1e-30, 1e4])
@pytest.mark.parametrize("order", [0.0, 1e-200, 1e-3, 700.0])
def test_extreme_zero_concentrated_claims_come_to_an_end(rho, order):
    # A search without a bound once went on for ever where the binding alpha, of the order of 1/rho, left no digits.
    assert 0.0 <= ZeroConcentratedDP(rho).delta(order) <= 1.0
