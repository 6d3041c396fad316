"""A run's memory: units that are in the store are not executed again, and what is executed is stored at once."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Iterable

from dpsco_verify.errors import InputError
from dpsco_verify.execution import Outcome, Performance, WorkUnit
from dpsco_verify.store.evidence_store import EvidenceStore
from dpsco_verify.store.keys import unit_key
from dpsco_verify.store.tree import NotDataError


class RunMemory:
    """The memory of one run; see :class:`dpsco_verify.execution.Memory`.

    Attributes
    ----------
    recalled, computed
        How many units were in the store, and how many were executed and stored.
    """

    def __init__(self, store: EvidenceStore, run: int) -> None:
        self.recalled = 0
        self.computed = 0
        self._store = store
        self._run = run
        self._host = socket.gethostname()
        self._begun: dict[str, tuple[int, bytes, str]] = {}
        self._keys: dict[str, tuple[bytes, str]] = {}

    def recall(self, unit: WorkUnit) -> Outcome | None:
        """Return the stored outcome of the unit."""
        outcome = self._store.result(self._key(unit)[0])
        self.recalled += outcome is not None
        return outcome

    def begin(self, unit: WorkUnit) -> None:
        """Note in the store that the unit is about to be executed."""
        key, code = self._key(unit)
        number = self._store.begin(key, unit=unit.name, run=self._run, pid=os.getpid(), host=self._host)
        self._begun[unit.name] = number, key, code

    def keep(self, unit: WorkUnit, performance: Performance) -> Outcome:
        """Store the outcome, and return it as it will be read back."""
        number, key, code = self._begun[unit.name]
        try:
            outcome = self._store.finish(number, key, unit=unit.name, code=code, performance=performance)
        except NotDataError as error:
            raise InputError(
                f"unit={unit.name!r} cannot be stored ({error}, in its result); let it return data and records, or use "
                "--no-store"
            ) from error
        self.computed += 1
        return outcome

    def code(self, units: Iterable[WorkUnit]) -> str:
        """Return the version of the code that some units run, as 64 hexadecimal digits."""
        return hashlib.sha256("\n".join(sorted({self._key(unit)[1] for unit in units})).encode()).hexdigest()

    def _key(self, unit: WorkUnit) -> tuple[bytes, str]:
        if unit.name not in self._keys:
            self._keys[unit.name] = unit_key(unit)
        return self._keys[unit.name]
