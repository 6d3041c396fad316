"""A program in any language as a mechanism.

The protocol. The program is started once and reads requests from its standard input until the end of input, one JSON
object a line:

    {"dataset": …, "size": 1000, "seed": 8423764283764}

It answers each request with `size` independent outputs of its mechanism on that data set, one line each on its
standard output, and flushes. Each line is one JSON value: a number, a string, ``true``, ``false``, ``null``, or an
array of these, of any length. Every number is read as a double, so ``1`` and ``1.0`` are the same output; whole numbers
beyond 2^53 are better written as strings. ``NaN``, ``Infinity`` and ``-Infinity`` are numbers, bare or as the strings
``"NaN"``, ``"Infinity"`` and ``"-Infinity"``; in data sets they come as these strings.

All randomness comes from the `seed`, a whole number from 0 to 2^53 − 1, fresh in every request: the same request gets
the same answer, whatever was asked before. A program that draws its own randomness is run with ``seeded=False``; its
audit cannot be repeated number by number. The standard error is the program's own: its last lines are shown if it
fails. When its standard input ends, so should the program.
"""

from __future__ import annotations

import os
import shlex
import threading
import time
from collections.abc import Sequence
from multiprocessing.util import Finalize
from types import TracebackType
from typing import Any, Self

import numpy as np

from dpsco_verify.auditing.mechanism import MechanismError
from dpsco_verify.auditing.program_lines import UnreadableLineError, output_of, request_line
from dpsco_verify.auditing.program_process import HAD_TO_BE_ENDED, RunningProgram
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer, require_positive

_SEEDS = 2**53
_LONGEST_LINE = 1 << 24
_GRACE = 2.0
_DYING = 0.5


class Program:
    """A mechanism whose outputs another program draws; see the module for the protocol.

    It is started at the first call, serves all later ones, and is ended, with the processes that it has started, at the
    end of the ``with`` block, by :meth:`close`, after any error, and at the latest when this process ends.

    Parameters
    ----------
    command
        The program and its arguments, as a list or as one string that is split as a shell would; no shell runs it.
    time_limit
        Seconds that one request may take.
    seeded
        Whether all its randomness comes from the seeds.

    Raises
    ------
    InputError
        For an empty command.
    """

    def __init__(
        self, command: str | Sequence[str], *, time_limit: float = 60.0, seeded: bool = True
    ) -> None:
        try:
            self._arguments = shlex.split(command) if isinstance(command, str) else list(command)
        except ValueError as error:
            raise InputError(f"command={command!r} cannot be split ({error}); fix its quotes") from None
        if not self._arguments:
            raise InputError(f"command={command!r} is empty; give a program and its arguments")
        self._shown = command if isinstance(command, str) else shlex.join(command)
        self._time_limit = require_positive("time_limit", time_limit)
        self._running: RunningProgram | None = None
        self._finalizer: Finalize | None = None
        self._home = 0
        self._requests = 0
        self._one_at_a_time = threading.Lock()
        self.takes_rng = seeded
        self.__name__ = self._shown

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> list[Any]:
        """Return `size` outputs on `dataset`, drawn by the program from a seed that `rng` gives.

        Raises
        ------
        InputError
            For a data set that has no form in JSON.
        MechanismError
            If the program cannot be started, ends, takes too long, or does not answer with `size` outputs.
        """
        size = require_integer("size", size, minimum=1)
        line = request_line(dataset, size, int(rng.integers(_SEEDS)))
        with self._one_at_a_time:
            program = self._started()
            self._requests += 1
            asked = f"request {self._requests} (size={size})"
            try:
                self._require_silence(program, asked)
                program.send(line)
                return self._answer(program, size, asked)
            except BaseException:
                self._stop(grace=0.0)
                raise

    def close(self) -> None:
        """End the program; it is started anew if it is called again.

        Raises
        ------
        MechanismError
            If it has answered more than it was asked.
        """
        program = self._running
        if program is not None:
            self._stop(grace=_GRACE)
            if program.said_more:
                raise self._error(
                    f"answered more than it was asked, after request {self._requests}; answer with size lines"
                )

    def __enter__(self) -> Self:
        """Return the mechanism; the program is started when it is first called."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the program."""
        if error is None:
            self.close()
        else:
            self._stop(grace=0.0)

    def __repr__(self) -> str:
        return f"Program({self._shown!r})"

    def _started(self) -> RunningProgram:
        if self._running is None or self._home != os.getpid():
            # What a copy of this process finds running is served by threads that the copy does not have.
            try:
                program = RunningProgram(self._arguments)
            except (OSError, ValueError) as error:
                why = getattr(error, "strerror", None) or error
                raise self._error(f"cannot be started ({why}); give a program that may be executed") from None
            self._running, self._requests, self._home = program, 0, os.getpid()
            # Unlike weakref's, these also run at the end of a process that multiprocessing has forked.
            self._finalizer = Finalize(self, program.end_now, exitpriority=0)
        return self._running

    def _stop(self, *, grace: float) -> None:
        program, self._running = self._running, None
        if program is not None:
            program.end(grace=grace)
        if self._finalizer is not None:
            self._finalizer.cancel()
            self._finalizer = None

    def _require_silence(self, program: RunningProgram, asked: str) -> None:
        """Refuse what the program said after its last answer: the next answer would begin with it."""
        said = program.receive(0.0)
        if said is not None:
            if said:
                raise self._error(f"answered more than it was asked, before {asked}; answer with size lines")
            raise self._ended(program, f"before {asked}")

    def _answer(self, program: RunningProgram, size: int, asked: str) -> list[Any]:
        outputs: list[Any] = []
        rest = b""
        deadline = time.monotonic() + self._time_limit
        while len(outputs) < size:
            chunk = program.receive(max(deadline - time.monotonic(), 0.0))
            so_far = f"{len(outputs)} of {size} lines of its answer to {asked}"
            if chunk is None:
                words = _with_last_words(f"after {so_far}", program)
                raise self._error(
                    f"did not answer within time_limit={self._time_limit:g} seconds, {words}; flush each answer, or "
                    "give a larger time_limit"
                )
            if not chunk:
                raise self._ended(program, f"after {so_far}", of_a_run=True)
            lines = (rest + chunk).split(b"\n")
            rest = lines.pop()
            for raw in lines:
                if len(outputs) == size:
                    raise self._error(
                        f"answered with more than {size} lines, to {asked}; answer with size lines"
                    )
                outputs.append(self._output(raw, len(outputs) + 1, asked))
            if len(rest) > _LONGEST_LINE:
                raise self._error(
                    f"line {len(outputs) + 1} of its answer to {asked} is longer than {_LONGEST_LINE} bytes; end each "
                    "output with a newline"
                )
        if rest.strip():
            raise self._error(f"answered with more than {size} lines, to {asked}; answer with size lines")
        return outputs

    def _output(self, raw: bytes, number: int, asked: str) -> Any:
        try:
            return output_of(raw.decode())
        except UnicodeDecodeError:
            why = "is not UTF-8"
        except UnreadableLineError as error:
            why = str(error)
        raise self._error(f"line {number} of its answer to {asked} {why}; answer with one JSON value a line")

    def _ended(self, program: RunningProgram, when: str, *, of_a_run: bool = False) -> MechanismError:
        how = program.end(grace=_DYING)
        outcome = how if of_a_run and how is not HAD_TO_BE_ENDED else None
        if how is HAD_TO_BE_ENDED:
            how = "closed its standard output"
        words = _with_last_words(when, program)
        return self._error(f"{how}, {words}; answer requests until the standard input ends", outcome=outcome)

    def _error(self, what: str, *, outcome: str | None = None) -> MechanismError:
        return MechanismError(f"command={self._shown!r} {what}", outcome=outcome)


def _with_last_words(when: str, program: RunningProgram) -> str:
    words = program.last_words()
    return f"{when} (its standard error ends with: {words})" if words else when
