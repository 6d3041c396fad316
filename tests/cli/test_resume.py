"""An audit that is killed goes on where it was, loses nothing and finishes nothing twice.

Here one process is killed, a copy of this one; `make test-long` kills workers and everything at moments that a fixed
seed draws, and ``python tests/cli/test_resume.py 50`` does that as often as one likes.
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main as program
from program import started

PROGRAM = Path(sys.executable).parent / "dpsco-verify"
SELECTION = ("stopping-tail/loop", "single-step/zero-out")
MARK = "DPSCO_VERIFY_TEST_MARK"


def command(out, *more, select=SELECTION, jobs=2):
    chosen = [word for name in select for word in ("--select", name)]
    return [
        *(str(PROGRAM), "audit", "--profile", "quick", *chosen),
        *("--jobs", str(jobs), "--format", "json", "--out", str(out), *more),
    ]


def store_of(out):
    return out.with_name(f"{out.name}.store.sqlite3")


def content(out):
    """Return the files of a report by name, times aside."""
    files = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*") if path.is_file()}
    files["results.json"] = re.sub(rb'"seconds": [0-9.e+-]+', b'"seconds": 0', files["results.json"])
    # The marker holds the hash of the results with their times.
    return {name: data for name, data in files.items() if not name.startswith(".")}


def counts(store):
    """Return how many computations were begun, how many finished, and how many of these were not the key's first."""
    with closing(sqlite3.connect(store)) as connection:
        begun, finished = connection.execute("SELECT count(*), count(finished) FROM computations").fetchone()
        (different,) = connection.execute(
            "SELECT count(DISTINCT key) FROM computations WHERE finished IS NOT NULL"
        ).fetchone()
        (results,) = connection.execute("SELECT count(*) FROM results").fetchone()
    assert different == results
    return begun, finished, finished - different


def workers_of(pid):
    """Return the worker processes that a process has."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            words = Path(f"/proc/{child}/cmdline").read_bytes()
            if b"popen_loky" in words or b"multiprocessing.spawn" in words:
                found.append(int(child))
    return found


def processes_with(mark):
    """Return the processes whose environment holds the mark."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def undisturbed(folder, *more, select=SELECTION):
    """Return the report of an audit by one process, which nobody kills: that of two has the same bytes."""
    out = folder / "undisturbed"
    alone = command(out, *more, select=select, jobs=1)
    done = subprocess.run(alone, capture_output=True, text=True, check=False)  # noqa: S603  our own program
    assert done.returncode == 0, done.stderr
    return content(out)


class Trial:
    """Kills audits on one store, as a generator of random numbers says, until one comes to its end."""

    def __init__(self, rng, folder, *more, select=SELECTION, longest=8.0):
        self.out = folder / "killed"
        self.groups = self.workers = self.starts = 0
        self._rng = rng
        self._command = command(self.out, *more, select=select)
        self._longest = longest

    @property
    def kills(self):
        return self.groups + self.workers

    def run(self, most):
        while True:
            self.starts += 1
            with tempfile.TemporaryFile() as errors:
                audit = subprocess.Popen(  # noqa: S603  our own program
                    self._command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
                )
                code = self._disturb(audit, most)
                errors.seek(0)
                said = errors.read().decode()
            # Whatever was killed, there is no traceback and nothing that a library logs.
            assert said == ""
            if code == 0:
                return
            assert code == -signal.SIGKILL, (code, said)

    def _disturb(self, audit, most):
        """Kill a worker twice at most, for a unit may lose its worker so often, or everything."""
        spared = 2
        while self.kills < most:
            try:
                return audit.wait(self._rng.uniform(0.0, self._longest))
            except subprocess.TimeoutExpired:
                workers = workers_of(audit.pid)
            if workers and spared and self._rng.random() < 0.5:
                spared -= 1
                self.workers += 1
                os.kill(int(self._rng.choice(workers)), signal.SIGKILL)
            else:
                self.groups += 1
                os.killpg(audit.pid, signal.SIGKILL)
                return audit.wait()
        return audit.wait()


def begun_in_a_copy(out):
    return started(*command(out, select=SELECTION[:1], jobs=1)[1:], cwd=out.parent)


@pytest.mark.slow
def test_an_audit_that_is_killed_goes_on_where_it_was(tmp_path):
    out, killed = tmp_path / "undisturbed", tmp_path / "killed"
    code, _, said = begun_in_a_copy(out).ended()
    assert code == 0, said
    begun, units, _ = counts(store_of(out))
    assert begun == units
    first = begun_in_a_copy(killed)
    deadline = time.monotonic() + 60.0
    while (
        not (store_of(killed).exists() and half_done(store_of(killed), units)) and time.monotonic() < deadline
    ):
        time.sleep(0.001)
    os.kill(first.pid, signal.SIGKILL)
    assert first.ended()[0] == -signal.SIGKILL
    kept = counts(store_of(killed))[1]
    assert 0 < kept < units
    assert not killed.exists()
    code, printed, said = begun_in_a_copy(killed).ended()
    assert (code, said) == (0, "")
    assert f"; {kept} of {units} units of work were finished before\n" in printed
    assert content(killed) == content(out)
    begun, finished, twice = counts(store_of(killed))
    assert (finished, twice) == (units, 0)
    assert begun <= units + 1  # that one which was running
    again = CliRunner().invoke(program, command(killed, select=SELECTION[:1], jobs=1)[1:])
    assert (again.exit_code, again.stderr) == (0, "")
    assert counts(store_of(killed)) == (begun, finished, twice)
    assert f"; {units} of {units} units of work were finished before\n" in again.stdout
    assert content(killed) == content(out)


def half_done(store, units):
    with suppress(sqlite3.OperationalError):  # it is being made
        return 2 * counts(store)[1] >= units
    return False


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    began = time.monotonic()
    files = undisturbed(folder)
    return files, counts(store_of(folder / "undisturbed"))[1], time.monotonic() - began


EXECUTORS = pytest.mark.parametrize("executor", ["loky", pytest.param("dask", marks=pytest.mark.long)])


@pytest.mark.long
@pytest.mark.parametrize("executor", ["loky", "dask"])
def test_killed_audits_come_to_the_results_of_an_undisturbed_one(tmp_path, expected, executor):
    files, units, seconds = expected
    # Two waits last no longer than the undisturbed audit did, so that two kills fall into this one on any machine.
    trial = Trial(
        np.random.default_rng(20_02_09_609), tmp_path, "--executor", executor, longest=0.5 * seconds
    )
    trial.run(2)
    assert trial.kills == 2
    assert content(trial.out) == files
    begun, finished, twice = counts(store_of(trial.out))
    assert (finished, twice) == (units, 0)
    # What was running when it was killed is begun again: two workers, so two at most for each kill.
    assert finished <= begun <= finished + 2 * trial.groups


@pytest.mark.long
@EXECUTORS
def test_no_worker_outlives_an_audit_that_is_killed_alone(tmp_path, executor):
    mark = uuid.uuid4().hex
    audit = subprocess.Popen(  # noqa: S603  our own program
        command(tmp_path / "report", "--executor", executor, "--no-store"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {MARK: mark},
    )
    deadline = time.monotonic() + 60.0
    while len(workers_of(audit.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(workers_of(audit.pid)) == 2
    audit.kill()
    audit.wait()
    deadline = time.monotonic() + 20.0
    while processes_with(mark) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_with(mark) == []


@pytest.mark.long
def test_two_audits_on_one_store_are_both_right(tmp_path, expected):
    files, units, _ = expected
    store = tmp_path / "shared.sqlite3"
    outs = [tmp_path / "one", tmp_path / "two"]
    audits = [
        subprocess.Popen(  # noqa: S603  our own program
            command(out, "--store", str(store)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        for out in outs
    ]
    for audit in audits:
        _, said = audit.communicate()
        assert audit.returncode == 0, said
    assert [content(out) for out in outs] == [files, files]
    begun, finished, _ = counts(store)
    with closing(sqlite3.connect(store)) as connection:
        (runs,) = connection.execute("SELECT count(*) FROM runs WHERE finished IS NOT NULL").fetchone()
    assert runs == 2
    # They share the work: what one has finished when the other comes to it is not begun again.
    assert units <= finished == begun < 2 * units


def main(kills, seed, executor):
    """Make at least this many kills, on as many stores as that takes, and print what happened."""
    select = tuple(os.environ.get("SELECTION", " ".join(SELECTION)).split())
    rng = np.random.default_rng(seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        expected = undisturbed(Path(name), "--executor", executor, select=select)
        units = counts(store_of(Path(name) / "undisturbed"))[1]
        print(f"undisturbed: {units} units, {time.monotonic() - began:.1f} s")  # noqa: T201  a report
        total = groups = 0
        while total < kills:
            with tempfile.TemporaryDirectory() as each:
                trial = Trial(rng, Path(each), "--executor", executor, select=select)
                trial.run(kills - total)
                total, groups = total + trial.kills, groups + trial.groups
                begun, finished, twice = counts(store_of(trial.out))
                same = content(trial.out) == expected
                print(  # noqa: T201  a report
                    f"{trial.groups} kills of everything, {trial.workers} of one worker, {trial.starts} starts: "
                    f"begun {begun}, finished {finished} of {units}, finished twice {twice}, same results: {same}",
                    flush=True,
                )
                assert same
                assert twice == 0
                assert finished == units
        print(f"{total} kills, {groups} of them of everything, {time.monotonic() - began:.0f} s")  # noqa: T201  a report


if __name__ == "__main__":
    main(
        int(sys.argv[1]),
        int(sys.argv[2]) if len(sys.argv) > 2 else 0,
        sys.argv[3] if len(sys.argv) > 3 else "loky",
    )
