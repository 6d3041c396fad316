"""The store on disk: what is finished stays, and what is damaged, foreign, full or read-only is told in one line."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.execution import Outcome, Performance, SerialExecutor, WorkUnit, execute
from dpsco_verify.store import EvidenceStore, RunMemory, StoreError, database

pytestmark = pytest.mark.slow  # the everyday part has two minutes


KEY = bytes(range(32))


def performance(value, seconds=0.25):
    outcome = Outcome(value=value, seconds=seconds)
    return Performance(outcome=outcome, started=1000.0, finished=1000.25, pid=1, host="here")


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def fill(path, number=40):
    """Make a store with some results, computations, a finished run and an e-value."""
    with EvidenceStore(path) as store:
        run = store.begin_run(profile="quick", seed=2**70)
        for k in range(number):
            key = bytes([k]) * 32
            computation = store.begin(key, unit=f"unit/{k}", run=run, pid=1, host="here")
            store.finish(
                computation, key, unit=f"unit/{k}", code="c", performance=performance(np.full(40, k / 3))
            )
        store.finish_run(run, exit_code=0, results=b'{"versions": {}, "claims": []}')
        store.add_e_value(
            run,
            claim="a/b",
            null_hypothesis="n",
            code="c",
            seed=2**70,
            log_e_value=1.5,
            observations=(0.5, -1.0),
        )
    return path


def everything(path):
    """Read all that a store holds, with all checks."""
    with EvidenceStore(path) as store:
        results = [store.result(bytes([k]) * 32) for k in range(40)]
        found = [None if one is None else (one.value.tolist(), one.seconds) for one in results]
        e_values = store.e_values(claim="a/b", null_hypothesis="n", code="c")
        return found, store.runs(), store.computations(), e_values


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite3"


def test_what_is_finished_is_there_again(path):
    with EvidenceStore(path) as store:
        run = store.begin_run(profile="deep", seed=3)
        assert store.result(KEY) is None
        computation = store.begin(KEY, unit="a", run=run, pid=7, host="there")
        kept = store.finish(computation, KEY, unit="a", code="c", performance=performance((1, -0.0)))
        assert (kept.value, kept.seconds) == ((1, -0.0), 0.25)
    with EvidenceStore(path) as store:
        assert store.result(KEY) == kept
        (one,) = store.computations()
        assert (one.key, one.unit, one.run, one.started, one.finished) == (KEY, "a", run, 1000.0, 1000.25)
        assert (one.pid, one.host) == (1, "here")  # the process that did it, not the one that asked for it
        assert store.runs() == ()  # none has ended


def test_what_was_begun_and_cut_short_is_seen(path):
    with EvidenceStore(path) as store:
        run = store.begin_run(profile="deep", seed=3)
        store.begin(KEY, unit="a", run=run, pid=7, host="there")
    with EvidenceStore(path) as store:
        (one,) = store.computations()
        assert one.finished is None
        assert (one.pid, one.host) == (7, "there")
        assert store.result(KEY) is None


def test_a_run_is_there_again_with_its_record(path):
    fill(path)
    _, (run,), computations, e_values = everything(path)
    assert (run.profile, run.seed, run.exit_code) == ("quick", 2**70, 0)
    assert run.results == b'{"versions": {}, "claims": []}'
    assert run.finished >= run.started
    assert len(computations) == 40
    assert e_values == ((run.id, "quick", 2**70, 1.5, (0.5, -1.0)),)


def test_the_file_is_sqlite_in_wal_mode_with_our_mark(path):
    fill(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA application_id").fetchone() == (database.APPLICATION_ID,)
        assert connection.execute("PRAGMA user_version").fetchone() == (database.SCHEMA_VERSION,)
    assert names(path.parent) == [path.name]  # nothing is left beside it


def test_the_folders_of_a_new_store_are_made(tmp_path):
    fill(tmp_path / "a" / "b" / "store")


def test_the_second_of_two_equal_results_changes_nothing(path):
    with EvidenceStore(path) as one, EvidenceStore(path) as two:
        run = one.begin_run(profile="quick", seed=0)
        first, second = (s.begin(KEY, unit="a", run=run, pid=1, host="h") for s in (one, two))
        one.finish(first, KEY, unit="a", code="c", performance=performance(1.5, seconds=1.0))
        kept = two.finish(second, KEY, unit="a", code="c", performance=performance(1.5, seconds=2.0))
        assert kept.value == 1.5
        assert one.result(KEY).seconds == 1.0
        assert [c.finished is not None for c in one.computations()] == [True, True]


def test_two_results_of_one_key_are_told(path):
    """A unit whose result does not depend on its arguments alone would make a resumed run another one."""
    with EvidenceStore(path) as store:
        run = store.begin_run(profile="quick", seed=0)
        for value in (1.5, 1.5 + 2**-50):
            computation = store.begin(KEY, unit="fickle", run=run, pid=1, host="h")
            if value == 1.5:
                store.finish(computation, KEY, unit="fickle", code="c", performance=performance(value))
            else:
                with pytest.raises(StoreError, match="holds another result of unit='fickle'"):
                    store.finish(computation, KEY, unit="fickle", code="c", performance=performance(value))
        assert store.result(KEY).value == 1.5


def test_a_result_that_cannot_be_stored_names_its_unit(path):
    with EvidenceStore(path) as store:
        memory = RunMemory(store, store.begin_run(profile="quick", seed=0))
        unit = WorkUnit(name="an odd one", function=object)
        with pytest.raises(InputError, match="unit='an odd one' cannot be stored"):
            execute([unit], SerialExecutor(), memory=memory)
        assert store.computations()[0].finished is None


def test_a_run_recalls_what_another_has_computed(path):
    units = [WorkUnit(name=f"u/{k}", function=divmod_of, arguments={"a": k, "b": 3}) for k in range(5)]
    found = []
    for recalled in (0, 5):
        with EvidenceStore(path) as store:
            memory = RunMemory(store, store.begin_run(profile="quick", seed=0))
            found.append(execute(units, SerialExecutor(), memory=memory))
            assert (memory.recalled, memory.computed) == (recalled, 5 - recalled)
            assert len(store.computations()) == 5
    assert found[0] == found[1]
    assert [outcome.value for outcome in found[1].values()] == [divmod(k, 3) for k in range(5)]


def divmod_of(a, b):
    return divmod(a, b)


# What is wrong with the file.


def refused(path, words):
    before = path.read_bytes() if path.is_file() else None
    beside = names(path.parent)
    for read_only in (False, True):
        with pytest.raises(StoreError, match=words) as caught:
            EvidenceStore(path, read_only=read_only)
        assert "\n" not in str(caught.value)
        assert repr(str(path)) in str(caught.value)
    # It is neither changed nor replaced, and nothing is left beside it.
    assert (path.read_bytes() if path.is_file() else None) == before
    assert names(path.parent) == beside


def test_an_empty_file_is_refused(path):
    path.touch()
    refused(path, "is not a store")


def test_a_file_of_another_kind_is_refused(path):
    path.write_text("Dear diary, " * 100)
    refused(path, "is not a store")


def test_a_folder_is_refused(path):
    path.mkdir()
    refused(path, "is not a file")


def test_the_database_of_another_program_is_refused(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA journal_mode = WAL; CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    refused(path, r"is the database of another program \(application_id=0\)")


def test_another_version_is_refused(path):
    fill(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {database.SCHEMA_VERSION + 1}")
    refused(
        path, "has schema_version=3, and this program reads 2; give another with --store, or move it away"
    )


def test_other_tables_are_refused(path):
    """A trigger, say, would run whenever we write."""
    fill(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("CREATE TRIGGER t AFTER INSERT ON results BEGIN DELETE FROM runs; END")
    refused(path, "is damaged .*its tables are others")


@pytest.mark.parametrize("part", [0.02, 0.3, 0.6, 0.99])
def test_a_truncated_store_is_refused(path, part):
    content = fill(path).read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    refused(path, "is not a store|is damaged")


def outcome_of(path):
    try:
        return everything(path), None
    except StoreError as error:
        return None, str(error)


def test_any_flipped_byte_is_told_or_does_no_harm(path, tmp_path):
    """Nothing false is ever read: it is what was written, or an error in one line."""
    content = fill(path).read_bytes()
    expected = everything(path)
    generator = random.Random(1)  # noqa: S311  no secret
    told = 0
    for number in range(100):
        place = generator.randrange(len(content))
        flipped = tmp_path / f"flipped{number}.sqlite3"
        flipped.write_bytes(
            content[:place] + bytes([content[place] ^ (1 << generator.randrange(8))]) + content[place + 1 :]
        )
        found, error = outcome_of(flipped)
        if error is None:
            # Of computations, which only count, the time or the place may be another.
            assert (found[0], found[1], found[3]) == (expected[0], expected[1], expected[3])
        else:
            told += 1
            assert "\n" not in error
        flipped.unlink()
    assert told > 40


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("results", "value"),
        ("results", "seconds"),
        ("results", "unit"),
        ("runs", "results"),
        ("e_values", "log_e_value"),
        ("e_values", "observations"),
    ],
)
def test_a_changed_row_does_not_fit_its_checksum(path, table, column):
    fill(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        (value,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()  # noqa: S608  names of our own
        changed = value + 1.0 if isinstance(value, float) else value[:-1] + value[:1]
        connection.execute(f"UPDATE {table} SET {column} = ?", (changed,))  # noqa: S608  names of our own
    with pytest.raises(StoreError, match="is damaged .* does not fit its checksum"):
        everything(path)


def test_a_key_that_was_moved_does_not_fit(path):
    """A result under another unit's key would be believed if the key were not part of the checksum."""
    fill(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM results WHERE key = ?", (bytes([1]) * 32,))
        connection.execute("UPDATE results SET key = ? WHERE key = ?", (bytes([1]) * 32, bytes([2]) * 32))
    with EvidenceStore(path) as store, pytest.raises(StoreError, match="does not fit its checksum"):
        store.result(bytes([1]) * 32)


def test_a_malicious_value_runs_nothing(path, tmp_path):
    """Also if it comes with a right checksum, as whoever makes a file can give it."""
    from dpsco_verify.store.evidence_store import _checksum

    marker = tmp_path / "marker"

    class Evil:
        def __reduce__(self):
            return os.system, (f"touch {marker}",)

    import pickle

    fill(path)
    for value in (pickle.dumps(Evil()), b"\x92\xa6struct\xa9os:system"):
        row = (KEY, "a", "c", 1.0, value)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?)", (*row, _checksum(*row))
            )
        with EvidenceStore(path) as store, pytest.raises(StoreError, match="is damaged"):
            store.result(KEY)
    assert not marker.exists()


# What is wrong with the place.


@pytest.fixture
def unprivileged():
    """A folder and the rights of a user who is not the administrator, whom nothing is forbidden."""
    folder = Path(tempfile.mkdtemp())
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        os.seteuid(os.getuid())
        folder.chmod(0o777)
        shutil.rmtree(folder)


def test_a_store_that_is_read_only_is_told_before_anything_is_done(unprivileged):
    path = fill(unprivileged / "store.sqlite3")
    path.chmod(0o444)
    with pytest.raises(StoreError, match="cannot be written"):
        EvidenceStore(path)
    with EvidenceStore(path, read_only=True) as store:
        assert len(store.runs()) == 1


def test_a_folder_that_is_read_only_is_told_and_can_be_read(unprivileged):
    path = fill(unprivileged / "store.sqlite3")
    unprivileged.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(StoreError, match="cannot be"):
        EvidenceStore(path)
    with pytest.raises(StoreError, match="cannot be used"):
        EvidenceStore(unprivileged / "new.sqlite3")
    with EvidenceStore(path, read_only=True) as store:
        assert len(store.runs()) == 1
        with pytest.raises(StoreError, match="cannot be written"):
            store.begin_run(profile="quick", seed=0)


def test_reading_needs_a_store_and_makes_none(path):
    with pytest.raises(StoreError, match="does not exist"):
        EvidenceStore(path, read_only=True)
    assert not path.exists()


@pytest.mark.parametrize("name", ["a\0b", "x" * 300])
def test_what_is_no_path_is_told(tmp_path, name):
    with pytest.raises(StoreError) as caught:
        EvidenceStore(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_file_in_place_of_a_folder_is_told(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError):
        EvidenceStore(tmp_path / "file" / "store.sqlite3")


def test_a_store_that_another_program_has_locked_is_told(path, monkeypatch):
    fill(path)
    monkeypatch.setattr(database, "BUSY_TIMEOUT", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="is locked by another program"):
            EvidenceStore(path)
        with EvidenceStore(path, read_only=True) as store:
            assert len(store.runs()) == 1  # readers do not wait


def test_a_full_store_loses_nothing_that_was_finished(path):
    with EvidenceStore(path) as store:
        run = store.begin_run(profile="quick", seed=0)
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages + 20}")
        finished = []

        def write_on():
            for k in range(100):
                key = bytes([k]) * 32
                number = store.begin(key, unit=str(k), run=run, pid=1, host="h")
                store.finish(
                    number, key, unit=str(k), code="c", performance=performance(np.full(500, float(k)))
                )
                finished.append(key)

        with pytest.raises(StoreError, match=r"cannot grow .* what was finished is kept"):
            write_on()
    assert finished
    with EvidenceStore(path) as store:
        assert all(store.result(key) is not None for key in finished)
        assert sum(c.finished is not None for c in store.computations()) == len(finished)


def test_a_process_that_is_killed_loses_nothing_that_was_finished(path):
    """Kill it at random moments while it writes; what it said was finished is there, whole."""
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        import numpy as np
        from dpsco_verify.execution import Outcome, Performance
        from dpsco_verify.store import EvidenceStore
        with EvidenceStore(Path(sys.argv[1])) as store:
            run = store.begin_run(profile="quick", seed=0)
            for k in range(10**6):
                key = int(sys.argv[2]).to_bytes(16) + k.to_bytes(16)
                number = store.begin(key, unit=str(k), run=run, pid=1, host="h")
                outcome = Outcome(value=np.full(300, float(k)), seconds=1.0)
                done = Performance(outcome=outcome, started=1.0, finished=2.0, pid=1, host="h")
                store.finish(number, key, unit=str(k), code="c", performance=done)
                print(k, flush=True)
        """
    )
    generator = random.Random(7)  # noqa: S311  no secret
    said = {}
    for number in range(3):
        with subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-c", program, str(path), str(number)], stdout=subprocess.PIPE, text=True
        ) as process:
            wanted = generator.randrange(1, 200)
            lines = [process.stdout.readline() for _ in range(wanted)]
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        said[number] = [int(line) for line in lines if line.endswith("\n")]
    with EvidenceStore(path) as store:
        for number, finished in said.items():
            assert len(finished) >= 1
            for k in finished:
                outcome = store.result(number.to_bytes(16) + k.to_bytes(16))
                assert np.array_equal(outcome.value, np.full(300, float(k)))
        done = sum(c.finished is not None for c in store.computations())
    assert sum(map(len, said.values())) <= done <= sum(map(len, said.values())) + 3


def test_several_processes_make_one_store_at_the_same_time(path):
    """None sees half of a store, and none makes a second."""
    program = (
        "import sys; from pathlib import Path; from dpsco_verify.store import EvidenceStore\n"
        "sys.stdin.readline()\n"
        "with EvidenceStore(Path(sys.argv[1])) as store: store.begin_run(profile='quick', seed=0)\n"
    )
    processes = [
        subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-c", program, str(path)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (2,)
    assert names(path.parent) == [path.name]
