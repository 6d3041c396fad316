"""The progress bar."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class progress:  # noqa: N801  used like a function
    """A progress bar on stderr while the block runs; nothing when stderr is not a terminal."""

    def __init__(self, label: str = "verifying") -> None:
        self._label = label
        self._bar: Any = None

    def __enter__(self) -> Callable[[int, int, str], None] | None:
        if not sys.stderr.isatty():
            return None
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn(self._label),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
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
