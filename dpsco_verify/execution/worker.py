"""One worker process, and what goes through the channel between it and the process that it works for."""

from __future__ import annotations

import multiprocessing.connection
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

import cloudpickle
from loky.backend.process import LokyProcess
from loky.backend.utils import kill_process_tree

from dpsco_verify.errors import InputError
from dpsco_verify.execution.threads import ONE_THREAD

_PARENT_POLL = 0.5
"""Seconds after which, at most, a worker notices that the process that it works for is gone."""


class WorkerDiedError(Exception):
    """The process ended before it had answered."""


class RemoteTraceback(Exception):  # noqa: N818  no error of its own: it stands below one
    """Where in the worker an exception was raised: the cause of that exception here."""

    def __str__(self) -> str:
        """Return the lines of the traceback."""
        return f"\n{self.args[0]}"


def packed(message: object) -> bytes:
    """Return `message` as bytes; functions that cannot be imported are in it as they are.

    Raises
    ------
    Exception
        If the message, or a part of it, cannot be sent.
    """
    content: bytes = cloudpickle.dumps(message)
    return content


def opened(answer: bytes, loads: Callable[[bytes], Any] = pickle.loads) -> Any:
    """Return what the worker's function has returned, or raise what it has raised; `loads` undoes what `dumps` did."""
    raised, content, remote = pickle.loads(answer)  # noqa: S301  from a process of our own
    value = loads(content)
    if not raised:
        return value
    if remote:
        value.__cause__ = RemoteTraceback(remote)
    raise value


class Worker:
    """A process that answers one message after the other, with one thread for linear algebra.

    The process starts fresh (no fork, no import of the main module) and ends with `parent`, the process that it works
    for.
    """

    def __init__(self, parent: int) -> None:
        self._channel, theirs = multiprocessing.connection.Pipe()
        # The other end is the process's alone: then the channel ends when the process does.
        with theirs:
            # Not by way of multiprocessing's contexts: joblib registers a copy of loky under the same name.
            self._process = LokyProcess(target=_work, args=(theirs, parent), env=dict(ONE_THREAD))
            self._process.start()

    def answer(self, message: bytes) -> bytes:
        """Return the answer to a message of :func:`packed`, for :func:`opened`.

        Raises
        ------
        WorkerDiedError
            If the process ends before the answer is there as a whole.
        """
        try:
            self._channel.send_bytes(message)
            return self._channel.recv_bytes()
        except (EOFError, OSError) as error:
            raise WorkerDiedError from error

    def end(self) -> None:
        """End the process at once, with all that it has started, and wait until it has ended."""
        kill_process_tree(self._process)


def _work(channel: Any, parent: int) -> None:
    # Who interrupts the process that we work for leaves it to that one to end us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A process that work forks off would keep the channel open when we are gone.
    os.register_at_fork(after_in_child=channel.close)
    end_with_parent(parent)
    while True:
        try:
            message = channel.recv_bytes()
        except (EOFError, OSError):
            return
        channel.send_bytes(answered(partial(_called, message)))


def _called(message: bytes) -> Any:
    function, args, kwargs = pickle.loads(message)  # noqa: S301  from the process that we work for
    return function(*args, **kwargs)


def answered(call: Callable[[], Any], dumps: Callable[[Any], bytes] = packed) -> bytes:
    """Return what `call` returns or raises, as bytes for :func:`opened`; what it returns is written by `dumps`."""
    try:
        answer = False, dumps(call()), ""
    except BaseException as error:  # noqa: BLE001  raised again where the result is asked for
        answer = True, _packed_error(error), _where(error)
    return pickle.dumps(answer)


def _where(error: BaseException) -> str:
    """Return the traceback that tells more than the error does: of an error of the caller's, that of its cause."""
    shown = error.__cause__ if isinstance(error, InputError) else error
    return "" if shown is None else "".join(traceback.format_exception(shown))


def _packed_error(error: BaseException) -> bytes:
    """Return the exception as bytes; one that does not survive the way is named in another."""
    try:
        content = packed(error)
        pickle.loads(content)  # noqa: S301  our own
    except Exception:  # noqa: BLE001  whatever its class does
        return packed(RuntimeError(f"{type(error).__qualname__}: {error}"))
    return content


def end_with_parent(parent: int) -> None:
    """Make this process end soon after the one that it works for has been killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_POLL)
        os._exit(1)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
