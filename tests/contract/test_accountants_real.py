"""dp_accounting's accountants: those that are right are left alone, and one that mistakes the multiplier is caught.

The audits are deterministic: fixed seeds, a level of 1e-6 each, and verdicts that rest on bounds far from the claim.
"""

from __future__ import annotations

import dp_accounting
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
)

pytestmark = pytest.mark.slow  # compositions and samples

RELATIONS = {
    "add-remove": NeighboringRelation.ADD_OR_REMOVE_ONE,
    "replace-one": NeighboringRelation.REPLACE_ONE,
    "zero-out": NeighboringRelation.REPLACE_SPECIAL,
}


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


ONE_STEP = {"gaussian": dp_accounting.GaussianDpEvent(2.0), "poisson": poisson(0.1, 1.0, 1)}


@pytest.mark.parametrize(
    ("event", "relation"),
    [("gaussian", "add-remove"), ("poisson", "replace-one")]
    + [
        pytest.param(event, relation, marks=pytest.mark.long)
        for event, relation in (
            ("gaussian", "replace-one"),
            ("gaussian", "zero-out"),
            ("poisson", "add-remove"),
            ("poisson", "zero-out"),
        )
    ],
)
def test_dp_accounting_s_pld_is_right_in_one_step(event, relation):
    event = ONE_STEP[event]
    audit = audit_accountant(
        from_dp_event(event),
        accountant(PLDAccountant, event, relation),
        relation=relation,
        epsilons=(0.1, 1.0),
        routes=("exact",),
    )
    assert audit.verdict is AuditVerdict.NOT_VIOLATED
    assert all(1.0 - 1e-9 <= point.slack <= 1.001 for point in audit.points)


@pytest.mark.parametrize("relation", ["add-remove", pytest.param("zero-out", marks=pytest.mark.long)])
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


def test_dp_accounting_s_events():
    event = dp_accounting.ComposedDpEvent([poisson(), fixed_size(2.0), dp_accounting.LaplaceDpEvent(3.0)])
    assert from_dp_event(event) == InTurn(
        (
            Composed(PoissonSampled(0.01, Gaussian(1.0)), 100),
            Composed(SampledWithoutReplacement(50, 1, Gaussian(2.0)), 20),
            Laplace(3.0),
        )
    )
