"""The report formats: their interface, those of the package, and those that other packages install.

A format is made from the record alone. One file of the package holds one format; its libraries are imported
when it is asked for. Another package adds a format by an entry point of the group ``dpsco_verify.formats``.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import metadata
from typing import Protocol, runtime_checkable

from dpsco_verify.choices import REPORT_FORMATS
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


FORMAT_NAMES: tuple[str, ...] = tuple(REPORT_FORMATS)
"""The formats that the package has, by name."""

GROUP = "dpsco_verify.formats"
"""The entry points of other formats: a name, and a class or function without arguments that gives the format."""


def installed_formats() -> dict[str, metadata.EntryPoint]:
    """Return the entry points of the formats of other packages, by name.

    Raises
    ------
    InputError
        If two formats, one of this package's among them, have one name.
    """
    found: dict[str, metadata.EntryPoint] = {}
    for point in metadata.entry_points(group=GROUP):
        taken = REPORT_FORMATS.get(point.name) or (found[point.name].value if point.name in found else None)
        if taken is not None:
            raise InputError(
                f"format={point.name!r} of group {GROUP!r} is the name of {taken!r} and of {point.value!r}; "
                "rename or uninstall one"
            )
        found[point.name] = point
    return found


def format_named(name: str) -> ReportFormat:
    """Return the format called `name`, of this package or of another that is installed.

    Raises
    ------
    InputError
        If there is none, or its entry point cannot be loaded or does not give a format of its name.
    """
    if name in REPORT_FORMATS:
        built_in: ReportFormat = metadata.EntryPoint(name, REPORT_FORMATS[name], GROUP).load()()
        return built_in
    installed = installed_formats()
    if name not in installed:
        raise InputError(
            f"format={name!r} is unknown; give one of {', '.join([*FORMAT_NAMES, *sorted(installed)])}"
        )
    return _load(installed[name])


def _load(point: metadata.EntryPoint) -> ReportFormat:
    where = f"entry point {point.name} = {point.value!r} of group {GROUP!r}"
    try:
        found = point.load()()
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"{where} cannot be loaded ({said}); fix or uninstall the package that declares it"
        ) from error
    if not isinstance(found, ReportFormat):
        raise InputError(f"{where} gives a {type(found).__name__}, which is not a ReportFormat")
    if found.name != point.name:
        raise InputError(f"{where} gives a format named {found.name!r}; give both the same name")
    return found


def resolve(formats: Iterable[str | ReportFormat]) -> tuple[ReportFormat, ...]:
    """Return the formats that names and objects stand for, each name once.

    Raises
    ------
    InputError
        If there are none at all, or as :func:`format_named` says.
    """
    resolved: dict[str, ReportFormat] = {}
    for wanted in formats:
        found = format_named(wanted) if isinstance(wanted, str) else wanted
        resolved.setdefault(found.name, found)
    if not resolved:
        raise InputError(f"formats=() selects no report; give one or more of {', '.join(FORMAT_NAMES)}")
    return tuple(resolved.values())
