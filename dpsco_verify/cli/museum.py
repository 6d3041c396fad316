"""``dpsco-verify museum``."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dpsco_verify.choices import ERROR_BUDGET, ExecutorKind, Profile, nearest
from dpsco_verify.cli.completion import exhibit_ids
from dpsco_verify.cli.options import (
    ChoiceOf,
    chosen_executor,
    echo_json,
    executor_options,
    indented,
    json_option,
)
from dpsco_verify.cli.progress import NO_REPORT, is_quiet, progress, quiet_option
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.exit_code import ExitCode

if TYPE_CHECKING:
    from rich.console import Console

    from dpsco_verify.faults import Judged, MuseumRow

_WIDE = 130
"""From this width on the table has room for the titles."""

_NAME, _VERDICT = 20, len("not violated")
"""The widths of the first two columns of a narrower table."""

_MORE = """\b
Exit codes: 0 every fault caught and every control left alone; 1 at least one
verdict is another than expected; 2 wrong usage or bad input; 70 broken off: a
fault of the program, and no verdict.
"""


@click.command(epilog=_MORE)
@click.option(
    "--profile",
    type=ChoiceOf(Profile),
    default=Profile.STANDARD.value,
    show_default=True,
    help="quick: the fastest exhibits only, and large controls on fewer outputs; standard and deep: all.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="ID",
    shell_complete=exhibit_ids,
    help="Judge only this exhibit; repeatable.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The root seed.")
@executor_options
@click.option(
    "--error-budget",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=ERROR_BUDGET,
    show_default=True,
    help="The probability, at most, that any control is accused.",
)
@click.option(
    "--list", "listed", is_flag=True, help="List the exhibits that would be judged, and judge none."
)
@json_option
@quiet_option(NO_REPORT)
def museum(
    profile: Profile,
    select: tuple[str, ...],
    seed: int,
    jobs: int,
    executor: ExecutorKind | None,
    scheduler: str | None,
    error_budget: float,
    *,
    listed: bool,
    as_json: bool,
) -> None:
    """Judge deliberate faults, to be caught, and right mechanisms, to be left alone."""
    from rich.console import Console

    from dpsco_verify.faults import EXHIBITS, museum_record, quick_exhibits, run_museum

    exhibits = _selected(EXHIBITS, select)
    if not select and profile is Profile.QUICK:
        exhibits = quick_exhibits(exhibits)
    if listed:
        _list(exhibits, as_json=as_json)
        return
    choice = chosen_executor(jobs, executor, scheduler)
    with progress() as report:
        rows = run_museum(exhibits, error_budget=error_budget, seed=seed, executor=choice, progress=report)
    if as_json:
        echo_json(museum_record(rows, error_budget=error_budget))
    elif not is_quiet():
        print_museum(rows, Console(), error_budget=error_budget, seed=seed)
    expected = all(row.as_expected for row in rows)
    sys.exit(int(ExitCode.AS_EXPECTED if expected else ExitCode.NOT_AS_EXPECTED))


def _list(exhibits: Sequence[Judged], *, as_json: bool) -> None:
    """Print what is to be judged, without judging it."""
    if as_json:
        echo_json(
            [
                {
                    "id": exhibit.id,
                    "kind": exhibit.kind,
                    "expected": exhibit.kind.expected,
                    "quick": not exhibit.slow,
                    "title": exhibit.title,
                    "truth": exhibit.truth,
                }
                for exhibit in exhibits
            ]
        )
        return
    for exhibit in exhibits:
        click.echo(f"{exhibit.id:44}{exhibit.kind:10}{exhibit.kind.expected.words}")
        click.echo(indented(exhibit.title))


def print_museum(rows: Sequence[MuseumRow], console: Console, *, error_budget: float, seed: int) -> None:
    """Print the rows as a table; no meaning rests on colour, and 80 columns are enough."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from dpsco_verify.faults import museum_record
    from dpsco_verify.reporting.numbers import format_scalar, format_seconds
    from dpsco_verify.reporting.text import one_line

    def text(content: str, style: str = "") -> Text:
        # What the console's encoding cannot say becomes a question mark instead of an error.
        return Text(
            one_line(content).encode(console.encoding, "replace").decode(console.encoding), style=style
        )

    wide = console.width >= _WIDE
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=wide)
    table.add_column("Exhibit", overflow="fold", ratio=5 if wide else None)
    if wide:
        table.add_column("Expected", no_wrap=True)
    table.add_column("Verdict", overflow="fold", no_wrap=wide, width=None if wide else _VERDICT)
    table.add_column("Caught by", overflow="fold", ratio=4 if wide else None)
    table.add_column("Samples", justify="right", no_wrap=True)
    table.add_column("Time", justify="right", no_wrap=True)
    taken = max(len("Samples"), *(len(format_scalar(row.samples)) for row in rows))
    taken += max(len("Time"), *(len(format_seconds(row.seconds)) for row in rows))
    # Three blanks between two columns of five, and one at each end.
    room = max(console.width - _NAME - _VERDICT - taken - 14, 1)

    def broken(content: str, width: int) -> Text:
        """Break a text at blanks and hyphens, where the table itself breaks words."""
        return Text("\n").join(map(text, textwrap.wrap(one_line(content), width)))

    for row in rows:
        verdict = row.verdict.words
        if not row.as_expected:
            verdict += f", expected: {row.exhibit.kind.expected.words}"
        table.add_row(
            text(f"{row.exhibit.id}: {row.exhibit.title}") if wide else broken(row.exhibit.id, _NAME),
            *([text(row.exhibit.kind.expected.words)] if wide else []),
            text(verdict, "" if row.as_expected else "bold red"),
            text(row.caught_by) if wide else broken(row.caught_by, room),
            text(format_scalar(row.samples)),
            text(format_seconds(row.seconds)),
        )
    console.print(table)
    for row in rows:
        if not row.as_expected:
            console.print(
                text(
                    f"{row.exhibit.id}: {row.verdict.words}, expected: {row.exhibit.kind.expected.words}. "
                    f"{row.exhibit.title}. Truth: {row.exhibit.truth}.",
                    "bold red",
                )
            )
    headline = museum_record(rows, error_budget=error_budget).headline
    done = f"{headline}. Error budget {format_scalar(error_budget)}, seed {seed}."
    console.print(text(done, "bold" if all(row.as_expected for row in rows) else "bold red"))


def _selected(exhibits: Sequence[Judged], ids: Sequence[str]) -> tuple[Judged, ...]:
    known = {exhibit.id: exhibit for exhibit in exhibits}
    for name in ids:
        if name not in known:
            raise InputError(
                f"select={name!r} is not an exhibit; give an id that --list prints, such as {nearest(name, known)}"
            )
    return tuple(exhibit for exhibit in exhibits if not ids or exhibit.id in ids)
