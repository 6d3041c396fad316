"""Worker processes on this machine, each of which is replaced when it dies.

Every worker has one call at a time and a channel that nobody else holds. So when a process dies (killed, crashed, out
of memory), be it in the middle of a message, its channel ends: it is known which call it was at, and that one alone is
made again, in a new process. Pools of processes share their channels and hold both ends: one that loses a worker while
it hands over a result waits for the rest for ever.
"""

from __future__ import annotations

import atexit
import os
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any

from dpsco_verify.execution.errors import DEATHS, WorkersEndedError
from dpsco_verify.execution.worker import Worker, WorkerDiedError, opened, packed


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
        self._workers: dict[int, Worker] = {}
        self._closed = False
        self._killed = False
        self._threads = [
            threading.Thread(target=self._serve, args=(number,), name=f"worker-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()
        # An interpreter that ends waits for its processes.
        atexit.register(self.kill)

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
        atexit.unregister(self.kill)
        with self._lock:
            self._closed = self._killed = True
            workers = list(self._workers.values())
        for worker in workers:
            worker.end()
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
                    try:
                        result = self._make(number, call)
                    except BaseException as error:  # noqa: BLE001  handed to whoever asks for the result, as executors do
                        call.future.set_exception(error)
                    else:
                        call.future.set_result(result)
        finally:
            self._end(number)

    def _make(self, number: int, call: _Call) -> Any:
        message = packed((call.function, call.args, call.kwargs))
        for _ in range(DEATHS):
            worker = self._worker(number)
            try:
                answer = worker.answer(message)
            except WorkerDiedError:
                self._end(number)
            else:
                return opened(answer)
        raise WorkersEndedError(f"the call ended {DEATHS} workers")

    def _worker(self, number: int) -> Worker:
        # `kill` must not come in between: it would not know of the process.
        with self._lock:
            if self._killed:
                raise RuntimeError("the executor was ended before this call could complete")
            if number not in self._workers:
                self._workers[number] = Worker(os.getpid())
            return self._workers[number]

    def _end(self, number: int) -> None:
        with self._lock:
            worker = self._workers.pop(number, None)
        if worker is not None:
            worker.end()
