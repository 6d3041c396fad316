"""Accountants that are wrong are caught by every route, right ones left alone, and what lies between is undecided.

The audits are deterministic: fixed seeds, a level of 1e-6 each, and verdicts that rest on bounds far from the claim.
"""

from __future__ import annotations

import math

import dp_accounting
import numpy as np
import pytest
from dp_accounting import NeighboringRelation
from dp_accounting.pld import PLDAccountant

from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.auditing.accountants import (
    Composed,
    Gaussian,
    Laplace,
    PoissonSampled,
    SampledWithoutReplacement,
    audit_accountant,
)
from dpsco_verify.auditing.accountants.curves import exact_delta
from dpsco_verify.auditing.accountants.events import steps_of
from dpsco_verify.auditing.accountants.limits import widened
from dpsco_verify.auditing.accountants.pairs import directions
from dpsco_verify.auditing.pairs import Relation
from dpsco_verify.privacy.claims import GaussianDP, PureDP
from dpsco_verify.privacy.gaussian import gaussian_delta

pytestmark = pytest.mark.slow  # compositions and samples


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
        for relation in Relation
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


@pytest.mark.parametrize(
    ("event", "count"),
    [
        (Laplace(1e-5), 3),
        (Gaussian(1e-200), 3),
        *(
            pytest.param(event, count, marks=pytest.mark.long)
            for count in (1, 3)
            for event in (Gaussian(0.01), Gaussian(1e-12))
        ),
        *(pytest.param(event, 1, marks=pytest.mark.long) for event in (Laplace(1e-5), Gaussian(1e-200))),
    ],
    ids=str,
)
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
