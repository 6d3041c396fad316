"""Workers of a dask cluster: one that is there, named by its scheduler's address, or one of our own on this machine.

``distributed`` is imported here alone, and only when asked for.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import importlib
import logging
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from typing import Any

from dpsco_verify.errors import InputError
from dpsco_verify.execution.errors import DEATHS, SchedulerError, WorkersEndedError
from dpsco_verify.execution.threads import ONE_THREAD
from dpsco_verify.execution.workforce import OwnWorkers, TheirWorkers, Workforce

CONNECT_TIMEOUT = 10.0
"""Seconds that a scheduler has to answer."""

_CAPACITY_AGE = 2.0
"""Seconds after which the cluster is asked again how many threads it has."""

_SILENT = logging.CRITICAL + 1


class ClusterExecutor(Executor):
    """Executes in the workers of the cluster that `client` is connected to.

    Workers that die are replaced by their nanny, and the scheduler gives their calls to others; a call that has ended
    too many has the exception :class:`~dpsco_verify.execution.errors.WorkersEndedError`.
    """

    def __init__(self, client: Any, *, address: str, workforce: Workforce) -> None:
        self._client = client
        self._address = address
        self._workforce = workforce
        self.ours = isinstance(workforce, OwnWorkers)
        """Whether we have started it: then its workers have loaded the same files as this process."""
        self._executor = client.get_executor(pure=False)
        self._killed_worker: Any = importlib.import_module("distributed").KilledWorker
        self._capacity = 1
        self._asked = -_CAPACITY_AGE

    @property
    def capacity(self) -> int:
        """How many calls are in progress at a time: one a thread, so that a death is blamed on the right one."""
        if time.monotonic() - self._asked >= _CAPACITY_AGE:
            self.look()
        return self._capacity

    def look(self) -> None:
        """See to the workers; who waits for results calls this now and then.

        Raises
        ------
        SchedulerError
            If the scheduler is gone, or has lost all workers that we can start.
        """
        try:
            threads = self._client.nthreads()
        except Exception as error:
            raise self._lost() from error
        self._capacity = max(1, sum(threads.values()))
        self._asked = time.monotonic()
        self._workforce.look(len(threads))

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand a call to the scheduler and return its future."""
        ours: Future[Any] = Future()
        ours.set_running_or_notify_cancel()
        try:
            theirs = self._executor.submit(fn, *args, **kwargs)
        except Exception as error:
            if self._client.status == "running":
                raise
            raise self._lost() from error
        theirs.add_done_callback(lambda done: self._hand_on(done, ours))
        return ours

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002  the interface's signature
        """Wait for the calls, or cancel them."""
        self._executor.shutdown(wait=wait and not cancel_futures)

    def _hand_on(self, done: Future[Any], ours: Future[Any]) -> None:
        if done.cancelled():
            # Nobody here cancels single calls: the client does when the scheduler is gone.
            ours.set_exception(self._lost())
            return
        error = done.exception()
        if error is None:
            ours.set_result(done.result())
        elif isinstance(error, self._killed_worker):
            ours.set_exception(WorkersEndedError(str(error)))
        elif (missing := _missing_package(error)) is not None:
            ours.set_exception(
                InputError(
                    f"scheduler={self._address!r} or its workers lack what the work needs ({_one_line(missing)}); "
                    "install the same versions of dpsco-verify, and of your own modules, on all of them"
                )
            )
        else:
            ours.set_exception(error)

    def _lost(self) -> SchedulerError:
        return SchedulerError(
            f"scheduler={self._address!r} was lost while work was under way; start it again, or give another, and run "
            "the same command: what was finished is kept"
        )


@contextmanager
def cluster_executor(scheduler: str | None, *, jobs: int) -> Iterator[ClusterExecutor]:
    """Yield an executor on the cluster at this address, or on one of `jobs` processes that ends with the block.

    Raises
    ------
    InputError
        If ``distributed`` is not installed.
    SchedulerError
        If the scheduler does not answer.
    """
    try:
        dask: Any = importlib.import_module("dask")
        distributed: Any = importlib.import_module("distributed")
    except ImportError:
        raise InputError(
            "executor='dask' needs the package distributed, which is not installed; install dpsco-verify[cluster], or "
            "use --executor loky"
        ) from None
    with ExitStack() as stack:
        stack.enter_context(_silence())
        settings = {
            "distributed.comm.timeouts.connect": f"{CONNECT_TIMEOUT}s",
            "distributed.scheduler.allowed-failures": DEATHS - 1,
            "distributed.nanny.pre-spawn-environ": dict(ONE_THREAD),
            "distributed.admin.tick.limit": "1h",
        }
        stack.enter_context(dask.config.set(settings))
        workforce: Workforce
        if scheduler is None:
            cluster = stack.enter_context(_local_cluster(distributed, jobs))
            scheduler, workforce = cluster.scheduler_address, OwnWorkers(cluster, jobs)
        else:
            workforce = TheirWorkers(scheduler)
        try:
            _ask(distributed, scheduler)
            client = distributed.Client(scheduler, timeout=CONNECT_TIMEOUT, set_as_default=False)
        except Exception as error:
            raise SchedulerError(
                f"scheduler={scheduler!r} cannot be reached within {CONNECT_TIMEOUT:g} s ({_one_line(error)}); give "
                "the address of a running dask scheduler, as in tcp://host:8786"
            ) from error
        stack.callback(_close, client)
        yield ClusterExecutor(client, address=scheduler, workforce=workforce)


@contextmanager
def _local_cluster(distributed: Any, jobs: int) -> Iterator[Any]:
    """Yield a cluster of processes of this machine; a worker that dies before the cluster stands is forgiven.

    Raises
    ------
    SchedulerError
        If no cluster stands after as many attempts as a unit of work has.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="dpsco-verify-cluster-"))
        for attempt in range(1, DEATHS + 1):
            try:
                cluster = distributed.LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    # A port of its own: a taken one is tried three times, and each try leaves a socket open.
                    dashboard_address="127.0.0.1:0",
                    silence_logs=_SILENT,
                    # As elsewhere the system decides when a process has too much memory.
                    memory_limit=0,
                    local_directory=folder,
                )
            except Exception as error:
                if attempt == DEATHS:
                    raise SchedulerError(
                        f"executor='dask' could not start jobs={jobs} workers in {DEATHS} attempts "
                        f"({_one_line(error)}); start fewer, or use --executor loky"
                    ) from error
            else:
                break
        yield stack.enter_context(cluster)


def _ask(distributed: Any, scheduler: str) -> None:
    """Ask the scheduler who it is; the client alone would wait for ever for one that accepts and says nothing."""

    async def ask() -> None:
        arguments = distributed.Security().get_connection_args("client")
        comm = await distributed.comm.connect(scheduler, timeout=CONNECT_TIMEOUT, **arguments)
        try:
            await comm.write({"op": "identity", "reply": True})
            answer = await comm.read()
        finally:
            comm.abort()
        if not isinstance(answer, dict) or answer.get("type") != "Scheduler":
            raise OSError("what answers is not a scheduler")

    async def ask_in_time() -> None:
        task = asyncio.ensure_future(ask())
        done, _ = await asyncio.wait({task}, timeout=CONNECT_TIMEOUT)
        if not done:
            task.cancel()
            raise TimeoutError("no answer")
        task.result()

    asyncio.run(ask_in_time())


def _close(client: Any) -> None:
    """Close the client, also when its scheduler is gone."""
    try:
        client.close(timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, concurrent.futures.CancelledError):
        return


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what the cluster's libraries log off stderr: what matters is raised."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio", "bokeh")]
    loggers += [
        logger
        for name, logger in logging.Logger.manager.loggerDict.items()
        if isinstance(logger, logging.Logger) and name.startswith(("distributed.", "tornado."))
    ]
    before = [(logger, logger.level) for logger in loggers]
    for logger in loggers:
        logger.setLevel(_SILENT)
    try:
        yield
    finally:
        for logger, level in before:
            logger.setLevel(level)


def _missing_package(error: BaseException) -> BaseException | None:
    """Return what an error came from, if that is a module which was not found."""
    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, ModuleNotFoundError):
        seen = seen.__cause__
    return seen


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
