"""What a report format is, and which ones there are.

A format is made from the record alone. One file of the package holds one format; its libraries are imported
when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditRecord


@runtime_checkable
class ReportFormat(Protocol):
    """One format of the report: whoever writes a class like this has a format of their own."""

    @property
    def name(self) -> str:
        """The word that selects the format."""
        ...

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:
        """Return the paths, relative to the report, of the files that :meth:`render` gives for `record`."""
        ...

    def render(self, record: AuditRecord, *, beside: frozenset[str]) -> dict[str, bytes]:
        """Return the files by their path relative to the report.

        `beside` names all files of the report, those of other formats and the certificates included; links
        lead to these only. The same record and the same `beside` give the same bytes.
        """
        ...


_BUILT_IN = {
    "json": ("json_report", "JsonReport"),
    "html": ("html", "HtmlReport"),
    "markdown": ("markdown", "MarkdownReport"),
    "junit": ("junit", "JunitReport"),
    "figures": ("figures", "FiguresReport"),
}

FORMAT_NAMES: tuple[str, ...] = tuple(_BUILT_IN)
"""The formats that the package has, by name."""


def format_named(name: str) -> ReportFormat:
    """Return the format of the package called `name`.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        module, class_name = _BUILT_IN[name]
    except KeyError:
        raise InputError(f"format={name!r} is unknown; give one of {', '.join(FORMAT_NAMES)}") from None
    found = getattr(importlib.import_module(f"dpsco_verify.reporting.{module}"), class_name)()
    if not isinstance(found, ReportFormat):
        raise TypeError(f"{class_name} is no ReportFormat")
    return found


def resolve(formats: Iterable[str | ReportFormat]) -> tuple[ReportFormat, ...]:
    """Return the formats that names and objects stand for, each name once.

    Raises
    ------
    InputError
        If a name is unknown, or if there is none at all.
    """
    resolved: dict[str, ReportFormat] = {}
    for wanted in formats:
        found = format_named(wanted) if isinstance(wanted, str) else wanted
        resolved.setdefault(found.name, found)
    if not resolved:
        raise InputError(f"formats=() selects no report; give one or more of {', '.join(FORMAT_NAMES)}")
    return tuple(resolved.values())
