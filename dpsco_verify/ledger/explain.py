"""The card of a statement: what it says, its readings, how each is decided, what is expected and why, its errata."""

from __future__ import annotations

import textwrap
from typing import Any

from dpsco_verify.evidence import STANCE_MEANING
from dpsco_verify.ledger.ledger import Ledger

_WIDTH = 80


def card(ledger: Ledger, name: str) -> dict[str, Any]:
    """Return the card of the statement (or the one reading) that `name` names, as plain values.

    Raises
    ------
    InputError
        If it names nothing.
    """
    claims = ledger.find([name])
    entry = ledger.paper(claims[0].paper)
    statement = claims[0].statement
    return {
        "id": statement.id,
        "title": statement.title,
        "paper": {"id": entry.paper.id, "title": entry.paper.title, "identifier": entry.paper.identifier},
        "reference": statement.reference,
        "label": statement.label,
        "statement": statement.text,
        "readings": [
            {
                "key": claim.key,
                "stance": claim.reading.stance,
                "means": claim.reading.text,
                "verified": claim.reading.statement,
                "decided_by": claim.reading.method,
                "expected": expected.expected if (expected := entry.expectations.get(claim.key)) else None,
                "why": expected.why if expected else None,
            }
            for claim in claims
        ],
        "discrepancies": [
            {
                "id": discrepancy.id,
                "title": discrepancy.title,
                "lines": list(discrepancy.lines),
                "wrong": discrepancy.text,
                "repair": discrepancy.repair,
                "shown_by": list(discrepancy.shown_by),
            }
            for discrepancy in statement.discrepancies
        ],
    }


def explanation(ledger: Ledger, name: str) -> str:
    """Return the card as text, with errors as :func:`card` has them."""
    found = card(ledger, name)
    paper = found["paper"]
    lines = [
        *_filled(f"{found['id']}: {found['title']}"),
        *_wrapped("paper", f"{paper['id']}: {paper['title']}, {paper['identifier']}"),
        *_wrapped("stands in", f"{found['reference']} ({found['label']})"),
        *_wrapped("statement", found["statement"]),
    ]
    for reading in found["readings"]:
        lines += [
            "",
            f"reading {reading['key']}",
            *_wrapped("stance", f"{reading['stance']}: {STANCE_MEANING[reading['stance']]}"),
            *_wrapped("means", reading["means"]),
            *_wrapped("verified", reading["verified"]),
            *_wrapped("decided by", reading["decided_by"]),
        ]
        if reading["expected"] is not None:
            lines += _wrapped("expected", f"{reading['expected']}: {reading['why']}")
    for discrepancy in found["discrepancies"]:
        lines += [
            "",
            *_filled(f"discrepancy {discrepancy['id']}: {discrepancy['title']}"),
            *_wrapped("lines", ", ".join(map(str, discrepancy["lines"]))),
            *_wrapped("wrong", discrepancy["wrong"]),
            *_wrapped("repair", discrepancy["repair"]),
            *_wrapped("shown by", ", ".join(discrepancy["shown_by"])),
        ]
    lines += ["", f"run it: dpsco-verify audit --select {name}"]
    return "\n".join(lines)


def _filled(text: str) -> list[str]:
    return textwrap.wrap(text, width=_WIDTH, break_on_hyphens=False, subsequent_indent="  ")


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        break_on_hyphens=False,
        initial_indent=f"  {label + ':':12}",
        subsequent_indent=" " * 14,
    )
