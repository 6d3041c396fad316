"""``badge.svg`` and ``badge.json``: the run in two words, for a README; the JSON is what shields' endpoint takes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape

from dpsco_verify.evidence import AuditRecord
from dpsco_verify.reporting import summary
from dpsco_verify.reporting.naming import BADGE, BADGE_DATA
from dpsco_verify.reporting.numbers import count
from dpsco_verify.reporting.vocabulary import vocabulary

_LABEL = "dpsco-verify"
_COLOURS = {0: "#0a5583", 3: "#665000"}
_ALARM = "#9c2f08"

# Widths of the characters of the font by which badges are laid out, 11 px Verdana, on average.
_CHARACTER, _MARGIN = 6.6, 12


@dataclass(frozen=True)
class BadgeReport:
    """The badge as a picture, and as data for a service that draws it."""

    name: str = "badge"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  both files, whatever the record
        """Return the two files."""
        return (BADGE, BADGE_DATA)

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  the format has no links
    ) -> dict[str, bytes]:
        """Return picture and data."""
        said, colour = message(record), _COLOURS.get(record.exit_code, _ALARM)
        data = {"schemaVersion": 1, "label": _LABEL, "message": said, "color": colour}
        return {BADGE: _picture(said, colour).encode(), BADGE_DATA: json.dumps(data).encode() + b"\n"}


def message(record: AuditRecord) -> str:
    """Return what the badge says: how many departed from what is expected, or that none did."""
    departing = summary.departures(record)
    say = vocabulary(record)
    if not record.claims:
        return "nothing checked"
    if not departing:
        return f"{count(len(record.claims), say.reading)} as expected"
    undecided = sum(summary.outcome(one) is summary.Outcome.UNDECIDED for one in departing)
    parts = [
        f"{number} {word}"
        for number, word in ((len(departing) - undecided, "unexpected"), (undecided, "undecided"))
        if number
    ]
    return f"{', '.join(parts)} of {len(record.claims)}"


def _picture(said: str, colour: str) -> str:
    left, right = (round(_CHARACTER * len(text) + _MARGIN) for text in (_LABEL, said))
    said = escape(said)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">
<title>{_LABEL}: {said}</title>
<rect width="{left}" height="20" fill="#3b414c"/><rect x="{left}" width="{right}" height="20" fill="{colour}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,'DejaVu Sans',sans-serif" font-size="11">
<text x="{left / 2}" y="14">{_LABEL}</text><text x="{left + right / 2}" y="14">{said}</text>
</g>
</svg>
"""
