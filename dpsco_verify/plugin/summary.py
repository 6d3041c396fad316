"""The section of the terminal's summary."""

from __future__ import annotations

from collections.abc import Iterator

from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.plugin.session import SessionAudits
from dpsco_verify.plugin.settings import Settings

_COLOURS = {
    AuditVerdict.VIOLATED: "red",
    AuditVerdict.UNDECIDED: "yellow",
    AuditVerdict.NOT_VIOLATED: "green",
}


def summary_lines(
    audits: SessionAudits, settings: Settings, crashed: list[str], *, verbose: bool
) -> Iterator[tuple[str, str]]:
    """Yield lines and their colours: all audits where `verbose`, else those that were not passed, then the sums."""
    for audit in audits.in_order():
        if verbose or audit.verdict is not AuditVerdict.NOT_VIOLATED:
            where = f"{audit.test}" + (f", audit {audit.number}" if audit.number > 1 else "")
            yield f"{audit.verdict.words}  {where}: {audit.line}", _COLOURS[audit.verdict]
    unfinished = audits.unfinished()
    for one in unfinished:
        yield f"unfinished  {one.test}: its process crashed or was interrupted", "yellow"
    for nodeid in crashed:
        if nodeid not in {one.test.name for one in unfinished}:
            yield (
                f"unfinished  {nodeid}: its process crashed; audits of it, if any, are not counted",
                "yellow",
            )
    counts = ", ".join(f"{audits.count(verdict)} {verdict.words}" for verdict in _COLOURS)
    number = len(audits.audits)
    yield f"{number} {'audit' if number == 1 else 'audits'}: {counts}", "bold"
    tests = "1 test" if audits.tests == 1 else f"{audits.tests} tests"
    yield (
        f"error budget: {audits.spent():.4g} of {settings.error_budget:g} spent; it was split over {tests}",
        "bold",
    )
