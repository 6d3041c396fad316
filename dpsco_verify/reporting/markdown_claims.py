"""The details of the claims in ``report.md``, a block for each."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_verify.evidence import AuditRecord, Finding, Quantity, Table, Verdict
from dpsco_verify.reporting import accumulation, errata, summary
from dpsco_verify.reporting.markup import code, escape, paragraph, quotation, table
from dpsco_verify.reporting.naming import Names, link
from dpsco_verify.reporting.numbers import count, format_quantity, format_scalar
from dpsco_verify.reporting.standing import Chapter
from dpsco_verify.reporting.text import shorten, words
from dpsco_verify.reporting.vocabulary import vocabulary, words_for


class ClaimBlocks:
    """The blocks of the claims, with at most `rows` rows a table; `whole_record` says where the others are."""

    def __init__(
        self, record: AuditRecord, names: Names, beside: frozenset[str], *, rows: int, whole_record: str
    ) -> None:
        self._record = record
        self._names = names
        self._beside = beside
        self._rows = rows
        self._whole_record = whole_record
        self._say = vocabulary(record)

    def sections(self, chapters: Sequence[Chapter]) -> list[str]:
        """Return one block for each claim, the first of each paper with its chapter's heading."""
        made = []
        for chapter in chapters:
            heading = [f"## {escape(shorten(chapter.title, 300))}"] if self._record.papers else []
            for one in chapter.statements:
                made.append("\n\n".join([*heading, *self._claim(one.claim)]))
                heading = []
        return made

    def _claim(self, claim: summary.Claim) -> list[str]:
        first = claim.first
        where = f"{code(claim.id)} · {escape(first.reference)}"
        if first.label:
            where += f" · label {code(first.label)}"
        anchor = f'<a id="{self._names.claim(claim.id)}"></a>'
        blocks = [f"### {anchor}{escape(first.title)}", where]
        if claim.shared_statement is not None:
            blocks.append(quotation(claim.shared_statement))
        for finding in claim.findings:
            blocks += self._reading(finding, with_statement=claim.shared_statement is None)
        return blocks

    def _reading(self, finding: Finding, *, with_statement: bool) -> list[str]:
        anchor = f'<a id="{self._names.reading(finding)}"></a>'
        against = escape(summary.expectation(finding))
        blocks = [
            f"#### {anchor}{self._say.group} {code(finding.reading)}: {backed(finding)} ({against})",
            paragraph(finding.reading_text),
            *([quotation(finding.statement)] if with_statement else []),
            f"**{escape(finding.summary)}**",
        ]
        if finding.counterexample:
            blocks.append("Counterexample:\n\n" + quotation(finding.counterexample))
        blocks.append(f"Decided by: {escape(finding.method)}")
        if finding.evidence:
            blocks.append(_evidence(finding.evidence))
        for path, plot in self._names.figures(finding):
            address = link(path, self._beside)
            if address:
                blocks += [f"![{escape(plot.title)}]({address})", f"*{escape(plot.caption)}*"]
        for shown in accumulation.tables(finding):
            blocks += self._table(shown)
        if finding.proof_steps:
            rows = [
                (
                    code(s.id),
                    escape(s.statement),
                    verdict_words(s.verdict, words_for(finding)),
                    _in_a_cell(s.evidence),
                )
                for s in finding.proof_steps
            ]
            blocks += ["Steps of the proof:", table(("Step", "Statement", "Verdict", "Evidence"), rows)]
        if finding.sharpness:
            lines = [
                (escape(s.constant), escape(errata.repaired(s)), escape(s.how)) for s in finding.sharpness
            ]
            blocks += ["Sharpness of the constants:", table(("Constant", "Values", "How found"), lines)]
        if finding.certificate:
            address = link(finding.certificate, self._beside)
            shown_as = code(finding.certificate)
            blocks.append(f"Certificate: {f'[{shown_as}]({address})' if address else shown_as}")
        blocks.append(f"Reproduce: {code(finding.reproduce)}")
        return blocks

    def _table(self, shown: Table) -> list[str]:
        header = [escape(c.name) + (f" ({escape(c.unit)})" if c.unit else "") for c in shown.columns]
        rows = [[escape(format_scalar(cell)) for cell in row] for row in shown.rows[: self._rows]]
        blocks = [f"{escape(shown.title)}:"]
        if rows:
            blocks.append(table(header, rows))
        missing = len(shown.rows) - len(rows)
        if missing:
            blocks.append(
                f"*{count(missing, 'more row is', 'more rows are')} left out; {self._whole_record}.*"
            )
        return blocks


def verdict_words(verdict: Verdict, words: dict[Verdict, str]) -> str:
    """Return a verdict with its symbol."""
    return f"{summary.VERDICT_SYMBOLS[verdict]} **{words[verdict]}**"


def backed(finding: Finding) -> str:
    """Return a verdict with how much of what it needs is in its certificate."""
    return f"{verdict_words(finding.verdict, words_for(finding))}{summary.by_scope(finding)}"


def _evidence(evidence: dict[str, Quantity]) -> str:
    rows = [
        (escape(words(name)), escape(format_quantity(value)), escape(value.note or ""))
        for name, value in sorted(evidence.items())
    ]
    if any(value.note for value in evidence.values()):
        return table(("Evidence", "Value", "Note"), rows)
    return table(("Evidence", "Value"), [row[:2] for row in rows])


def _in_a_cell(evidence: dict[str, Quantity]) -> str:
    parts = [
        escape(f"{words(name)}: {format_quantity(value)}" + (f" ({value.note})" if value.note else ""))
        for name, value in sorted(evidence.items())
    ]
    return "<br>".join(parts)
