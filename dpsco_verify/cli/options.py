"""What several commands say in the same words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from dpsco_verify.execution import ExecutorChoice

FORMATS = ("json", "html", "markdown", "junit", "figures")
"""The report formats, as :data:`dpsco_verify.reporting.FORMAT_NAMES` has them; a test holds the two together."""

EXIT_CODES = """\b
Exit codes: 0 every verdict as expected; 1 at least one is not; 2 wrong usage or
bad input; 3 undecided (a check that had to decide could not within its budget);
70 broken off: a fault of the program, and no verdict.
"""

EXECUTORS = ("serial", "loky", "dask")
"""The executors, as :class:`dpsco_verify.execution.ExecutorKind` has them; a test holds the two together."""


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
            type=click.Choice(EXECUTORS),
            help="This process; processes of this machine; or a dask cluster: that of --scheduler, else one of --jobs "
            "processes here.  [default: serial for one job, else loky]",
        ),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Worker processes."
        ),
    ):
        command = option(command)
    return command


def chosen_executor(jobs: int, executor: str | None, scheduler: str | None) -> ExecutorChoice:
    """Return the choice that the options of :func:`executor_options` make."""
    from dpsco_verify.execution import ExecutorChoice, ExecutorKind

    return ExecutorChoice(
        jobs=jobs, kind=None if executor is None else ExecutorKind(executor), scheduler=scheduler
    )


def default_store(out: Path) -> Path:
    """Return the store that goes with the reports in `out`: beside it, because `out` is replaced as a whole."""
    return out.with_name(f"{out.name}.store.sqlite3")
