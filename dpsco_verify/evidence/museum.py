"""The record of the fault museum: deliberate faults and right mechanisms, and what the checks said of each."""

from __future__ import annotations

from typing import Annotated

import msgspec

from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence.values import AuditVerdict, Figures, require_finite


class ExhibitRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What became of one exhibit.

    Attributes
    ----------
    id, title, kind
        The exhibit: its name, the fault in words, and ``fault`` or ``control``.
    claim
        The privacy claim that it was held against; None where it was held against a reference.
    truth, true_delta
        What is true of it, and the true δ at the claimed ε where an exact law gives it.
    expected, verdict
        What was to be had, and what was found.
    caught_by
        The event in words, or the name of the check.
    samples
        Outputs a data set, or runs, after which the verdict stood.
    """

    id: str
    title: str
    kind: str
    claim: str | None
    truth: str
    true_delta: float | None
    expected: AuditVerdict
    verdict: AuditVerdict
    caught_by: str
    samples: Annotated[int, msgspec.Meta(ge=0)]
    seconds: Annotated[float, msgspec.Meta(ge=0)]

    __bool__ = no_truth_value("exhibit.as_expected")

    def __post_init__(self) -> None:
        """Refuse a δ that is not finite."""
        super().__post_init__()
        require_finite(f"true_delta of {self.id!r}", self.true_delta)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one that was to be had."""
        return self.verdict is self.expected


class MuseumRecord(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All exhibits of a run, and the part of the run's error budget that they had."""

    error_budget: float
    exhibits: tuple[ExhibitRecord, ...]

    __bool__ = no_truth_value("museum.as_expected")

    @property
    def as_expected(self) -> bool:
        """Whether every fault was caught and every control left alone."""
        return all(exhibit.as_expected for exhibit in self.exhibits)

    @property
    def headline(self) -> str:
        """How many faults were caught and how many controls were left alone, in words."""
        faults = [e for e in self.exhibits if e.kind == "fault"]
        controls = [e for e in self.exhibits if e.kind != "fault"]
        caught = sum(e.verdict is AuditVerdict.VIOLATED for e in faults)
        silent = sum(e.as_expected for e in controls)
        return f"{caught} of {len(faults)} faults caught, {silent} of {len(controls)} controls left alone"
