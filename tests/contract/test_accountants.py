"""Accountants: the truth by three routes that agree, right accountants left alone, wrong ones caught.

The audits are deterministic: fixed seeds, a level of 1e-6 each, and verdicts that rest on bounds far from the claim.
"""

from __future__ import annotations

import builtins
import itertools
import math
from fractions import Fraction

import dp_accounting
import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.auditing.accountants import (
    Composed,
    Gaussian,
    InTurn,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
    audit_accountant,
    from_dp_event,
    grids,
)
from dpsco_verify.auditing.accountants import audit as audit_module
from dpsco_verify.auditing.accountants.curves import exact_delta, threshold
from dpsco_verify.auditing.accountants.events import Noise, Sampling, Step, steps_of
from dpsco_verify.auditing.accountants.limits import widened
from dpsco_verify.auditing.accountants.pairs import Pair, directions
from dpsco_verify.auditing.accountants.pld import pld_bounds
from dpsco_verify.auditing.accountants.sampled import TiltedStep, sampled_delta
from dpsco_verify.auditing.pairs import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.privacy.claims import GaussianDP, PureDP
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.single_step import (
    replace_one_delta,
    zero_out_absent_delta,
    zero_out_present_delta,
)

pytestmark = pytest.mark.slow  # compositions and samples

RELATIONS = {
    "add-remove": NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": NeighboringRelation.REPLACE_ONE,
    "zero-out": NeighboringRelation.REPLACE_SPECIAL,
}
NOISES = [
    (Noise.GAUSSIAN, Fraction(1, 4)),
    (Noise.GAUSSIAN, Fraction(4)),
    (Noise.LAPLACE, Fraction(1, 2)),
    (Noise.LAPLACE, Fraction(3)),
]
SAMPLINGS = [
    (Sampling.NONE, Fraction(1)),
    (Sampling.POISSON, Fraction(1, 10)),
    (Sampling.POISSON, Fraction(9, 10)),
    (Sampling.WITHOUT_REPLACEMENT, Fraction(1, 5)),
]
ORDERS = (0.0, 0.03, 0.2, 0.6, 1.5)


def all_pairs():
    for (noise, parameter), (sampling, p), relation in itertools.product(NOISES, SAMPLINGS, Relation):
        step = Step(noise=noise, parameter=parameter, sampling=sampling, probability=p)
        for direction in directions(step, relation):
            yield direction.forward


def by_quadrature(noise, scale, p, x, y, h, *, points=100_001):
    """Return δ at each of ORDERS."""
    reach = (10.0 if noise is Noise.GAUSSIAN else 30.0) * scale
    t = np.linspace(-1.0 - reach, 1.0 + reach, points)

    def density(mean):
        z = (t - mean) / scale
        if noise is Noise.GAUSSIAN:
            return np.exp(-0.5 * z * z) / (scale * math.sqrt(2.0 * math.pi))
        return np.exp(-np.abs(z)) / (2.0 * scale)

    first = p * density(x) + (1.0 - p) * density(h)
    second = p * density(y) + (1.0 - p) * density(h)
    return [np.maximum(first - math.exp(e) * second, 0.0).sum() * (t[1] - t[0]) for e in ORDERS]


# --- the exact route ------------------------------------------------------------------------------------------------


def test_closed_forms_against_quadrature():
    for pair in all_pairs():
        found = by_quadrature(pair.noise, pair.scale, float(pair.p), pair.x, pair.y, pair.h)
        for epsilon, expected in zip(ORDERS, found, strict=True):
            low, high = exact_delta(pair, epsilon)
            assert high - low <= 1e-11 * high
            # The trapezoidal rule at kinks and jumps of the density: the spacing squared, in scales.
            assert low == pytest.approx(expected, rel=1e-4, abs=1e-6)


def test_the_half_line_attains_the_closed_form():
    for pair in all_pairs():
        points = threshold(pair, np.array(ORDERS))
        for epsilon, c in zip(ORDERS, points, strict=True):
            low, _ = exact_delta(pair, epsilon)
            masses = pair.masses(np.array([c, np.inf])) if math.isfinite(c) else (np.zeros(1), np.zeros(1))
            assert masses[0][0] - math.exp(epsilon) * masses[1][0] == pytest.approx(low, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize(("noise", "parameter"), NOISES)
def test_no_contributions_are_worse(noise, parameter):
    """Random contributions of the record, of its neighbour and of the stand-in stay below the table's entries."""
    rng = np.random.default_rng(3)
    scale = math.sqrt(parameter) if noise is Noise.GAUSSIAN else float(parameter)
    p = Fraction(1, 5)
    kinds = {
        ("replace-one", Sampling.POISSON): lambda x, y, h: (x, y, 0.0),
        ("replace-one", Sampling.WITHOUT_REPLACEMENT): lambda x, y, h: (x, y, h),
        ("zero-out", Sampling.POISSON): lambda x, y, h: (x, 0.0, 0.0),
        ("zero-out", Sampling.WITHOUT_REPLACEMENT): lambda x, y, h: (x, 0.0, h),
        ("add-remove", Sampling.WITHOUT_REPLACEMENT): lambda x, y, h: (x, h, h),
    }
    for (relation, sampling), shape in kinds.items():
        step = Step(noise=noise, parameter=parameter, sampling=sampling, probability=p)
        pairs = [direction.forward for direction in directions(step, Relation(relation))]
        worst = np.array([max(exact_delta(pair, epsilon)[1] for pair in pairs) for epsilon in ORDERS])
        for _ in range(15):
            x, y, h = rng.choice([-1.0, 1.0, *rng.uniform(-1.0, 1.0, 2)], size=3)
            x, y, h = shape(x, y, h)
            for first, second in ((x, y), (y, x)):
                found = by_quadrature(noise, scale, float(p), first, second, h, points=20_001)
                assert np.all(found <= worst * (1.0 + 1e-3) + 1e-7)


def test_the_paper_s_single_step_is_one_of_the_events():
    n, sigma = 16, 0.7
    (step,) = steps_of(SampledWithoutReplacement(n, 1, Gaussian(sigma)))
    p = Fraction(1, n)
    for epsilon in (0.01, 0.1, 1.0):

        def value(curve, epsilon=epsilon):
            return enclose(lambda: curve(ball(p), ball(epsilon), ball(sigma)))[0]

        (replaced,) = directions(step, Relation.REPLACE_ONE)
        present, absent = directions(step, Relation.ZERO_OUT)
        assert exact_delta(replaced.forward, epsilon)[0] == pytest.approx(value(replace_one_delta), rel=1e-12)
        assert exact_delta(present.forward, epsilon)[0] == pytest.approx(
            value(zero_out_present_delta), rel=1e-12
        )
        assert exact_delta(absent.forward, epsilon)[0] == pytest.approx(
            value(zero_out_absent_delta), rel=1e-12
        )


def test_what_has_no_closed_form_is_refused():
    pair = Pair(noise=Noise.GAUSSIAN, parameter=Fraction(1), p=Fraction(1, 3), x=0, y=-1, h=1)
    with pytest.raises(InputError, match="is not a worst case"):
        exact_delta(pair, 0.5)


# --- the routes beside each other -----------------------------------------------------------------------------------

EVENTS = [
    Gaussian(1.5),
    Laplace(2.0),
    PoissonSampled(0.1, Gaussian(1.0)),
    PoissonSampled(0.3, Laplace(1.0)),
    SampledWithoutReplacement(10, 1, Gaussian(1.0)),
    SampledWithoutReplacement(8, 2, Laplace(1.0)),
]


@pytest.mark.parametrize("relation", list(RELATIONS))
@pytest.mark.parametrize("event", EVENTS, ids=str)
def test_three_routes_agree(event, relation):
    """Exact, composed and sampled truth: all bounds are consistent, and the composed ones tight."""
    audit = audit_accountant(event, lambda epsilon: 1.0, relation=relation, epsilons=(0.05, 0.2, 0.6))
    for point in audit.points:
        exact, pld, sampled = point.routes
        assert [bounds.route for bounds in point.routes] == ["exact", "pld", "sampled"]
        assert pld.lower <= exact.upper
        assert pld.upper >= exact.lower
        assert pld.upper - pld.lower <= 2e-3 * exact.upper + 2e-14
        assert sampled.lower <= exact.upper
        assert sampled.upper >= exact.lower


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_compositions_against_the_closed_form(relation):
    """Four Gaussian steps kept apart: composed and sampled, they bracket the one with half the noise."""
    step = Step(noise=Noise.GAUSSIAN, parameter=Fraction(9), count=4)
    mu = 2.0 / 3.0 * (2.0 if relation == "replace-one" else 1.0)
    orders = np.array([0.1, 1.0, 3.0])
    lower, upper = pld_bounds([step], Relation(relation), orders)
    truth = gaussian_delta(orders, mu)
    assert np.all(lower <= truth)
    assert np.all(truth <= upper)
    assert np.all(upper - lower <= 1e-3 * truth)
    (direction, *_) = directions(step, Relation(relation))
    for epsilon, expected in zip(orders, truth, strict=True):
        interval = sampled_delta(
            [(direction.forward, 4)],
            float(epsilon),
            samples=4000,
            alpha=1e-6,
            rng=np.random.default_rng(1),
        )
        assert interval.low <= expected <= interval.high
        assert interval.high <= 1.7 * interval.low


def test_a_tilted_step_has_the_normal_laws_moments():
    """``log E_P e^{λ L} = λ(λ + 1)μ²/2``, and under the tilt L has mean ``(λ + 1/2)μ²`` and variance μ²."""
    step = TiltedStep(Pair(noise=Noise.GAUSSIAN, parameter=Fraction(4), p=Fraction(1), x=1, y=0, h=0))
    mu, tilt = 0.5, 5.0
    assert step.log_moment(tilt) == pytest.approx(tilt * (tilt + 1.0) * mu**2 / 2.0, rel=1e-12)
    step.tilt_by(tilt)
    losses = step.draw(40_000, np.random.default_rng(5))
    # Six standard errors: a chance of 2e-9 each.
    assert losses.mean() == pytest.approx((tilt + 0.5) * mu**2, abs=6 * mu / math.sqrt(40_000))
    assert losses.var() == pytest.approx(mu**2, rel=6 * math.sqrt(2 / 40_000))


def test_intervals_from_samples_cover():
    """At α = 0.1, 120 intervals: 40 misses or more, of at most 12 to expect, have a chance below 1e-11."""
    pair = directions(steps_of(PoissonSampled(0.2, Gaussian(1.0)))[0], Relation.ADD_REMOVE)[0].forward
    truth = exact_delta(pair, 1.0)[0]
    misses = 0
    for seed in range(120):
        found = sampled_delta([(pair, 1)], 1.0, samples=300, alpha=0.1, rng=np.random.default_rng(seed))
        misses += not found.low <= truth <= found.high
    assert misses < 40


def test_routes_that_contradict_each_other_raise(monkeypatch):
    monkeypatch.setattr(audit_module, "exact_delta", lambda pair, epsilon: (0.5, 0.5))
    with pytest.raises(ArithmeticError, match="route exact puts the true delta at 0.5 or more"):
        audit_accountant(
            Gaussian(3.0), lambda e: 1.0, relation="add-remove", epsilons=(0.5,), routes=("exact", "sampled")
        )


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("_ROUNDING", -2.0),  # losses rounded up by two cells where they are to be rounded down
        ("threshold", lambda pair, epsilon: threshold(pair, epsilon) + 1e-3),  # cells in the wrong place
    ],
)
def test_grids_that_are_wrong_are_found_out(monkeypatch, name, broken):
    monkeypatch.setattr(grids, name, broken)
    with pytest.raises(ArithmeticError, match="one of them is wrong"):
        audit_accountant(
            Gaussian(1.0), lambda e: 1.0, relation="add-remove", epsilons=(0.5, 2.0), routes=("exact", "pld")
        )


# --- real accountants -----------------------------------------------------------------------------------------------


def accountant(kind, dp_event, relation):
    made = kind(neighboring_relation=RELATIONS[relation])
    made.compose(dp_event)
    return made.get_delta


def poisson(p=0.01, sigma=1.0, count=100):
    return dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(p, dp_accounting.GaussianDpEvent(sigma)), count
    )


def fixed_size(sigma, n=50, b=1, count=20):
    inner = dp_accounting.GaussianDpEvent(sigma)
    return dp_accounting.SelfComposedDpEvent(
        dp_accounting.SampledWithoutReplacementDpEvent(n, b, inner), count
    )


@pytest.mark.parametrize(
    "relation",
    ["replace-one", *(pytest.param(r, marks=pytest.mark.long) for r in ("add-remove", "zero-out"))],
)
def test_dp_accounting_s_pld_is_not_violated(relation):
    event = poisson()
    audit = audit_accountant(
        from_dp_event(event),
        accountant(PLDAccountant, event, relation),
        relation=relation,
        epsilons=(0.1, 0.5, 1.0),
        samples=1000,
    )
    # It is itself a pessimistic discretisation, on another grid: above the lower bound, within a hundredth.
    for point in audit.points:
        assert point.verdict is not AuditVerdict.VIOLATED
        assert point.claimed == pytest.approx(point.upper, rel=1e-2)


@pytest.mark.parametrize(
    "event", [dp_accounting.GaussianDpEvent(2.0), poisson(0.1, 1.0, 1)], ids=["gaussian", "poisson"]
)
@pytest.mark.parametrize("relation", list(RELATIONS))
def test_dp_accounting_s_pld_is_right_in_one_step(event, relation):
    audit = audit_accountant(
        from_dp_event(event),
        accountant(PLDAccountant, event, relation),
        relation=relation,
        epsilons=(0.1, 1.0),
        routes=("exact",),
    )
    assert audit.verdict is AuditVerdict.NOT_VIOLATED
    assert all(1.0 - 1e-9 <= point.slack <= 1.001 for point in audit.points)


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
def test_dp_accounting_s_rdp_is_loose_but_not_violated(relation):
    event = poisson(count=50)
    audit = audit_accountant(
        from_dp_event(event),
        accountant(RdpAccountant, event, relation),
        relation=relation,
        epsilons=(0.5, 1.0),
        samples=1000,
    )
    assert audit.verdict is AuditVerdict.NOT_VIOLATED
    assert all(point.slack > 2.0 for point in audit.points)
    assert "holds" in audit.summary


def test_dp_accounting_s_rdp_under_replace_one_takes_the_multiplier_for_that_of_a_replacement():
    """A finding: its events define the multiplier by one record's contribution, its RDP accountant by a replacement."""
    event = fixed_size(1.0)
    arguments = {"relation": "replace-one", "epsilons": (0.5, 1.0), "samples": 1000}
    audit = audit_accountant(
        from_dp_event(event), accountant(RdpAccountant, event, "replace-one"), **arguments
    )
    assert audit.verdict is AuditVerdict.VIOLATED
    halved = accountant(RdpAccountant, fixed_size(0.5), "replace-one")
    assert audit_accountant(from_dp_event(event), halved, **arguments).verdict is AuditVerdict.NOT_VIOLATED
    plain = dp_accounting.GaussianDpEvent(1.0)
    plain_audit = audit_accountant(
        from_dp_event(plain),
        accountant(RdpAccountant, plain, "replace-one"),
        relation="replace-one",
        epsilons=(3.0,),
    )
    assert plain_audit.verdict is AuditVerdict.VIOLATED


# --- wrong accountants ----------------------------------------------------------------------------------------------


def test_poisson_s_formula_for_samples_without_replacement_is_caught():
    poissons = PLDAccountant(NeighboringRelation.REPLACE_ONE)
    poissons.compose(poisson(1 / 50, 1.0, 20))
    audit = audit_accountant(
        Composed(SampledWithoutReplacement(50, 1, Gaussian(1.0)), 20),
        poissons.get_delta,
        relation="replace-one",
        epsilons=(0.5, 1.0),
        samples=1000,
    )
    assert audit.verdict is AuditVerdict.VIOLATED
    assert all(point.slack < 0.2 for point in audit.points)
    by_samples = audit_accountant(
        Composed(SampledWithoutReplacement(50, 1, Gaussian(1.0)), 20),
        poissons.get_delta,
        relation="replace-one",
        epsilons=(1.0,),
        routes=("sampled",),
        samples=1000,
    )
    assert by_samples.verdict is AuditVerdict.VIOLATED


@pytest.mark.parametrize("route", ["exact", "pld", "sampled"])
def test_a_sigma_that_is_off_is_caught_by_every_route(route):
    audit = audit_accountant(
        Gaussian(1.0), GaussianDP(1.0 / 1.2), relation="add-remove", epsilons=(1.0, 3.0), routes=(route,)
    )
    assert audit.verdict is AuditVerdict.VIOLATED
    right = audit_accountant(
        Gaussian(1.0), GaussianDP(1.2), relation="add-remove", epsilons=(1.0, 3.0), routes=(route,)
    )
    assert right.verdict is AuditVerdict.NOT_VIOLATED


def test_the_classical_gaussian_formula_is_caught_where_it_does_not_hold():
    def classical(sigma):
        return lambda epsilon: min(1.0, 1.25 * math.exp(-0.5 * (sigma * epsilon) ** 2))

    below = audit_accountant(
        Gaussian(5.0), classical(5.0), relation="add-remove", epsilons=(0.5, 1.0), routes=("exact",)
    )
    assert below.verdict is AuditVerdict.NOT_VIOLATED
    beyond = audit_accountant(
        Gaussian(0.5), classical(0.5), relation="add-remove", epsilons=(10.0,), routes=("exact",)
    )
    assert beyond.verdict is AuditVerdict.VIOLATED
    assert "is below the true one" in beyond.summary


def test_the_relation_matters():
    """What is right under add-remove is wrong under replace-one, which moves the sum twice as far."""
    claim = GaussianDP(0.5)
    verdicts = {
        relation: audit_accountant(
            Gaussian(2.0), claim, relation=relation, epsilons=(0.5,), routes=("exact",)
        ).verdict
        for relation in RELATIONS
    }
    assert verdicts == {
        "add-remove": AuditVerdict.NOT_VIOLATED,
        "zero-out": AuditVerdict.NOT_VIOLATED,
        "replace-one": AuditVerdict.VIOLATED,
    }


def test_a_right_accountant_in_doubles_is_no_violation():
    audit = audit_accountant(
        Gaussian(2.0),
        lambda epsilon: float(gaussian_delta(epsilon, 0.5)),
        relation="add-remove",
        epsilons=np.linspace(0.0, 4.0, 41),
        routes=("exact",),
    )
    assert audit.verdict is AuditVerdict.NOT_VIOLATED
    audit = audit_accountant(
        Laplace(2.0), PureDP(0.5), relation="add-remove", epsilons=(0.25, 0.5, 1.0), routes=("exact",)
    )
    assert audit.verdict is AuditVerdict.NOT_VIOLATED
    assert audit.points[-1].slack == 1.0


def test_between_the_bounds_it_is_undecided():
    """Without replacement no pair is worst for a composition, so between the bounds there is room."""
    event = Composed(SampledWithoutReplacement(10, 1, Gaussian(1.0)), 20)
    first = audit_accountant(event, lambda e: 1.0, relation="replace-one", epsilons=(1.0,), samples=500)
    (point,) = first.points
    middle = 0.5 * (point.lower + point.upper)
    audit = audit_accountant(event, lambda e: middle, relation="replace-one", epsilons=(1.0,), samples=500)
    assert audit.verdict is AuditVerdict.UNDECIDED
    assert "undecided" in audit.summary


def test_the_same_seed_gives_the_same_bounds():
    def bounds(seed):
        audit = audit_accountant(
            Gaussian(1.0),
            lambda e: 1.0,
            relation="add-remove",
            epsilons=(1.0,),
            routes=("sampled",),
            seed=seed,
        )
        return audit.points[0].lower, audit.points[0].upper

    assert bounds(4) == bounds(4)
    assert bounds(4) != bounds(5)


# --- degenerate events and accountants ------------------------------------------------------------------------------


@pytest.mark.parametrize("event", [Gaussian(0.01), Gaussian(1e-12), Laplace(1e-5), Gaussian(1e-200)], ids=str)
@pytest.mark.parametrize("count", [1, 3])
def test_noise_of_next_to_nothing_hides_nothing(event, count):
    """With sampling, three steps show the record with probability 1 − 0.9³."""
    sampled = Composed(PoissonSampled(0.1, event), count)
    for of, truth in ((Composed(event, count), 1.0), (sampled, 1.0 - 0.9**count)):

        def claimed(epsilon, truth=truth):
            return 0.9 * truth if epsilon == 1.0 else min(1.0, (1.0 + 1e-6) * truth)

        audit = audit_accountant(of, claimed, relation="add-remove", epsilons=(1.0, 10.0), samples=500)
        assert [p.verdict for p in audit.points] == [AuditVerdict.VIOLATED, AuditVerdict.NOT_VIOLATED]
        assert all(
            b.lower <= truth * (1.0 + 1e-9) <= b.upper * (1.0 + 2e-9) for p in audit.points for b in p.routes
        )


def test_what_was_narrower_is_a_post_processing_of_what_is_wider():
    """The wider noise that stands in for what cannot be computed has a smaller δ, and bounds it from below."""
    (narrow,) = steps_of(Gaussian(0.05))
    (wide,) = widened((narrow,))
    pair, wider = (directions(step, Relation.ADD_REMOVE)[0].forward for step in (narrow, wide))
    for epsilon in (0.5, 20.0, 180.0):
        assert 0.0 < exact_delta(wider, epsilon)[0] <= exact_delta(pair, epsilon)[1]


def test_a_pure_guarantee_is_kept_exactly():
    """Four Laplace steps lose 4 at most: δ(4) = 0, and above 0 at any smaller ε."""
    event = Composed(Laplace(1.0), 4)
    audit = audit_accountant(event, lambda e: 0.0, relation="add-remove", epsilons=(2.0, 4.0), samples=1000)
    assert [point.verdict for point in audit.points] == [AuditVerdict.VIOLATED, AuditVerdict.NOT_VIOLATED]
    sampled = Composed(PoissonSampled(0.5, Laplace(1.0)), 4)
    loss = 4.0 * math.log1p(0.5 * math.expm1(1.0))
    arguments = {"relation": "add-remove", "samples": 1000, "routes": ("pld",)}
    assert (
        audit_accountant(sampled, lambda e: 0.0, epsilons=(loss + 1e-9,), **arguments).points[0].upper == 0.0
    )
    assert (
        audit_accountant(sampled, lambda e: 0.0, epsilons=(loss - 1e-9,), **arguments).points[0].upper > 0.0
    )


@pytest.mark.parametrize("answer", [math.nan, None, -0.1])
def test_an_answer_that_bounds_nothing_is_a_violation(answer):
    arguments = {"relation": "add-remove", "routes": ("exact",)}
    audit = audit_accountant(Gaussian(1.0), lambda e: answer, epsilons=(1.0, 2.0), **arguments)
    assert audit.verdict is AuditVerdict.VIOLATED
    assert "which is no probability" in audit.summary
    audit = audit_accountant(Gaussian(1.0), claimed_epsilon=lambda d: answer, deltas=(0.1,), **arguments)
    assert audit.verdict is AuditVerdict.VIOLATED
    assert "which bounds nothing" in audit.summary


def test_a_delta_below_the_smallest_double_is_not_zero_and_may_be_called_so():
    audit = audit_accountant(Gaussian(1.0), lambda e: 0.0, relation="add-remove", epsilons=(1000.0,))
    assert audit.points[0].upper == math.ulp(0.0)
    assert audit.verdict is AuditVerdict.NOT_VIOLATED


def test_epsilons_are_held_to_the_truth_too():
    arguments = {"relation": "add-remove", "deltas": (1e-6, 1e-2), "routes": ("exact",)}

    def epsilon(sigma):
        made = PLDAccountant(NeighboringRelation.ADD_OR_REMOVE_ONE)
        made.compose(dp_accounting.GaussianDpEvent(sigma))
        return made.get_epsilon

    for sigma, verdict in ((1.0, AuditVerdict.NOT_VIOLATED), (1.05, AuditVerdict.VIOLATED)):
        audit = audit_accountant(Gaussian(1.0), claimed_epsilon=epsilon(sigma), **arguments)
        assert [point.verdict for point in audit.points] == [verdict] * 2
    nothing = audit_accountant(Gaussian(1.0), claimed_epsilon=lambda d: math.inf, **arguments)
    assert nothing.verdict is AuditVerdict.NOT_VIOLATED


class Forgetful:
    """Three Gaussian steps, of which each question forgets one."""

    def __init__(self):
        self.history = [2.0] * 3

    def get_delta(self, epsilon):
        mu = math.sqrt(sum(sigma**-2 for sigma in self.history))
        if len(self.history) > 1:
            self.history.pop()
        return float(gaussian_delta(epsilon, mu))


@pytest.mark.parametrize("epsilons", [(0.5,), (0.5, 1.0)])
def test_an_accountant_that_forgets_is_found_out(epsilons):
    audit = audit_accountant(
        Composed(Gaussian(2.0), 3),
        Forgetful().get_delta,
        relation="add-remove",
        epsilons=epsilons,
        routes=("exact",),
    )
    assert audit.verdict is AuditVerdict.VIOLATED
    assert "asked anew it says" in audit.summary


# --- the language ---------------------------------------------------------------------------------------------------


def test_events_come_down_to_steps():
    assert steps_of(Composed(Gaussian(2.0), 4)) == steps_of(Gaussian(1.0))
    assert steps_of(InTurn((Gaussian(2.0),) * 4)) == steps_of(Gaussian(1.0))
    assert steps_of(PoissonSampled(0.5, Composed(Gaussian(2.0), 4))) == steps_of(
        PoissonSampled(0.5, Gaussian(1.0))
    )
    assert steps_of(PoissonSampled(0.5, PoissonSampled(0.25, Laplace(1.0)))) == steps_of(
        PoissonSampled(0.125, Laplace(1.0))
    )
    assert steps_of(SampledWithoutReplacement(7, 7, Laplace(1.0))) == steps_of(Laplace(1.0))
    mixed = InTurn((Laplace(1.0), Composed(PoissonSampled(0.5, Gaussian(1.0)), 3), Laplace(1.0)))
    assert [step.count for step in steps_of(mixed)] == [2, 3]


def test_different_steps_in_turn():
    """A Gaussian and a Laplace step: above either alone, below the sum of what each may cost."""
    event = InTurn((Gaussian(4.0), Laplace(4.0)))
    audit = audit_accountant(event, lambda e: 1.0, relation="add-remove", epsilons=(0.5,), samples=2000)
    (point,) = audit.points
    alone = float(gaussian_delta(0.5, 0.25))
    basic = float(gaussian_delta(0.25, 0.25))  # the Laplace step costs 1/4 of ε
    assert alone < point.lower <= point.upper < basic
    assert point.upper - point.lower < 1e-2 * point.upper


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Gaussian(0.0), "noise_multiplier=0.0 is not positive"),
        (lambda: Laplace(math.nan), "NaN"),
        (lambda: PoissonSampled(1.5, Gaussian(1.0)), "outside \\(0, 1\\]"),
        (lambda: PoissonSampled(0.5, "Gaussian"), "not an event"),
        (lambda: SampledWithoutReplacement(3, 4, Gaussian(1.0)), "sample_size=4 exceeds size=3"),
        (lambda: Composed(Gaussian(1.0), 0), "count=0 is too small"),
        (lambda: InTurn(()), "no event"),
        (lambda: steps_of(PoissonSampled(0.5, Composed(Laplace(1.0), 2))), "one sample for several steps"),
        (
            lambda: steps_of(SampledWithoutReplacement(4, 2, PoissonSampled(0.5, Gaussian(1.0)))),
            "sample of a sample",
        ),
        (
            lambda: steps_of(PoissonSampled(0.5, SampledWithoutReplacement(4, 2, Gaussian(1.0)))),
            "one way of sampling",
        ),
        (lambda: from_dp_event(dp_accounting.NonPrivateDpEvent()), "has no counterpart here"),
    ],
)
def test_events_that_are_none(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_dp_accounting_s_events():
    event = dp_accounting.ComposedDpEvent([poisson(), fixed_size(2.0), dp_accounting.LaplaceDpEvent(3.0)])
    assert from_dp_event(event) == InTurn(
        (
            Composed(PoissonSampled(0.01, Gaussian(1.0)), 100),
            Composed(SampledWithoutReplacement(50, 1, Gaussian(2.0)), 20),
            Laplace(3.0),
        )
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"relation": "neighbours"}, "relation='neighbours' is unknown"),
        ({"epsilons": ()}, "give both or neither"),
        ({"epsilons": (-1.0,)}, "epsilon=-1.0 is negative"),
        ({"epsilons": (math.inf,)}, "epsilon=inf is infinite"),
        ({"routes": ("guess",)}, "routes holds 'guess'"),
        ({"routes": ()}, "holds none"),
        ({"event": Composed(Laplace(1.0), 2), "routes": ("exact",)}, "has no closed form"),
        ({"claimed_delta": lambda e: "small"}, "claimed_delta\\(1\\)='small' is not a number"),
        ({"deltas": (0.1,)}, "give both or neither"),
        ({"claimed_epsilon": lambda d: 1.0, "deltas": (1.5,)}, "delta=1.5 is above 1"),
    ],
)
def test_bad_arguments(changes, message):
    arguments = {
        "event": Gaussian(1.0),
        "claimed_delta": lambda e: 1.0,
        "relation": "add-remove",
        "epsilons": (1.0,),
        "routes": ("exact",),
    } | changes
    with pytest.raises(InputError, match=message):
        audit_accountant(arguments.pop("event"), arguments.pop("claimed_delta"), **arguments)


def test_without_dp_accounting(monkeypatch):
    real = builtins.__import__

    def missing(name, *args, **kwargs):
        if name.startswith("dp_accounting"):
            raise ImportError("No module named 'dp_accounting'")
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.setattr(audit_module, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'dpsco-verify\[accounting\]'"):
        pld_bounds(steps_of(Gaussian(1.0)), Relation.ADD_REMOVE, np.array([1.0]))
    with pytest.raises(InputError, match=r"pip install 'dpsco-verify\[accounting\]'"):
        from_dp_event(None)
    audit = audit_accountant(Gaussian(1.0), lambda e: 1.0, relation="add-remove", epsilons=(1.0,))
    assert [bounds.route for bounds in audit.points[0].routes] == ["exact", "sampled"]
