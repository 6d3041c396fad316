"""A thread that calls functions of a user's own, and is left behind if one hangs."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable
from typing import Any

_Job = Callable[[], Any]


class Worker:
    """A thread that does one job after another, and is left behind if one hangs."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        # The caller's context holds numpy's error state.
        arguments = (_work, self._jobs, self._results)
        threading.Thread(target=contextvars.copy_context().run, args=arguments, daemon=True).start()

    def run(self, job: _Job, *, seconds: float) -> tuple[Any, BaseException | None]:
        """Return what the job returned, or what it raised; TimeoutError if it takes longer."""
        self._jobs.put(job)
        try:
            return self._results.get(timeout=seconds)
        except queue.Empty:
            raise TimeoutError from None

    def __del__(self) -> None:
        self._jobs.put(None)


def _work(
    jobs: queue.SimpleQueue[_Job | None], results: queue.SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    while (job := jobs.get()) is not None:
        try:
            results.put((job(), None))
        except BaseException as error:  # noqa: BLE001  whatever a function raises is told, not swallowed
            results.put((None, error))
        del job
