"""A report to disk, whole or not at all.

Everything is rendered, then written and flushed beside the target, and only then moved into its place by
renaming. Whatever goes wrong before, an earlier report is still there, and nothing else is.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditRecord
from dpsco_verify.evidence.records_codec import decode, encode
from dpsco_verify.reporting.earlier_report import MARKER, foreign_files, marker_for
from dpsco_verify.reporting.formats import ReportFormat, resolve
from dpsco_verify.reporting.naming import RESULTS, is_inside

_SCRATCH = ".dpsco-verify-"


def write_reports(
    record: AuditRecord,
    out: Path,
    formats: Iterable[str | ReportFormat],
    *,
    extra_files: Mapping[str, bytes] | None = None,
) -> tuple[Path, ...]:
    """Write the reports of `record` to the folder `out` and return the paths of the files.

    `extra_files` are written too, by their path relative to `out`: the certificates. An earlier report in `out`
    is replaced as a whole. Rendering happens before the disk is touched; after that the only moment at which a
    reader finds no report is between two renames.

    Raises
    ------
    InputError
        If `out` cannot be written, holds files that no report wrote, or a path leads out of it.
    """
    chosen = resolve(formats)
    target = check_writable(out)
    files = render_all(record, chosen, extra_files=extra_files)
    with _as_input_error(out), _parents_of(target), _scratch_beside(target) as scratch:
        stage = scratch / "new"
        _write_files(stage, files)
        _replace(target, stage, scratch / "old")
    return tuple(out / path for path in sorted(files))


def render_all(
    record: AuditRecord,
    formats: Iterable[str | ReportFormat],
    *,
    extra_files: Mapping[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Return all files of the report by path relative to it, the marker included where one is needed.

    Raises
    ------
    InputError
        If a path leads out of the report, or two files want the same path.
    """
    chosen = resolve(formats)
    # What is rendered is what can be read back: a report made from results.json later has the same bytes.
    record = decode(encode(record))
    files = dict(extra_files or {})
    names = Counter([*files, *(path for chosen_format in chosen for path in chosen_format.filenames(record))])
    for path, number in names.items():
        if not is_inside(path):
            raise InputError(f"path={path!r} leads out of the report; give a relative path without '..'")
        if number > 1 or path == MARKER:
            raise InputError(f"path={path!r} is wanted by two files of the report; rename one")
    beside = frozenset(names)
    for chosen_format in chosen:
        files |= chosen_format.render(record, beside=beside)
    return files | marker_for(files, files.get(RESULTS))


def check_writable(out: Path) -> Path:
    """Return the place that `out` names, symbolic links resolved, if a report could be written there now.

    The check tries it out: it makes a folder where the report will be made and removes it, because permissions
    say nothing to an administrator and nothing about a disk that is mounted for reading only. Call it before a
    long run.

    Raises
    ------
    InputError
        If it could not, or if `out` holds files that no report wrote.
    """
    with _as_input_error(out):
        target = Path(os.path.realpath(out))
        if os.path.lexists(target) and not target.is_dir():
            raise InputError(f"out={str(out)!r} is a file; give a folder")
        if target.is_dir():
            _require_replaceable(out, target)
        existing = next(parent for parent in target.parents if os.path.lexists(parent))
        if not existing.is_dir():
            raise InputError(
                f"out={str(out)!r} cannot be made because {str(existing)!r} is a file; give another"
            )
        probe = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=existing))
        try:
            # The target's own name may be impossible (too long, say) where the probe's is fine.
            (probe / target.relative_to(existing)).mkdir(parents=True)
        finally:
            shutil.rmtree(probe)
        return target


def _require_replaceable(out: Path, target: Path) -> None:
    if os.path.ismount(target):
        raise InputError(
            f"out={str(out)!r} is where a disk is mounted and cannot be replaced; give a folder in it"
        )
    if target in (here := Path.cwd().resolve(), *here.parents):
        raise InputError(f"out={str(out)!r} is, or holds, the working folder; give a folder of its own")
    foreign = list(islice(foreign_files(target), 2))
    if foreign:
        named = f"{foreign[0]!r}" + (" and others" if len(foreign) > 1 else "")
        raise InputError(
            f"out={str(out)!r} holds files that no report wrote ({named}); give an empty or a new folder"
        )


@contextlib.contextmanager
def _as_input_error(out: Path) -> Iterator[None]:
    """Say in one line that names `out` what the system says in its own way."""
    try:
        yield
    except InputError:
        raise
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"out={str(out)!r} cannot be written ({why}); give another folder") from error
    except ValueError as error:
        # A zero byte, or characters that the file system's encoding does not have.
        raise InputError(f"out={str(out)!r} is not a path ({error}); give another folder") from error


@contextlib.contextmanager
def _parents_of(target: Path) -> Iterator[None]:
    """Make the missing parents of `target`; remove them again if the work in them fails."""
    missing = [parent for parent in target.parents if not parent.exists()]
    try:
        for parent in reversed(missing):
            parent.mkdir(exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            with contextlib.suppress(OSError):
                parent.rmdir()
        raise


@contextlib.contextmanager
def _scratch_beside(target: Path) -> Iterator[Path]:
    scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=target.parent))
    try:
        yield scratch
    finally:
        # An earlier report that could be neither replaced nor put back is still in here: then it stays.
        if target.exists() or not (scratch / "old").exists():
            shutil.rmtree(scratch, ignore_errors=True)


def _write_files(stage: Path, files: Mapping[str, bytes]) -> None:
    stage.mkdir()
    for path, content in sorted(files.items()):
        file = stage / path
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("xb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    for folder in (stage, *(path for path in stage.rglob("*") if path.is_dir())):
        _flush_folder(folder)


def _replace(target: Path, stage: Path, aside: Path) -> None:
    """Move `stage` to `target`; what is there goes `aside` first, and comes back if that fails."""
    try:
        if target.exists():
            shutil.copymode(target, stage)
            target.rename(aside)
        stage.rename(target)
    except BaseException as error:
        if aside.exists() and not target.exists():
            try:
                aside.rename(target)
            except OSError:
                raise InputError(
                    f"out={str(target)!r} could not be replaced, and the earlier report is now in "
                    f"{str(aside)!r}; move it back"
                ) from error
        raise
    _flush_folder(target.parent)


def _flush_folder(folder: Path) -> None:
    """Make the names in `folder` last, where the system lets a folder be flushed; not all do."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
