"""What the privacy claims of the systems share: exact figures decide, and beside them the implementation is audited."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from dpsco_verify.comparison.audits import SystemAudit, audit_system
from dpsco_verify.evidence import Column, Quantity, Table, Verdict
from dpsco_verify.execution import Outcome, WorkUnit
from dpsco_verify.ledger.errata import HOLDING, Discrepancy
from dpsco_verify.ledger.evidence_certificates import event_certificate
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.statement import Conclusion, Context, Reading

EPSILON, DELTA = 1.0, 1e-6
"""The budget at which systems are audited."""

AUDIT_WEIGHT = 0.2
"""Of the error budget, against 1 for a claim of the paper."""

AUDIT_SAMPLES = {Profile.QUICK: 2_000, Profile.STANDARD: 100_000, Profile.DEEP: 1_000_000}

Exact = tuple[Callable[..., Any], Mapping[str, Any]]
"""A function of a module's top level and its arguments."""


class PrivacyStatement(ABC):
    """The privacy claim of a system of :mod:`dpsco_verify.related`."""

    id: ClassVar[str]
    system: ClassVar[str]
    """The system's id in :mod:`dpsco_verify.related.catalogue`."""
    title: ClassVar[str]
    reference: ClassVar[str]
    label: ClassVar[str]
    text: ClassVar[str]
    readings: ClassVar[tuple[Reading, ...]]
    discrepancies: ClassVar[Sequence[Discrepancy]] = ()
    audited: ClassVar[str]
    """The reading under which the implementation is audited; it has a weight."""

    @abstractmethod
    def exact(self, reading: Reading, profile: Profile) -> Exact:
        """Return what has to be computed for a reading."""

    @abstractmethod
    def decide(self, reading: Reading, value: Any) -> Conclusion:
        """Return what the exact figures say."""

    def units(self, reading: Reading, context: Context) -> Sequence[WorkUnit]:
        """Return the exact unit, and the audit for one reading."""
        prefix = f"{self.id}/{reading.id}"
        function, arguments = self.exact(reading, context.profile)
        units = [WorkUnit(name=f"{prefix}/exact", function=function, arguments=arguments, cost=0.3)]
        if reading.id == self.audited:
            units.append(
                WorkUnit(
                    name=f"{prefix}/audit",
                    function=audit_system,
                    arguments={
                        "system": self.system,
                        "epsilon": EPSILON,
                        "delta": DELTA,
                        "alpha": context.levels(["audit"])["audit"],
                        "samples": AUDIT_SAMPLES[context.profile],
                        "seed": context.seed,
                        "name": f"{prefix}/audit",
                    },
                    cost=0.5,
                )
            )
        return units

    def conclude(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:  # noqa: ARG002  the interface
        """Decide by the exact figures; samples may refute what they leave standing."""
        prefix = f"{self.id}/{reading.id}"
        exact = self.decide(reading, outcomes[f"{prefix}/exact"].value)
        if reading.id != self.audited:
            return exact
        return with_audit(self.id, reading.id, exact, outcomes[f"{prefix}/audit"].value)


def with_audit(claim: str, reading: str, exact: Conclusion, audit: SystemAudit) -> Conclusion:
    """Return the conclusion with what the audit found; a violation refutes what the exact figures leave standing."""
    evidence = {**exact.evidence, **audit_evidence(audit)}
    table = Table(
        id="audit",
        title="Audit of the implementation's outputs on neighbouring data sets",
        columns=(
            Column(name="pair"),
            Column(name="claim"),
            Column(name="samples"),
            Column(name="event"),
            Column(name="seen on S"),
            Column(name="seen on S'"),
            Column(name="verdict"),
        ),
        rows=(
            (
                audit.pair,
                audit.claim,
                audit.samples,
                audit.event,
                audit.occurrences,
                audit.occurrences_neighbour,
                audit.verdict,
            ),
        ),
    )
    found = replace(
        exact, evidence=evidence, tables=(*exact.tables, table), spent={**exact.spent, "audit": audit.alpha}
    )
    if not audit.is_violated or exact.verdict not in HOLDING:
        return found
    certificate = event_certificate(
        claim,
        reading,
        epsilon=audit.order,
        delta=audit.delta_at_order,
        alpha=audit.test_alpha * (1.0 + 1e-9),
        fractions=audit.fractions,
        counts=audit.counts,
    )
    return replace(
        found,
        verdict=Verdict.REFUTED,
        summary=f"the implementation breaks its claim, whatever the figures say: {audit.summary}",
        counterexample=f"{audit.pair}: {audit.summary}.",
        certificate=certificate,
        sharpness=(),
    )


def audit_evidence(audit: SystemAudit) -> dict[str, Quantity]:
    """Return the figures of an audit."""
    detectable = audit.detectable_epsilon
    return {
        "outputs audited on each data set": Quantity(value=audit.samples, note=audit.pair),
        "smallest ε that the audit would have found": Quantity(
            value=detectable,
            note=f"at δ = {audit.delta_at_order:.3g} on its event, power 0.9; the claim is ε = {audit.order:.4g}"
            if detectable is not None
            else "it found one"
            if audit.is_violated
            else "none: too few outputs",
        ),
    }
