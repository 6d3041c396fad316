"""``report.md``: the report condensed, for summaries of continuous integration and for reading in a repository.

GitHub shows a step summary of at most 1 MiB, so the report is always smaller: long tables are cut, and if that
is not enough the details of the last claims are left out. Each cut is marked where it was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from dpsco_verify.evidence import (
    VERDICT_MEANING,
    AuditRecord,
    Finding,
)
from dpsco_verify.reporting import (
    comparison,
    markdown_errata,
    museum,
    standing,
    summary,
)
from dpsco_verify.reporting.markdown_claims import ClaimBlocks, backed, verdict_words
from dpsco_verify.reporting.markup import code, escape, paragraph, table
from dpsco_verify.reporting.naming import REPORT, RESULTS, Names
from dpsco_verify.reporting.numbers import count, format_scalar, format_seconds
from dpsco_verify.reporting.text import shorten
from dpsco_verify.reporting.vocabulary import vocabulary

LIMIT = 1_000_000
"""Bytes; 1 MiB is the limit of GitHub, and what is added around the report must fit too."""

_ROWS = (40, 15, 5, 0)
"""How many rows of a table are shown: the first of these with which the report is small enough."""

_MOST_LISTED = 400
_BUDGET = "the probability that any statistical test of the run alarms falsely"
_GATE_WORDS = {0: "Passed", 3: "Undecided"}


@dataclass(frozen=True)
class MarkdownReport:
    """The condensed report."""

    name: str = "markdown"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  one file, whatever the record
        """Return the one file."""
        return (REPORT,)

    def render(self, record: AuditRecord, *, beside: frozenset[str]) -> dict[str, bytes]:
        """Return the report; it shows the figures that are written beside it."""
        for rows in _ROWS:
            writer = _Writer(record, beside, rows)
            overview, sections = writer.overview(), writer.sections()
            whole = _join([overview, *sections])
            if len(whole) <= LIMIT:
                return {REPORT: whole}
        return {REPORT: _cut(overview, sections, writer)}


def _join(blocks: list[str]) -> bytes:
    return ("\n\n".join(blocks) + "\n").encode()


def _cut(overview: str, sections: list[str], writer: _Writer) -> bytes:
    """Return the overview and as many whole sections as fit, with a note of how many do not."""
    # The note is short; a kilobyte is more than it needs. Blocks are two line breaks apart.
    ends = accumulate(len(block.encode()) + 2 for block in (overview, *sections))
    kept = sections[: max(sum(end <= LIMIT - 1024 for end in ends) - 1, 0)]
    missing = count(len(sections) - len(kept), "claim is", "claims are")
    shortened = _join(
        [overview, *kept, f"*The details of {missing} left out for size; {writer.whole_record}.*"]
    )
    if len(shortened) <= LIMIT:
        return shortened
    # Names beyond reason have made the overview itself too long; end it at the end of a line.
    note = f"\n\n*Left out for size from here on; {writer.whole_record}.*\n".encode()
    head = shortened[: LIMIT - len(note)]
    return head[: head.rfind(b"\n")] + note


class _Writer:
    """The blocks of the report, with at most `rows` rows a table."""

    def __init__(self, record: AuditRecord, beside: frozenset[str], rows: int) -> None:
        self._record = record
        self._beside = beside
        self._rows = rows
        self._names = Names(record)
        self._chapters = standing.chapters(record)
        self._say = vocabulary(record)
        self.whole_record = f"the whole record is `{RESULTS}`" + (
            f" ([open]({RESULTS}))" if RESULTS in beside else ""
        )

    def sections(self) -> list[str]:
        """Return one block for each claim, the first of each paper with its chapter's heading."""
        blocks = ClaimBlocks(
            self._record, self._names, self._beside, rows=self._rows, whole_record=self.whole_record
        )
        return blocks.sections(self._chapters)

    def overview(self) -> str:
        """Return all that stands before the claims; its size is bounded, however large the record is."""
        record = self._record
        source = self._chapters[0].source if len(record.papers) == 1 and self._chapters else ""
        blocks = [
            f"# Verification report: {escape(shorten(summary.title(record), 300))}",
            *([paragraph(shorten(source, 600))] if source else []),
            *([f"**{escape(shorten(standing.headline(record), 2000))}**"] if record.papers else []),
            f"**{escape(summary.headline(record))}**",
            f"> **{_GATE_WORDS.get(record.exit_code, 'Failed')}.** {escape(summary.gate(record))}",
            *self._usable(),
            *self._standings(),
            "## What fails",
            *self._failures(),
            *(self._about_the_text() if self._say.has_errata else []),
            *(
                ["## The fault museum", *museum.markdown_blocks(record.museum)]
                if record.museum is not None
                else []
            ),
            *self._comparison(),
            f"## All {self._say.reading}s",
            self._readings(),
            "## What the verdicts mean",
            "\n".join(
                f"- {verdict_words(v, self._say.words)}: {escape(VERDICT_MEANING[v])}."
                for v in self._say.verdicts
            ),
            *self._scopes(),
            "## The run",
            *self._run(),
            *([] if record.papers else [f"## The {self._say.claim}s"]),
        ]
        return "\n\n".join(blocks)

    def _scopes(self) -> list[str]:
        """Return what the words behind verdicts mean."""
        lines = [
            f"- by **{scope}**: {escape(words)}." for scope, words in summary.scopes(self._record).items()
        ]
        return ["\n".join(lines)] if lines else []

    def _usable(self) -> list[str]:
        """Return what of each paper can be used as printed, and what cannot, a line each."""
        if not self._record.papers:
            return []
        lines = []
        for chapter in self._chapters:
            parts = [f"**{escape(s)}**: {escape(shorten(places, 1200))}" for s, places in chapter.usable]
            if chapter.paper and parts:
                lines.append(f"- {escape(chapter.paper.id)}, {'; '.join(parts)}")
        return ["## What can be used as printed", "\n".join(lines[:_MOST_LISTED])] if lines else []

    def _standings(self) -> list[str]:
        """Return one line a paper, and one for each of its statements."""
        if not self._record.papers:
            return []
        blocks = ["## What stands"]
        for chapter in self._chapters:
            rows = [
                (
                    f"[{escape(shorten(s.claim.first.reference, 60))}](#{self._names.claim(s.claim.id)})",
                    escape(shorten(s.claim.first.title, 120)),
                    f"**{escape(s.standing)}**",
                    escape(shorten(s.how, 160)),
                )
                for s in chapter.statements
            ]
            name = chapter.paper.id if chapter.paper else chapter.title
            blocks += [
                f"**{escape(name)}** ({escape(shorten(chapter.title, 200))}). {escape(chapter.line)}."
                + (f" {escape(shorten(chapter.unconfirmed, 400))}" if chapter.unconfirmed else ""),
                table(("Reference", "Statement", "Stands", "How far"), rows[:_MOST_LISTED]),
            ]
        return blocks

    def _comparison(self) -> list[str]:
        found = self._record.comparison
        return ["## The neighbours", *comparison.markdown_blocks(found)] if found is not None else []

    def _about_the_text(self) -> list[str]:
        return [
            "## Errata",
            *markdown_errata.errata_blocks(self._record),
            "## Constants",
            *markdown_errata.constant_blocks(self._record, self._to),
        ]

    def _failures(self) -> list[str]:
        departures = summary.departures(self._record)
        known = [f for f in summary.failing(self._record) if f.as_expected]
        blocks = []
        if departures:
            lines = [
                f"{self._item(f)}: **{summary.outcome(f)}**, {escape(summary.reason(f))}. {_short(f)}"
                for f in departures
            ]
            blocks += ["### Not as expected", _listed(lines)]
        else:
            blocks.append(f"No verdict departs from {self._say.expected}.")
        if known:
            blocks += [
                f"### {self._say.failing.capitalize()}, as expected",
                _listed([f"{self._item(f)}: {_short(f)}" for f in known]),
            ]
        elif not departures:
            blocks.append(self._say.none_fails)
        return blocks

    def _item(self, finding: Finding) -> str:
        return f"- {backed(finding)} {self._to(finding, shorten(finding.key, 120))}"

    def _to(self, finding: Finding, content: str) -> str:
        return f"[{code(content)}](#{self._names.reading(finding)})"

    def _readings(self) -> str:
        rows = [
            (
                escape(shorten(f.id, 80)),
                self._to(f, shorten(f.reading, 80)),
                backed(f),
                escape(summary.expectation(f)) if f.as_expected else f"**{escape(summary.expectation(f))}**",
                _short(f),
            )
            for f in self._record.claims[:_MOST_LISTED]
        ]
        say = self._say
        shown = table((say.claim.capitalize(), say.group, "Verdict", say.expectation, "Finding"), rows)
        missing = len(self._record.claims) - len(rows)
        return shown + (
            f"\n\n*{count(missing, f'more {say.reading}')} left out for size.*" if missing else ""
        )

    def _run(self) -> list[str]:
        record, budget = self._record, self._record.error_budget
        facts = (
            ("Profile", escape(shorten(record.profile, 80))),
            ("Seed", code(str(record.seed))),
            ("Duration", format_seconds(record.seconds)),
            (
                "Error budget",
                f"{format_scalar(budget.spent)} spent of {format_scalar(budget.total)} ({_BUDGET})",
            ),
            (
                "Versions",
                escape(shorten(", ".join(f"{k} {v}" for k, v in sorted(record.versions.items())), 2000)),
            ),
        )
        blocks = [table(("", ""), facts)]
        spent = [
            (escape(shorten(claim, 80)), format_scalar(share))
            for claim, share in sorted(budget.by_claim.items())[:_MOST_LISTED]
        ]
        if spent:
            blocks.append(
                table((self._say.claim.capitalize(), "Error budget spent"), spent, right=(False, True))
            )
        return blocks


def _short(finding: Finding) -> str:
    return escape(shorten(finding.summary, 240))


def _listed(lines: list[str]) -> str:
    missing = len(lines) - _MOST_LISTED
    note = [f"- *{count(missing, 'more')} left out for size.*"] if missing > 0 else []
    return "\n".join(lines[:_MOST_LISTED] + note)
