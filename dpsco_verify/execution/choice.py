"""The choice of an executor for units of work, made once, that every command hands on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass

from dpsco_verify.choices import ExecutorKind
from dpsco_verify.errors import InputError
from dpsco_verify.execution.cluster import cluster_executor
from dpsco_verify.execution.processes import ProcessExecutor
from dpsco_verify.execution.serial import SerialExecutor
from dpsco_verify.validation import require_integer


@dataclass(frozen=True, kw_only=True)
class ExecutorChoice:
    """Where units of work are executed. The results do not depend on it.

    Attributes
    ----------
    jobs
        Worker processes on this machine.
    kind
        The executor; None for ``serial`` if `jobs` is 1 and no scheduler is given, else ``loky`` or ``dask``.
    scheduler
        The address of a dask scheduler, whose workers are then used; without it ``dask`` starts a cluster of `jobs`
        processes on this machine.

    Raises
    ------
    InputError
        For `jobs` below 1, serial execution with several jobs, or a scheduler for an executor that has none.
    """

    jobs: int = 1
    kind: ExecutorKind | None = None
    scheduler: str | None = None

    def __post_init__(self) -> None:
        require_integer("jobs", self.jobs, minimum=1)
        if self.scheduler is not None and self.kind not in (None, ExecutorKind.DASK):
            raise InputError(
                f"scheduler={self.scheduler!r} cannot be combined with executor={str(self.kind)!r}; "
                "give it with --executor dask"
            )
        if self.kind is ExecutorKind.SERIAL and self.jobs > 1:
            raise InputError(
                f"jobs={self.jobs!r} cannot be combined with executor='serial', which runs one; "
                "use --executor loky or dask"
            )

    @property
    def resolved(self) -> ExecutorKind:
        """The kind, or the one that follows from the rest."""
        if self.kind is not None:
            return self.kind
        if self.scheduler is not None:
            return ExecutorKind.DASK
        return ExecutorKind.SERIAL if self.jobs == 1 else ExecutorKind.LOKY


@contextmanager
def make_executor(choice: ExecutorChoice | int) -> Iterator[Executor]:
    """Yield the executor chosen, a number standing for that many jobs; its workers end with the block.

    Raises
    ------
    InputError
        If a dask cluster is chosen that cannot be had; see :func:`~dpsco_verify.execution.cluster.cluster_executor`.
    """
    if not isinstance(choice, ExecutorChoice):
        choice = ExecutorChoice(jobs=choice)
    kind = choice.resolved
    if kind is ExecutorKind.SERIAL:
        yield SerialExecutor()
    elif kind is ExecutorKind.LOKY:
        executor = ProcessExecutor(choice.jobs)
        try:
            yield executor
        finally:
            executor.kill()
    else:
        with cluster_executor(choice.scheduler, jobs=choice.jobs) as cluster:
            yield cluster
