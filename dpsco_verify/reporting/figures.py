"""``figures/*.svg``: each plot of the record as a file of its own."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.evidence import AuditRecord
from dpsco_verify.reporting.drawing import standalone
from dpsco_verify.reporting.naming import Names


@dataclass(frozen=True)
class FiguresReport:
    """One SVG file for each plot: ``figures/<claim>-<reading>-<plot>.svg``."""

    name: str = "figures"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:
        """Return the paths of all figures."""
        names = Names(record)
        return tuple(path for finding in record.claims for path, _ in names.figures(finding))

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  a figure holds no links
    ) -> dict[str, bytes]:
        """Return the figures by path."""
        names = Names(record)
        return {path: standalone(plot) for finding in record.claims for path, plot in names.figures(finding)}
