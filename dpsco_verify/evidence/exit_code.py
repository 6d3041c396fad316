"""The gate: verdicts against expectations, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from dpsco_verify.evidence import ComparisonRecord, Finding, MuseumRecord, Verdict


class ExitCode(IntEnum):
    """The exit codes of ``dpsco-verify``; those below 64 are verdicts, or the caller's to fix."""

    AS_EXPECTED = 0
    NOT_AS_EXPECTED = 1
    BAD_INPUT = 2
    UNDECIDED = 3
    BROKE_OFF = 70
    """No verdict: a fault of the program, or the process that judged was ended (EX_SOFTWARE of sysexits.h)."""


def exit_code(
    findings: Iterable[Finding],
    museum: MuseumRecord | None = None,
    comparison: ComparisonRecord | None = None,
) -> ExitCode:
    """Return the exit code of a run.

    A verdict that differs from its expectation is 1, unless all that differ are ``inconclusive``: then a check that
    had to decide could not, which is 3. A reading without an expectation counts as differing. A fault of the museum
    that was not caught, or a control that was accused, is 1: the checks are then not to be relied on. So is a system of
    the comparison whose audit found a violation.
    """
    if comparison is not None and comparison.violated:
        return ExitCode.NOT_AS_EXPECTED
    if museum is not None and not museum.as_expected:
        return ExitCode.NOT_AS_EXPECTED
    differing = [finding for finding in findings if not finding.as_expected]
    if not differing:
        return ExitCode.AS_EXPECTED
    if all(finding.verdict is Verdict.INCONCLUSIVE for finding in differing):
        return ExitCode.UNDECIDED
    return ExitCode.NOT_AS_EXPECTED
