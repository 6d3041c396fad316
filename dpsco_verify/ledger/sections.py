"""The sections of every run: the fault museum, and the systems side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_verify.choices import Profile
from dpsco_verify.comparison import (
    ComparisonPlan,
    audit_units,
    comparison_units,
    conclude_comparison,
    plan_for,
)
from dpsco_verify.comparison.audits import AuditOf, SystemAudit
from dpsco_verify.evidence import ComparisonRecord, MuseumRecord
from dpsco_verify.faults import EXHIBITS, Judged, museum_record, museum_rows, museum_units, quick_exhibits
from dpsco_verify.ledger.section import SectionContext
from dpsco_verify.ledger.units import Handle, Outcomes, Units


@dataclass(frozen=True, kw_only=True)
class MuseumSection:
    """The fault museum: whether the checks find what is known to be wrong.

    It has a tenth of the budget: its faults are gross, and its controls are all that can alarm falsely. The `exhibits`
    are those of the profile where none are given.
    """

    exhibits: Sequence[Judged] = ()
    key: str = "fault-museum"
    weight: float = 1.0 / 9.0

    def _exhibits(self, profile: Profile) -> Sequence[Judged]:
        return self.exhibits or (quick_exhibits() if profile is Profile.QUICK else EXHIBITS)

    def plan(self, context: SectionContext, units: Units) -> list[Handle[object]]:
        """Plan one unit an exhibit."""
        made = museum_units(
            self._exhibits(context.profile), error_budget=context.share.alpha, seed=context.seed
        )
        return [units.adopt(unit) for unit in made]

    def conclude(
        self, context: SectionContext, work: list[Handle[object]], outcomes: Outcomes
    ) -> MuseumRecord:
        """Return what became of each exhibit."""
        rows = museum_rows(self._exhibits(context.profile), outcomes.named(work))
        return museum_record(rows, error_budget=context.share.alpha)


@dataclass(frozen=True, kw_only=True)
class _ComparisonWork:
    """The handles of the measurements, and of the audit of each system."""

    measured: list[Handle[object]]
    audits: dict[str, Handle[SystemAudit]]


@dataclass(frozen=True, kw_only=True)
class ComparisonSection:
    """The systems side by side, each audited: by the claim that speaks of it, or else here, on this section's budget.

    The plan is that of the profile where none is given.
    """

    comparison: ComparisonPlan | None = None
    key: str = "comparison"
    weight: float = 1.0 / 20.0

    def _plan(self, profile: Profile) -> ComparisonPlan:
        return self.comparison or plan_for(profile)

    def plan(self, context: SectionContext, units: Units) -> _ComparisonWork:
        """Plan what the comparison measures, and the audits that no claim of the run has planned."""
        plan = self._plan(context.profile)
        audits: dict[str, Handle[SystemAudit]] = {
            subject.system: handle
            for subject, handle in context.subjects.items()
            if isinstance(subject, AuditOf)
        }
        measured = [units.adopt(unit) for unit in comparison_units(plan, seed=context.seed)]
        own = audit_units(plan, seed=context.seed, error_budget=context.share.alpha, audited=set(audits))
        audits |= {str(unit.arguments["system"]): units.adopt(unit) for unit in own}
        return _ComparisonWork(measured=measured, audits=audits)

    def conclude(
        self, context: SectionContext, work: _ComparisonWork, outcomes: Outcomes
    ) -> ComparisonRecord:
        """Return the comparison."""
        audits = {system: outcomes[handle] for system, handle in work.audits.items()}
        return conclude_comparison(
            self._plan(context.profile),
            outcomes.named(work.measured),
            audits,
            error_budget=math.fsum(audit.alpha for audit in audits.values()),
        )


SECTIONS = (MuseumSection(), ComparisonSection())
"""What every run has beside its claims."""
