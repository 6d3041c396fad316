"""Execution at once, in this process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from dpsco_verify.execution.threads import one_thread


class SerialExecutor(Executor):
    """Executes at once, in this process, with one thread for linear algebra as a worker has."""

    capacity = 1
    """How many calls are in progress at a time."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Execute and return a future that is done."""
        future: Future[Any] = Future()
        try:
            with one_thread():
                future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  handed to whoever asks for the result, as executors do
            future.set_exception(error)
        return future
