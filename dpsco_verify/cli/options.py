"""Options and words that several commands share."""

from __future__ import annotations

import enum
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsco_verify.choices import REPORT_FORMATS, ExecutorKind
from dpsco_verify.cli.completion import format_names

if TYPE_CHECKING:
    from dpsco_verify.execution import ExecutorChoice
    from dpsco_verify.reporting import ReportFormat

EXIT_CODES = """\b
Exit codes: 0 every verdict as expected; 1 at least one is not; 2 wrong usage
or bad input; 3 undecided (a check that had to decide could not within its
budget); 70 broken off: a fault of the program, and no verdict.
"""


class ChoiceOf(click.Choice[str]):
    """The members of an enumeration by their values; the command gets the member."""

    def __init__(self, kind: type[enum.StrEnum]) -> None:
        super().__init__([member.value for member in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the member."""
        return self._kind(super().convert(str(value), param, ctx))


class ChoiceOrName(ChoiceOf):
    """The members of an enumeration by their values, or ``module:name`` of something else; the command gets a text."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value, or the name as it is."""
        return value if ":" in str(value) else str(super().convert(value, param, ctx).value)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def echo_json(value: Any) -> None:
    """Print plain values, or one of the package's structs, as JSON."""
    import json

    import msgspec

    click.echo(json.dumps(msgspec.to_builtins(value), indent=2, allow_nan=False))


def indented(words: str) -> str:
    """Return words for the lines below an entry of a list, within 80 columns."""
    return textwrap.fill(words, 80, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)


def printed_form(form: str | None, *, as_json: bool) -> str:
    """Return what ``--format`` says, which is a table if nothing is said; ``--json`` is short for one of its values."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json cannot be combined with --format {form}")
    return "json" if as_json else form or "table"


format_option = click.option(
    "--format",
    "formats",
    multiple=True,
    default=tuple(REPORT_FORMATS),
    metavar="NAME",
    shell_complete=format_names,
    help=f"Write only this format: {', '.join(REPORT_FORMATS)}, or one of another installed package; repeatable.  "
    f"[default: the {len(REPORT_FORMATS)} named]",
)


def chosen_formats(names: tuple[str, ...]) -> tuple[ReportFormat, ...]:
    """Return the formats of these names; two installed formats of one name are refused, used or not."""
    from dpsco_verify.reporting.formats import installed_formats, resolve

    installed_formats()
    return resolve(names)


def executor_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--jobs``, ``--executor`` and ``--scheduler`` to a command, which takes them by these names."""
    for option in (
        click.option(
            "--scheduler",
            metavar="ADDRESS",
            help="Use the workers of this dask scheduler, as in tcp://host:8786.",
        ),
        click.option(
            "--executor",
            type=ChoiceOf(ExecutorKind),
            help="This process; processes of this machine; or a dask cluster: that of --scheduler, else one of --jobs "
            "processes here.  [default: serial for one job, else loky]",
        ),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes."
        ),
    ):
        command = option(command)
    return command


def chosen_executor(jobs: int, executor: ExecutorKind | None, scheduler: str | None) -> ExecutorChoice:
    """Return the choice that the options of :func:`executor_options` make."""
    from dpsco_verify.execution import ExecutorChoice

    return ExecutorChoice(jobs=jobs, kind=executor, scheduler=scheduler)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add what a run is to its accountant: ``--n``, ``--lipschitz``, ``--points``, ``--batch-size``, ``--epochs``."""
    for option in (
        click.option(
            "--epochs", type=int, default=1, show_default=True, help="Times that the data are gone through."
        ),
        click.option(
            "--batch-size", type=int, default=1, show_default=True, help="Fresh points averaged in a step."
        ),
        click.option(
            "--points",
            type=int,
            help="The points used in an epoch.  [default: the loop's, the first multiple of the batch size above n/2]",
        ),
        click.option(
            "--lipschitz",
            type=float,
            default=1.0,
            show_default=True,
            help="L, the largest norm of a gradient.",
        ),
        click.option("--n", type=int, required=True, help="The number of data points."),
    ):
        command = option(command)
    return command


def default_store(out: Path) -> Path:
    """Return the store that goes with the reports in `out`: beside it, because `out` is replaced as a whole."""
    return out.with_name(f"{out.name}.store.sqlite3")
