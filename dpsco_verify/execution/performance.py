"""Perform one unit of work in the process that this is called in, and say where and when that was."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

from dpsco_verify.execution.environment import environment
from dpsco_verify.execution.errors import OtherEnvironmentError
from dpsco_verify.execution.threads import one_thread_from_now_on
from dpsco_verify.execution.work import Outcome, WorkUnit


@dataclass(frozen=True, kw_only=True)
class Performance:
    """An outcome with its circumstances.

    Attributes
    ----------
    outcome
        What the unit returned.
    started, finished
        Seconds since the epoch.
    pid, host
        The process that did it.
    """

    outcome: Outcome
    started: float
    finished: float
    pid: int
    host: str


def perform(unit: WorkUnit) -> Performance:
    """Call the unit's function."""
    started, clock = time.time(), time.perf_counter()
    value = unit.function(**unit.arguments)
    seconds = time.perf_counter() - clock
    return Performance(
        outcome=Outcome(value=value, seconds=seconds),
        started=started,
        finished=started + seconds,
        pid=os.getpid(),
        host=socket.gethostname(),
    )


def perform_in_worker(unit: WorkUnit, expected: str | None = None) -> Performance:
    """Call the unit's function in a process that works for nobody else, with one thread for linear algebra.

    Raises
    ------
    OtherEnvironmentError
        If `expected` is given and is not this process's :func:`~dpsco_verify.execution.environment.environment`.
    """
    if expected is not None and environment() != expected:
        raise OtherEnvironmentError(
            f"the worker on host={socket.gethostname()!r} runs other versions than this process, or on another kind "
            f"of processor ({environment()}, expected {expected}); start the audit and its workers on machines of one "
            "kind with the same versions"
        )
    one_thread_from_now_on()
    return perform(unit)
