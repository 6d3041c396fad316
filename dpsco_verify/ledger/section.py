"""A section of a run beside its claims: something that is planned, executed and recorded with them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import ComparisonRecord, MuseumRecord
from dpsco_verify.inference.budget import Share
from dpsco_verify.ledger.units import Handle, Outcomes, Units

SectionRecord = MuseumRecord | ComparisonRecord
"""What a section leaves in the record of a run."""


@dataclass(frozen=True, kw_only=True)
class SectionContext:
    """What a section may know of the run.

    Attributes
    ----------
    profile, seed, share
        How much to do, the root seed, and its share of the error budget, all of which counts as spent.
    subjects
        What the claims of the run have planned, by what it is about.
    """

    profile: Profile
    seed: int
    share: Share
    subjects: Mapping[Hashable, Handle[Any]]


class Section(Protocol):
    """A section; `weight` is its share of the error budget relative to that of all claims together."""

    @property
    def key(self) -> str:
        """Its stable name, under which the error budget knows it."""
        ...

    @property
    def weight(self) -> float:
        """Its share of the error budget, where all claims together have 1."""
        ...

    def plan(self, context: SectionContext, units: Units) -> Any:
        """Plan its units of work, and return their handles."""
        ...

    def conclude(self, context: SectionContext, work: Any, outcomes: Outcomes) -> SectionRecord:
        """Return its record from the outcomes under the handles of :meth:`plan`."""
        ...
