"""Run a gate as it is planned: judge one after the other, and make the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from dpsco_verify.auditing import (
    AuditResult,
    AuditVerdict,
    CanaryAudit,
    EpsilonEstimate,
    MechanismError,
    audit,
    audit_canaries,
    estimate_epsilon,
)
from dpsco_verify.auditing.program import Program
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditRecord, Finding
from dpsco_verify.gating.canary_evidence import canary_finding
from dpsco_verify.gating.config import GateConfig
from dpsco_verify.gating.entries import AuditEntry
from dpsco_verify.gating.guarantee_evidence import findings_of
from dpsco_verify.gating.guarantees import PlannedGuarantee
from dpsco_verify.gating.load import load_relation
from dpsco_verify.gating.plan import Planned, PlannedCanaries, mechanism_of, pairs_of, plan
from dpsco_verify.gating.record import gate_record, record_of

_PROGRAM_MARGIN = 10.0
"""Seconds by which the audit waits longer than the program's own time limit, whose message says more."""

_UNSEEDED = "--unseeded, or seeded = false in a configuration"

Progress = Callable[[int, int, str], None]


def run_gate(
    config: GateConfig,
    *,
    select: Sequence[str] = (),
    profile: str | None = None,
    reproduce: Callable[[Planned | PlannedCanaries | PlannedGuarantee], str] | None = None,
    progress: Progress | None = None,
) -> tuple[AuditRecord, Mapping[str, bytes]]:
    """Run the audits of a gate and return the record with the certificates by path.

    Parameters
    ----------
    config, select
        As :func:`~dpsco_verify.gating.plan.plan` takes them.
    profile
        What the record calls the effort; the config's profile by default.
    reproduce
        Returns the command that repeats an audit.
    progress
        Called with the number of audits done, of all, and the name of the next.

    Raises
    ------
    InputError
        As :func:`~dpsco_verify.gating.plan.plan`, and for arguments that an audit refuses.
    MechanismError
        If a mechanism cannot be audited; nothing is concluded then about any.
    """
    started = time.perf_counter()
    whole_plan = plan(config, select)
    planned, with_canaries, others = whole_plan.audits, whole_plan.canaries, whole_plan.guarantees
    total = len(whole_plan)
    results: list[AuditResult] = []
    for number, one in enumerate(planned):
        if progress is not None:
            progress(number, total, one.key)
        results.append(_audited(one))
    record, certificates = gate_record(
        results,
        error_budget=config.error_budget,
        seed=config.seed,
        profile=profile or config.profile.value,
        seconds=time.perf_counter() - started,
        keys=[(one.id, one.reading) for one in planned],
        labels=[one.label for one in planned],
        sources=[one.source for one in planned],
        reproduce=None if reproduce is None else [reproduce(one) for one in planned],
        expected=[AuditVerdict(one.entry.expect) for one in planned],
    )
    if not with_canaries and not others:
        return record, certificates
    findings, levels = list(record.claims), dict(record.error_budget.by_claim)
    for number, scored in enumerate(with_canaries, len(planned)):
        if progress is not None:
            progress(number, total, scored.key)
        finding, certificate = canary_finding(
            _of_canaries(scored),
            id_=scored.id,
            reading=scored.reading,
            reproduce="" if reproduce is None else reproduce(scored),
            expected=AuditVerdict(scored.entry.expect),
        )
        findings.append(finding)
        levels[finding.key] = scored.alpha
        if certificate is not None and finding.certificate is not None:
            certificates[finding.certificate] = certificate
    for number, other in enumerate(others, len(planned) + len(with_canaries)):
        if progress is not None:
            progress(number, total, other.key)
        command = "" if reproduce is None else reproduce(other)
        for finding, level, files in _of_guarantee(other, command):
            findings.append(finding)
            levels[finding.key] = level
            certificates |= files
    whole = record_of(
        findings,
        levels,
        error_budget=config.error_budget,
        seed=config.seed,
        profile=record.profile,
        seconds=time.perf_counter() - started,
    )
    return whole, certificates


def _of_guarantee(one: PlannedGuarantee, reproduce: str) -> Iterator[tuple[Finding, float, dict[str, bytes]]]:
    """Yield the findings of a guarantee, with the level that each spent, and its certificate by its path."""
    expected = AuditVerdict(one.entry.expect)
    for finding, level, certificate in findings_of(
        one.check(), id_=one.id, reading=one.reading, reproduce=reproduce, expected=expected
    ):
        backed = certificate is not None and finding.certificate is not None
        yield finding, level, {str(finding.certificate): certificate or b""} if backed else {}


def _of_canaries(one: PlannedCanaries) -> CanaryAudit:
    entry = one.entry
    try:
        return audit_canaries(
            *one.scores,
            **entry.claimed(),
            method=entry.method,
            family=entry.family,
            guesses=entry.guesses,
            alpha=one.alpha,
            epsilon_of_interest=entry.epsilon_of_interest,
            multiple_of_interest=entry.multiple_of_interest,
            seed=one.seed,
            name=entry.title,
        )
    except InputError as error:
        raise InputError(f"canaries={entry.scores!r}: {error}") from None


def _audited(one: Planned) -> AuditResult:
    with _started(one.entry, one.mechanism) as time_limit:
        return audit(
            one.mechanism,
            pairs=one.pairs,
            claim=one.claim,
            relation=one.relation,
            alpha=one.alpha,
            samples=one.samples,
            seed=one.seed,
            time_limit=time_limit,
            total_time_limit=one.entry.total_time_limit,
            epsilon_of_interest=one.entry.epsilon_of_interest,
            multiple_of_interest=one.entry.multiple_of_interest,
            pair_examples=one.entry.pair_examples,
            floating_point=one.entry.floating_point,
            name=one.entry.title,
        )


def run_estimates(config: GateConfig, *, progress: Progress | None = None) -> tuple[EpsilonEstimate, ...]:
    """Return a lower bound on ε for each pair of the one audit of `config`, at its δ; its claim has no part in it.

    All bounds hold together with confidence 1 − `config.error_budget`.

    Raises
    ------
    InputError
        If anything that it names is missing or unusable, or its pairs are a strategy.
    MechanismError
        If the mechanism cannot be audited.
    """
    [entry] = config.audit
    entry.require_one_mechanism()
    mechanism, pairs = mechanism_of(entry), pairs_of(entry)
    if not isinstance(pairs, list):
        raise InputError(
            f"pair={', '.join(entry.pairs)!r} draws pairs, of which the worst depends on a claim; give pairs"
        )
    found = []
    with _started(entry, mechanism) as time_limit:
        for number, pair in enumerate(pairs):
            if progress is not None:
                progress(number, len(pairs), entry.title)
            found.append(
                estimate_epsilon(
                    mechanism,
                    pair,
                    entry.delta or 0.0,
                    relation=load_relation(entry.relation),
                    alpha=config.error_budget / len(pairs),
                    samples=config.samples(entry),
                    seed=config.seed,
                    time_limit=time_limit,
                    floating_point=entry.floating_point,
                    name=entry.title if len(pairs) == 1 else f"{entry.title}, pair {number + 1}",
                )
            )
    return tuple(found)


@contextmanager
def _started(entry: AuditEntry, mechanism: Any) -> Iterator[float]:
    """Start a program, and end it; give the seconds that one call may take."""
    with ExitStack() as stack:
        time_limit = entry.time_limit
        if isinstance(mechanism, Program):
            stack.enter_context(mechanism)
            time_limit += _PROGRAM_MARGIN
        try:
            yield time_limit
        except MechanismError as error:
            if entry.command is not None and "ignores the rng" in str(error):
                raise MechanismError(f"{error}; a program that does so is run with {_UNSEEDED}") from None
            raise
