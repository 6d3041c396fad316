"""Run a gate: load what it names, split its budget, audit one after the other, make the record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsco_verify.arrays import FloatArray
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
from dpsco_verify.auditing.pairs import require_pair
from dpsco_verify.auditing.program import Program
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditRecord, Finding, Source
from dpsco_verify.gating.audit_evidence import FindingNames
from dpsco_verify.gating.canary_evidence import canary_finding
from dpsco_verify.gating.config import AuditEntry, CanaryEntry, GateConfig, GuaranteeEntry
from dpsco_verify.gating.guarantee_evidence import findings_of
from dpsco_verify.gating.guarantees import PlannedGuarantee, load_guarantee, spends_level
from dpsco_verify.gating.load import load_mechanism, load_pairs, source_of
from dpsco_verify.gating.record import gate_record, record_of
from dpsco_verify.gating.score_files import load_scores
from dpsco_verify.inference import ErrorBudget
from dpsco_verify.privacy.claims import PrivacyClaim

_PROGRAM_MARGIN = 10.0
"""Seconds by which the audit waits longer than the program's own time limit, whose message says more."""

_UNSEEDED = "--unseeded, or seeded = false in a configuration"

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, kw_only=True)
class Planned:
    """An audit with everything that it needs, loaded and checked before anything is drawn."""

    entry: AuditEntry
    id: str
    reading: str
    claim: PrivacyClaim
    mechanism: Any
    pairs: Any
    alpha: float
    samples: int
    seed: int
    source: Source | None

    @property
    def key(self) -> str:
        """The name of the audit."""
        return f"{self.id}/{self.reading}"

    @property
    def label(self) -> str:
        """What its pairs are called."""
        return ", ".join(self.entry.pairs)


@dataclass(frozen=True, kw_only=True)
class PlannedCanaries:
    """An audit by canaries with its scores, loaded and checked."""

    entry: CanaryEntry
    id: str
    reading: str
    scores: tuple[FloatArray, FloatArray]
    alpha: float
    seed: int

    @property
    def key(self) -> str:
        """The name of the audit."""
        return f"{self.id}/{self.reading}"


def plan(config: GateConfig, select: Sequence[str] = ()) -> tuple[Planned, ...]:
    """Return the audits of a gate that `select` names (all, if empty), each by ``id`` or ``id/reading``.

    The error budget is split over all audits of the gate, selected or not, so that an audit's numbers do not depend on
    what else is run.

    Raises
    ------
    InputError
        If anything that an audit names is missing or unusable, or `select` names no audit.
    """
    claims = []
    for entry in config.audit:
        entry.require_one_mechanism()
        claims.append(entry.claim())
    keys, _, _, budget = _named(config, claims, select)
    return tuple(
        Planned(
            entry=entry,
            id=key[0],
            reading=key[1],
            claim=claim,
            mechanism=_mechanism(entry),
            pairs=_pairs(entry),
            alpha=budget.share("/".join(key)).alpha,
            samples=config.samples(entry),
            seed=config.seed,
            source=source_of(entry.mechanism, Path.cwd()) if entry.mechanism is not None else None,
        )
        for entry, key, claim in zip(config.audit, keys, claims, strict=True)
        if not select or {key[0], "/".join(key)} & set(select)
    )


def plan_canaries(config: GateConfig, select: Sequence[str] = ()) -> tuple[PlannedCanaries, ...]:
    """Return the audits by canaries of a gate that `select` names, their scores loaded.

    Raises
    ------
    InputError
        As :func:`plan`.
    """
    _, keys, _, budget = _named(config, [entry.claim() for entry in config.audit], select)
    return tuple(
        PlannedCanaries(
            entry=entry,
            id=key[0],
            reading=key[1],
            scores=load_scores(Path(entry.scores)),
            alpha=budget.share("/".join(key)).alpha,
            seed=config.seed,
        )
        for entry, key in zip(config.canaries, keys, strict=True)
        if not select or {key[0], "/".join(key)} & set(select)
    )


def plan_guarantees(config: GateConfig, select: Sequence[str] = ()) -> tuple[PlannedGuarantee, ...]:
    """Return the guarantees of other kinds of a gate that `select` names, their functions loaded.

    Raises
    ------
    InputError
        As :func:`plan`.
    """
    _, _, keys, budget = _named(config, [entry.claim() for entry in config.audit], select)
    return tuple(
        load_guarantee(
            entry,
            id_=key[0],
            reading=key[1],
            alpha=budget.share("/".join(key)).alpha if spends_level(entry) else None,
            seed=config.seed,
        )
        for entry, key in zip(config.guarantee, keys, strict=True)
        if not select or {key[0], "/".join(key)} & set(select)
    )


_Keys = list[tuple[str, str]]


def _named(
    config: GateConfig, claims: Sequence[PrivacyClaim], select: Sequence[str]
) -> tuple[_Keys, _Keys, _Keys, ErrorBudget]:
    """Return the names of the audits, of those by canaries and of the other guarantees, and the budget split over all.

    What is exact has no share.
    """
    names = FindingNames()
    keys = []
    for entry, claim in zip(config.audit, claims, strict=True):
        pairs = " ".join(name.rpartition(":")[2].removesuffix(".json") for name in entry.pairs)
        keys.append(names.of(entry.title, f"{claim} {pairs}"))
    of_canaries = []
    for one in config.canaries:
        claimed = " ".join(f"{name} {value}" for name, value in one.claimed().items() if value is not None)
        of_canaries.append(names.of(one.title, claimed))
    others = [names.of(one.title, one.kind) for one in config.guarantee]
    known = ["/".join(key) for key in (*keys, *of_canaries, *others)]
    for name in select:
        if name not in {*known, *(key.partition("/")[0] for key in known)}:
            raise InputError(f"select={name!r} names no audit; give one of {', '.join(known)}")
    entries: tuple[AuditEntry | CanaryEntry | GuaranteeEntry, ...]
    entries = (*config.audit, *config.canaries, *config.guarantee)
    weights = {
        key: entry.weight
        for key, entry in zip(known, entries, strict=True)
        if not isinstance(entry, GuaranteeEntry) or spends_level(entry)
    }
    budget = ErrorBudget.split(config.error_budget, weights or {"nothing": 1.0})
    return keys, of_canaries, others, budget


def _pairs(entry: AuditEntry) -> Any:
    pairs = load_pairs(entry.pairs)
    if isinstance(pairs, list):
        for number, (d, d_prime) in enumerate(pairs, 1):
            of = f", number {number} of {len(pairs)}" if len(pairs) > 1 else ""
            require_pair(d, d_prime, entry.relation, name=f"pair={', '.join(entry.pairs)!r}{of}")
    return pairs


def _mechanism(entry: AuditEntry) -> Any:
    if entry.command is not None:
        return Program(entry.command, time_limit=entry.time_limit, seeded=entry.seeded)
    return load_mechanism(entry.mechanism or "", once=entry.per_call)


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
        As :func:`plan` takes them.
    profile
        What the record calls the effort; the config's profile by default.
    reproduce
        Returns the command that repeats an audit.
    progress
        Called with the number of audits done, of all, and the name of the next.

    Raises
    ------
    InputError
        As :func:`plan`, and for arguments that an audit refuses.
    MechanismError
        If a mechanism cannot be audited; nothing is concluded then about any.
    """
    started = time.perf_counter()
    planned, with_canaries = plan(config, select), plan_canaries(config, select)
    others = plan_guarantees(config, select)
    total = len(planned) + len(with_canaries) + len(others)
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
            relation=one.entry.relation,
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
    mechanism, pairs = _mechanism(entry), _pairs(entry)
    if not isinstance(pairs, list):
        raise InputError(
            f"pair={', '.join(entry.pairs)!r} is a strategy, whose worst pair depends on a claim; give pairs"
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
                    relation=entry.relation,
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
