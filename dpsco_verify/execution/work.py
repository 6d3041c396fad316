"""Units of work and the seam behind which they are executed, here or in worker processes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import loky

from dpsco_verify.validation import require_integer

Progress = Callable[[int, int, str], None]
"""Called as ``progress(done, total, name)`` after each unit."""


@dataclass(frozen=True, kw_only=True)
class WorkUnit:
    """A function of this package's top level and its arguments, to be executed somewhere.

    Attributes
    ----------
    name
        Unique in the run; the unit's random stream is derived from it.
    function, arguments
        What to call, with keyword arguments that can be pickled.
    cost
        Expected seconds, roughly: costly units start first.
    """

    name: str
    function: Callable[..., Any]
    arguments: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a unit returned, and how long it took."""

    value: Any
    seconds: float


def _execute(unit: WorkUnit) -> Outcome:
    started = time.perf_counter()
    value = unit.function(**unit.arguments)
    return Outcome(value=value, seconds=time.perf_counter() - started)


class SerialExecutor(Executor):
    """Executes at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Execute and return a future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  handed to whoever asks for the result, as executors do
            future.set_exception(error)
        return future


@contextmanager
def make_executor(jobs: int) -> Iterator[Executor]:
    """Yield an executor with `jobs` workers; worker processes are ended on the way out."""
    jobs = require_integer("jobs", jobs, minimum=1)
    if jobs == 1:
        yield SerialExecutor()
        return
    executor = loky.ProcessPoolExecutor(max_workers=jobs)
    try:
        yield executor
    finally:
        executor.shutdown(wait=True, kill_workers=True)


def execute(
    units: Sequence[WorkUnit], executor: Executor, progress: Progress | None = None
) -> dict[str, Outcome]:
    """Execute all units and return their outcomes by name; the first failure is raised."""
    ordered = sorted(units, key=lambda unit: (-unit.cost, unit.name))
    futures: dict[Future[Outcome], str] = {}
    outcomes: dict[str, Outcome] = {}
    if isinstance(executor, SerialExecutor):
        for unit in ordered:
            outcomes[unit.name] = executor.submit(_execute, unit).result()
            if progress:
                progress(len(outcomes), len(ordered), unit.name)
        return outcomes
    for unit in ordered:
        futures[executor.submit(_execute, unit)] = unit.name
    try:
        for future in as_completed(futures):
            outcomes[futures[future]] = future.result()
            if progress:
                progress(len(outcomes), len(ordered), futures[future])
    except BaseException:
        for future in futures:
            future.cancel()
        raise
    return outcomes
