"""Names inside a report: anchors, files of figures, links that cannot leave the report."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from urllib.parse import quote

from dpsco_verify.evidence import AuditRecord, Finding, Plot
from dpsco_verify.reporting.summary import claims
from dpsco_verify.reporting.text import slug

RESULTS = "results.json"
BRIEF = "brief.json"
PAGE = "index.html"
REPORT = "report.md"
JUNIT = "junit.xml"
SARIF = "results.sarif"
BADGE, BADGE_DATA = "badge.svg", "badge.json"


class UniqueNames:
    """Hands out each name once; who comes second to a name gets it with a number."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def name(self, wanted: str) -> str:
        """Return `wanted`, or with the first number from 2 on that makes it a new name."""
        name, number = wanted, 1
        # Compared in lower case: some file systems cannot hold two names that differ in case alone.
        while name.lower() in self._used:
            number += 1
            name = f"{wanted}-{number}"
        self._used.add(name.lower())
        return name


def figure_paths(readings: Iterable[tuple[str, str, Sequence[str]]]) -> list[tuple[str, ...]]:
    """Return the paths of the figures of each reading, given as (claim, reading, ids of its plots).

    Two claims may want the same name (``a`` with reading ``b-c`` and ``a-b`` with reading ``c``), so names are
    given over the whole record at once.
    """
    taken = UniqueNames()
    return [
        tuple(f"figures/{taken.name('-'.join(map(slug, (claim, reading, plot))))}.svg" for plot in plots)
        for claim, reading, plots in readings
    ]


def all_figure_paths(
    readings: Iterable[tuple[str, str, Sequence[str]]], compared: Sequence[str]
) -> tuple[list[tuple[str, ...]], tuple[str, ...]]:
    """Return the paths of the figures of each reading, and of the comparison's, given by the ids of its plots."""
    *own, theirs = figure_paths([*readings, ("comparison", "risk", compared)])
    return own, theirs


class Names:
    """The names of everything in one record; they depend on the record alone."""

    def __init__(self, record: AuditRecord) -> None:
        anchors = UniqueNames()
        self._claims = {claim.id: anchors.name(f"claim-{slug(claim.id)}") for claim in claims(record)}
        self._readings = [anchors.name(f"reading-{slug(f.id)}-{slug(f.reading)}") for f in record.claims]
        compared = record.comparison.plots if record.comparison is not None else ()
        own, theirs = all_figure_paths(
            ((f.id, f.reading, [plot.id for plot in f.plots]) for f in record.claims),
            [plot.id for plot in compared],
        )
        self._figures = own
        self._comparison = tuple(zip(theirs, compared, strict=True))
        self._positions = {id(finding): i for i, finding in enumerate(record.claims)}

    def claim(self, claim_id: str) -> str | None:
        """Return the anchor of a claim's section, or None if there is no such claim."""
        return self._claims.get(claim_id)

    def reading(self, finding: Finding) -> str:
        """Return the anchor of a reading's section; `finding` is an object of the record itself."""
        return self._readings[self._positions[id(finding)]]

    def figures(self, finding: Finding) -> tuple[tuple[str, Plot], ...]:
        """Return the plots of a reading, each with the path of its file."""
        return tuple(zip(self._figures[self._positions[id(finding)]], finding.plots, strict=True))

    def comparison_figures(self) -> tuple[tuple[str, Plot], ...]:
        """Return the plots of the comparison, each with the path of its file."""
        return self._comparison


def is_inside(path: str) -> bool:
    """Whether `path` is a relative path with forward slashes that stays below the folder it starts from."""
    return (
        not set(path.split("/")) & {"", ".", ".."} and path.isprintable() and not set(path) & set('\\:<>"|?*')
    )


def link(path: str | None, beside: Collection[str]) -> str | None:
    """Return the address of the file at `path` relative to the report, or None if no such file is written."""
    return quote(path) if path is not None and path in beside and is_inside(path) else None
