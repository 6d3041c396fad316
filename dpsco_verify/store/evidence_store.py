"""The evidence store: finished units of work by their key, every computation of them, and the runs of the audit."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dpsco_verify.execution import Outcome, Performance
from dpsco_verify.store.codec import DamagedValueError, decode, encode
from dpsco_verify.store.database import StoreError, damaged, open_database, open_to_read, told_in_one_line


@dataclass(frozen=True, kw_only=True)
class StoredRun:
    """A finished run of the audit; times in seconds since the epoch, `results` the content of ``results.json``."""

    id: int
    started: float
    finished: float
    profile: str
    seed: int
    exit_code: int
    results: bytes


@dataclass(frozen=True, kw_only=True)
class Computation:
    """One computation of a unit; `finished` is None for one that was cut short. Times in seconds since the epoch."""

    key: bytes
    unit: str
    run: int
    started: float
    finished: float | None
    pid: int
    host: str


class EvidenceStore:
    """A store on disk; use it as a context, or close it.

    Everything is written at once, each time in one transaction. Several processes may use one store.

    Parameters
    ----------
    path
        The file; it is made if there is none.
    read_only
        Open what is there, to read.

    Raises
    ------
    StoreError
        Here and in all methods, in one line: if the file is damaged, foreign or locked, or cannot be written.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self._connection = open_to_read(path) if read_only else open_database(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what has been written stays."""
        with told_in_one_line(self.path):
            self._connection.close()

    def result(self, key: bytes) -> Outcome | None:
        """Return the outcome stored under a key of 32 bytes, if there is one."""
        with told_in_one_line(self.path):
            row = self._connection.execute(
                "SELECT unit, code, seconds, value, checksum FROM results WHERE key = ?", (key,)
            ).fetchone()
        if row is None:
            return None
        unit, code, seconds, value, checksum = row
        self._require_checksum(checksum, f"the result of {unit!r}", key, unit, code, seconds, value)
        try:
            return Outcome(value=decode(value), seconds=seconds)
        except DamagedValueError as error:
            raise damaged(self.path, f"the result of {unit!r}: {error}") from error

    def begin(self, key: bytes, *, unit: str, run: int, pid: int, host: str) -> int:
        """Note that a computation begins; return its number."""
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO computations (key, unit, run, started, pid, host) VALUES (?, ?, ?, ?, ?, ?)",
                (key, unit, run, time.time(), pid, host),
            )
        number = cursor.lastrowid
        assert number is not None  # noqa: S101  an INSERT has one
        return number

    def finish(
        self, computation: int, key: bytes, *, unit: str, code: str, performance: Performance
    ) -> Outcome:
        """Store what a computation came to; return it as it is read back.

        If another process has stored the same meanwhile, that stays.

        Raises
        ------
        NotDataError
            For a value that cannot be stored.
        StoreError
            Also if the other process has stored something else: then the unit's result does not depend on its
            arguments alone.
        """
        value = encode(performance.outcome.value)
        seconds = float(performance.outcome.seconds)
        with self._transaction() as connection:
            connection.execute(
                "UPDATE computations SET started = ?, finished = ?, pid = ?, host = ? WHERE id = ?",
                (performance.started, performance.finished, performance.pid, performance.host, computation),
            )
            connection.execute(
                "INSERT OR IGNORE INTO results (key, unit, code, seconds, value, checksum) VALUES (?, ?, ?, ?, ?, ?)",
                (key, unit, code, seconds, value, _checksum(key, unit, code, seconds, value)),
            )
            (stored,) = connection.execute("SELECT value FROM results WHERE key = ?", (key,)).fetchone()
        if stored != value:
            raise StoreError(
                f"store={str(self.path)!r} holds another result of unit={unit!r} from the same code and arguments; a "
                "unit's result must depend on these alone: fix it, or use --no-store"
            )
        return Outcome(value=decode(value), seconds=seconds)

    def computations(self) -> tuple[Computation, ...]:
        """Return all computations, in the order in which they began."""
        with told_in_one_line(self.path):
            rows = self._connection.execute(
                "SELECT key, unit, run, started, finished, pid, host FROM computations ORDER BY id"
            ).fetchall()
        names = ("key", "unit", "run", "started", "finished", "pid", "host")
        return tuple(Computation(**dict(zip(names, row, strict=True))) for row in rows)

    def begin_run(self, *, profile: str, seed: int) -> int:
        """Note that a run begins; return its number."""
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO runs (started, profile, seed) VALUES (?, ?, ?)",
                (time.time(), profile, str(seed)),
            )
        number = cursor.lastrowid
        assert number is not None  # noqa: S101  an INSERT has one
        return number

    def finish_run(self, run: int, *, exit_code: int, results: bytes) -> None:
        """Store the record of a run."""
        packed = zlib.compress(results, 9)
        finished = time.time()
        with self._transaction() as connection:
            started, profile, seed = connection.execute(
                "SELECT started, profile, seed FROM runs WHERE id = ?", (run,)
            ).fetchone()
            connection.execute(
                "UPDATE runs SET finished = ?, exit_code = ?, results = ?, checksum = ? WHERE id = ?",
                (
                    finished,
                    exit_code,
                    packed,
                    _checksum(run, started, finished, profile, seed, exit_code, packed),
                    run,
                ),
            )

    def runs(self) -> tuple[StoredRun, ...]:
        """Return the finished runs, by the time at which they ended."""
        with told_in_one_line(self.path):
            rows = self._connection.execute(
                "SELECT id, started, finished, profile, seed, exit_code, results, checksum FROM runs "
                "WHERE finished IS NOT NULL ORDER BY finished, id"
            ).fetchall()
        return tuple(self._run(*row) for row in rows)

    def _run(
        self,
        number: int,
        started: float,
        finished: float,
        profile: str,
        seed: str,
        exit_code: int,
        packed: bytes,
        checksum: bytes,
    ) -> StoredRun:
        self._require_checksum(
            checksum, f"run {number}", number, started, finished, profile, seed, exit_code, packed
        )
        try:
            results = zlib.decompress(packed)
        except zlib.error as error:
            raise damaged(self.path, f"run {number}: {error}") from error
        return StoredRun(
            id=number,
            started=started,
            finished=finished,
            profile=profile,
            seed=int(seed),
            exit_code=exit_code,
            results=results,
        )

    def add_e_value(
        self,
        run: int,
        *,
        claim: str,
        null_hypothesis: str,
        code: str,
        seed: int,
        log_e_value: float,
        observations: object,
    ) -> None:
        """Store the log of a run's e-value against a null hypothesis, and the record that it was computed from."""
        row = (run, claim, null_hypothesis, code, str(seed), float(log_e_value), encode(observations))
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO e_values VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, _checksum(*row))
            )

    def e_values(
        self, *, claim: str, null_hypothesis: str, code: str
    ) -> tuple[tuple[int, str, int, float, Any], ...]:
        """Return ``(run, profile, seed, log e-value, observations)`` of the finished runs, as they ended."""
        with told_in_one_line(self.path):
            rows = self._connection.execute(
                "SELECT profile, run, claim, null_hypothesis, code, e_values.seed, log_e_value, observations, "
                "e_values.checksum "
                "FROM e_values JOIN runs ON runs.id = run WHERE claim = ? AND null_hypothesis = ? AND code = ? "
                "AND finished IS NOT NULL ORDER BY finished, run",
                (claim, null_hypothesis, code),
            ).fetchall()
        for _, *row, checksum in rows:
            self._require_checksum(checksum, f"an e-value of run {row[0]}", *row)
        try:
            return tuple((row[1], row[0], int(row[5]), row[6], decode(row[7])) for row in rows)
        except DamagedValueError as error:
            raise damaged(self.path, f"an e-value against {null_hypothesis!r}: {error}") from error

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with told_in_one_line(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # After a full disk SQLite has taken it back itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _require_checksum(self, checksum: Any, what: str, *content: Any) -> None:
        try:
            expected = _checksum(*content)
        except (TypeError, OverflowError, UnicodeEncodeError) as error:
            raise damaged(self.path, f"{what}: {error}") from error
        if checksum != expected:
            raise damaged(self.path, f"{what} does not fit its checksum")


def _checksum(*content: object) -> bytes:
    """Return the SHA-256 of a row's content, each part with its type and length."""
    digest = hashlib.sha256()
    for part in content:
        match part:
            case float():
                tag, data = b"f", struct.pack(">d", part)
            case int():
                tag, data = b"i", str(part).encode()
            case str():
                tag, data = b"s", part.encode()
            case bytes():
                tag, data = b"b", part
            case _:
                raise TypeError(f"a {type(part).__name__} stands in a row")
        digest.update(tag + len(data).to_bytes(8) + data)
    return digest.digest()
