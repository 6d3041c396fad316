"""The errata and the constants in ``report.md``; both are bounded in size, however large the record is."""

from __future__ import annotations

from collections.abc import Callable

from dpsco_verify.evidence import CONSEQUENCE_MEANING, AuditRecord, Erratum, Finding
from dpsco_verify.reporting import errata
from dpsco_verify.reporting.markup import code, escape, table
from dpsco_verify.reporting.numbers import count, format_scalar
from dpsco_verify.reporting.text import shorten

_MOST_ERRATA = 100
_MOST_OF_ONE = 10
_MOST_CONSTANTS = 400


def errata_blocks(record: AuditRecord) -> list[str]:
    """Return the blocks of the errata, the gravest first."""
    blocks = [escape(errata.headline(record))]
    left = _MOST_ERRATA
    for consequence, group in errata.grouped(record).items():
        blocks += [
            f"### {errata.CONSEQUENCE_WORDS[consequence].capitalize()}",
            f"*{escape(CONSEQUENCE_MEANING[consequence])}.*",
        ]
        for erratum in group[:left]:
            blocks += _erratum(erratum)
        if len(group) > left:
            blocks.append(f"*{count(len(group) - left, 'more')} left out for size.*")
        left = max(left - len(group), 0)
    return blocks


def _erratum(erratum: Erratum) -> list[str]:
    basis = errata.basis(erratum)
    shown = ", ".join(code(shorten(name, 120)) for name in errata.witnesses(erratum)[:_MOST_OF_ONE])
    facts = [
        f"- What is wrong: {escape(shorten(erratum.text, 1500))}",
        f"- Repair: {escape(shorten(erratum.repair, 1500))}",
        *(
            f"- Constant {code(shorten(c.sharpness.constant, 80))} of {code(shorten(c.reading, 80))}: "
            f"{escape(errata.repaired(c.sharpness))}"
            for c in erratum.constants[:_MOST_OF_ONE]
        ),
        f"- Shown by {shown}" + (f"; {escape(shorten(basis, 600))}" if basis else ""),
    ]
    title, where = escape(shorten(erratum.title, 200)), escape(shorten(errata.where(erratum), 200))
    return [f"**{title}** ({where})", "\n".join(facts)]


def constant_blocks(record: AuditRecord, to: Callable[[Finding, str], str]) -> list[str]:
    """Return the table of all constants; `to` makes a link to a reading from its finding and a text."""
    shown = errata.constants(record)
    if not shown:
        return ["No constant was examined."]
    rows = [
        (
            to(finding, shorten(finding.key, 120)),
            escape(shorten(s.constant, 80)),
            *(escape(format_scalar(value)) for value in (s.claimed, s.holds_with)),
            escape(shorten(s.over, 160)) if s.over else format_scalar(None),
            escape(format_scalar(s.needed)),
            escape(shorten(s.at, 160)) if s.at else format_scalar(None),
            "larger" if s.larger_is_stronger else "smaller",
        )
        for finding, s in shown[:_MOST_CONSTANTS]
    ]
    header = ("Reading", "Constant", "Claimed", "Holds with", "Over", "Needed", "At", "Stronger is")
    blocks = [
        escape(errata.CONSTANTS_MEANING),
        table(header, rows, right=(False, False, True, True, False, True, False)),
    ]
    if len(shown) > len(rows):
        blocks.append(f"*{count(len(shown) - len(rows), 'more')} left out for size.*")
    return blocks
