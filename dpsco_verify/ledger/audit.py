"""A run of the ledger: plan, execute, conclude, check the certificates, gate."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import msgspec

from dpsco_verify.evidence import (
    SCHEMA_VERSION,
    AuditRecord,
    BudgetRecord,
    ContradictionError,
    Finding,
    Verdict,
    checker,
)
from dpsco_verify.execution import Outcome, Progress, WorkUnit, execute, make_executor
from dpsco_verify.inference.budget import ErrorBudget, Spending
from dpsco_verify.ledger.baseline import Expectation
from dpsco_verify.ledger.errata import errata
from dpsco_verify.ledger.gate import exit_code
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.registry import PAPER, all_claims, all_discrepancies
from dpsco_verify.ledger.statement import Claim, Conclusion, Context
from dpsco_verify.validation import require_integer

ERROR_BUDGET = 1e-6
"""The probability, at most, that anything in a run alarms falsely."""

_LIBRARIES = ("numpy", "scipy", "statsmodels", "python-flint", "msgspec")


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The record of a run and the certificates that go with it, by relative path."""

    record: AuditRecord
    certificates: Mapping[str, bytes]


def run_audit(
    claims: Sequence[Claim],
    *,
    profile: Profile,
    seed: int,
    jobs: int,
    baseline: Mapping[str, Expectation],
    progress: Progress | None = None,
) -> Audit:
    """Verify `claims` and return the record.

    The error budget is split over all claims of the ledger, selected or not, so a claim's numbers do not depend on what
    else is run. The record is the same, times aside, whatever the number of `jobs`.
    """
    seed = require_integer("seed", seed, minimum=0)
    started = time.perf_counter()
    budget = ErrorBudget.split(
        ERROR_BUDGET, {c.key: c.reading.weight for c in all_claims() if c.reading.weight > 0}
    )
    spending = Spending(budget)
    contexts = {
        claim.key: Context(
            profile=profile,
            seed=seed,
            share=budget.share(claim.key) if claim.reading.weight > 0 else None,
        )
        for claim in claims
    }
    planned = {claim.key: claim.statement.units(claim.reading, contexts[claim.key]) for claim in claims}
    units: list[WorkUnit] = [unit for part in planned.values() for unit in part]
    with make_executor(jobs) as executor:
        outcomes = execute(units, executor, progress)

    findings: list[Finding] = []
    certificates: dict[str, bytes] = {}
    for claim in claims:
        own = {unit.name: outcomes[unit.name] for unit in planned[claim.key]}
        finding, certificate = _conclude(claim, contexts[claim.key], own, baseline, spending)
        findings.append(finding)
        if certificate is not None and finding.certificate is not None:
            certificates[finding.certificate] = certificate
    record = AuditRecord(
        schema_version=SCHEMA_VERSION,
        paper=PAPER,
        profile=profile.value,
        seed=seed,
        versions=_versions(),
        error_budget=BudgetRecord(
            total=budget.total,
            spent=spending.spent(),
            by_claim={claim.key: spending.spent(claim.key) for claim in claims if claim.reading.weight > 0},
        ),
        claims=tuple(findings),
        errata=errata(findings, all_discrepancies()),
        exit_code=int(exit_code(findings)),
        seconds=time.perf_counter() - started,
    )
    return Audit(record=record, certificates=certificates)


def _conclude(
    claim: Claim,
    context: Context,
    outcomes: Mapping[str, Outcome],
    baseline: Mapping[str, Expectation],
    spending: Spending,
) -> tuple[Finding, bytes | None]:
    started = time.perf_counter()
    statement, reading = claim.statement, claim.reading
    try:
        conclusion = statement.conclude(reading, context, outcomes)
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
        reproduce=f"dpsco-verify audit --profile {context.profile} --seed {context.seed} --select {claim.key}",
        seconds=seconds,
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
    """Let a verdict stand only with the certificate it needs, read back and accepted by the independent checker."""
    needs_one = conclusion.verdict in (Verdict.REFUTED, Verdict.CERTIFIED)
    if conclusion.certificate is None:
        if needs_one:
            return Verdict.INCONCLUSIVE, f"no certificate backs this: {conclusion.summary}", None
        return conclusion.verdict, conclusion.summary, None
    data = msgspec.json.format(msgspec.json.encode(conclusion.certificate), indent=2) + b"\n"
    try:
        checker.check(checker.decode(data))
    except checker.Rejected as reason:
        return Verdict.INCONCLUSIVE, f"the certificate was rejected ({reason}): {conclusion.summary}", None
    return conclusion.verdict, conclusion.summary, data


def _versions() -> dict[str, str]:
    own = {"dpsco-verify": version("dpsco-verify"), "python": platform.python_version()}
    return own | {name: version(name) for name in _LIBRARIES}
