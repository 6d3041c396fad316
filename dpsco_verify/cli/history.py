"""``dpsco-verify history``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpsco_verify.cli.options import default_store, echo_json, json_option, printed_form

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from dpsco_verify.store import Change, ClaimHistory, History

_WIDE = 110
"""From this width on the tables have room for a claim and its reading on one line."""

_MORE = """\b
The slack of a constant is the factor by which the claimed one is weaker than
the strongest with which the statement was shown to hold: 1 is sharp.
"""


@click.command(epilog=_MORE)
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    default=default_store(Path("reports/latest")),
    show_default=True,
    help="The file that audits have kept their runs in.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    help="For readers or for machines.  [default: table]",
)
@json_option
def history(store: Path, form: str | None, *, as_json: bool) -> None:
    """Show the earlier runs of an audit: verdicts and slacks over time, and what changed."""
    import msgspec
    from rich.console import Console

    from dpsco_verify.store import EvidenceStore
    from dpsco_verify.store import history as history_of

    chosen = printed_form(form, as_json=as_json)
    with EvidenceStore(store, read_only=True) as evidence:
        found = history_of(evidence)
    if chosen == "json":
        # What is no number is null.
        echo_json(msgspec.json.decode(msgspec.json.encode(found)))
    else:
        print_history(found, Console())


def print_history(found: History, console: Console) -> None:
    """Print the runs, the claims and the changes as tables; 80 columns are enough."""
    if not found.runs:
        console.print("No run has been finished yet.")
        return
    console.print(_runs(found))
    console.print(_claims(found, console.width))
    if len(found.runs) > 1:
        console.print(
            _changes(found, console.width) if found.changes else "Nothing changed from one run to the next."
        )


def _runs(found: History) -> Table:
    table = _table("Runs", "Run", "Finished (UTC)", "Profile", "Seed", "Exit", "Verdicts")
    for run in found.runs:
        when = datetime.fromtimestamp(run.finished, UTC).strftime("%Y-%m-%d %H:%M:%S")
        verdicts = ", ".join(f"{number} {_word(verdict)}" for verdict, number in run.verdicts.items())
        table.add_row(str(run.run), when, run.profile, str(run.seed), str(run.exit_code), verdicts)
    return table


def _claims(found: History, width: int) -> Table:
    table = _table("Claims", "Claim", "Verdict", "Slack")
    for claim in found.claims:
        table.add_row(_key(claim.claim, width), _verdicts(claim), _text("\n".join(_slacks(claim))))
    return table


def _verdicts(claim: ClaimHistory) -> str:
    """Return the verdicts in the order of the runs, with the run from which on each stood."""
    words: list[str] = []
    before = None
    for one in claim.found:
        if one.verdict != before:
            words.append(f"{_word(one.verdict)} from run {one.run}")
            before = one.verdict
    return ", ".join(words)


def _slacks(claim: ClaimHistory) -> list[str]:
    """Return a line for each constant: its slacks in the order of the runs, each written where it changes."""
    constants = dict.fromkeys(one.constant for run in claim.found for one in run.constants)
    lines = []
    for constant in constants:
        slacks = [
            _number(one.slack) for run in claim.found for one in run.constants if one.constant == constant
        ]
        steps = [slack for number, slack in enumerate(slacks) if number == 0 or slack != slacks[number - 1]]
        lines.append(f"{constant}: {' → '.join(steps)}")
    return lines


def _changes(found: History, width: int) -> Table:
    table = _table("Changes", "Runs", "Claim", "What", "Before", "After")
    for change in found.changes:
        table.add_row(
            f"{change.before_run} → {change.run}",
            _key(change.claim, width),
            _text(_what(change)),
            _number(change.before),
            _number(change.after),
        )
    return table


def _what(change: Change) -> str:
    words = {"holds_with": "shown to hold with", "needed": "needed at least"}.get(change.what, change.what)
    return words if change.constant is None else f"{words}, {change.constant}"


def _number(value: str | float | None) -> str:
    if value is None:
        return "none"
    return _word(value) if isinstance(value, str) else f"{value:.6g}"


def _word(verdict: str) -> str:
    return verdict.replace("_", " ")


def _key(claim: str, width: int) -> str:
    return _text(claim if width >= _WIDE else claim.replace("/", "/\n"))


def _text(content: str) -> str:
    from rich.markup import escape

    return escape(content)


def _table(title: str, *columns: str) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column == "Claim")
    return table
