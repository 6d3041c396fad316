"""The base of the systems' privacy claims: exact figures decide, and the implementation is audited as well."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Generic, TypeVar

import flint

from dpsco_verify.choices import Profile
from dpsco_verify.comparison.audits import AuditOf, SystemAudit, audit_system
from dpsco_verify.evidence import Quantity, Table, Verdict, columns
from dpsco_verify.evidence.checker import (
    EventNull,
    OneOf,
    Parameters,
    Witness,
    approximate,
    ball,
    concentrated,
)
from dpsco_verify.inference.witnesses import LEVEL_ROUNDING, audit_witness
from dpsco_verify.ledger.errata import HOLDING, Discrepancy
from dpsco_verify.ledger.statement import Context, Decision, P, Reading
from dpsco_verify.ledger.units import Handle, Outcomes, Units
from dpsco_verify.store import null_name

EPSILON, DELTA = 1.0, 1e-6
"""The budget at which systems are audited."""

AUDIT_WEIGHT = 0.2
"""Of the error budget, against 1 for a reading that samples decide."""

_NULL = "the system's outputs on neighbouring data sets are as private as it claims for (ε, δ)"

AUDIT_SAMPLES = {Profile.QUICK: 2_000, Profile.STANDARD: 100_000, Profile.DEEP: 1_000_000}

X = TypeVar("X")
"""The exact figures that decide a reading."""

Call = tuple[Callable[..., X], Mapping[str, Any]]
"""A function of a module's top level, and its arguments."""


@dataclass(frozen=True, kw_only=True)
class Work(Generic[X]):
    """The handles of a reading: its exact figures, and the audit of the implementation where it has one."""

    exact: Handle[X]
    audit: Handle[SystemAudit] | None


class PrivacyStatement(ABC, Generic[P, X]):
    """The privacy claim of a system of :mod:`dpsco_verify.related`."""

    id: ClassVar[str]
    system: ClassVar[str]
    """The system's id in :mod:`dpsco_verify.related.catalogue`."""
    title: ClassVar[str]
    reference: ClassVar[str]
    label: ClassVar[str]
    text: ClassVar[str]
    readings: tuple[Reading[P], ...]
    """One of them has a weight: under it the implementation is audited."""
    discrepancies: ClassVar[Sequence[Discrepancy]] = ()
    witness_kinds: ClassVar[Sequence[type[Witness]]] = ()

    @abstractmethod
    def exact(self, reading: Reading[P], profile: Profile) -> Call[X]:
        """Return what has to be computed for a reading."""

    @abstractmethod
    def decide(self, reading: Reading[P], value: X) -> Decision:
        """Return what the exact figures say."""

    def plan(self, reading: Reading[P], context: Context, units: Units) -> Work[X]:
        """Plan the exact figures, and the audit for the reading that has a share of the error budget."""
        function, arguments = self.exact(reading, context.profile)
        exact = units.add("exact", function, arguments, cost=0.3)
        if context.share is None:
            return Work(exact=exact, audit=None)
        audit = units.add(
            "audit",
            audit_system,
            {
                "system": self.system,
                "epsilon": EPSILON,
                "delta": DELTA,
                # A witness states the level rounded up, and it has to be within the share all the same.
                "alpha": context.levels(["audit"])["audit"] / LEVEL_ROUNDING**2,
                "samples": AUDIT_SAMPLES[context.profile],
            },
            cost=0.5,
            random=True,
            subject=AuditOf(self.system),
        )
        return Work(exact=exact, audit=audit)

    def conclude(self, reading: Reading[P], context: Context, work: Work[X], outcomes: Outcomes) -> Decision:
        """Decide by the exact figures; samples may refute what they leave standing."""
        exact = self.decide(reading, outcomes[work.exact])
        return exact if work.audit is None else with_audit(exact, outcomes[work.audit])


def audit_null(system: str, implies: Callable[[Parameters, Fraction, Fraction], bool]) -> EventNull:
    """Return what the audit of a system at the budget may reject; `implies` says which (ε, δ) follow from its claim."""
    return EventNull(
        name=_NULL,
        parameters={"system": OneOf(system), "ε": OneOf(EPSILON), "δ": OneOf(DELTA)},
        implies=implies,
    )


APPROXIMATE = approximate(Fraction(EPSILON), Fraction(DELTA))
"""What a claim of (ε, δ)-DP at the budget implies."""
PURE = approximate(Fraction(EPSILON), Fraction(0))
"""What a claim of ε-DP implies."""


def _rho() -> flint.arb:
    """Return κ²/2 with κ = √(2 log(1/δ) + 2ε) − √(2 log(1/δ)), for which κ²/2-zCDP implies (ε, δ)-DP."""
    logarithm = -2 * ball(Fraction(DELTA)).log()
    return ((logarithm + 2 * ball(Fraction(EPSILON))).sqrt() - logarithm.sqrt()) ** 2 / 2


CONCENTRATED = concentrated(_rho)
"""What a claim of κ²/2-zCDP implies, κ being that of the budget."""


def with_audit(exact: Decision, audit: SystemAudit) -> Decision:
    """Return the decision with what the audit found; a violation refutes what the exact figures leave standing."""
    evidence = {**exact.evidence, **audit_evidence(audit)}
    table = Table(
        id="audit",
        title="Audit of the implementation's outputs on neighbouring data sets",
        columns=columns("pair", "claim", "samples", "event", "seen on S", "seen on S'", "verdict"),
        rows=(
            (
                audit.pair,
                audit.claim,
                audit.samples,
                audit.event,
                audit.occurrences,
                audit.occurrences_neighbour,
                "conditions" if audit.verdict is None else audit.verdict.value,
            ),
        ),
    )
    found = replace(
        exact, evidence=evidence, tables=(*exact.tables, table), spent={**exact.spent, "audit": audit.alpha}
    )
    if not audit.is_violated or exact.verdict not in HOLDING:
        return found
    return replace(
        found,
        verdict=Verdict.REFUTED,
        summary=f"the implementation breaks its claim, whatever the figures say: {audit.summary}",
        counterexample=f"{audit.pair}: {audit.summary}.",
        witness=audit_witness(
            audit.counts,
            own=False,
            null_hypothesis=null_name(_NULL, {"system": audit.system, "ε": EPSILON, "δ": DELTA}),
            epsilon=audit.order,
            delta=audit.delta_at_order,
            alpha=audit.test_alpha,
            fractions=audit.fractions,
            weights=audit.weights,
        ),
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
