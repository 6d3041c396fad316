"""Worker processes on this machine, each of which is replaced when it dies.

Every worker is a pool of its own, of one process, and has one call at a time. So when a process dies (killed, crashed,
out of memory) it is known which call it was at: that one alone is made again, in a new process.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from dataclasses import dataclass
from typing import Any

import loky
from loky.process_executor import TerminatedWorkerError

from dpsco_verify.execution.errors import DEATHS, WorkersEndedError
from dpsco_verify.execution.threads import ONE_THREAD

_PARENT_POLL = 0.5
"""Seconds after which, at most, a worker notices that the process that it works for is gone."""


@dataclass(frozen=True)
class _Call:
    future: Future[Any]
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]


class ProcessExecutor(Executor):
    """Executes in `workers` processes of this machine.

    A call whose process dies is made again, in a new process; when it has ended three processes its future has the
    exception :class:`~dpsco_verify.execution.errors.WorkersEndedError`.
    """

    def __init__(self, workers: int) -> None:
        self.capacity = workers
        """How many calls are in progress at a time."""
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._pools: dict[int, Any] = {}
        self._closed = False
        self._killed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), name=f"worker-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queue a call and return its future."""
        call = _Call(Future(), fn, args, kwargs)
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._calls.put(call)
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  the interface's signature
        """End the workers when the queue is empty; with `cancel_futures`, empty it first."""
        with self._lock:
            first, self._closed = not self._closed, True
        if cancel_futures:
            self._cancel_queued()
        if first or cancel_futures:
            for _ in self._threads:
                self._calls.put(None)
        if wait:
            for thread in self._threads:
                thread.join()

    def kill(self) -> None:
        """End the workers at once, whatever they are at."""
        with self._lock:
            self._closed = self._killed = True
            pools = list(self._pools.values())
        for pool in pools:
            pool.shutdown(wait=True, kill_workers=True)
        self.shutdown(cancel_futures=True)

    def _cancel_queued(self) -> None:
        while True:
            try:
                call = self._calls.get_nowait()
            except queue.Empty:
                return
            if call is not None:
                call.future.cancel()

    def _serve(self, number: int) -> None:
        """Make one call after the other in the process of this number."""
        try:
            while (call := self._calls.get()) is not None:
                if call.future.set_running_or_notify_cancel():
                    self._make(number, call)
        finally:
            self._end(number)

    def _make(self, number: int, call: _Call) -> None:
        for _ in range(DEATHS):
            try:
                result = self._begin(number, call).result()
            except TerminatedWorkerError:
                self._end(number)
            except BaseException as error:  # noqa: BLE001  handed to whoever asks for the result, as executors do
                if isinstance(error, BrokenExecutor):
                    self._end(number)
                call.future.set_exception(error)
                return
            else:
                call.future.set_result(result)
                return
        call.future.set_exception(WorkersEndedError(f"the call ended {DEATHS} workers"))

    def _begin(self, number: int, call: _Call) -> Future[Any]:
        # A pool starts its process when it is given a call; `kill` must not come in between.
        with self._lock:
            if self._killed:
                raise RuntimeError("the executor was ended")
            if number not in self._pools:
                self._pools[number] = loky.ProcessPoolExecutor(
                    max_workers=1, env=dict(ONE_THREAD), initializer=_end_with_parent, initargs=(os.getpid(),)
                )
            future: Future[Any] = self._pools[number].submit(call.function, *call.args, **call.kwargs)
            return future

    def _end(self, number: int) -> None:
        with self._lock:
            pool = self._pools.pop(number, None)
        if pool is not None:
            pool.shutdown(wait=True, kill_workers=True)


def _end_with_parent(parent: int) -> None:
    """Make this process end soon after the one that it works for has been killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_POLL)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
