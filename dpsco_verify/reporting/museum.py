"""The fault museum in words, for every format."""

from __future__ import annotations

from dpsco_verify.evidence import AuditRecord, ExhibitRecord, MuseumRecord
from dpsco_verify.reporting.markup import code, escape, table
from dpsco_verify.reporting.numbers import format_scalar, format_seconds
from dpsco_verify.reporting.text import shorten

MEANING = (
    "Wrong mechanisms, each a fault that was found in public software or in the literature, and wrong implementations "
    "of the algorithm, judged by the same checks as everything else; and right ones at exactly their claim, which must "
    "be left alone."
)
HEADER = ("Exhibit", "Kind", "Verdict", "Caught by", "Samples", "Time")
_MOST = 200


def verdict(exhibit: ExhibitRecord) -> str:
    """Return the verdict in words, with what was expected where it is another."""
    found = exhibit.verdict.words
    return found if exhibit.as_expected else f"{found}, expected: {exhibit.expected.words}"


def cells(exhibit: ExhibitRecord) -> tuple[str, str, str, str, str]:
    """Return kind, verdict, what caught it, samples and time."""
    return (
        exhibit.kind,
        verdict(exhibit),
        exhibit.caught_by,
        format_scalar(exhibit.samples),
        format_seconds(exhibit.seconds),
    )


def unexpected(record: AuditRecord) -> tuple[ExhibitRecord, ...]:
    """Return the exhibits whose verdict is not the one that was to be had."""
    return () if record.museum is None else tuple(e for e in record.museum.exhibits if not e.as_expected)


def markdown_blocks(museum: MuseumRecord) -> list[str]:
    """Return the blocks of the museum for ``report.md``, bounded in size."""
    rows = [
        (
            f"{code(shorten(e.id, 80))} {escape(shorten(e.title, 200))}",
            *(escape(shorten(cell, 160)) for cell in cells(e)),
        )
        for e in museum.exhibits[:_MOST]
    ]
    right = (False, False, False, False, True, True)
    return [f"{escape(museum.headline)}. {escape(MEANING)}", table(HEADER, rows, right=right)]
