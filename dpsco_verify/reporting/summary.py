"""A record in words, for every format: counts, verdicts against expectations, the gate."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass

from dpsco_verify.evidence import AuditRecord, Finding, Verdict
from dpsco_verify.evidence.checker import Scope
from dpsco_verify.reporting.numbers import count
from dpsco_verify.reporting.vocabulary import vocabulary, words_for

VERDICT_SYMBOLS: dict[Verdict, str] = {
    Verdict.CERTIFIED: "✔",
    Verdict.HOLDS_ON_GRID: "▦",
    Verdict.NOT_REFUTED: "○",
    Verdict.REFUTED: "✘",
    Verdict.ILL_POSED: "△",
    Verdict.INCONCLUSIVE: "?",
}
"""One shape for each verdict, so that none is told by colour alone."""

SCOPE_MEANING: dict[Scope, str] = {
    Scope.COMPUTATION: "the independent checker computes all that the verdict needs, from the certificate alone",
    Scope.ARGUMENT: "the checker computes an inequality, and an argument in words leads from it to the reading; "
    "`dpsco-verify replay` says which",
    Scope.SAMPLES: "the checker computes an e-value; that the observations were drawn is shown by drawing them again",
}
"""What stands beside a verdict that has a certificate."""


def by_scope(finding: Finding) -> str:
    """Return how a verdict is backed, to stand behind its words: `` by argument``; nothing without a certificate."""
    return "" if finding.scope is None else f" by {finding.scope}"


def scopes(record: AuditRecord) -> dict[Scope, str]:
    """Return the ways in which verdicts of this record are backed, with their meaning."""
    found = {finding.scope for finding in record.claims}
    return {scope: meaning for scope, meaning in SCOPE_MEANING.items() if scope in found}


class Outcome(enum.StrEnum):
    """A verdict against what is expected of it."""

    AS_EXPECTED = "as expected"
    UNEXPECTED = "unexpected"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Claim:
    """One claim: its findings, a reading each, in the order of the record."""

    id: str
    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The finding that speaks for what all readings share: title, reference, label."""
        return self.findings[0]

    @property
    def shared_statement(self) -> str | None:
        """The statement, where all readings have the same."""
        return self.first.statement if len({f.statement for f in self.findings}) == 1 else None


def outcome(finding: Finding) -> Outcome:
    """Return how `finding` compares with its expectation; a reading without one is not as expected."""
    if finding.as_expected:
        return Outcome.AS_EXPECTED
    return Outcome.UNDECIDED if finding.verdict is Verdict.INCONCLUSIVE else Outcome.UNEXPECTED


def expectation(finding: Finding) -> str:
    """Return the expectation in words: ``as expected``, ``expected certified``, ``no expectation``."""
    if finding.as_expected:
        return "as expected"
    if finding.expected is None:
        return "no expectation"
    return f"expected {words_for(finding)[finding.expected]}"


def reason(finding: Finding) -> str:
    """Return in one sentence why `finding` is not as expected."""
    say = words_for(finding)
    found = say[finding.verdict]
    if finding.expected is None:
        return f"no verdict is expected of this reading; found {found}"
    expected = say[finding.expected]
    if outcome(finding) is Outcome.UNDECIDED:
        return f"expected {expected}, but the check could not decide within its budget ({found})"
    return f"expected {expected}, found {found}"


def claims(record: AuditRecord) -> tuple[Claim, ...]:
    """Return the findings grouped by claim, in the order in which the claims first occur."""
    grouped: dict[str, list[Finding]] = {}
    for finding in record.claims:
        grouped.setdefault(finding.id, []).append(finding)
    return tuple(Claim(id=id_, findings=tuple(findings)) for id_, findings in grouped.items())


def tally(findings: Sequence[Finding]) -> dict[Verdict, int]:
    """Return how often each verdict occurs, zeros included, in the order of the enumeration."""
    return {verdict: sum(f.verdict is verdict for f in findings) for verdict in Verdict}


def in_words(parts: Sequence[str]) -> str:
    """Return ``a``, ``a and b``, ``a, b and c``."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def title(record: AuditRecord) -> str:
    """Return what the record is about."""
    match record.papers:
        case ():
            return "Claimed privacy guarantees"
        case (paper,):
            return paper.title
        case papers:
            return f"{len(papers)} papers"


def headline(record: AuditRecord) -> str:
    """Return the count of the verdicts in one sentence."""
    total = len(record.claims)
    say = vocabulary(record)
    if total == 0:
        return f"No {say.reading} was checked."
    parts = [f"{n} {say.predicates[v][n > 1]}" for v, n in tally(record.claims).items() if n]
    return f"Of {count(total, say.reading)} of {count(len(claims(record)), say.claim)}, {in_words(parts)}."


def gate(record: AuditRecord) -> str:
    """Return what the exit code means, and how many verdicts are as expected, in one sentence."""
    say = vocabulary(record)
    meaning = say.exit_meaning.get(record.exit_code, "unknown to this program")
    counts = {o: sum(outcome(f) is o for f in record.claims) for o in Outcome}
    parts = [f"{n} {o}" for o, n in counts.items() if n]
    against = f" Against the expectations: {in_words(parts)}." if parts and say.counts_outcomes else ""
    failed = record.museum is not None and not record.museum.as_expected
    shown = f" Fault museum: {record.museum.headline}." if failed and record.museum is not None else ""
    if record.comparison is not None and record.comparison.violated:
        shown += f" Systems whose privacy claim is violated: {in_words(record.comparison.violated)}."
    return f"Exit code {record.exit_code}: {meaning}.{against}{shown}"


def departures(record: AuditRecord) -> tuple[Finding, ...]:
    """Return what is not as expected, the unexpected before the undecided."""
    return tuple(
        f for wanted in (Outcome.UNEXPECTED, Outcome.UNDECIDED) for f in record.claims if outcome(f) is wanted
    )


def failing(record: AuditRecord) -> tuple[Finding, ...]:
    """Return what the paper cannot keep, expected or not: the refuted readings, then the ill-posed ones."""
    return tuple(
        f for wanted in (Verdict.REFUTED, Verdict.ILL_POSED) for f in record.claims if f.verdict is wanted
    )
