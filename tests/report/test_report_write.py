from __future__ import annotations

import errno
import os
import shutil
import stat
from pathlib import Path

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import SCHEMA_VERSION, Verdict
from dpsco_verify.reporting import check_writable, write, write_reports

FORMATS = ["json", "markdown", "junit"]


@pytest.fixture(scope="module")
def old(make_record, make_finding):
    return make_record([make_finding("old", "loop", Verdict.REFUTED, Verdict.REFUTED)])


@pytest.fixture(scope="module")
def new(make_record, make_finding, make_line_plot):
    return make_record(
        [make_finding("new", "loop", Verdict.CERTIFIED, Verdict.CERTIFIED, plots=(make_line_plot(),))]
    )


def files_in(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_everything_is_written(new, tmp_path):
    out = tmp_path / "not" / "there" / "yet"
    paths = write_reports(new, out, [*FORMATS, "figures"], extra_files={"certificates/a.json": b"{}"})
    assert set(files_in(out)) == {
        ".dpsco-verify",
        "certificates/a.json",
        "figures/new-loop-tail.svg",
        "junit.xml",
        "report.md",
        "results.json",
    }
    assert {p.relative_to(out).as_posix() for p in paths} == set(files_in(out))
    assert all(p.is_file() for p in paths)
    assert list(out.parent.iterdir()) == [out]


def test_what_the_record_tells_needs_no_marker(old, new, tmp_path):
    write_reports(new, tmp_path / "a", ["json", "markdown", "figures"])
    assert set(files_in(tmp_path / "a")) == {"results.json", "report.md", "figures/new-loop-tail.svg"}
    write_reports(old, tmp_path / "b", FORMATS, extra_files={"certificates/old-loop.json": b"{}"})
    assert ".dpsco-verify" not in files_in(tmp_path / "b")
    write_reports(old, tmp_path / "c", ["markdown"])
    assert set(files_in(tmp_path / "c")) == {"report.md", ".dpsco-verify"}


@pytest.mark.parametrize("formats", [FORMATS, ["json"], ["markdown"], ["figures", "junit"], ["html", "json"]])
def test_an_earlier_report_is_replaced_as_a_whole(old, new, tmp_path, formats):
    out = tmp_path / "out"
    write_reports(new, out, [*formats, "figures"], extra_files={"certificates/x/y.json": b"1"})
    (out / ".DS_Store").write_bytes(b"left by a file manager")
    out.chmod(0o750)
    write_reports(old, out, FORMATS)
    assert set(files_in(out)) == {"results.json", "report.md", "junit.xml"}
    assert b'"old"' in (out / "results.json").read_bytes()
    assert list(tmp_path.iterdir()) == [out]
    assert stat.S_IMODE(out.stat().st_mode) == 0o750


def test_a_new_folder_has_the_usual_permissions(old, tmp_path):
    (tmp_path / "usual").mkdir()
    write_reports(old, tmp_path / "out", FORMATS)
    assert (tmp_path / "out").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_link_is_followed_and_kept(old, new, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "latest").symlink_to("real")
    for record in (old, new):
        write_reports(record, tmp_path / "latest", FORMATS)
    assert (tmp_path / "latest").is_symlink()
    assert b'"new"' in (tmp_path / "real" / "results.json").read_bytes()


@pytest.mark.parametrize(
    "name",
    [
        "notes.txt",
        "figures/my-own.svg",
        "figures/notes.txt",
        "certificates/mine.json",
        ".hidden",
        "index.html",
        "a/b/c",
    ],
)
def test_files_of_others_are_never_touched(old, new, tmp_path, name):
    out = tmp_path / "out"
    write_reports(old, out, FORMATS, extra_files={"certificates/old-loop.json": b"{}"})
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("mine")
    before = files_in(out)
    for attempt in (lambda: write_reports(new, out, FORMATS), lambda: check_writable(out)):
        with pytest.raises(InputError, match=rf"^out=[^\n]*{name.split('/')[0]}[^\n]*$"):
            attempt()
    assert files_in(out) == before
    (out / name).unlink()
    if (folder := (out / name).parent) != out and not any(folder.iterdir()):
        shutil.rmtree(out / name.split("/", maxsplit=1)[0])
    write_reports(new, out, FORMATS)
    assert b'"new"' in (out / "results.json").read_bytes()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("results.json", "{}"),
        ("results.json", '{"schema_version": 1, "claims": []}'),
        ("results.json", "not JSON"),
        ("results.json", "\x00"),
        ("report.md", "# My report"),
        ("index.html", "<title>Mine</title>"),
        (".dpsco-verify", "results.json\n"),
    ],
)
def test_files_with_our_names_that_others_wrote_are_left_alone(new, tmp_path, name, content):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text(content)
    with pytest.raises(InputError, match="no report wrote"):
        write_reports(new, tmp_path / "out", FORMATS)
    assert (tmp_path / "out" / name).read_text() == content


def test_empty_folders_and_links_of_others_are_left_alone(old, new, tmp_path):
    out = tmp_path / "out"
    write_reports(old, out, FORMATS)
    (out / "empty").mkdir()
    with pytest.raises(InputError, match="'empty/'"):
        write_reports(new, out, FORMATS)
    (out / "empty").rmdir()
    (out / "link").symlink_to(tmp_path)
    with pytest.raises(InputError, match="'link'"):
        write_reports(new, out, FORMATS)


def test_an_empty_folder_is_used(new, tmp_path):
    (tmp_path / "out").mkdir()
    write_reports(new, tmp_path / "out", FORMATS)
    assert set(files_in(tmp_path / "out")) == {"results.json", "report.md", "junit.xml"}


def test_a_record_of_another_version_is_still_ours(old, new, tmp_path):
    out = tmp_path / "out"
    write_reports(new, out, ["json", "figures"])
    data = (
        (out / "results.json")
        .read_bytes()
        .replace(b'"schema_version": %d' % SCHEMA_VERSION, b'"schema_version": 99', 1)
    )
    (out / "results.json").write_bytes(data.replace(b'"seed": 7', b'"seed": "new kind", "more": 1', 1))
    write_reports(old, out, FORMATS)
    assert b'"old"' in (out / "results.json").read_bytes()


class BrokenError(Exception):
    """Not an OSError: as when the user interrupts."""


def _fail_at(monkeypatch, target, name, number, error):
    """Let the `number`-th call of ``target.name`` raise `error` instead."""
    real, calls = getattr(target, name), []

    def sometimes(*args, **kwargs):
        calls.append(args)
        if len(calls) == number:
            raise error
        return real(*args, **kwargs)

    monkeypatch.setattr(target, name, sometimes)
    return calls


FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
STEPS = [
    *[(os, "fsync", number) for number in (1, 2, 3)],
    *[(Path, "open", number) for number in (2, 4)],
    (Path, "rename", 1),
    (Path, "rename", 2),
    (shutil, "copymode", 1),
]


@pytest.mark.parametrize(("target", "name", "number"), STEPS)
@pytest.mark.parametrize("error", [FULL, BrokenError(), KeyboardInterrupt()])
def test_whatever_goes_wrong_the_earlier_report_survives(
    old, new, tmp_path, monkeypatch, target, name, number, error
):
    out = tmp_path / "out"
    write_reports(old, out, FORMATS)
    before = files_in(out)
    with monkeypatch.context() as patch:
        calls = _fail_at(patch, target, name, number, error)
        expected = InputError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected, match=r"^[^\n]*$"):
            write_reports(new, out, FORMATS)
        assert len(calls) >= number
    assert files_in(out) == before
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("target", "name", "number"), [(os, "fsync", 2), (Path, "open", 2), (Path, "rename", 1)]
)
def test_whatever_goes_wrong_no_half_report_stands_there(new, tmp_path, monkeypatch, target, name, number):
    with monkeypatch.context() as patch:
        _fail_at(patch, target, name, number, FULL)
        with pytest.raises(InputError, match=r"^out=[^\n]*No space left[^\n]*$"):
            write_reports(new, tmp_path / "a" / "b", FORMATS)
    assert list(tmp_path.iterdir()) == []


def test_writing_in_place_would_be_seen(old, new, tmp_path, monkeypatch):
    # The tests above are red for a writer that writes into the target itself.
    def in_place(_, files):
        for path, content in files.items():
            (tmp_path / "out" / path).write_bytes(content)
        raise FULL

    write_reports(old, tmp_path / "out", FORMATS)
    before = files_in(tmp_path / "out")
    monkeypatch.setattr(write, "_write_files", in_place)
    with pytest.raises(InputError):
        write_reports(new, tmp_path / "out", FORMATS)
    assert files_in(tmp_path / "out") != before


def test_a_report_that_cannot_be_put_back_is_kept_and_its_place_is_named(old, new, tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_reports(old, out, FORMATS)
    before = files_in(out)
    real, calls = Path.rename, []

    def only_once(self, target):
        calls.append(self)
        if len(calls) > 1:
            raise FULL
        return real(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", only_once)
        with pytest.raises(InputError, match=r"the earlier report is now in '([^']+)'") as raised:
            write_reports(new, out, FORMATS)
    assert not out.exists()
    kept = Path(str(raised.value).split("now in '")[1].split("'")[0])
    assert files_in(kept) == before


def test_a_failure_to_render_touches_nothing(old, new, tmp_path, monkeypatch):
    out = tmp_path / "out"
    write_reports(old, out, FORMATS)
    before = files_in(out)
    monkeypatch.setattr("dpsco_verify.reporting.junit.JunitReport.render", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_reports(new, out, FORMATS)
    assert files_in(out) == before
    assert list(tmp_path.iterdir()) == [out]


def _places(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dangling").symlink_to(tmp_path / "file" / "x")
    (tmp_path / "loop").symlink_to("loop")
    return {
        "a file": tmp_path / "file",
        "below a file": tmp_path / "file" / "out",
        "far below a file": tmp_path / "file" / "a" / "b",
        "a link below a file": tmp_path / "dangling",
        "a loop of links": tmp_path / "loop" / "x",
        "a name that is too long": tmp_path / ("x" * 300),
        "a parent whose name is too long": tmp_path / ("x" * 300) / "out",
        "a zero byte": tmp_path / "a\0b",
        "where nothing can be made": Path("/proc/dpsco/out"),
        "the root": Path("/"),
    }


@pytest.mark.parametrize(
    "place",
    [
        "a file",
        "below a file",
        "far below a file",
        "a link below a file",
        "a loop of links",
        "a name that is too long",
        "a parent whose name is too long",
        "a zero byte",
        pytest.param(
            "where nothing can be made",
            marks=pytest.mark.skipif(not Path("/proc/self").exists(), reason="no /proc here"),
        ),
        "the root",
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_the_run(new, tmp_path, place):
    out = _places(tmp_path)[place]
    before = sorted(tmp_path.iterdir())
    for attempt in (lambda: check_writable(out), lambda: write_reports(new, out, FORMATS)):
        with pytest.raises(InputError, match=r"^out=[^\n]*$"):
            attempt()
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("name", [".", ".."])
def test_the_working_folder_is_not_replaced(new, tmp_path, monkeypatch, name):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="working folder"):
        write_reports(new, Path(name), FORMATS)
    write_reports(new, Path("out"), FORMATS)
    assert (tmp_path / "here" / "out" / "results.json").is_file()


def test_the_check_leaves_nothing_behind(old, tmp_path):
    assert check_writable(tmp_path / "a" / "b") == tmp_path / "a" / "b"
    assert list(tmp_path.iterdir()) == []
    write_reports(old, tmp_path / "out", FORMATS)
    before = files_in(tmp_path)
    check_writable(tmp_path / "out")
    assert files_in(tmp_path) == before


def test_a_disk_for_reading_only_is_noticed(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(InputError, match=r"^out=[^\n]*Read-only[^\n]*$"):
        check_writable(tmp_path / "out")
