"""The store's file: made whole or not at all, opened only when it is a sound one of ours, failures told in one line.

The file is SQLite in WAL mode: a process that is killed at any moment leaves a store that can be read, without the
transaction that it was in. What the machine's own failure may take are the last transactions, never the rest.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from dpsco_verify.errors import InputError

APPLICATION_ID = int.from_bytes(b"dpsv")
SCHEMA_VERSION = 2
BUSY_TIMEOUT = 60.0
"""Seconds to wait for another process's transaction, which takes milliseconds."""

_MAGIC = b"SQLite format 3\0"
_VERSION_AT, _APPLICATION_AT, _HEADER = 60, 68, 100

_SCHEMA = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    started REAL NOT NULL,
    finished REAL,
    profile TEXT NOT NULL,
    seed TEXT NOT NULL,
    exit_code INTEGER,
    results BLOB,
    checksum BLOB
);
CREATE TABLE results (
    key BLOB PRIMARY KEY NOT NULL,
    unit TEXT NOT NULL,
    code TEXT NOT NULL,
    seconds REAL NOT NULL,
    value BLOB NOT NULL,
    checksum BLOB NOT NULL
);
CREATE TABLE computations (
    id INTEGER PRIMARY KEY,
    key BLOB NOT NULL,
    unit TEXT NOT NULL,
    run INTEGER NOT NULL REFERENCES runs (id),
    started REAL NOT NULL,
    finished REAL,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL
);
CREATE INDEX computations_by_key ON computations (key);
CREATE TABLE e_values (
    run INTEGER NOT NULL REFERENCES runs (id),
    claim TEXT NOT NULL,
    null_hypothesis TEXT NOT NULL,
    code TEXT NOT NULL,
    seed TEXT NOT NULL,
    log_e_value REAL NOT NULL,
    observations BLOB NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (run, claim, null_hypothesis)
);
"""


class StoreError(InputError):
    """The store cannot be used: it is damaged, foreign, locked, full, or cannot be written."""


@contextmanager
def told_in_one_line(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say into a :class:`StoreError` that names the store and what to do."""
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(_words(path, error)) from error
    except OSError as error:
        raise StoreError(
            f"store={str(path)!r} cannot be used ({error.strerror or error}); give another with --store, or --no-store"
        ) from error
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise StoreError(f"store={str(path)!r} is not a path ({error}); give another with --store") from error


def open_database(path: Path) -> sqlite3.Connection:
    """Open the store at `path` for reading and writing; make it if there is nothing.

    Raises
    ------
    StoreError
        If there is anything else than a sound store of this version, or it cannot be written.
    """
    with told_in_one_line(path):
        if not os.path.lexists(path):
            _create(path)
        _require_ours(path)
        connection = _sound(path, "rw")
        try:
            # Takes the lock for writing and gives it back: a store that is read-only is told before anything is done.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("UPDATE runs SET started = started WHERE id < 0")
            connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open the store at `path` for reading alone; it may lie where nothing can be written.

    Raises
    ------
    StoreError
        If there is no sound store of this version.
    """
    with told_in_one_line(path):
        if not os.path.lexists(path):
            raise StoreError(f"store={str(path)!r} does not exist; give the one that an audit has written")
        _require_ours(path)
        try:
            connection = _sound(path, "rw")
        except sqlite3.OperationalError:
            # There is no room for the log and its lock. Without a log nobody is writing, and none is needed.
            connection = _sound(path, "ro" if os.path.lexists(f"{path}-wal") else "ro&immutable=1")
        connection.execute("PRAGMA query_only = ON")
        return connection


def damaged(path: Path, why: str) -> StoreError:
    """Return the error that says that the store is damaged."""
    return StoreError(
        f"store={str(path)!r} is damaged ({why}) and was left as it is; move it away, and the next audit begins anew"
    )


def _sound(path: Path, mode: str) -> sqlite3.Connection:
    """Connect to a store, and check it as a whole."""
    uri = f"{Path(os.path.realpath(path)).as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=BUSY_TIMEOUT, isolation_level=None)
    # Text that is none comes from damage, which the checksums tell.
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        _require_sound(path, connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _create(path: Path) -> None:
    """Put an empty store in its place by a link, which fails if another process was faster."""
    content = _empty_store()
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=".dpsco-verify-", suffix=".sqlite3", dir=path.parent)
    made = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        made.chmod(0o666 & ~_umask())
        with suppress(FileExistsError):
            os.link(made, path)
    finally:
        made.unlink()


def _empty_store() -> bytes:
    with tempfile.TemporaryDirectory(prefix="dpsco-verify-") as folder:
        file = Path(folder) / "empty.sqlite3"
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.executescript(
                f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; {_SCHEMA}"
                "PRAGMA journal_mode = WAL;"
            )
        return file.read_bytes()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _require_ours(path: Path) -> None:
    """Look at the header alone, before SQLite opens the file, so that nothing of a foreign one is touched."""
    if not path.is_file():
        raise StoreError(f"store={str(path)!r} is not a file; give a file with --store")
    with path.open("rb") as file:
        header = file.read(_HEADER)
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise StoreError(
            f"store={str(path)!r} is not a store: it is damaged, or a file of another kind; "
            "give another with --store, or move it away"
        )
    application = int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4])
    version = int.from_bytes(header[_VERSION_AT : _VERSION_AT + 4])
    if application != APPLICATION_ID:
        raise StoreError(
            f"store={str(path)!r} is the database of another program (application_id={application}); give another "
            "with --store"
        )
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"store={str(path)!r} has schema_version={version}, and this program reads {SCHEMA_VERSION}; give another "
            "with --store, or move it away"
        )


def _require_sound(path: Path, connection: sqlite3.Connection) -> None:
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, " ".join(str(found).split()))
    if _schema_of(connection) != _expected_schema():
        raise damaged(path, "its tables are others")


def _schema_of(connection: sqlite3.Connection) -> list[tuple[str, ...]]:
    return sorted(
        tuple(map(str, row))
        for row in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    )


def _expected_schema() -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_SCHEMA)
        return _schema_of(connection)


def _words(path: Path, error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorname", "") or ""
    store = f"store={str(path)!r}"
    why = " ".join(str(error).split())
    if code.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_SCHEMA")):
        return str(damaged(path, why))
    if code.startswith("SQLITE_FULL"):
        return f"{store} cannot grow ({why}); make room and run the same command: what was finished is kept"
    if code.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"{store} cannot be written ({why}); give another with --store, or --no-store"
    if code.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return f"{store} is locked by another program ({why}); end it and run the same command"
    if code.startswith("SQLITE_IOERR"):
        return (
            f"{store} cannot be read or written ({why}); is the disk full? make room and run the same command: what "
            "was finished is kept"
        )
    return f"{store} cannot be used ({why}); give another with --store, or --no-store"
