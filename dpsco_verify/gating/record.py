"""The record of a gate: the same record, and so the same reports, as a run of the ledger has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from dpsco_verify.auditing import AuditResult, AuditVerdict
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import SCHEMA_VERSION, AuditRecord, BudgetRecord, Finding, Source
from dpsco_verify.evidence.exit_code import exit_code
from dpsco_verify.evidence.versions import versions
from dpsco_verify.gating.audit_evidence import FindingNames, audit_finding


def gate_record(
    results: Sequence[AuditResult],
    *,
    error_budget: float,
    seed: int,
    profile: str,
    seconds: float,
    keys: Sequence[tuple[str, str]] | None = None,
    labels: Sequence[str] | None = None,
    reproduce: Sequence[str] | None = None,
    sources: Sequence[Source | None] | None = None,
    expected: Sequence[AuditVerdict] | None = None,
) -> tuple[AuditRecord, dict[str, bytes]]:
    """Return the record of audits, a finding each, and their certificates by path.

    Parameters
    ----------
    results
        The audits, in the order of the report.
    error_budget
        The probability, at most, that any of them alarms falsely; their levels sum to no more.
    seed, profile, seconds
        Those of the whole run.
    keys
        The id and the reading of each finding; made of the mechanism's name, the claim and the label where None.
    labels
        What the pair of each audit is called; empty where it has no name.
    reproduce
        For each audit the command that repeats it; a line of Python where None.
    sources
        For each audit where its mechanism is written, or None.
    expected
        The verdict of each audit that is no surprise; ``not_violated`` where None.

    Raises
    ------
    InputError
        If the levels exceed the budget.
    """
    names = FindingNames()
    findings: list[Finding] = []
    certificates: dict[str, bytes] = {}
    levels: dict[str, float] = {}
    for i, result in enumerate(results):
        label = labels[i] if labels is not None else ""
        id_, reading = keys[i] if keys is not None else names.of(result.mechanism, f"{result.claim} {label}")
        finding, certificate = audit_finding(
            result,
            id_=id_,
            reading=reading,
            label=label,
            reproduce=reproduce[i] if reproduce is not None else None,
            expected=expected[i] if expected is not None else AuditVerdict.NOT_VIOLATED,
        )
        source = sources[i] if sources is not None else None
        findings.append(finding if source is None else msgspec.structs.replace(finding, source=source))
        levels[finding.key] = result.alpha
        if certificate is not None and finding.certificate is not None:
            certificates[finding.certificate] = certificate
    record = record_of(
        findings, levels, error_budget=error_budget, seed=seed, profile=profile, seconds=seconds
    )
    return record, certificates


def record_of(
    findings: Sequence[Finding],
    levels: Mapping[str, float],
    *,
    error_budget: float,
    seed: int,
    profile: str,
    seconds: float,
) -> AuditRecord:
    """Return the record of findings that were made one by one; `levels` says what each of them, by its key, spent.

    Raises
    ------
    InputError
        If two findings have one key, or the levels exceed the budget.
    """
    keys = [finding.key for finding in findings]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise InputError(f"key={twice!r} names two findings; give each its own id and reading")
    return AuditRecord(
        schema_version=SCHEMA_VERSION,
        papers=(),
        profile=profile,
        seed=seed,
        versions=versions(),
        error_budget=BudgetRecord(
            total=error_budget, spent=math.fsum(levels.values()), by_claim=dict(levels)
        ),
        claims=tuple(findings),
        exit_code=int(exit_code(findings)),
        seconds=seconds,
    )
