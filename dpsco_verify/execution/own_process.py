"""One call in a process of its own: whatever ends that process is told, and is never taken for a result.

Where the system can fork safely the process is a copy of this one, so the function may be a closure and finds
everything as it stands here; elsewhere it starts fresh, and the function travels to it. What it changes stays with it.
"""

from __future__ import annotations

import contextlib
import contextvars
import io
import multiprocessing
import os
import pickle
import random
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import cloudpickle
from loky.backend.process import LokyProcess

from dpsco_verify.errors import InputError
from dpsco_verify.execution.worker import answered, end_with_parent, opened, packed

CAN_FORK = "fork" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
"""Whether a copy of a process that has loaded numerical libraries can run: those of macOS do not survive a fork."""

_POLL = 0.5
"""Seconds after which, at most, the end of a process is noticed whose channel something else holds open."""
_GRACE = 10.0
"""Seconds that a process has to end in order."""

Tell = Callable[..., None]
"""What the function may call, with arguments that can be pickled, to say how far it is."""


class ProcessEndedError(Exception):
    """The process ended before it had answered; the message says how, and begins with a verb."""


class OwnProcess:
    """Calls ``function(tell)`` in a process of its own, which ends with the ``with`` block, and with this process.

    Parameters
    ----------
    function
        What to call. Where processes cannot fork it must be such that cloudpickle can send it.
    shared
        Objects that the result may refer to, and that need not be sent: in what comes back they are these themselves.
    """

    def __init__(self, function: Callable[[Tell], Any], *, shared: Sequence[Any] = ()) -> None:
        self._channel, theirs = multiprocessing.Pipe(duplex=False)
        self._shared = tuple(shared) if CAN_FORK else ()
        arguments = (theirs, os.getpid())
        # The other end is the process's alone: then the channel ends when the process does.
        with theirs, warnings.catch_warnings():
            # Python 3.12 warns of any fork beside other threads; the copy waits for none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process: Any
            if CAN_FORK:
                self._process = multiprocessing.get_context("fork").Process(
                    target=_forked, args=(*arguments, function, self._shared, random.getstate())
                )
            else:
                self._process = LokyProcess(target=_fresh, args=(*arguments, packed(function)))
            self._process.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process: in order if it does so in time, else at once."""
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(_GRACE)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._channel.close()

    def answer(self, heard: Callable[..., None] | None = None) -> Any:
        """Return what the function returns, or raise what it raises.

        Parameters
        ----------
        heard
            Is called with what the function tells.

        Raises
        ------
        ProcessEndedError
            If the process ends before it has answered, or asks to.
        """
        while (message := self._received()) is not None:
            kind, content = pickle.loads(message)  # noqa: S301  from a process of our own
            if kind == "answer":
                self._process.join(_GRACE)
                return opened(content, partial(_loaded, shared=self._shared))
            if heard is not None:
                heard(*content)
        self._process.join(_GRACE)
        raise ProcessEndedError(how_it_ended(self._process.exitcode))

    def _received(self) -> bytes | None:
        """Return the next message, or None if the process has ended without another."""
        with contextlib.suppress(EOFError, OSError):
            while not self._channel.poll(_POLL):
                if not self._process.is_alive() and not self._channel.poll(0):
                    return None
            message: bytes = self._channel.recv_bytes()
            return message
        return None


def how_it_ended(code: int | None) -> str:
    """Return in words, beginning with a verb, how a process with this exit code ended (None: nobody knows)."""
    if code is None:
        return "ended"
    if code >= 0:
        return f"ended with exit status {code}"
    with contextlib.suppress(ValueError):
        return f"was ended by {signal.Signals(-code).name}"
    return f"was ended by signal {-code}"


def _forked(
    channel: Any, parent: int, function: Callable[[Tell], Any], shared: Sequence[Any], state: Any
) -> None:
    # Python seeds its generator anew in a copy; whoever has seeded it means the seed to hold.
    random.setstate(state)
    # A process that the function forks off has no answer to give, and would keep the channel open when we are gone.
    os.register_at_fork(after_in_child=channel.close)
    _serve(channel, parent, function, shared)


def _fresh(channel: Any, parent: int, function: bytes) -> None:
    _serve(channel, parent, pickle.loads(function), ())  # noqa: S301  from the process that we work for


def _serve(channel: Any, parent: int, function: Callable[[Tell], Any], shared: Sequence[Any]) -> None:
    # Who interrupts the process that we work for leaves it to that one to end us: in order, by SIGTERM.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    end_with_parent(parent)

    def tell(*content: object) -> None:
        channel.send_bytes(pickle.dumps(("told", content)))

    def call() -> Any:
        try:
            return function(tell)
        except SystemExit as error:
            raise ProcessEndedError(
                f"called sys.exit({'' if error.code is None else repr(error.code)})"
            ) from None

    def work() -> None:
        answers.append(answered(call, partial(_dumped, shared=shared)))

    answers: list[bytes] = []
    # In a new thread: OpenMP hangs in the copy of a thread that has used it. The context holds numpy's error state.
    thread = threading.Thread(target=contextvars.copy_context().run, args=(work,), daemon=True)
    thread.start()
    thread.join()
    with contextlib.suppress(OSError):
        channel.send_bytes(pickle.dumps(("answer", answers[0])))
        channel.close()


def _stop(number: int, _frame: object) -> None:
    sys.exit(128 + number)


class _Pickler(cloudpickle.Pickler):  # type: ignore[misc]  # cloudpickle ships no type information
    """Writes the shared objects as their places: a copy of a process has each at the same address."""

    def __init__(self, file: io.BytesIO, shared: Sequence[Any]) -> None:
        super().__init__(file)
        self._places = {id(value): place for place, value in enumerate(shared)}

    def persistent_id(self, value: object) -> int | None:
        return self._places.get(id(value))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, shared: Sequence[Any]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, place: int) -> Any:
        return self._shared[place]


def _dumped(value: object, shared: Sequence[Any]) -> bytes:
    file = io.BytesIO()
    try:
        _Pickler(file, shared).dump(value)
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"the result cannot be brought back from the process that made it ({said})"
        ) from error
    return file.getvalue()


def _loaded(content: bytes, shared: Sequence[Any]) -> Any:
    return _Unpickler(io.BytesIO(content), shared).load()
