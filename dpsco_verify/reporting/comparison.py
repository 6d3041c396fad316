"""The comparison of systems as tables of words, for every format."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import linear_regression

from dpsco_verify.evidence import AuditVerdict, CellRecord, CellState, ComparisonRecord, SystemRecord
from dpsco_verify.reporting.markup import escape, table
from dpsco_verify.reporting.numbers import count, format_scalar, format_seconds

MEANING = (
    "Every system on the same samples at the same privacy. A figure is the mean excess risk of independent runs, with "
    "its 95 % interval (Student's, which is asymptotic). Exponents are fitted by least squares to the logarithms. "
    "A dash is a place where a system was not run; the note below the table says why. An audit "
    "sees less than exact figures do: whether a source's noise suffices is decided by the claims of the ledger."
)
_FEWEST_SIZES = 3


@dataclass(frozen=True, kw_only=True)
class WordTable:
    """A table of words; the first column names the row, the others are `figures` or not."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()
    figures: bool = True


def headline(record: ComparisonRecord) -> str:
    """Return what was compared, and what the audits found, in a sentence."""
    found = f"violated: {', '.join(record.violated)}" if record.violated else "no audit found a violation"
    systems, problems = count(len(record.systems), "system"), count(len(record.problems), "problem")
    return (
        f"{systems} on {problems} at ε = {record.epsilon:g}, "
        f"δ = {record.delta:g}, {record.runs} runs each; {found}"
    )


def systems_table(record: ComparisonRecord) -> WordTable:
    """Return who is compared, what their sources promise, and what the audits found."""
    return WordTable(
        title="Systems",
        header=("System", "Source", "Paper's section", "Excess risk, in LD", "Gradient queries", "Audited"),
        rows=tuple((s.title, s.source, s.section, s.rate, s.query_rate, _audited(s)) for s in record.systems),
        figures=False,
    )


def audits_table(record: ComparisonRecord) -> WordTable:
    """Return the systems and their audits in few words, for a narrow page."""
    return WordTable(
        title="Audits",
        header=("System", "Audited"),
        rows=tuple((s.title, _audited(s, with_pair=False)) for s in record.systems),
        figures=False,
    )


def _audited(system: SystemRecord, *, with_pair: bool = True) -> str:
    if not system.is_private:
        return "not private"
    if not system.audits:
        return f"not audited; {system.not_audited}" if system.not_audited else "not audited"
    found = []
    for audit in system.audits:
        words = "no violation" if audit.verdict is AuditVerdict.NOT_VIOLATED else audit.verdict.words
        if audit.verdict is not AuditVerdict.VIOLATED and audit.detectable_epsilon is not None:
            words += f"; ε ≥ {audit.detectable_epsilon:.3g} would have shown"
        found.append(f"{words} ({audit.claim}; {audit.pair})" if with_pair else words)
    return "; ".join(found)


def problem_tables(record: ComparisonRecord) -> tuple[WordTable, ...]:
    """Return for each problem the risks along n and along ε."""
    tables = []
    for problem in record.problems:
        own = [cell for cell in record.cells if cell.problem == problem.id]
        facts = (
            f"{problem.title} ({problem.kind}): d = {problem.dimension}, L = {problem.lipschitz:.3g}, "
            f"D = {problem.diameter:.3g}"
        )
        along_n = [c for c in own if c.epsilon == record.epsilon]
        sizes = sorted({c.n for c in along_n})
        tables.append(_along_n(record, f"{facts}; ε = {record.epsilon:g}", along_n, sizes))
        for size in sizes:
            along_epsilon = [c for c in own if c.n == size]
            epsilons = sorted({c.epsilon for c in along_epsilon})
            if len(epsilons) > 1:
                tables.append(_along_epsilon(record, f"{problem.title}: n = {size}", along_epsilon, epsilons))
    return tuple(tables)


def _along_n(
    record: ComparisonRecord, title: str, cells: Sequence[CellRecord], sizes: Sequence[int]
) -> WordTable:
    notes: dict[str, None] = {}
    rows = []
    for system in record.systems:
        own = {c.n: c for c in cells if c.system == system.id}
        if not own:
            continue
        measured = [own[n] for n in sizes if n in own and own[n].state is CellState.MEASURED]
        last = measured[-1] if measured else None
        rows.append(
            (
                system.title,
                *(_figure(own.get(n)) for n in sizes),
                _power(measured, lambda c: c.excess_risk),
                f"{last.gradient_queries:.3g}" if last and last.gradient_queries is not None else "",
                _power([c for c in own.values() if c.gradient_queries], lambda c: c.gradient_queries),
                format_seconds(last.seconds) if last else "",
                _power(measured, lambda c: c.seconds),
            )
        )
        for note in _notes(system, [own[n] for n in sizes if n in own], lambda c: f"n = {c.n}"):
            notes[note] = None
    header = (
        "System",
        *(f"n = {n}" for n in sizes),
        "risk ~ n^",
        "queries a run",
        "queries ~ n^",
        "time a run",
        "time ~ n^",
    )
    return WordTable(title=title, header=header, rows=tuple(rows), notes=tuple(notes))


def _along_epsilon(
    record: ComparisonRecord, title: str, cells: Sequence[CellRecord], epsilons: Sequence[float]
) -> WordTable:
    notes: dict[str, None] = {}
    rows = []
    for system in record.systems:
        own = {c.epsilon: c for c in cells if c.system == system.id}
        if not own or not system.is_private:
            continue
        measured = [own[e] for e in epsilons if e in own and own[e].state is CellState.MEASURED]
        rows.append(
            (
                system.title,
                *(_figure(own.get(e)) for e in epsilons),
                _power(measured, lambda c: c.excess_risk, lambda c: c.epsilon),
            )
        )
        for note in _notes(system, [own[e] for e in epsilons if e in own], lambda c: f"ε = {c.epsilon:g}"):
            notes[note] = None
    return WordTable(
        title=title,
        header=("System", *(f"ε = {e:g}" for e in epsilons), "risk ~ ε^"),
        rows=tuple(rows),
        notes=tuple(notes),
    )


def _figure(cell: CellRecord | None) -> str:
    if cell is None or cell.excess_risk is None:
        return "–"
    words = f"{cell.excess_risk:.3g}"
    if cell.low is not None and cell.high is not None:
        words += f" [{cell.low:.2g}, {cell.high:.2g}]"
    return words


def _power(
    cells: Sequence[CellRecord],
    value: Callable[[CellRecord], float | None],
    size: Callable[[CellRecord], float] = lambda c: c.n,
) -> str:
    """Return the least-squares exponent, of three sizes or more with positive values."""
    points = [(math.log(size(c)), math.log(v)) for c in cells if (v := value(c)) is not None and v > 0.0]
    if len({x for x, _ in points}) < _FEWEST_SIZES:
        return ""
    slope = linear_regression(*zip(*points, strict=True)).slope
    return f"{slope:.2f}"


def _notes(
    system: SystemRecord, cells: Sequence[CellRecord], place: Callable[[CellRecord], str]
) -> list[str]:
    """Return one note for each reason for which a system was not run, with the places."""
    slow = [c for c in cells if c.state is CellState.TOO_SLOW]
    notes = []
    if slow:
        notes.append(f"{system.title}: too slow at {', '.join(map(place, slow))} ({slow[-1].reason})")
    unmet: dict[str, list[CellRecord]] = {}
    for cell in cells:
        if cell.state is CellState.CONDITIONS:
            # The same condition has other numbers at each place; its first words name it.
            unmet.setdefault(cell.reason.partition("=")[0], []).append(cell)
    for group in unmet.values():
        where = "" if len(group) == len(cells) else f" (at {', '.join(map(place, group))})"
        notes.append(f"{group[-1].reason}{where}")
    return notes


QUESTIONS = (
    "Section 6 of the paper supposes that privacy by iteration may be replaced by subsampling, and Section 7 "
    "that Algorithm 1 extends to other potentials. The first table holds the noise that proven bounds need for "
    "the batches of the one-pass schedule, beside iteration's and Algorithm 1's own. In the second the privacy "
    "is the same for both potentials, as the mirror step is post-processing of the noisy gradient; the risk is "
    "what differs."
)
"""What the tables of the two open questions hold."""


def question_tables(record: ComparisonRecord) -> tuple[WordTable, ...]:
    """Return the tables of the open questions."""
    return tuple(
        WordTable(
            title=table.title,
            header=tuple(f"{c.name} ({c.unit})" if c.unit else c.name for c in table.columns),
            rows=tuple(tuple("–" if v is None else format_scalar(v) for v in row) for row in table.rows),
        )
        for table in record.tables
    )


def crossover_words(record: ComparisonRecord) -> tuple[str, ...]:
    """Return each change of places in a sentence."""
    titles = {s.id: s.title for s in record.systems} | {p.id: p.title for p in record.problems}
    names = {"n": "n", "epsilon": "ε"}
    return tuple(
        f"{titles[c.problem]}: {titles[c.before]} has the smaller risk up to {names[c.variable]} = {c.above:g}, "
        f"{titles[c.after]} from {names[c.variable]} = {c.at_most:g} on"
        for c in record.crossovers
    )


def markdown_blocks(record: ComparisonRecord) -> list[str]:
    """Return the blocks of the comparison for Markdown."""
    blocks = [f"{escape(headline(record))}. {escape(MEANING)}", _markdown(systems_table(record))]
    for words in problem_tables(record):
        blocks += [f"### {escape(words.title)}", _markdown(words)]
        if words.notes:
            blocks.append("\n".join(f"- {escape(note)}" for note in words.notes))
    crossovers = crossover_words(record)
    blocks += [
        "### Crossovers",
        "\n".join(f"- {escape(words)}" for words in crossovers)
        or "No two systems change places clearly within the ranges measured.",
    ]
    questions = question_tables(record)
    if questions:
        blocks += ["### Two open questions", escape(QUESTIONS)]
    for words in questions:
        blocks += [f"**{escape(words.title)}**", _markdown(words)]
    return blocks


def _markdown(words: WordTable) -> str:
    rows = [tuple(escape(cell) for cell in row) for row in words.rows]
    return table(tuple(escape(h) for h in words.header), rows)
