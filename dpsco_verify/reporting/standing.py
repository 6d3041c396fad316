"""The standing of each paper, and of each of its statements, by the verdicts of its readings."""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_verify.evidence import WHOLE_RANGE, AuditRecord, Finding, Paper, Stance, Verdict
from dpsco_verify.reporting.numbers import count
from dpsco_verify.reporting.summary import Claim, claims, in_words

_AUTHORS = re.compile(r"^[^\d(]* \d{4}[,;] ")
"""The names and the year before a place: ``Bassily and Feldman 2019, Theorem 3.2``."""

_HOLDING = frozenset({Verdict.CERTIFIED, Verdict.HOLDS_ON_GRID, Verdict.NOT_REFUTED})


class Standing(enum.StrEnum):
    """What stands of a statement."""

    AS_PRINTED = "true as printed"
    NOT_REFUTED = "not refuted as printed"
    UNDER_A_READING = "true under a reading"
    OTHER_CONSTANT = "true with another constant"
    REPAIRED = "true as repaired"
    FALSE = "false"
    OPEN = "open"
    NOT_CLAIMED = "not claimed by the source"


@dataclass(frozen=True)
class Statement:
    """A statement of a paper, what stands of it, and the sentence that says how far."""

    claim: Claim
    standing: Standing
    how: str


@dataclass(frozen=True)
class Chapter:
    """A paper with its statements; None stands for guarantees of a user's own."""

    paper: Paper | None
    statements: tuple[Statement, ...]

    @property
    def title(self) -> str:
        """The paper's title."""
        return self.paper.title if self.paper else "Claimed privacy guarantees"

    @property
    def source(self) -> str:
        """Authors and identifier, in one line."""
        if self.paper is None:
            return ""
        return f"{', '.join(self.paper.authors)} · {self.paper.identifier}".strip(" ·")

    @property
    def unconfirmed(self) -> str:
        """What is quoted from memory, as a sentence; empty where the text was at hand."""
        if self.paper is None or not self.paper.unconfirmed:
            return ""
        return f"Quoted from memory, until a text confirms it: {self.paper.unconfirmed}."

    @property
    def usable(self) -> tuple[tuple[Standing, str], ...]:
        """The statements that the source claims, by what stands of them: their places in the source."""
        found = []
        for standing in Standing:
            places = dict.fromkeys(_place(s.claim) for s in self.statements if s.standing is standing)
            if places and standing is not Standing.NOT_CLAIMED:
                found.append((standing, ", ".join(places)))
        return tuple(found)

    @property
    def line(self) -> str:
        """How many statements stand in which way."""
        numbers = {s: sum(one.standing is s for one in self.statements) for s in Standing}
        parts = [f"{n} {standing}" for standing, n in numbers.items() if n]
        return f"{count(len(self.statements), 'statement')}: {in_words(parts)}"


def headline(record: AuditRecord) -> str:
    """Return how many of the statements that their sources claim stand as printed, and which do not stand at all."""
    found = [one for chapter in chapters(record) for one in chapter.statements]
    claimed = [one for one in found if one.standing is not Standing.NOT_CLAIMED]
    if not claimed:
        return "No statement that a source claims was checked."
    numbers = {s: sum(one.standing is s for one in claimed) for s in Standing}
    parts = [f"{n} {'is' if n == 1 else 'are'} {standing}" for standing, n in numbers.items() if n]
    false = [one.claim.first.title for one in claimed if one.standing is Standing.FALSE]
    named = f" False: {'; '.join(false)}." if false else ""
    whose = "its source claims" if len(claimed) == 1 else "their sources claim"
    return f"Of {count(len(claimed), 'statement')} that {whose}, {in_words(parts)}.{named}"


def chapters(record: AuditRecord) -> tuple[Chapter, ...]:
    """Return a chapter for each paper of the record, in its order; one without a paper for what belongs to none."""
    found = claims(record)
    papers: list[Paper | None] = [*record.papers, None]
    made = [
        Chapter(paper, tuple(_statement(c) for c in found if c.first.paper == (paper.id if paper else "")))
        for paper in papers
    ]
    return tuple(chapter for chapter in made if chapter.statements)


def _place(claim: Claim) -> str:
    """Return where a statement stands, without the names and the year of a source: ``Theorem 5.3``."""
    reference = claim.first.reference
    return f"{re.sub(_AUTHORS, '', reference)} ({claim.id})"


def _statement(claim: Claim) -> Statement:
    printed = [f for f in claim.findings if f.stance is Stance.PRINTED]
    holding = [f for f in printed if f.verdict in _HOLDING]
    if not printed:
        return Statement(claim, Standing.NOT_CLAIMED, _kept(claim.findings))
    if len(holding) == len(printed):
        proven = all(f.verdict is not Verdict.NOT_REFUTED for f in holding)
        return Statement(claim, Standing.AS_PRINTED if proven else Standing.NOT_REFUTED, _strength(holding))
    if holding:
        how = f"{_names(holding)} ({_strength(holding)}), not {_others(printed)}"
        return Statement(claim, Standing.UNDER_A_READING, how)
    return Statement(claim, *_mended(claim, printed))


def _mended(claim: Claim, printed: Sequence[Finding]) -> tuple[Standing, str]:
    """Return what stands of a statement of which no printed reading holds."""
    repairs = [f for f in claim.findings if f.stance is Stance.REPAIR and f.verdict in _HOLDING]
    if repairs:
        return Standing.REPAIRED, f"{_names(repairs)}: {repairs[0].reading_text}"
    constants = [
        f"{s.constant} → {s.holds_with:.4g}"
        for f in printed
        if f.verdict is Verdict.REFUTED and all(s.over == WHOLE_RANGE for s in f.sharpness)
        for s in f.sharpness
    ]
    if constants:
        return Standing.OTHER_CONSTANT, "; ".join(dict.fromkeys(constants))
    undecided = any(f.verdict is Verdict.INCONCLUSIVE for f in printed)
    return (Standing.OPEN if undecided else Standing.FALSE), _others(printed)


def _kept(findings: Sequence[Finding]) -> str:
    kept = [f for f in findings if f.verdict in _HOLDING]
    hold = "holds" if len(kept) == 1 else "hold"
    return f"{len(kept)} of {count(len(findings), 'reading')} {hold}" if kept else "no reading holds"


def _strength(findings: Sequence[Finding]) -> str:
    """Return the weakest word for what was shown."""
    order = (Verdict.NOT_REFUTED, Verdict.HOLDS_ON_GRID, Verdict.CERTIFIED)
    weakest = min((f.verdict for f in findings), key=order.index)
    return weakest.value.replace("_", " ")


def _names(findings: Sequence[Finding]) -> str:
    return in_words([f.reading for f in findings])


def _others(findings: Sequence[Finding]) -> str:
    others = [f for f in findings if f.verdict not in _HOLDING]
    return in_words([f"{f.reading} ({f.verdict.value.replace('_', ' ')})" for f in others])
