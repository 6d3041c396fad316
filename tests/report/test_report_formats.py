from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.store import decode, encode
from dpsco_verify.reporting import FORMAT_NAMES, ReportFormat, format_named, render_all
from dpsco_verify.reporting.drawing import render

RENDER = """
import hashlib, pathlib, sys
from dpsco_verify.evidence.store import decode
from dpsco_verify.reporting import FORMAT_NAMES, render_all
files = render_all(decode(pathlib.Path(sys.argv[1]).read_bytes()), FORMAT_NAMES)
for path in sorted(files):
    print(hashlib.sha256(files[path]).hexdigest(), path)
"""


@dataclass(frozen=True)
class Own:
    """A format that a user might write."""

    name: str = "own"
    path: str = "own/report.txt"

    def filenames(self, record):
        return (self.path,)

    def render(self, record, *, beside):
        return {self.path: f"{len(record.claims)} {sorted(beside)}".encode()}


def test_the_formats_of_the_command_line():
    assert FORMAT_NAMES == ("json", "html", "markdown", "junit", "figures")


@pytest.mark.parametrize("name", FORMAT_NAMES)
def test_each_format_keeps_the_protocol(name, plain):
    found = format_named(name)
    assert isinstance(found, ReportFormat)
    assert found.name == name
    assert tuple(found.render(plain, beside=frozenset())) == found.filenames(plain)


@pytest.mark.parametrize("name", ["pdf", "", "HTML"])
def test_an_unknown_format_is_refused_with_the_choices(name, plain):
    with pytest.raises(InputError, match=f"format='{name}' is unknown; give one of json, html, markdown"):
        render_all(plain, [name])


def test_no_format_is_refused(plain):
    with pytest.raises(InputError, match="selects no report"):
        render_all(plain, [])


def test_a_format_of_the_users_own_is_written_beside_the_others(plain):
    files = render_all(plain, ["json", Own(), "json"], extra_files={"certificates/x.json": b"{}"})
    assert files["own/report.txt"] == b"6 ['certificates/x.json', 'own/report.txt', 'results.json']"
    assert set(files) == {"results.json", "own/report.txt", "certificates/x.json", ".dpsco-verify"}


@pytest.mark.parametrize("path", ["../x", "/x", "a/../../x", "", ".dpsco-verify", "results.json"])
def test_paths_outside_and_paths_taken_are_refused(plain, path):
    for formats, extra in ((["json"], {path: b""}), (["json", Own(path=path)], {})):
        with pytest.raises(InputError, match=r"^path=[^\n]*$"):
            render_all(plain, formats, extra_files=extra)


def test_the_libraries_of_a_format_are_imported_when_it_is_asked_for():
    code = "import sys, dpsco_verify.reporting; print({'matplotlib', 'jinja2', 'junitparser'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603  ours
    assert done.stdout == "set()\n"


@pytest.mark.slow
def test_rendering_twice_gives_the_same_bytes(nasty):
    first = render_all(nasty, FORMAT_NAMES)
    render.forget()
    assert render_all(nasty, FORMAT_NAMES) == first


def test_a_record_read_back_gives_the_same_report(nasty):
    # No figures here: they are the slow part, and the test above has them.
    formats = ["json", "markdown", "junit"]
    assert render_all(decode(encode(nasty)), formats) == render_all(nasty, formats)


@pytest.mark.slow
def test_another_process_gives_the_same_bytes(nasty, tmp_path):
    results = tmp_path / "results.json"
    results.write_bytes(encode(nasty))
    environment = os.environ | {"PYTHONHASHSEED": "17", "SOURCE_DATE_EPOCH": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-W", "error", "-c", RENDER, str(results)]
    done = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)  # noqa: S603  ours
    files = render_all(nasty, FORMAT_NAMES)
    here = "".join(f"{hashlib.sha256(files[path]).hexdigest()} {path}\n" for path in sorted(files))
    assert done.stdout == here
