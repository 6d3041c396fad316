"""A check that a cluster has the workers it should have, and what is done if it has not."""

from __future__ import annotations

import sys
import time
from typing import Any, Protocol

from dpsco_verify.execution.errors import DEATHS, SchedulerError

PATIENCE = 30.0
"""Seconds that missing workers have to come back by themselves."""


class Workforce(Protocol):
    """What is told, now and then, how many workers there are."""

    def look(self, workers: int) -> None:
        """Do what there is to do about this number of workers."""
        ...


class _Shortage:
    """How long there have been too few."""

    def __init__(self) -> None:
        self._since: float | None = None

    def is_long(self, *, too_few: bool) -> bool:
        """Whether there have been too few for longer than we wait; then the time starts anew."""
        now = time.monotonic()
        if not too_few:
            self._since = None
        elif self._since is None:
            self._since = now
        elif now - self._since >= PATIENCE:
            self._since = now
            return True
        return False


class OwnWorkers:
    """The processes of a cluster of our own: what its nannies do not bring back is replaced.

    A nanny restarts a worker that dies, but gives up on one that dies again before it has come to work.
    """

    def __init__(self, cluster: Any, wanted: int) -> None:
        self._cluster = cluster
        self._wanted = wanted
        self._shortage = _Shortage()
        self._attempts = 0

    def look(self, workers: int) -> None:
        """Start more when too few have been there for long; what does not come in three attempts is done without.

        Raises
        ------
        SchedulerError
            If there is none, and none came although more were started time and again.
        """
        if workers >= self._wanted:
            self._attempts = 0
        if not self._shortage.is_long(too_few=workers < self._wanted):
            return
        if self._attempts == DEATHS:
            if workers > 0:
                return
            raise SchedulerError(
                f"executor='dask' has lost all its workers, and none of those started since in {DEATHS} attempts came "
                "to work; use --executor loky, or run the same command again: what was finished is kept"
            )
        self._attempts += 1
        self._cluster.scale(len(self._cluster.worker_spec) + self._wanted - workers)


class TheirWorkers:
    """The workers of somebody's scheduler, which may come with the work: waited for, but not in silence."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._shortage = _Shortage()

    def look(self, workers: int) -> None:
        """Say on stderr that there have been none for long."""
        if self._shortage.is_long(too_few=workers == 0):
            sys.stderr.write(
                f"scheduler={self._address!r} has had no workers for {PATIENCE:g} s; start some, or interrupt (what "
                "was finished is kept)\n"
            )
