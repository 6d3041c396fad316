"""The program as a process of its own that is a copy of this one: it has signals and an end, and imports nothing anew.

What only a fresh start shows (the script that is installed, what is imported, another environment) is started with
`subprocess`, by a few tests.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from dpsco_verify.cli import main

TOLD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Started:
    """``function()`` in a copy of this process, in the folder `cwd`; its exit code is that of a program.

    Parameters
    ----------
    function
        What to call.
    cwd
        Its working folder.
    environment
        Variables to set there.
    streams
        A file descriptor for its stdout (1) or stderr (2); otherwise each is a file that is read in the end.
    """

    def __init__(
        self,
        function: Callable[[], object],
        cwd: Path,
        *,
        environment: Mapping[str, str] | None = None,
        streams: Mapping[int, int] | None = None,
    ) -> None:
        self._files = [tempfile.TemporaryFile() for _ in range(2)]  # noqa: SIM115  read and closed in the end
        given = {number: file.fileno() for number, file in enumerate(self._files, start=1)} | (streams or {})
        there = (function, cwd, environment or {}, given)
        self._process: Any = multiprocessing.get_context("fork").Process(target=_there, args=there)
        with warnings.catch_warnings():
            # Python 3.12 warns of any fork beside other threads; the copy waits for none of them.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        self.pid = self._process.pid

    def ended(self, seconds: float = 300.0) -> tuple[int, str, str]:
        """Wait for its end, and return its exit code (−n after signal n) and what it printed to stdout and stderr."""
        self._process.join(seconds)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            self._process.join()
            raise AssertionError(f"the process has not ended within {seconds:g} s")
        said = []
        for file in self._files:
            file.seek(0)
            said.append(file.read().decode())
            file.close()
        return code, said[0], said[1]


def started(*words: object, cwd: Path, **options: Any) -> Started:
    """Start ``dpsco-verify`` with `words`."""
    return Started(lambda: main([str(word) for word in words], prog_name="dpsco-verify"), cwd, **options)


def ran(*words: object, cwd: Path, **options: Any) -> tuple[int, str, str]:
    """Run ``dpsco-verify`` with `words` to its end; return its exit code, and what it printed."""
    return started(*words, cwd=cwd, **options).ended()


def _there(
    function: Callable[[], object], cwd: Path, environment: Mapping[str, str], streams: Mapping[int, int]
) -> None:
    # A process that was started in the background, or under nohup, ignores some signals, and so do its children.
    for number in TOLD:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    for number, file in streams.items():
        os.dup2(file, number)
    # pytest has put files of its own in the place of these.
    sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
    os.environ.update(environment)
    os.chdir(cwd)
    try:
        function()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError):
                stream.flush()
