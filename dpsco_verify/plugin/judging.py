"""Run a test's audit so that what ends its process fails the test, and does not end pytest as if all had gone well."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from dpsco_verify.auditing import AuditResult, MechanismError
from dpsco_verify.auditing.portable import Portable
from dpsco_verify.errors import InputError
from dpsco_verify.execution.own_process import CAN_FORK, OwnProcess, ProcessEndedError
from dpsco_verify.guarantees import GuaranteeResult
from dpsco_verify.guarantees.optimiser import OptimiserReport

_LEAVE_ALONE = "so there is no verdict; it must return its outputs and must not end its process"


R = TypeVar("R", bound=AuditResult | GuaranteeResult | OptimiserReport)


class AuditBrokeOffError(RuntimeError):
    """An audit ended by a fault of the program, or of a function that it was given; nothing is known of the claim."""


def judged(audit: Callable[[], R], *, name: str, own_process: bool, shared: Sequence[Any]) -> R:
    """Return what `audit` returns, called in a copy of this process where `own_process` and the system allow it.

    Parameters
    ----------
    audit
        Makes the audit.
    name
        How messages name the mechanism.
    own_process
        Whether the audit is to have a process of its own.
    shared
        What the result refers to: in the result these are the test's own objects.

    Raises
    ------
    InputError
        As the audit raises it; MechanismError also if its process was ended.
    AuditBrokeOffError
        If the audit raises anything else.
    """
    __tracebackhide__ = True
    try:
        if own_process and CAN_FORK:
            # What the audit was made of is at hand here and need not travel.
            with OwnProcess(lambda _: replace(audit(), again=None), shared=shared) as process:
                result: R = process.answer()
                again: Any = Portable(audit)
                return replace(result, again=again)
        with _told_of_exits():
            return audit()
    except InputError:
        raise
    except ProcessEndedError as ended:
        raise MechanismError(f"mechanism={name}: the process of its audit {ended}, {_LEAVE_ALONE}") from None
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
        raise AuditBrokeOffError(
            f"the audit of {name} was broken off, which is not a verdict ({said}): a fault of dpsco_verify, or of a "
            "function that the audit was given"
        ) from error


def members(pairs: Any) -> Iterable[Any]:
    """Yield the data sets of a list of pairs, and nothing of anything else."""
    for pair in pairs if isinstance(pairs, list | tuple) else ():
        if isinstance(pair, list | tuple):
            yield from pair


@contextmanager
def _told_of_exits() -> Iterator[None]:
    """Make ``os._exit`` raise: in this process that is all that can be done about it."""
    ends, home = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != home:  # a process that the mechanism has forked off
            ends(status)
        raise ProcessEndedError(f"would have ended with exit status {status}, by os._exit")

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = ends
