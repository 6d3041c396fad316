"""The files of a folder that an earlier report wrote: only these may be replaced.

A folder is recognised by the record in its ``results.json``, which also tells the figures and the certificates,
or, where a report was written without it or with other files beside it, by a list of its files in a hidden
file. Whatever else is found there belongs to somebody and is left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from dpsco_verify.reporting.naming import (
    BADGE,
    BADGE_DATA,
    BRIEF,
    JUNIT,
    PAGE,
    REPORT,
    RESULTS,
    SARIF,
    all_figure_paths,
)

MARKER = ".dpsco-verify"
"""A list of the files of a report, one path a line; written only where the record does not tell all of them."""

_SIGNATURES = {
    BRIEF: b',\n  "papers": [',
    PAGE: b"<title>Verification report: ",
    REPORT: b"# Verification report: ",
    JUNIT: b'<testsuites name="dpsco-verify"',
    SARIF: b'"name": "dpsco-verify"',
    BADGE: b"<title>dpsco-verify: ",
    BADGE_DATA: b'"label": "dpsco-verify"',
}
_SIGNATURE_WITHIN = 4096

_LEFT_BY_SYSTEMS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
"""What file managers leave in every folder that they show; nobody misses it."""


class _Plot(msgspec.Struct):
    id: str


class _Claim(msgspec.Struct):
    id: str
    reading: str
    plots: list[_Plot] = []
    certificate: str | None = None


class _Comparison(msgspec.Struct):
    plots: list[_Plot] = []


class _Record(msgspec.Struct):
    """What a record of any version has: enough to know that it is one, and the names of its files."""

    schema_version: int
    profile: str
    error_budget: dict[str, object]
    claims: list[_Claim]
    comparison: _Comparison | None = None

    def files(self) -> set[str]:
        """Return the paths of the record itself, its figures and its certificates."""
        figures, compared = all_figure_paths(
            ((c.id, c.reading, [p.id for p in c.plots]) for c in self.claims),
            [plot.id for plot in self.comparison.plots] if self.comparison else [],
        )
        certificates = {c.certificate for c in self.claims if c.certificate}
        return {RESULTS, *(path for paths in figures for path in paths), *compared, *certificates}


@dataclass(frozen=True)
class _Known:
    """What is known of a folder's files: those told by the record, those listed by the marker."""

    told: Collection[str]
    listed: Collection[str]

    def holds(self, path: str, file: Path) -> bool:
        if path in self.told or path in self.listed or file.name in _LEFT_BY_SYSTEMS:
            return True
        if path not in _SIGNATURES or not file.is_file():
            return False
        with file.open("rb") as stream:
            return _SIGNATURES[path] in stream.read(_SIGNATURE_WITHIN)


def marker_for(files: Collection[str], record: bytes | None) -> dict[str, bytes]:
    """Return the marker as a file, or nothing where `record` (``results.json``) tells which files are ours."""
    told = msgspec.json.decode(record, type=_Record).files() if record is not None else set()
    if record is not None and set(files) <= {*told, *_SIGNATURES}:
        return {}
    return {MARKER: "".join(f"{path}\n" for path in sorted({*files, MARKER})).encode()}


def foreign_files(folder: Path) -> Iterator[str]:
    """Yield the paths of the files and empty folders in `folder` that no report wrote, relative to it."""
    known = _known(folder)
    # Without a report every file is foreign; a large folder need not be walked to the end to say so.
    found: Iterable[Path] = sorted(folder.rglob("*")) if known else folder.iterdir()
    for path in found:
        relative = path.relative_to(folder).as_posix()
        if known and path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                yield f"{relative}/"
        elif not (known or _Known((), ())).holds(relative, path):
            yield relative


def _known(folder: Path) -> _Known | None:
    marker, results = folder / MARKER, folder / RESULTS
    listed = (
        set(marker.read_text(encoding="utf-8", errors="replace").splitlines()) if marker.is_file() else set()
    )
    told: set[str] = set()
    if results.is_file():
        try:
            told = msgspec.json.decode(results.read_bytes(), type=_Record).files()
        except (msgspec.MsgspecError, ValueError, RecursionError):
            # Somebody else's results.json, unless the marker lists it.
            told = set()
    if MARKER not in listed:
        listed = set()
    return _Known(told, listed) if told or listed else None
