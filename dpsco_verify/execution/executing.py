"""Execute units of work by an executor, with a memory of those that were finished before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from typing import Protocol

from dpsco_verify.errors import InputError
from dpsco_verify.execution.cluster import ClusterExecutor
from dpsco_verify.execution.environment import environment
from dpsco_verify.execution.errors import UnitEndsWorkersError, WorkersEndedError
from dpsco_verify.execution.performance import Performance, perform, perform_in_worker
from dpsco_verify.execution.serial import SerialExecutor
from dpsco_verify.execution.work import Outcome, Progress, WorkUnit

_LOOK = 2.0
"""Seconds after which a cluster that has finished nothing is asked whether it has workers."""


class Memory(Protocol):
    """What remembers finished units from one run to the next. It is used from one thread."""

    def recall(self, unit: WorkUnit) -> Outcome | None:
        """Return the outcome of the unit, if it was finished before."""
        ...

    def begin(self, unit: WorkUnit) -> None:
        """Note that the unit is about to be executed."""
        ...

    def keep(self, unit: WorkUnit, performance: Performance) -> Outcome:
        """Keep the outcome for good before returning it; an outcome that cannot be kept is an error."""
        ...


def execute(
    units: Sequence[WorkUnit],
    executor: Executor,
    progress: Progress | None = None,
    *,
    memory: Memory | None = None,
) -> dict[str, Outcome]:
    """Execute all units and return their outcomes by name; the first failure is raised.

    No more units are handed to the executor than its ``capacity`` (all, if it names none), so that what `memory` has
    learnt from another run meanwhile is not executed again, and an unfinished unit is one that was being executed.

    Raises
    ------
    InputError
        For two units of one name.
    UnitEndsWorkersError
        For a unit that ends its worker each time.
    """
    # Taken from the end: the costliest first.
    waiting = sorted(units, key=lambda unit: (-unit.cost, unit.name), reverse=True)
    if len({unit.name for unit in units}) < len(units):
        names = [unit.name for unit in units]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"units={twice!r} stand twice; give each unit a name of its own")
    outcomes: dict[str, Outcome] = {}
    running: dict[Future[Performance], WorkUnit] = {}

    def done(unit: WorkUnit, outcome: Outcome) -> None:
        outcomes[unit.name] = outcome
        if progress is not None:
            progress(len(outcomes), len(units), unit.name)

    try:
        while waiting or running:
            while waiting and len(running) < getattr(executor, "capacity", len(units)):
                unit = waiting.pop()
                known = memory.recall(unit) if memory is not None else None
                if known is not None:
                    done(unit, known)
                    continue
                if memory is not None:
                    memory.begin(unit)
                running[_submit(executor, unit)] = unit
            for future in _completed(running, executor):
                unit = running.pop(future)
                performance = _result(future, unit)
                done(unit, performance.outcome if memory is None else memory.keep(unit, performance))
    except BaseException:
        _keep_the_finished(running, memory)
        raise
    return outcomes


def _submit(executor: Executor, unit: WorkUnit) -> Future[Performance]:
    if isinstance(executor, SerialExecutor):
        return executor.submit(perform, unit)
    # Processes that we start have loaded the same files; those of somebody's cluster need not have.
    foreign = isinstance(executor, ClusterExecutor) and not executor.ours
    expected = environment() if foreign else None
    return executor.submit(perform_in_worker, unit, expected)


def _completed(running: Collection[Future[Performance]], executor: Executor) -> list[Future[Performance]]:
    """Wait until some are done; return them in the order in which they were submitted."""
    cluster = executor if isinstance(executor, ClusterExecutor) else None
    finished: set[Future[Performance]] = set()
    while running and not finished:
        finished = wait(running, timeout=_LOOK if cluster else None, return_when=FIRST_COMPLETED).done
        if cluster and not finished:
            cluster.look()
    return [future for future in running if future in finished]


def _result(future: Future[Performance], unit: WorkUnit) -> Performance:
    try:
        return future.result()
    except WorkersEndedError as error:
        raise UnitEndsWorkersError(unit.name) from error
    except Exception as error:
        error.add_note(f"in unit {unit.name}")
        raise


def _keep_the_finished(running: dict[Future[Performance], WorkUnit], memory: Memory | None) -> None:
    """Cancel what can be, and keep what is finished: one unit's failure loses no other's result."""
    for future, unit in running.items():
        if not future.cancel() and memory is not None and future.done() and future.exception() is None:
            memory.keep(unit, future.result())
