"""A run of the ledger: plan, execute, conclude, check the certificates, gate."""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from dpsco_verify.choices import Profile
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence import (
    SCHEMA_VERSION,
    AuditRecord,
    BudgetRecord,
    ComparisonRecord,
    ContradictionError,
    Finding,
    MuseumRecord,
    Verdict,
    checker,
)
from dpsco_verify.evidence.exit_code import exit_code
from dpsco_verify.evidence.records_codec import encode
from dpsco_verify.evidence.verdict_backing import with_checked_certificate
from dpsco_verify.evidence.versions import versions
from dpsco_verify.execution import ExecutorChoice, Outcome, Progress, WorkUnit, execute, make_executor
from dpsco_verify.inference.budget import ErrorBudget, Spending
from dpsco_verify.ledger.accumulation import Accumulation, decided_together, records
from dpsco_verify.ledger.errata import errata
from dpsco_verify.ledger.expectations import Expectation
from dpsco_verify.ledger.ledger import Ledger
from dpsco_verify.ledger.section import Section, SectionContext
from dpsco_verify.ledger.statement import Claim, Context, Decision
from dpsco_verify.ledger.units import Handle, Outcomes, Units
from dpsco_verify.store import Accumulated, EvidenceStore, RunMemory
from dpsco_verify.validation import require_integer


@dataclass(frozen=True, kw_only=True)
class LedgerRun:
    """The record of a run and the certificates that go with it, by relative path.

    `recalled` of its `units` units of work were in the store, and were not executed again.
    """

    record: AuditRecord
    certificates: Mapping[str, bytes]
    units: int = 0
    recalled: int = 0

    __bool__ = no_truth_value("run.record.exit_code == 0")


@dataclass(frozen=True, kw_only=True)
class _Planned:
    """A claim with its part of the budget, its units of work and the handles that its statement holds of them."""

    claim: Claim
    context: Context
    units: Units
    work: Any


def run_audit(
    ledger: Ledger,
    claims: Sequence[Claim] | None = None,
    *,
    profile: Profile,
    seed: int,
    jobs: int = 1,
    executor: ExecutorChoice | None = None,
    store: EvidenceStore | None = None,
    accumulate: bool = False,
    expectations: Mapping[str, Expectation] | None = None,
    sections: Sequence[Section] = (),
    options: Sequence[str] = (),
    progress: Progress | None = None,
) -> LedgerRun:
    """Verify `claims` of a ledger, by default all, and its `sections`, and return the record.

    The error budget is split over all claims and sections of the ledger, selected or not, so a claim's numbers do not
    depend on what else is run. The record is the same, times aside, whatever the `executor`, in whose place `jobs`
    processes of this machine may stand, and whatever of it was in the `store`. Each unit of work is stored as soon as
    it is finished, and the run when it is.

    With `accumulate` the evidence against each null hypothesis is multiplied with that of the earlier runs in the store
    (:mod:`dpsco_verify.store.e_values`); then the record depends on these as well. Without it the evidence is stored
    all the same, for later runs. The `expectations` are the ledger's own where none are given; `options` stand in the
    commands that reproduce a finding, for a ledger that holds fewer papers than are installed.

    Raises
    ------
    InputError
        For a negative seed, or `accumulate` without a store.
    """
    if accumulate and store is None:
        raise InputError("accumulate=True needs the earlier runs; give a store")
    seed = require_integer("seed", seed, minimum=0)
    started = time.perf_counter()
    expected = ledger.expectations if expectations is None else expectations
    chosen = ledger.claims if claims is None else claims
    spending = Spending(ledger.error_budget)
    planned = [
        _plan(claim, spending.budget, profile=profile, seed=seed, accumulate=accumulate) for claim in chosen
    ]
    subjects = {subject: handle for one in planned for subject, handle in one.units.subjects.items()}
    in_sections = [
        _plan_section(section, spending.budget, subjects, profile=profile, seed=seed) for section in sections
    ]
    parts: list[Units] = [*(one.units for one in planned), *(one.units for one in in_sections)]
    units: list[WorkUnit] = [unit for part in parts for unit in part]
    run = store.begin_run(profile=profile.value, seed=seed) if store is not None else None
    memory = RunMemory(store, run) if store is not None and run is not None else None
    accumulation = (
        Accumulation(store=store, run=run, memory=memory, profile=profile, seed=seed, accumulate=accumulate)
        if store is not None and run is not None and memory is not None
        else None
    )
    with make_executor(executor or jobs) as workers:
        done = execute(units, workers, progress, memory=memory)

    findings: list[Finding] = []
    certificates: dict[str, bytes] = {}
    for one in planned:
        finding, certificate = _conclude(
            ledger,
            one,
            done,
            expected.get(one.claim.key),
            spending,
            accumulation=accumulation,
            options=options,
        )
        findings.append(finding)
        if certificate is not None and finding.certificate is not None:
            certificates[finding.certificate] = certificate
    museum: MuseumRecord | None = None
    compared: ComparisonRecord | None = None
    for part in in_sections:
        spending.spend(part.context.share.whole())
        found = part.section.conclude(part.context, part.work, Outcomes(done))
        if isinstance(found, MuseumRecord):
            museum = found
        else:
            compared = found
    by_claim = {
        one.claim.key: spending.spent(one.claim.key) for one in planned if one.context.share is not None
    }
    record = AuditRecord(
        schema_version=SCHEMA_VERSION,
        papers=tuple(
            entry.paper for entry in ledger.papers if any(c.paper == entry.paper.id for c in chosen)
        ),
        profile=profile.value,
        seed=seed,
        versions=versions(),
        error_budget=BudgetRecord(
            total=spending.budget.total,
            spent=spending.spent(),
            by_claim=by_claim | {section.key: spending.spent(section.key) for section in sections},
        ),
        claims=tuple(findings),
        errata=errata(findings, ledger.discrepancies),
        museum=museum,
        comparison=compared,
        exit_code=int(exit_code(findings, museum, compared)),
        seconds=time.perf_counter() - started,
    )
    if store is not None and run is not None:
        store.finish_run(run, exit_code=record.exit_code, results=encode(record))
    return LedgerRun(
        record=record,
        certificates=certificates,
        units=len(units),
        recalled=memory.recalled if memory is not None else 0,
    )


def _plan(claim: Claim, budget: ErrorBudget, *, profile: Profile, seed: int, accumulate: bool) -> _Planned:
    context = Context(
        profile=profile,
        seed=seed,
        share=budget.share(claim.key) if claim.reading.weight > 0 else None,
        accumulate=accumulate,
    )
    units = Units(claim.key, seed=seed)
    return _Planned(
        claim=claim, context=context, units=units, work=claim.statement.plan(claim.reading, context, units)
    )


@dataclass(frozen=True, kw_only=True)
class _PlannedSection:
    section: Section
    context: SectionContext
    units: Units
    work: Any


def _plan_section(
    section: Section,
    budget: ErrorBudget,
    subjects: Mapping[Hashable, Handle[Any]],
    *,
    profile: Profile,
    seed: int,
) -> _PlannedSection:
    context = SectionContext(profile=profile, seed=seed, share=budget.share(section.key), subjects=subjects)
    units = Units(section.key, seed=seed)
    return _PlannedSection(section=section, context=context, units=units, work=section.plan(context, units))


def _conclude(
    ledger: Ledger,
    planned: _Planned,
    done: Mapping[str, Outcome],
    expectation: Expectation | None,
    spending: Spending,
    *,
    accumulation: Accumulation | None,
    options: Sequence[str],
) -> tuple[Finding, bytes | None]:
    started = time.perf_counter()
    claim, context = planned.claim, planned.context
    statement, reading = claim.statement, claim.reading
    units = list(planned.units)
    products: Mapping[str, Accumulated] = {}
    certificate: checker.Certificate[Any] | None = None
    try:
        decision = statement.conclude(reading, context, planned.work, Outcomes(done))
        if accumulation is not None:
            products = accumulation.multiply(claim, decision, units)
            decision = decided_together(decision, products)
        if decision.witness is not None:
            draw = _draw(ledger, context) if isinstance(decision.witness, checker.Evidence) else msgspec.UNSET
            certificate = checker.issue(statement.id, reading.id, decision.witness, draw)
    except checker.Rejected as reason:
        decision = _nothing(context, f"no certificate could be issued, so nothing is claimed: {reason}")
    except ContradictionError as reason:
        decision = _nothing(
            context, f"two computations contradict each other, so nothing is claimed: {reason}"
        )
    if context.share is not None and decision.spent:
        divided = context.share.divide(sorted(decision.spent))
        for name in sorted(decision.spent):
            spending.spend(divided.part(name), alpha=decision.spent[name])
    backed = with_checked_certificate(decision.verdict, decision.summary, certificate, ledger.kinds)
    seconds = sum(done[unit.name].seconds for unit in units) + time.perf_counter() - started
    finding = Finding(
        paper=claim.paper,
        id=statement.id,
        title=statement.title,
        reference=statement.reference,
        label=statement.label,
        reading=reading.id,
        reading_text=reading.text,
        stance=reading.stance,
        statement=reading.statement,
        verdict=backed.verdict,
        expected=expectation.expected if expectation else None,
        summary=backed.summary,
        method=reading.method,
        evidence=dict(decision.evidence),
        tables=tuple(decision.tables),
        plots=tuple(decision.plots),
        counterexample=decision.counterexample,
        proof_steps=tuple(decision.proof_steps),
        sharpness=tuple(decision.sharpness),
        certificate=f"certificates/{statement.id}-{reading.id}.json" if backed.data is not None else None,
        scope=backed.scope,
        reproduce=" ".join(
            [
                f"dpsco-verify audit --profile {context.profile} --seed {context.seed}",
                *options,
                f"--select {claim.key}",
                *(["--accumulate"] if context.accumulate else []),
            ]
        ),
        seconds=seconds,
        accumulated=records(products),
    )
    return finding, backed.data


def _draw(ledger: Ledger, context: Context) -> checker.Draw:
    """Return what the checker needs to say how observations are drawn again, and which share they may spend."""
    return checker.Draw(
        profile=context.profile.value,
        seed=str(context.seed),
        papers=tuple(entry.paper.id for entry in ledger.papers),
    )


def _nothing(context: Context, why: str) -> Decision:
    return Decision(
        verdict=Verdict.INCONCLUSIVE,
        summary=why,
        evidence={},
        spent={"all": context.share.alpha} if context.share else {},
    )
