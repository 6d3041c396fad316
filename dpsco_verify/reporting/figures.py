"""``figures/*.svg``: each plot of the record as a file of its own."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.evidence import AuditRecord, Plot
from dpsco_verify.reporting.drawing import standalone
from dpsco_verify.reporting.naming import Names


@dataclass(frozen=True)
class FiguresReport:
    """One SVG file for each plot: ``figures/<claim>-<reading>-<plot>.svg``.

    The comparison's are ``figures/comparison-risk-<plot>.svg``.
    """

    name: str = "figures"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:
        """Return the paths of all figures."""
        return tuple(path for path, _ in _figures(record))

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  a figure holds no links
    ) -> dict[str, bytes]:
        """Return the figures by path."""
        return {path: standalone(plot) for path, plot in _figures(record)}


def _figures(record: AuditRecord) -> list[tuple[str, Plot]]:
    names = Names(record)
    return [
        *(pair for finding in record.claims for pair in names.figures(finding)),
        *names.comparison_figures(),
    ]
