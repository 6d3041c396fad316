"""One running program: its three pipes, each served by a thread, and its certain end.

Threads, because either side may fill a pipe while the other one does: whoever writes must never wait for whoever reads.
The program leads a process group of its own, so that its children end with it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence

from dpsco_verify.execution.own_process import how_it_ended

_CHUNK = 1 << 16
_QUEUED = 64  # chunks; a program that answers more than it was asked has to wait
_KEPT = 8192
_LAST_LINES = 3
_LINE_WIDTH = 200
_POLL = 0.005
_SETTLE = 1.0

HAD_TO_BE_ENDED = "had to be ended"
"""How a program ended that did not do so by itself in time."""


class RunningProgram:
    """A program that was started.

    Raises
    ------
    OSError
        If it cannot be started.
    """

    def __init__(self, arguments: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603  running the user's own program is what this is for
            list(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._answers: queue.Queue[bytes] = queue.Queue(maxsize=_QUEUED)
        self._stderr = b""
        self._finished = False
        self._how = ""
        self._ending = threading.Lock()
        self._writer: threading.Thread | None = None
        self.said_more = False
        self._readers = [
            threading.Thread(target=work, daemon=True) for work in (self._read_answers, self._read_stderr)
        ]
        for reader in self._readers:
            reader.start()

    def send(self, data: bytes) -> None:
        """Write `data` to the program's standard input, without waiting until it was read."""
        self._writer = threading.Thread(target=self._write, args=(data,), daemon=True)
        self._writer.start()

    def receive(self, timeout: float) -> bytes | None:
        """Return the next bytes of the program's standard output, empty at its end; None after `timeout` seconds."""
        if self._finished:
            return b""
        try:
            chunk = self._answers.get(timeout=timeout) if timeout > 0 else self._answers.get_nowait()
        except queue.Empty:
            return None
        self._finished = not chunk
        return chunk

    def last_words(self) -> str:
        """Return the last lines on its standard error, in one line, or nothing."""
        text = self._stderr.decode("utf-8", "replace")
        lines = [line.strip() for line in text.split("\n") if line.strip()][-_LAST_LINES:]
        shown = [line if len(line) <= _LINE_WIDTH else line[: _LINE_WIDTH - 1] + "…" for line in lines]
        return "".join(c if c.isprintable() else "\ufffd" for c in " / ".join(shown))

    def end(self, *, grace: float) -> str:
        """End the program and its children; return in words how it ended by itself, or ``HAD_TO_BE_ENDED``.

        Its standard input is closed, after which it has `grace` seconds to end by itself. ``said_more`` tells
        afterwards whether its standard output held anything that nobody had received.
        """
        with self._ending:
            if not self._how:
                self._close_stdin()
                by_itself = self._wait(grace)
                if not by_itself and sys.platform != "win32":
                    self._signal(signal.SIGTERM)
                    self._wait(_SETTLE)
                # Also when it has ended: what it started may be running still. It is not reaped yet, so that the number
                # of its group cannot have passed to somebody else.
                self._kill()
                self._process.wait()
                self._how = how_it_ended(self._process.returncode) if by_itself else HAD_TO_BE_ENDED
                self._join()
        return self._how

    def end_now(self) -> None:
        """End the program and its children without waiting for its own end."""
        self.end(grace=0.0)

    def _close_stdin(self) -> None:
        # While the writer is stuck the pipe is left to it: the program's end will set it free.
        if self._process.stdin is not None and not (self._writer is not None and self._writer.is_alive()):
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _wait(self, seconds: float) -> bool:
        """Wait for the program's own end without reaping it; what it still says is thrown away."""
        end = time.monotonic() + seconds
        while not self._has_ended():
            if time.monotonic() >= end:
                return False
            self._drain()
            time.sleep(_POLL)
        return True

    def _drain(self) -> None:
        """Throw away what is waiting, so that the program and the readers need not wait for room."""
        while chunk := self.receive(0):
            self.said_more = self.said_more or bool(chunk.strip())

    def _has_ended(self) -> bool:
        if sys.platform == "win32" or not hasattr(os, "waitid"):
            return self._process.poll() is not None
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self._process.pid, flags) is not None

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, number)

    def _kill(self) -> None:
        if sys.platform == "win32":
            self._process.kill()
        else:
            self._signal(signal.SIGKILL)

    def _join(self) -> None:
        end = time.monotonic() + _SETTLE
        threads = [*self._readers, *([self._writer] if self._writer is not None else [])]
        while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
            self._drain()
            time.sleep(_POLL / 5)
        self._drain()
        # A process that has left the group may hold a pipe open; its thread is then left behind with it.
        for pipe, thread in zip((self._process.stdout, self._process.stderr), self._readers, strict=True):
            if pipe is not None and not thread.is_alive():
                pipe.close()
        self._close_stdin()

    def _write(self, data: bytes) -> None:
        pipe, view = self._process.stdin, memoryview(data)
        # An error means that nobody reads any more; that shows as the end of the standard output.
        with contextlib.suppress(OSError, ValueError):
            while pipe is not None and view:
                view = view[pipe.write(view) or 0 :]

    def _read_answers(self) -> None:
        pipe = self._process.stdout
        with contextlib.suppress(OSError, ValueError):
            while pipe is not None and (chunk := pipe.read(_CHUNK)):
                self._answers.put(chunk)
        self._answers.put(b"")

    def _read_stderr(self) -> None:
        pipe = self._process.stderr
        with contextlib.suppress(OSError, ValueError):
            while pipe is not None and (chunk := pipe.read(_CHUNK)):
                self._stderr = (self._stderr + chunk)[-_KEPT:]
