"""The fault museum: every exhibit judged at its share of one error budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.choices import ERROR_BUDGET
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.evidence import ExhibitRecord, MuseumRecord
from dpsco_verify.execution import (
    ExecutorChoice,
    Outcome,
    Progress,
    WorkUnit,
    execute,
    make_executor,
    stream,
)
from dpsco_verify.faults.algorithm import ALGORITHM_EXHIBITS
from dpsco_verify.faults.exhibit import Exhibit, ExhibitKind, Judged, Judgement
from dpsco_verify.faults.exhibits import (
    ADDITIVE_FAULTS,
    CANARY_EXHIBITS,
    CONTROLS,
    EDGES,
    ESTIMATOR_CONTROLS,
    ESTIMATOR_FAULTS,
    RELEASE_FAULTS,
    SELECTION_FAULTS,
    STRUCTURED,
    CanaryExhibit,
)
from dpsco_verify.faults.judging import judge
from dpsco_verify.inference.budget import ErrorBudget

EXHIBITS: tuple[Judged, ...] = (
    *RELEASE_FAULTS,
    *ADDITIVE_FAULTS,
    *SELECTION_FAULTS,
    *ESTIMATOR_FAULTS,
    *CONTROLS,
    *ESTIMATOR_CONTROLS,
    *CANARY_EXHIBITS,
    *STRUCTURED,
    *EDGES,
    *ALGORITHM_EXHIBITS,
)
"""Mechanisms against claims, then implementations of Algorithm 1."""


@dataclass(frozen=True, kw_only=True)
class MuseumRow:
    """What became of one exhibit.

    Attributes
    ----------
    exhibit
        The exhibit.
    verdict, caught_by, samples
        Its judgement.
    seconds
        How long that took.
    """

    exhibit: Judged
    verdict: AuditVerdict
    caught_by: str
    samples: int
    seconds: float = field(compare=False)

    __bool__ = no_truth_value("row.as_expected")

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that was to be had."""
        return self.verdict is self.exhibit.kind.expected


def quick_exhibits(exhibits: Sequence[Judged] = EXHIBITS) -> tuple[Judged, ...]:
    """Return the exhibits that the quick profile judges, large controls with a quarter of their outputs.

    A fault needs its outputs to be caught. A control is accused with at most the same probability whatever their
    number, and 5,000 were enough to pass it in each of 180 audits at its share of a run.
    """
    return tuple(_shortened(exhibit) for exhibit in exhibits if not exhibit.slow)


def _shortened(exhibit: Judged) -> Judged:
    if isinstance(exhibit, Exhibit) and exhibit.kind is ExhibitKind.CONTROL and exhibit.samples >= 20_000:
        return replace(exhibit, samples=exhibit.samples // 4)
    return exhibit


def museum_units(
    exhibits: Sequence[Judged] = EXHIBITS, *, error_budget: float = ERROR_BUDGET, seed: int = 0
) -> tuple[WorkUnit, ...]:
    """Return the units of work that judge the exhibits.

    The budget is split equally before anything is drawn, so the probability that any of the controls is accused is at
    most `error_budget`.

    Raises
    ------
    InputError
        For no exhibits, two of one id, or a bad budget.
    """
    if not exhibits:
        raise InputError("exhibits=() is empty; give at least one")
    budget = ErrorBudget.split(error_budget, {exhibit.id: 1.0 for exhibit in exhibits})
    if len(budget.shares) < len(exhibits):
        raise InputError(f"exhibits={[e.id for e in exhibits]!r} hold an id twice; give each its own")
    return tuple(
        WorkUnit(
            name=_unit_name(exhibit),
            function=judge,
            arguments={
                "exhibit": exhibit,
                "alpha": budget.share(exhibit.id).alpha,
                "seed": _seed(seed, exhibit.id),
            },
            cost=exhibit.cost,
        )
        for exhibit in exhibits
    )


def museum_rows(exhibits: Sequence[Judged], outcomes: Mapping[str, Outcome]) -> tuple[MuseumRow, ...]:
    """Return the rows of exhibits, in their order, from the outcomes of their units."""
    rows = []
    for exhibit in exhibits:
        outcome = outcomes[_unit_name(exhibit)]
        judgement: Judgement = outcome.value
        rows.append(
            MuseumRow(
                exhibit=exhibit,
                verdict=judgement.verdict,
                caught_by=judgement.caught_by,
                samples=judgement.samples,
                seconds=outcome.seconds,
            )
        )
    return tuple(rows)


def run_museum(
    exhibits: Sequence[Judged] = EXHIBITS,
    *,
    error_budget: float = ERROR_BUDGET,
    seed: int = 0,
    jobs: int = 1,
    executor: ExecutorChoice | None = None,
    progress: Progress | None = None,
) -> tuple[MuseumRow, ...]:
    """Judge exhibits and return their rows, in the order given; see :func:`museum_units`.

    The rows, but for their seconds, depend on the exhibits, the budget and the seed alone: not on `executor`, in whose
    place `jobs` processes of this machine may stand.
    """
    units = museum_units(exhibits, error_budget=error_budget, seed=seed)
    with make_executor(executor or jobs) as workers:
        return museum_rows(exhibits, execute(units, workers, progress))


def museum_record(rows: Sequence[MuseumRow], *, error_budget: float) -> MuseumRecord:
    """Return the rows as they stand in the record of a run."""
    return MuseumRecord(
        error_budget=error_budget,
        exhibits=tuple(
            ExhibitRecord(
                id=row.exhibit.id,
                title=row.exhibit.title,
                kind=row.exhibit.kind.value,
                claim=str(row.exhibit.claim) if isinstance(row.exhibit, Exhibit | CanaryExhibit) else None,
                truth=row.exhibit.truth,
                true_delta=_true_delta(row.exhibit),
                expected=row.exhibit.kind.expected,
                verdict=row.verdict,
                caught_by=row.caught_by,
                samples=row.samples,
                seconds=row.seconds,
            )
            for row in rows
        ),
    )


def _unit_name(exhibit: Judged) -> str:
    return f"museum/{exhibit.id}"


def _seed(root: int, exhibit_id: str) -> int:
    """Return a seed of the exhibit's own, so that exhibits share no stream."""
    return int(stream(root, f"museum/{exhibit_id}").integers(2**63))


def _true_delta(exhibit: Judged) -> float | None:
    if not isinstance(exhibit, Exhibit) or exhibit.true_delta is None:
        return None
    return exhibit.true_delta()
