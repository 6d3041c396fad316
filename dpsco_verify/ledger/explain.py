"""The card of a statement: what it says, its readings, how each is decided, what is expected and why, its errata."""

from __future__ import annotations

import textwrap

from dpsco_verify.ledger.baseline import load_baseline
from dpsco_verify.ledger.registry import PAPER, find_claims
from dpsco_verify.ledger.statement import Statement
from dpsco_verify.ledger.statements.related import RELATED_STATEMENTS

_WIDTH = 100


def explanation(name: str) -> str:
    """Return the card of the statement (or the one reading) that `name` names.

    Raises
    ------
    InputError
        If it names nothing.
    """
    claims = find_claims([name])
    expectations = load_baseline()
    statement = claims[0].statement
    lines = [
        f"{statement.id}: {statement.title}",
        *_wrapped("stands in", f"{statement.reference} ({statement.label}){_document(statement)}"),
        *_wrapped("statement", statement.text),
    ]
    for claim in claims:
        expected = expectations.get(claim.key)
        lines += [
            "",
            f"reading {claim.key}",
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


def _document(statement: Statement) -> str:
    """Return the paper's title and identifier for a statement of its own; the others' references name their sources."""
    return "" if statement in RELATED_STATEMENTS else f", {PAPER.title}, {PAPER.identifier}"


def _wrapped(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text,
        width=_WIDTH,
        break_on_hyphens=False,
        initial_indent=f"  {label + ':':12}",
        subsequent_indent=" " * 14,
    )
