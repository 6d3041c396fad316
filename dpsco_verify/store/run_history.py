"""The earlier runs of an audit: what each found, and what changed from one to the next.

A run's record is read for what is shown here alone, so that records of other schema versions can be looked at too.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from dpsco_verify.store.database import damaged
from dpsco_verify.store.evidence_store import EvidenceStore, StoredRun


class _Sharpness(msgspec.Struct, frozen=True):
    constant: str
    claimed: float | None
    holds_with: float | None
    needed: float | None
    larger_is_stronger: bool = False


class _Claim(msgspec.Struct, frozen=True):
    id: str
    reading: str
    verdict: str
    expected: str | None
    sharpness: tuple[_Sharpness, ...] = ()


class _Record(msgspec.Struct, frozen=True):
    versions: dict[str, str]
    claims: tuple[_Claim, ...]


@dataclass(frozen=True, kw_only=True)
class RunSummary:
    """A finished run; times in seconds since the epoch, `verdicts` how many claims have each."""

    run: int
    started: float
    finished: float
    profile: str
    seed: int
    exit_code: int
    versions: dict[str, str]
    verdicts: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class ConstantFound:
    """What a run found about a constant of a claim; see :class:`dpsco_verify.evidence.Sharpness`.

    Attributes
    ----------
    slack
        By which factor the claimed constant is weaker than the strongest with which the statement was shown to hold:
        1 is sharp, below 1 the claimed one was not shown. None where one of the two is missing.
    """

    constant: str
    claimed: float | None
    holds_with: float | None
    needed: float | None
    slack: float | None


@dataclass(frozen=True, kw_only=True)
class ClaimFound:
    """What a run found about a claim."""

    run: int
    verdict: str
    expected: str | None
    constants: tuple[ConstantFound, ...]


@dataclass(frozen=True, kw_only=True)
class ClaimHistory:
    """A claim over the runs that had it, by the time at which they ended."""

    claim: str
    found: tuple[ClaimFound, ...]


@dataclass(frozen=True, kw_only=True)
class Change:
    """A difference between a run and the one before it that had the claim.

    Attributes
    ----------
    run, before_run
        The two runs.
    what
        ``verdict``, or ``slack``, ``holds_with`` or ``needed`` of a constant.
    constant
        The constant, None for the verdict.
    """

    run: int
    before_run: int
    claim: str
    what: str
    constant: str | None
    before: str | float | None
    after: str | float | None


@dataclass(frozen=True, kw_only=True)
class History:
    """The finished runs in a store."""

    runs: tuple[RunSummary, ...]
    claims: tuple[ClaimHistory, ...]
    changes: tuple[Change, ...]


def history(store: EvidenceStore) -> History:
    """Return the finished runs in a store, each claim over them, and the changes from each run to the next.

    Raises
    ------
    StoreError
        If the store is damaged.
    """
    runs = store.runs()
    records = [_decoded(store, run) for run in runs]
    claims: dict[str, list[ClaimFound]] = {}
    for run, record in zip(runs, records, strict=True):
        for claim in record.claims:
            claims.setdefault(f"{claim.id}/{claim.reading}", []).append(_found(run.id, claim))
    return History(
        runs=tuple(_summary(run, record) for run, record in zip(runs, records, strict=True)),
        claims=tuple(ClaimHistory(claim=key, found=tuple(found)) for key, found in claims.items()),
        changes=_changes(claims, [run.id for run in runs]),
    )


def _decoded(store: EvidenceStore, run: StoredRun) -> _Record:
    try:
        return msgspec.json.decode(run.results, type=_Record)
    except msgspec.MsgspecError as error:
        raise damaged(store.path, f"run {run.id}: {error}") from error


def _summary(run: StoredRun, record: _Record) -> RunSummary:
    return RunSummary(
        run=run.id,
        started=run.started,
        finished=run.finished,
        profile=run.profile,
        seed=run.seed,
        exit_code=run.exit_code,
        versions=record.versions,
        verdicts=dict(sorted(Counter(claim.verdict for claim in record.claims).items())),
    )


def _found(run: int, claim: _Claim) -> ClaimFound:
    return ClaimFound(
        run=run,
        verdict=claim.verdict,
        expected=claim.expected,
        constants=tuple(
            ConstantFound(
                constant=one.constant,
                claimed=one.claimed,
                holds_with=one.holds_with,
                needed=one.needed,
                slack=_slack(one),
            )
            for one in claim.sharpness
        ),
    )


def _slack(one: _Sharpness) -> float | None:
    weak, strong = (one.holds_with, one.claimed) if one.larger_is_stronger else (one.claimed, one.holds_with)
    if weak is None or strong is None or strong == 0.0:
        return None
    return weak / strong


def _changes(claims: dict[str, list[ClaimFound]], runs: Sequence[int]) -> tuple[Change, ...]:
    place = {run: number for number, run in enumerate(runs)}
    found = [
        change
        for key, points in claims.items()
        for before, after in itertools.pairwise(points)
        for change in _between(key, before, after)
    ]
    return tuple(sorted(found, key=lambda change: place[change.run]))


def _between(claim: str, before: ClaimFound, after: ClaimFound) -> Iterable[Change]:
    if before.verdict != after.verdict:
        yield Change(
            run=after.run,
            before_run=before.run,
            claim=claim,
            what="verdict",
            constant=None,
            before=before.verdict,
            after=after.verdict,
        )
    earlier = {one.constant: one for one in before.constants}
    for one in after.constants:
        for what in ("slack", "holds_with", "needed"):
            old = getattr(earlier.get(one.constant), what, None)
            new = getattr(one, what)
            if old != new:
                yield Change(
                    run=after.run,
                    before_run=before.run,
                    claim=claim,
                    what=what,
                    constant=one.constant,
                    before=old,
                    after=new,
                )
