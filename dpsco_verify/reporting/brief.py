"""``brief.json``: the record without what is only drawn or tabulated, small enough to be committed."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from dpsco_verify.evidence import AuditRecord
from dpsco_verify.evidence.records_codec import encode
from dpsco_verify.reporting.naming import BRIEF


@dataclass(frozen=True)
class BriefReport:
    """The record with its verdicts, evidence, constants and errata; see :func:`brief`."""

    name: str = "brief"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  one file, whatever the record
        """Return the one file."""
        return (BRIEF,)

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  the record holds no links
    ) -> dict[str, bytes]:
        """Return the encoded record."""
        return {BRIEF: encode(brief(record))}


def brief(record: AuditRecord) -> AuditRecord:
    """Return `record` without plots, tables, the cells and exponents of the comparison, and times.

    It is a record like the whole one: what reads the one reads the other. Times are 0, so that two runs of one seed on
    one kind of processor differ in what they found and in nothing else.
    """
    replace = msgspec.structs.replace
    compared, museum = record.comparison, record.museum
    if compared is not None:
        compared = replace(compared, cells=(), exponents=(), tables=(), plots=())
    if museum is not None:
        museum = replace(museum, exhibits=tuple(replace(row, seconds=0.0) for row in museum.exhibits))
    return replace(
        record,
        claims=tuple(replace(finding, tables=(), plots=(), seconds=0.0) for finding in record.claims),
        museum=museum,
        comparison=compared,
        seconds=0.0,
    )
