"""The minimum detectable violation: the bounds on P(E), the power at what is promised, and what is asked for."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsco_verify.auditing import detectable as module
from dpsco_verify.auditing.confirmation import planned_at_once, planned_fractions
from dpsco_verify.auditing.orders import Order
from dpsco_verify.auditing.request import POWER
from dpsco_verify.inference.privacy_event_test import power_function

ORDER = Order(1.0, 0.01)
ALPHA, N = 1e-3, 20_000


@pytest.fixture(params=["betting", "at once"], autouse=True)
def tests_of_all(request, monkeypatch):
    """Whether there is a test of all outputs beside the one that bets, which decides what is found."""
    monkeypatch.setitem(PART, "at once", request.param == "at once")


PART = {"at once": False}


def confirmed(count, count_neighbour, *, order=ORDER, n=N):
    """A confirmation as far as the MDV looks at it: the two counts, and tests that were planned for them."""
    both = min(count, count_neighbour) // 2
    return SimpleNamespace(
        choice=SimpleNamespace(candidate=SimpleNamespace(order=order)),
        counts=SimpleNamespace(n11=both, n10=count - both, n01=count_neighbour - both),
        samples=n,
        alpha=ALPHA,
        fractions=planned_fractions(order, count / n, count_neighbour / n, alpha=ALPHA, samples=n),
        at_once=planned_at_once(order, count / n, alpha=ALPHA, samples=n) if PART["at once"] else None,
    )


def power_of(found, order=ORDER):
    if found.at_once is not None:
        return lambda p, q: found.at_once.test.power(p, q, alpha=found.at_once.alpha)
    return power_function(
        epsilon=order.epsilon,
        delta=order.delta,
        samples=found.samples,
        alpha=found.alpha,
        fractions=found.fractions,
        precision=module._WANTED,
    )


@pytest.mark.parametrize(("count", "n"), [(0, 10), (1, 10), (5, 10), (9, 10), (10, 10), (300, 20_000)])
def test_a_probability_is_missed_on_each_side_by_a_half_of_what_power_leaves(count, n):
    exact = binomtest(count, n).proportion_ci(confidence_level=POWER, method="exact")
    assert module._bounds(count, n) == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("count", [600, 6000, 15_000])
def test_whatever_p_is_the_promised_epsilon_and_delta_are_found_and_hardly_less(count):
    """At the ends and in the middle of what P(E) may be; a little less is not found at the worst of them."""
    found = confirmed(count, count // 3)
    mdv, power = module.detectable(found), power_of(found)
    low, high = module._bounds(count, N)
    ends = (low, 0.5 * (low + high), high)
    wanted = module._WANTED

    def at_epsilon(epsilon):
        return min(power(p, (p - ORDER.delta) * math.exp(-epsilon)) for p in ends)

    def at_delta(delta):
        return min(power(p, (p - delta) * math.exp(-ORDER.epsilon)) for p in ends)

    assert wanted > POWER
    assert mdv.power == POWER
    assert (
        at_epsilon(mdv.epsilon + 2e-4) >= wanted > at_epsilon(mdv.epsilon - 2e-3 * (mdv.epsilon - 1.0) - 2e-4)
    )
    assert at_delta(mdv.delta + 2e-4 * mdv.delta) >= wanted > at_delta(ORDER.delta + 0.98 * mdv.delta_excess)
    assert mdv.delta_excess == mdv.delta - ORDER.delta
    assert mdv.epsilon > ORDER.epsilon


def test_what_cannot_be_found_is_not_promised():
    assert module.detectable(confirmed(150, 50)) is None  # P(E) may be below δ
    assert module.detectable(confirmed(250, 250, order=Order(1.0, 0.013))) is None
    assert module.detectable(confirmed(10, 3, n=20, order=Order(5.0, 0.0))) is None


@pytest.mark.slow
def test_what_was_seen_on_the_second_data_set_has_no_part_in_it():
    first, second = confirmed(6000, 2000), confirmed(6000, 300)
    second.fractions, second.at_once = first.fractions, first.at_once
    assert module.detectable(first).epsilon == module.detectable(second).epsilon
    assert module.detectable(first).delta == module.detectable(second).delta


def test_the_factor_of_the_loss_is_how_far_both_probabilities_have_to_part():
    found = confirmed(6000, 3000)
    factor, power = module._factor(found), power_of(found)
    p, q = 6000 / N, 3000 / N
    assert factor > 1.0
    loss, t = 0.0, 0.0
    while loss < factor * math.log(p / q):
        t += 1e-4
        first, second = (1 / (1 + math.exp(-(math.log(x / (1 - x)) + s * t))) for x, s in ((p, 1), (q, -1)))
        loss = math.log(first / second)
    assert power(first, second) == pytest.approx(module._WANTED, abs=2e-3)
    # Six standard errors of the difference are 0.0272 and 0.0270: less than that is no loss that was seen.
    assert module._factor(confirmed(6000, 5600)) is None
    assert module._factor(confirmed(6000, 5440)) is not None
    assert module._factor(confirmed(6000, 300)) == 1.0  # found as it is


@pytest.mark.slow
@pytest.mark.parametrize(("epsilon", "delta"), [(1.5, 0.01), (1.0, 0.05)])
def test_as_many_pairs_as_are_asked_for_find_it_and_far_fewer_do_not(epsilon, delta):
    few = confirmed(600, 190, n=2000)
    size = module.pairs_needed(few, epsilon=epsilon, delta=delta)
    assert size is not None

    def mdv(n):
        return module.detectable(confirmed(round(0.3 * n), round(0.095 * n), n=n))

    def reached(n):
        return (epsilon > 1.0 and mdv(n).epsilon <= epsilon) or (delta > 0.01 and mdv(n).delta <= delta)

    assert reached(size)
    assert not reached(size // 2)


def test_what_is_within_the_claim_no_number_of_pairs_finds():
    assert module.pairs_needed(confirmed(6000, 2000), epsilon=1.0, delta=0.01) is None
    assert module.pairs_needed(confirmed(0, 0), epsilon=2.0, delta=0.01) is None
    assert np.isfinite(module.pairs_needed(confirmed(6000, 2000), epsilon=1.2, delta=0.01))
