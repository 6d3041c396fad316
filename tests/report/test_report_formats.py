from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.errors import InputError
from dpsco_verify.evidence.records_codec import decode, encode
from dpsco_verify.reporting import FORMAT_NAMES, ReportFormat, format_named, render_all

RENDER = """
import hashlib, pathlib, sys
from dpsco_verify.evidence.records_codec import decode
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
    assert FORMAT_NAMES == ("json", "html", "markdown", "junit", "sarif", "badge", "brief", "figures")


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


def broken():
    raise RuntimeError("no printer")


def other_name():
    return Own(name="another")


@pytest.fixture
def installed(monkeypatch):
    """Install formats by name, each given as a function of this module or as what an entry point says."""

    def install(**formats):
        monkeypatch.setitem(sys.modules, "formats_elsewhere", sys.modules[__name__])
        found = metadata.EntryPoints(
            metadata.EntryPoint(name, f"formats_elsewhere:{value}", "dpsco_verify.formats")
            for name, values in formats.items()
            for value in values.split()
        )
        others = metadata.entry_points
        monkeypatch.setattr(
            metadata, "entry_points", lambda *, group: found.select(group=group) or others(group=group)
        )

    return install


def test_a_format_of_another_package_is_found_by_its_name(plain, installed):
    installed(own="Own", bad="broken")
    assert format_named("own") == Own()
    assert set(render_all(plain, ["own"])) == {"own/report.txt", ".dpsco-verify"}
    with pytest.raises(
        InputError, match="^format='pdf' is unknown; give one of json, .*, figures, bad, own$"
    ):
        format_named("pdf")


FAULTS = {
    "raises": ({"own": "broken"}, "own", "RuntimeError: no printer"),
    "is missing": ({"own": "nothing"}, "own", "AttributeError"),
    "is not a format": ({"own": "dataclass"}, "own", "gives a function, which is not a ReportFormat"),
    "has another name": ({"own": "other_name"}, "own", "gives a format named 'another'"),
    "takes a built-in name": ({"json": "Own"}, "json", "rename or uninstall one"),
    "has one name twice": ({"own": "Own other_name"}, "own", "rename or uninstall one"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("command", [("audit",), ("gate", "math:sin", "--pair", "x.json", "--epsilon", "1")])
def test_a_format_that_cannot_be_used_is_one_line_and_nothing_is_written(
    installed, fault, command, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    formats, name, words = FAULTS[fault]
    installed(**formats)
    result = CliRunner().invoke(main, [*command, "--format", name])
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert words in result.stderr
    assert name in result.stderr
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.slow
def test_the_libraries_of_a_format_are_imported_when_it_is_asked_for():
    code = """
import sys, dpsco_verify.reporting
print({"matplotlib", "jinja2", "junitparser"} & set(sys.modules))
for name in dpsco_verify.reporting.FORMAT_NAMES:
    dpsco_verify.reporting.format_named(name)
print("jinja2" in sys.modules, "matplotlib" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)  # noqa: S603  ours
    # matplotlib comes with the first plot.
    assert done.stdout.splitlines() == ["set()", "True False"]


@pytest.mark.slow
def test_rendering_twice_gives_the_same_bytes(nasty):
    # That a figure that is drawn afresh has the same bytes, test_report_figures shows.
    assert render_all(nasty, FORMAT_NAMES) == render_all(nasty, FORMAT_NAMES)


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
