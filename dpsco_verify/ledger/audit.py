"""A run of the ledger: plan, execute, conclude, check the certificates, gate."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpsco_verify.comparison import ComparisonPlan, audit_units, comparison_units, conclude_comparison
from dpsco_verify.comparison.audits import audit_system
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence import (
    SCHEMA_VERSION,
    AuditRecord,
    BudgetRecord,
    ComparisonRecord,
    ContradictionError,
    Finding,
    Verdict,
    checker,
)
from dpsco_verify.evidence.standing import with_checked_certificate
from dpsco_verify.evidence.store import encode
from dpsco_verify.evidence.versions import versions
from dpsco_verify.execution import ExecutorChoice, Outcome, Progress, WorkUnit, execute, make_executor
from dpsco_verify.faults import Judged, museum_record, museum_rows, museum_units
from dpsco_verify.inference.budget import ErrorBudget, Spending
from dpsco_verify.ledger.accumulation import OverRuns, decided_together, records
from dpsco_verify.ledger.baseline import Expectation
from dpsco_verify.ledger.errata import errata
from dpsco_verify.ledger.gate import exit_code
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.registry import PAPER, all_claims, all_discrepancies
from dpsco_verify.ledger.statement import Claim, Conclusion, Context
from dpsco_verify.store import Accumulated, EvidenceStore, RunMemory
from dpsco_verify.validation import require_integer

ERROR_BUDGET = 1e-6
"""The probability, at most, that anything in a run alarms falsely."""
MUSEUM = "fault-museum"
_MUSEUM_WEIGHT = 1.0 / 9.0
"""The museum has a tenth of the budget: its faults are gross, and its controls are all that can alarm falsely."""


COMPARISON = "comparison"
_COMPARISON_WEIGHT = 1.0 / 20.0
"""For the audits of the variants of which the ledger has no claim."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The record of a run and the certificates that go with it, by relative path.

    `recalled` of its `units` units of work were in the store, and were not executed again.
    """

    record: AuditRecord
    certificates: Mapping[str, bytes]
    units: int = 0
    recalled: int = 0

    __bool__ = no_truth_value("audit.record.exit_code == 0")


def run_audit(
    claims: Sequence[Claim],
    *,
    profile: Profile,
    seed: int,
    jobs: int = 1,
    executor: ExecutorChoice | None = None,
    store: EvidenceStore | None = None,
    accumulate: bool = False,
    baseline: Mapping[str, Expectation],
    exhibits: Sequence[Judged] = (),
    comparison: ComparisonPlan | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Verify `claims`, judge the `exhibits` of the fault museum, compare the systems, and return the record.

    The error budget is split over all claims of the ledger and the museum, selected or not, so a claim's numbers do not
    depend on what else is run. The record is the same, times aside, whatever the `executor`, in whose place `jobs`
    processes of this machine may stand, and whatever of it was in the `store`. Each unit of work is stored as soon as
    it is finished, and the run when it is.

    With `accumulate` the evidence against each null hypothesis is multiplied with that of the earlier runs in the store
    (:mod:`dpsco_verify.store.e_values`); then the record depends on these as well. Without it the evidence is stored
    all the same, for later runs.

    Raises
    ------
    InputError
        For a negative seed, or `accumulate` without a store.
    """
    if accumulate and store is None:
        raise InputError("accumulate=True needs the earlier runs; give a store")
    seed = require_integer("seed", seed, minimum=0)
    started = time.perf_counter()
    weights = {c.key: c.reading.weight for c in all_claims() if c.reading.weight > 0}
    whole = sum(weights.values())
    budget = ErrorBudget.split(
        ERROR_BUDGET, weights | {MUSEUM: _MUSEUM_WEIGHT * whole, COMPARISON: _COMPARISON_WEIGHT * whole}
    )
    spending = Spending(budget)
    contexts = {
        claim.key: Context(
            profile=profile,
            seed=seed,
            share=budget.share(claim.key) if claim.reading.weight > 0 else None,
            accumulate=accumulate,
        )
        for claim in claims
    }
    planned = {claim.key: claim.statement.units(claim.reading, contexts[claim.key]) for claim in claims}
    units: list[WorkUnit] = [unit for part in planned.values() for unit in part]
    museum_share = budget.share(MUSEUM)
    if exhibits:
        units += museum_units(exhibits, error_budget=museum_share.alpha, seed=seed)
    comparison_share = budget.share(COMPARISON)
    if comparison is not None:
        units += comparison_units(comparison, seed=seed)
        units += audit_units(
            comparison,
            seed=seed,
            error_budget=comparison_share.alpha,
            audited={unit.arguments["system"] for unit in units if unit.function is audit_system},
        )
    run = store.begin_run(profile=profile.value, seed=seed) if store is not None else None
    memory = RunMemory(store, run) if store is not None and run is not None else None
    over_runs = (
        OverRuns(store=store, run=run, memory=memory, seed=seed, accumulate=accumulate)
        if store is not None and run is not None and memory is not None
        else None
    )
    with make_executor(executor or jobs) as workers:
        outcomes = execute(units, workers, progress, memory=memory)

    findings: list[Finding] = []
    certificates: dict[str, bytes] = {}
    for claim in claims:
        own = {unit.name: outcomes[unit.name] for unit in planned[claim.key]}
        finding, certificate = _conclude(
            claim, contexts[claim.key], own, baseline, spending, units=planned[claim.key], over_runs=over_runs
        )
        findings.append(finding)
        if certificate is not None and finding.certificate is not None:
            certificates[finding.certificate] = certificate
    museum = None
    if exhibits:
        level = spending.spend(museum_share.whole())
        museum = museum_record(museum_rows(exhibits, outcomes), error_budget=level)
    compared = None
    if comparison is not None:
        spending.spend(comparison_share.whole())
        compared = _compare(comparison, units, outcomes)
    by_claim = {claim.key: spending.spent(claim.key) for claim in claims if claim.reading.weight > 0}
    record = AuditRecord(
        schema_version=SCHEMA_VERSION,
        paper=PAPER,
        profile=profile.value,
        seed=seed,
        versions=versions(),
        error_budget=BudgetRecord(
            total=budget.total,
            spent=spending.spent(),
            by_claim=by_claim
            | ({MUSEUM: spending.spent(MUSEUM)} if exhibits else {})
            | ({COMPARISON: spending.spent(COMPARISON)} if comparison is not None else {}),
        ),
        claims=tuple(findings),
        errata=errata(findings, all_discrepancies()),
        museum=museum,
        comparison=compared,
        exit_code=int(exit_code(findings, museum, compared)),
        seconds=time.perf_counter() - started,
    )
    if store is not None and run is not None:
        store.finish_run(run, exit_code=record.exit_code, results=encode(record))
    return Audit(
        record=record,
        certificates=certificates,
        units=len(units),
        recalled=memory.recalled if memory is not None else 0,
    )


def _compare(
    plan: ComparisonPlan, units: Sequence[WorkUnit], outcomes: Mapping[str, Outcome]
) -> ComparisonRecord:
    """Return the comparison; its audits are those of the ledger's claims, and of the systems that have none."""
    audits = [unit for unit in units if unit.function is audit_system]
    return conclude_comparison(
        plan,
        outcomes,
        {unit.arguments["system"]: outcomes[unit.name].value for unit in audits},
        error_budget=math.fsum(unit.arguments["alpha"] for unit in audits),
    )


def _conclude(
    claim: Claim,
    context: Context,
    outcomes: Mapping[str, Outcome],
    baseline: Mapping[str, Expectation],
    spending: Spending,
    *,
    units: Sequence[WorkUnit],
    over_runs: OverRuns | None,
) -> tuple[Finding, bytes | None]:
    started = time.perf_counter()
    statement, reading = claim.statement, claim.reading
    products: Mapping[str, Accumulated] = {}
    try:
        conclusion = statement.conclude(reading, context, outcomes)
        if over_runs is not None:
            products = over_runs.multiply(claim, conclusion, units)
            conclusion = decided_together(claim, conclusion, products)
    except checker.Rejected as reason:
        conclusion = _nothing(context, f"no certificate could be issued, so nothing is claimed: {reason}")
    except ContradictionError as reason:
        conclusion = _nothing(
            context, f"two computations contradict each other, so nothing is claimed: {reason}"
        )
    if context.share is not None and conclusion.spent:
        divided = context.share.divide(sorted(conclusion.spent))
        for name in sorted(conclusion.spent):
            spending.spend(divided.part(name), alpha=conclusion.spent[name])
    verdict, summary, certificate = _with_checked_certificate(conclusion)
    expectation = baseline.get(claim.key)
    seconds = sum(outcome.seconds for outcome in outcomes.values()) + time.perf_counter() - started
    finding = Finding(
        id=statement.id,
        title=statement.title,
        reference=statement.reference,
        label=statement.label,
        reading=reading.id,
        reading_text=reading.text,
        statement=reading.statement,
        verdict=verdict,
        expected=expectation.expected if expectation else None,
        summary=summary,
        method=reading.method,
        evidence=dict(conclusion.evidence),
        tables=tuple(conclusion.tables),
        plots=tuple(conclusion.plots),
        counterexample=conclusion.counterexample,
        proof_steps=tuple(conclusion.proof_steps),
        sharpness=tuple(conclusion.sharpness),
        certificate=f"certificates/{statement.id}-{reading.id}.json" if certificate is not None else None,
        reproduce=f"dpsco-verify audit --profile {context.profile} --seed {context.seed} --select {claim.key}"
        + (" --accumulate" if context.accumulate else ""),
        seconds=seconds,
        accumulated=records(products),
    )
    return finding, certificate


def _nothing(context: Context, why: str) -> Conclusion:
    return Conclusion(
        verdict=Verdict.INCONCLUSIVE,
        summary=why,
        evidence={},
        spent={"all": context.share.alpha} if context.share else {},
    )


def _with_checked_certificate(conclusion: Conclusion) -> tuple[Verdict, str, bytes | None]:
    return with_checked_certificate(conclusion.verdict, conclusion.summary, conclusion.certificate)
