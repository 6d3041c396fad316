"""The comparison as a part of an audit: its record, its share of the error budget, and the gate."""

from __future__ import annotations

import msgspec
import pytest

from dpsco_verify.choices import ERROR_BUDGET, Profile
from dpsco_verify.comparison import ComparisonPlan, audits
from dpsco_verify.evidence.exit_code import ExitCode
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.run import run_audit
from dpsco_verify.ledger.sections import ComparisonSection
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.phased_sgd import TightPhasedSgd
from dpsco_verify.reporting import summary

pytestmark = pytest.mark.slow

PLAN = ComparisonPlan(
    problems=("linear-signs-1",),
    sizes=(20,),
    epsilons=(),
    epsilon_size=20,
    runs=2,
    most_seconds=0.01,
    audit_samples=300,
)


def run(*sections):
    ledger = installed_ledger()
    return run_audit(
        ledger, ledger.find(["phased-sgd-privacy"]), profile=Profile.QUICK, seed=0, sections=sections
    ).record


@pytest.fixture(scope="module")
def record():
    return run(ComparisonSection(comparison=PLAN))


def test_all_private_systems_are_audited_once_by_a_claim_or_here(record):
    systems = {s.id: s for s in record.comparison.systems}
    assert set(systems) == set(SYSTEMS)
    for name, system in systems.items():
        assert len(system.audits) + bool(system.not_audited) == SYSTEMS[name].is_private
    # Its claim audits it with the samples of the profile.
    assert systems["phased-sgd"].audits[0].samples != PLAN.audit_samples


def test_the_audits_have_a_share_of_the_error_budget(record):
    share = record.error_budget.by_claim["comparison"]
    assert 0.0 < share < record.comparison.error_budget
    assert record.error_budget.spent <= record.error_budget.total == ERROR_BUDGET
    without = run()
    assert without.comparison is None
    assert "comparison" not in without.error_budget.by_claim
    # What else is run does not change a claim.
    timeless = [msgspec.structs.replace(f, seconds=0.0) for f in without.claims]
    assert [msgspec.structs.replace(f, seconds=0.0) for f in record.claims] == timeless


def test_a_sound_comparison_passes_the_gate(record):
    assert record.comparison.violated == ()
    assert record.exit_code == ExitCode.AS_EXPECTED


def test_a_system_with_too_little_noise_fails_the_run(monkeypatch):
    class TooLittleNoise(TightPhasedSgd):
        noise_factor = 0.05

    monkeypatch.setattr(audits, "SYSTEMS", dict(SYSTEMS) | {"phased-sgd-tight": TooLittleNoise()})
    found = run(ComparisonSection(comparison=PLAN))
    assert found.comparison.violated == (TightPhasedSgd.title,)
    assert found.exit_code == ExitCode.NOT_AS_EXPECTED
    assert f"violated: {TightPhasedSgd.title}" in summary.gate(found)
