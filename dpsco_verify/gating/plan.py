"""What a gate runs: everything that it names, loaded and checked, with its shares of the error budget."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.pairs import require_pair
from dpsco_verify.auditing.program import Program
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Source
from dpsco_verify.gating.audit_evidence import FindingNames
from dpsco_verify.gating.config import GateConfig
from dpsco_verify.gating.entries import AuditEntry, CanaryEntry, GuaranteeEntry
from dpsco_verify.gating.guarantees import PlannedGuarantee, load_guarantee, spends_level
from dpsco_verify.gating.load import load_mechanism, load_pairs, load_relation, source_of
from dpsco_verify.gating.score_files import load_scores
from dpsco_verify.inference import ErrorBudget
from dpsco_verify.privacy.claims import PrivacyClaim

_Key = tuple[str, str]
_Keys = list[_Key]
E = TypeVar("E")


@dataclass(frozen=True, kw_only=True)
class Planned:
    """An audit with everything that it needs, loaded and checked before anything is drawn."""

    entry: AuditEntry
    id: str
    reading: str
    claim: PrivacyClaim
    relation: Relation | OwnRelation | None
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


@dataclass(frozen=True, kw_only=True)
class GatePlan:
    """What a gate runs."""

    audits: tuple[Planned, ...]
    canaries: tuple[PlannedCanaries, ...]
    guarantees: tuple[PlannedGuarantee, ...]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.audits) + len(self.canaries) + len(self.guarantees)


def plan(config: GateConfig, select: Sequence[str] = ()) -> GatePlan:
    """Return what a gate judges and `select` names (all, if empty), each by ``id`` or ``id/reading``.

    The error budget is split over all that the gate judges, selected or not, so that an audit's numbers do not depend
    on what else is run.

    Raises
    ------
    InputError
        If anything that an entry names is missing or unusable, or `select` names nothing.
    """
    claims = []
    for entry in config.audit:
        entry.require_one_mechanism()
        claims.append(entry.claim())
    of_audits, of_canaries, of_guarantees, budget = _named(config, claims, select)

    def alpha(key: _Key) -> float:
        return budget.share("/".join(key)).alpha

    def wanted(entries: Sequence[E], keys: Sequence[_Key]) -> Iterator[tuple[E, _Key]]:
        for entry, key in zip(entries, keys, strict=True):
            if not select or {key[0], "/".join(key)} & set(select):
                yield entry, key

    claimed = dict(zip(of_audits, claims, strict=True))
    return GatePlan(
        audits=tuple(
            Planned(
                entry=entry,
                id=key[0],
                reading=key[1],
                claim=claimed[key],
                relation=load_relation(entry.relation),
                mechanism=mechanism_of(entry),
                pairs=pairs_of(entry),
                alpha=alpha(key),
                samples=config.samples(entry),
                seed=config.seed,
                source=source_of(entry.mechanism, Path.cwd()) if entry.mechanism is not None else None,
            )
            for entry, key in wanted(config.audit, of_audits)
        ),
        canaries=tuple(
            PlannedCanaries(
                entry=entry,
                id=key[0],
                reading=key[1],
                scores=load_scores(Path(entry.scores)),
                alpha=alpha(key),
                seed=config.seed,
            )
            for entry, key in wanted(config.canaries, of_canaries)
        ),
        guarantees=tuple(
            load_guarantee(
                entry,
                id_=key[0],
                reading=key[1],
                alpha=alpha(key) if spends_level(entry) else None,
                seed=config.seed,
            )
            for entry, key in wanted(config.guarantees, of_guarantees)
        ),
    )


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
    others = [names.of(one.title, one.kind) for one in config.guarantees]
    known = ["/".join(key) for key in (*keys, *of_canaries, *others)]
    for name in select:
        if name not in {*known, *(key.partition("/")[0] for key in known)}:
            raise InputError(f"select={name!r} names no audit; give one of {', '.join(known)}")
    entries: tuple[AuditEntry | CanaryEntry | GuaranteeEntry, ...]
    entries = (*config.audit, *config.canaries, *config.guarantees)
    weights = {
        key: entry.weight
        for key, entry in zip(known, entries, strict=True)
        if not isinstance(entry, GuaranteeEntry) or spends_level(entry)
    }
    budget = ErrorBudget.split(config.error_budget, weights or {"nothing": 1.0})
    return keys, of_canaries, others, budget


def pairs_of(entry: AuditEntry) -> Any:
    """Return the pairs of an audit, each of which must be in its relation."""
    pairs, relation = load_pairs(entry.pairs), load_relation(entry.relation)
    if isinstance(pairs, list):
        for number, (d, d_prime) in enumerate(pairs, 1):
            of = f", number {number} of {len(pairs)}" if len(pairs) > 1 else ""
            require_pair(d, d_prime, relation, name=f"pair={', '.join(entry.pairs)!r}{of}")
    return pairs


def mechanism_of(entry: AuditEntry) -> Any:
    """Return what an audit judges: a program, or a function."""
    if entry.command is not None:
        return Program(entry.command, time_limit=entry.time_limit, seeded=entry.seeded)
    return load_mechanism(entry.mechanism or "", once=entry.per_call)
