"""The report for whoever waits at the terminal: the table of all readings, then what fails, then the gate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpsco_verify.evidence import AuditRecord, ComparisonRecord, Finding, Verdict
from dpsco_verify.reporting import comparison, errata, museum, standing, summary
from dpsco_verify.reporting.numbers import format_scalar, format_seconds
from dpsco_verify.reporting.text import one_line
from dpsco_verify.reporting.vocabulary import vocabulary, words_for

_STYLES = {
    Verdict.CERTIFIED: "blue",
    Verdict.HOLDS_ON_GRID: "cyan",
    Verdict.NOT_REFUTED: "default",
    Verdict.REFUTED: "red",
    Verdict.ILL_POSED: "magenta",
    Verdict.INCONCLUSIVE: "yellow",
}

_ASCII_SYMBOLS = {
    Verdict.CERTIFIED: "+",
    Verdict.HOLDS_ON_GRID: "#",
    Verdict.NOT_REFUTED: "o",
    Verdict.REFUTED: "x",
    Verdict.ILL_POSED: "!",
    Verdict.INCONCLUSIVE: "?",
}

_WIDE = 110
"""From this width on the table has room for the sentence of each finding."""

_NAME = 24
"""What a narrow console leaves to a row's name; the rest is for figures."""

_BETWEEN, _EDGES = 3, 2
"""The blanks between two columns, and those at both ends of a row."""


def print_report(record: AuditRecord, console: Console) -> None:
    """Print `record` to `console`; no meaning rests on colour, and 80 columns are enough."""
    printer = _Printer(console)
    console.print(printer.text(summary.title(record), "bold"))
    console.print(printer.text(summary.headline(record)))
    if record.papers:
        console.print(printer.text(standing.headline(record)))
        console.print()
        for chapter in standing.chapters(record):
            name = chapter.paper.id if chapter.paper else ""
            line = Text.assemble(printer.text(name, "bold"), "  ", printer.text(chapter.line))
            console.print(Padding(line, (0, 0, 0, 2)))
    console.print()
    console.print(printer.table(record))
    departures = summary.departures(record)
    printer.findings("Not as expected", departures, reasons=True)
    known = tuple(f for f in summary.failing(record) if f.as_expected)
    failing = f"{vocabulary(record).failing}, as expected".capitalize()
    printer.findings(failing, known, reasons=False)
    if vocabulary(record).tells_all:
        good = tuple(f for f in record.claims if f.as_expected and f not in known)
        printer.findings("As expected", good, reasons=False)
    if record.errata:
        console.print()
        console.print(printer.text(f"Errata: {errata.headline(record)}"))
    if record.museum is not None:
        console.print()
        style = "" if record.museum.as_expected else "bold red"
        console.print(printer.text(f"Fault museum: {record.museum.headline}.", style))
        for exhibit in museum.unexpected(record):
            console.print(
                Padding(printer.text(f"{exhibit.id}: {museum.verdict(exhibit)}", style), (0, 0, 0, 4))
            )
    if record.comparison is not None:
        console.print()
        console.print(printer.text(f"Comparison: {comparison.headline(record.comparison)}."))
    budget = record.error_budget
    console.print()
    console.print(
        printer.text(
            f"Profile {record.profile}, seed {record.seed}, {format_seconds(record.seconds)}; error budget: "
            f"{format_scalar(budget.spent)} spent of {format_scalar(budget.total)}."
        )
    )
    console.print(printer.text(summary.gate(record), "bold" if record.exit_code == 0 else "bold red"))


def print_comparison(record: ComparisonRecord, console: Console) -> None:
    """Print a comparison by itself; a table that is wider than the console comes in pieces, without broken words."""
    printer = _Printer(console)
    console.print(printer.text(comparison.headline(record), "bold"))
    tables = (*comparison.problem_tables(record), *comparison.question_tables(record))
    for words in (comparison.audits_table(record), *tables):
        console.print()
        console.print(printer.text(words.title, "bold"))
        for table in printer.pieces(words):
            console.print(table)
        for note in words.notes:
            console.print(Padding(printer.text(note), (0, 0, 0, 2)))
    crossovers = comparison.crossover_words(record)
    if crossovers:
        console.print()
        console.print(printer.text("Crossovers", "bold"))
    for line in crossovers:
        console.print(Padding(printer.text(line), (0, 0, 0, 2)))


class _Printer:
    """Text for one console: what its encoding cannot say becomes a question mark instead of an error."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._encoding = console.encoding
        self._symbols = _ASCII_SYMBOLS if console.options.ascii_only else summary.VERDICT_SYMBOLS

    def text(self, content: str, style: str = "") -> Text:
        """Return `content` as it stands, never as markup of the console."""
        known = one_line(content).encode(self._encoding, "replace").decode(self._encoding)
        return Text(known, style=style)

    def verdict(self, finding: Finding) -> Text:
        """Return the symbol and the words of a finding's verdict."""
        verdict = finding.verdict
        return self.text(f"{self._symbols[verdict]} {words_for(finding)[verdict]}", _STYLES[verdict])

    def backed(self, finding: Finding) -> Text:
        """Return a finding's verdict, and how it is backed."""
        verdict, scope = self.verdict(finding), summary.by_scope(finding).strip()
        return Text.assemble(verdict, " ", self.text(scope, "dim")) if scope else verdict

    def table(self, record: AuditRecord) -> Table:
        """Return the table of all readings, those of one claim together."""
        wide = self._console.width >= _WIDE
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=wide)
        say = vocabulary(record)
        table.add_column(say.key, overflow="fold", ratio=3 if wide else None)
        table.add_column("Verdict", no_wrap=True)
        table.add_column(say.expectation, overflow="fold")
        if wide:
            table.add_column("Finding", overflow="fold", ratio=6)
        for claim in summary.claims(record):
            table.add_row(self.text(claim.id, "bold"))
            for position, finding in enumerate(claim.findings):
                cells: list[RenderableType] = [
                    Padding(self.text(finding.reading), (0, 0, 0, 2)),
                    self.backed(finding),
                    self._expectation(finding),
                ]
                if wide:
                    cells.append(self.text(finding.summary))
                table.add_row(*cells, end_section=position == len(claim.findings) - 1)
        return table

    def pieces(self, words: comparison.WordTable) -> Iterator[Table]:
        """Yield the table, or several that share what names a row where the console is too narrow for the figures."""
        columns = range(len(words.header))
        whole = [max(map(cell_len, column)) for column in zip(words.header, *words.rows, strict=True)]
        if not words.figures or _width(whole) <= self._console.width:
            yield self._piece(words, dict.fromkeys(columns))
            return
        # An interval stands below its figure, and headers break at blanks.
        parts = [
            [*words.header[i].split(), *(part for row in words.rows for part in _lines(row[i]))]
            for i in columns
        ]
        least = [max(map(cell_len, column)) for column in parts]
        keys = next((k for k in columns if k and len({row[:k] for row in words.rows}) == len(words.rows)), 1)
        longest = max(cell_len(word) for row in words.rows for word in row[0].split())
        least[0] = min(whole[0], max(_NAME, longest))
        names = {i: least[i] for i in range(keys)}
        piece: dict[int, int | None] = {**names}
        for i in columns[keys:]:
            if len(piece) > keys and _width([*map(least.__getitem__, piece), least[i]]) > self._console.width:
                yield self._piece(words, piece)
                piece = {**names}
            piece[i] = least[i]
        yield self._piece(words, piece)

    def _piece(self, words: comparison.WordTable, widths: dict[int, int | None]) -> Table:
        """Return the table of some columns; those of a given width have a cell's parts below each other."""
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for i, width in widths.items():
            table.add_column(self.text(words.header[i]), overflow="fold", width=width)
        for row in words.rows:
            table.add_row(
                *(
                    self.text(row[i]) if width is None else Text("\n").join(map(self.text, _lines(row[i])))
                    for i, width in widths.items()
                )
            )
        return table

    def findings(self, title: str, findings: tuple[Finding, ...], *, reasons: bool) -> None:
        """Print a list of findings in words, with the commands that reproduce them where `reasons` are asked."""
        if not findings:
            return
        self._console.print()
        self._console.print(self.text(title, "bold"))
        for finding in findings:
            key = self.text(finding.key, "bold")
            self._console.print(Text.assemble("  ", self.backed(finding), "  ", key))
            for content in ([f"{summary.reason(finding)}."] if reasons else []) + [finding.summary]:
                self._console.print(Padding(self.text(content), (0, 0, 0, 4)))
            if reasons and finding.counterexample is not None:
                self._console.print(Padding(self.text(finding.counterexample), (0, 0, 0, 4)))
            if reasons:
                # Left to the terminal to wrap, so that the command can be copied whole.
                command = self.text(f"reproduce: {finding.reproduce}")
                self._console.print(Text.assemble("    ", command), soft_wrap=True)

    def _expectation(self, finding: Finding) -> Text:
        if finding.as_expected:
            return self.text(summary.expectation(finding), "dim")
        return self.text(f"{summary.outcome(finding)}: {summary.expectation(finding)}", "bold red")


def _lines(cell: str) -> list[str]:
    """Return a figure and its interval, each by itself."""
    figure, bracket, interval = cell.partition(" [")
    return [figure, f"[{interval}"] if bracket else [cell]


def _width(columns: Sequence[int]) -> int:
    """Return how wide a table of such columns is."""
    return sum(columns) + _BETWEEN * (len(columns) - 1) + _EDGES
