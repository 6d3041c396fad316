"""Limits of time: a thread that is left behind if what it calls hangs, and the end of a whole."""

from __future__ import annotations

import contextvars
import math
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

_Job = Callable[[], Any]
T = TypeVar("T")


class TimeIsUp(Exception):  # noqa: N818  not an error: what was done stands
    """The time for the whole is up."""


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


class Deadline:
    """When the whole has to end: so many seconds after this was made, or never for None."""

    def __init__(self, seconds: float | None) -> None:
        self._end = math.inf if seconds is None else time.monotonic() + seconds
        self._worker: Worker | None = None

    @property
    def left(self) -> float:
        """The seconds that are left, infinite where there is no end."""
        return self._end - time.monotonic()

    def half(self) -> Deadline:
        """Return the deadline that is half as far away."""
        return Deadline(None if self._end == math.inf else 0.5 * max(self.left, 0.0))

    def run(self, job: Callable[[], T]) -> T:
        """Return what the job returns; where the time is up before, leave it behind and raise TimeIsUp."""
        if self._end == math.inf:
            return job()
        if self._worker is None:
            self._worker = Worker()
        try:
            returned, error = self._worker.run(job, seconds=max(self.left, 0.0))
        except TimeoutError:
            self._worker = None
            raise TimeIsUp from None
        if error is not None:
            raise error
        found: T = returned
        return found
