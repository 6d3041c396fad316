"""The card of a statement: what it says, its readings, how each is decided, what is expected and why, its errata."""

from __future__ import annotations

import textwrap

from dpsco_verify.evidence import STANCE_MEANING
from dpsco_verify.ledger.ledger import Ledger

_WIDTH = 100


def explanation(ledger: Ledger, name: str) -> str:
    """Return the card of the statement (or the one reading) that `name` names.

    Raises
    ------
    InputError
        If it names nothing.
    """
    claims = ledger.find([name])
    entry = ledger.paper(claims[0].paper)
    statement = claims[0].statement
    lines = [
        f"{statement.id}: {statement.title}",
        *_wrapped("paper", f"{entry.paper.id}: {entry.paper.title}, {entry.paper.identifier}"),
        *_wrapped("stands in", f"{statement.reference} ({statement.label})"),
        *_wrapped("statement", statement.text),
    ]
    for claim in claims:
        expected = entry.expectations.get(claim.key)
        lines += [
            "",
            f"reading {claim.key}",
            *_wrapped("stance", f"{claim.reading.stance}: {STANCE_MEANING[claim.reading.stance]}"),
            *_wrapped("means", claim.reading.text),
            *_wrapped("verified", claim.reading.statement),
            *_wrapped("decided by", claim.reading.method),
        ]
        if expected is not None:
            lines += _wrapped("expected", f"{expected.expected.value}: {expected.why}")
    for discrepancy in statement.discrepancies:
        lines += [
            "",
            f"discrepancy {discrepancy.id}: {discrepancy.title}",
            *_wrapped("lines", ", ".join(map(str, discrepancy.lines))),
            *_wrapped("wrong", discrepancy.text),
            *_wrapped("repair", discrepancy.repair),
            *_wrapped("shown by", ", ".join(discrepancy.shown_by)),
        ]
    lines += ["", f"run it: dpsco-verify audit --select {name}"]
    return "\n".join(lines)


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        break_on_hyphens=False,
        initial_indent=f"  {label + ':':12}",
        subsequent_indent=" " * 14,
    )
