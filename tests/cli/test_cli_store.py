"""The store of an audit from the command line: where it is, what goes wrong with it, what a change of code redoes."""

from __future__ import annotations

import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

import dpsco_verify
from dpsco_verify.cli import main
from dpsco_verify.cli.options import default_store
from dpsco_verify.store import EvidenceStore
from program import Started

pytestmark = pytest.mark.slow


FAST = ("--profile", "quick", "--select", "exp-linear", "--select", "kl-bound", "--format", "json")


def run(*arguments):
    """Run the program in this process; anything but an orderly exit is raised."""
    result = CliRunner().invoke(main, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def one_line(text):
    return len(text.strip().splitlines()) == 1 and "Traceback" not in text


def results(out):
    return re.sub(r'"seconds": [0-9.e+-]+', '"seconds": 0', (out / "results.json").read_text())


def finished_units(path):
    with EvidenceStore(path, read_only=True) as store:
        return [one.unit for one in store.computations() if one.finished is not None]


def test_the_store_is_beside_the_reports(tmp_path):
    out = tmp_path / "report"
    assert run("audit", *FAST, "--out", str(out)).exit_code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"report", "report.store.sqlite3"}
    assert default_store(out) == tmp_path / "report.store.sqlite3"
    before, units = results(out), finished_units(default_store(out))
    again = run("audit", *FAST, "--out", str(out))
    assert again.exit_code == 0
    assert f"{len(units)} of {len(units)} units of work were finished before" in again.stdout
    assert again.stderr == ""
    assert results(out) == before
    assert finished_units(default_store(out)) == units
    with EvidenceStore(default_store(out), read_only=True) as store:
        first, second = store.runs()
    assert re.sub(rb'"seconds": [0-9.e+-]+', b"", first.results) == re.sub(
        rb'"seconds": [0-9.e+-]+', b"", second.results
    )


def test_an_audit_without_a_store_leaves_none(tmp_path):
    assert run("audit", *FAST, "--no-store", "--out", str(tmp_path / "report")).exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


def test_store_and_no_store_exclude_each_other(tmp_path):
    result = run(
        "audit", *FAST, "--no-store", "--store", str(tmp_path / "s"), "--out", str(tmp_path / "report")
    )
    assert result.exit_code == 2
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_the_folder_that_is_replaced_is_refused(tmp_path):
    out = tmp_path / "report"
    result = run("audit", *FAST, "--out", str(out), "--store", str(out / "store"))
    assert result.exit_code == 2
    assert "which is replaced as a whole" in result.stderr
    assert one_line(result.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["text", "empty", "another database", "a folder", "truncated"])
def test_what_is_no_store_is_told_and_left_alone(tmp_path, what):
    out, store = tmp_path / "report", tmp_path / "store"
    if what == "a folder":
        store.mkdir()
    elif what == "another database":
        with closing(sqlite3.connect(store)) as connection:
            connection.execute("CREATE TABLE t (x)")
    elif what == "truncated":
        with EvidenceStore(store):
            pass
        store.write_bytes(store.read_bytes()[:-5000])
    else:
        store.write_text("" if what == "empty" else "Dear diary" * 50)
    before = None if store.is_dir() else store.read_bytes()
    for command in (("audit", *FAST, "--out", str(out)), ("history",)):
        result = run(*command, "--store", str(store))
        assert result.exit_code == 2
        assert one_line(result.stderr), result.stderr
        assert result.stdout == ""
    assert not out.exists()
    assert (None if store.is_dir() else store.read_bytes()) == before


def test_a_damaged_result_is_told_and_not_used(tmp_path):
    out, store = tmp_path / "report", tmp_path / "store"
    assert run("audit", *FAST, "--out", str(out), "--store", str(store)).exit_code == 0
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE results SET value = substr(value, 1, length(value) - 1) || x'00'")
    before = (out / "results.json").read_bytes()
    result = run("audit", *FAST, "--out", str(out), "--store", str(store))
    assert result.exit_code == 2
    assert "is damaged" in result.stderr
    assert one_line(result.stderr)
    assert (out / "results.json").read_bytes() == before


@pytest.mark.slow
def test_a_full_disk_is_told_and_loses_nothing_that_was_finished(tmp_path):
    """A limit on the size of files stands for the disk; what was stored before it is met is recalled."""
    out, store = tmp_path / "report", tmp_path / "store"
    select = (*FAST, "--select", "azuma-step", "--select", "dual-norm", "--select", "risk", "--out", str(out))
    with EvidenceStore(store):
        room = store.stat().st_size + 60_000

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
        main(["audit", *select, "--store", str(store)])

    code, _, said = Started(limited, tmp_path).ended()
    assert code == 2, said
    assert one_line(said), said
    assert "what was finished is kept" in said
    assert not out.exists()
    finished = finished_units(store)
    assert finished
    done = run("audit", *select, "--store", str(store))
    assert done.exit_code == 0, done.stderr
    assert f"; {len(finished)} of " in done.stdout
    assert len(set(finished_units(store))) == len(finished_units(store))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--executor", "serial", "--jobs", "2"), "jobs=2 cannot be combined with executor='serial'"),
        (("--executor", "loky", "--scheduler", "tcp://h:1"), "cannot be combined with executor='loky'"),
    ],
)
def test_executors_that_do_not_go_together_are_told(tmp_path, options, words):
    for command in (("audit", *FAST, "--out", str(tmp_path / "report")), ("museum",)):
        result = run(*command, *options)
        assert result.exit_code == 2
        assert words in result.stderr
        assert one_line(result.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_scheduler_that_cannot_be_reached_is_told_and_nothing_is_lost(tmp_path):
    out = tmp_path / "report"
    assert run("audit", *FAST, "--out", str(out)).exit_code == 0
    before = (out / "results.json").read_bytes()
    began = time.monotonic()
    done = run("audit", *FAST, "--out", str(out), "--scheduler", "tcp://127.0.0.1:9")
    assert time.monotonic() - began < 60.0
    assert done.exit_code == 2
    assert one_line(done.stderr), done.stderr
    assert "cannot be reached within 10 s" in done.stderr
    assert done.stdout == ""
    assert (out / "results.json").read_bytes() == before


# Which code makes results anew: on a copy of the package.


@pytest.fixture
def copied(tmp_path):
    """A copy of the package, and a function that audits with it and says which units were computed then."""
    root = Path(dpsco_verify.__file__).parent
    copy = tmp_path / "copy" / root.name
    shutil.copytree(root, copy)  # with what is compiled, which takes a while
    out, store = tmp_path / "report", tmp_path / "store"

    def audit():
        before = len(finished_units(store)) if store.exists() else 0
        done = subprocess.run(  # noqa: S603  our own program
            [
                *(sys.executable, "-m", "dpsco_verify", "audit", *FAST, "--select", "azuma-step"),
                *("--out", str(out), "--store", str(store)),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path / "copy",
            env=os.environ | {"PYTHONPATH": str(tmp_path / "copy")},
        )
        assert done.returncode == 0, done.stderr
        return sorted(finished_units(store)[before:])

    def change(name):
        path = copy / name
        path.write_text(path.read_text() + "\n# changed\n")
        # As if some time had gone by between the change and the next audit.
        os.utime(path, (time.time() - 60.0,) * 2)

    return audit, change


@pytest.mark.long
def test_a_change_redoes_what_it_reaches_and_nothing_else(copied):
    audit, change = copied
    everything = audit()
    assert {unit.split("/")[0] for unit in everything} == {"exp-linear", "kl-bound", "azuma-step"}
    change("reporting/html.py")
    change("geometry/l2_ball.py")
    change("ledger/run.py")
    change("papers/arora2020/kl_bound/statement.py")
    assert {unit.split("/")[0] for unit in audit()} == {"kl-bound"}
    change("ledger/statement.py")
    assert audit() == everything
