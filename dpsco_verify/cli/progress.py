"""The progress bar, and ``--quiet``, which leaves it and all words for readers out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

_QUIET = "dpsco_verify.quiet"


def quiet_option(words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option ``--quiet``, which :func:`is_quiet` answers for instead of an argument of the command."""

    def keep(ctx: click.Context, _param: click.Parameter, given: bool) -> None:  # noqa: FBT001  click's signature
        ctx.meta[_QUIET] = given

    return click.option(
        "--quiet", "-q", is_flag=True, expose_value=False, is_eager=True, callback=keep, help=words
    )


NO_REPORT = "Show no progress and no report: errors alone on stderr, and on stdout what a machine reads."
"""What ``--quiet`` does to a command whose exit code or files say it all."""

NO_PROGRESS = "Show no progress and no remarks: errors alone on stderr."
"""What it does to a command that prints its result."""


def is_quiet() -> bool:
    """Return whether the command that runs was given ``--quiet``."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(_QUIET))


class progress:  # noqa: N801  used like a function
    """A progress bar on stderr while the block runs; nothing with ``--quiet`` or when stderr is not a terminal.

    Work that is not `counted` has a bar that only moves, and the time since it began.
    """

    def __init__(self, label: str = "verifying", *, counted: bool = True) -> None:
        self._label = label
        self._counted = counted
        self._bar: Any = None

    def __enter__(self) -> Callable[[int, int, str], None] | None:
        if is_quiet() or not _at_terminal():
            return None
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        count = (MofNCompleteColumn(),) if self._counted else ()
        left = (TimeRemainingColumn(), TextColumn("left")) if self._counted else ()
        self._bar = Progress(
            TextColumn(self._label),
            BarColumn(),
            *count,
            TimeElapsedColumn(),
            *left,
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
        )
        bar = self._bar
        task = bar.add_task("", total=None)
        bar.start()

        def report(done: int, total: int, name: str) -> None:
            bar.update(task, completed=done, total=total, description=name)

        return report

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()


def _at_terminal() -> bool:
    return sys.stderr.isatty()
