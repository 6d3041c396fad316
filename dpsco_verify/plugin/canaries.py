"""One audit by canaries of a test: its level, what becomes of its verdict, and what the session is told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dpsco_verify.auditing import AuditVerdict, CanaryAudit, audit_canaries
from dpsco_verify.plugin import encoded_finding
from dpsco_verify.plugin.assertion import book, require_known
from dpsco_verify.plugin.shares import AskedAudit


def run_canaries(
    asked: AskedAudit, scores_in: Any, scores_out: Any, options: Mapping[str, Any]
) -> CanaryAudit:
    """Make the audit and return its result, or fail the test; a violation stands when the test is run again."""
    __tracebackhide__ = True
    require_known(options, audit_canaries)
    if asked.number in asked.test.violations:
        raise AssertionError(asked.test.violations[asked.number])
    level = asked.test.charge()
    result = audit_canaries(scores_in, scores_out, alpha=level, seed=asked.seed, **options)
    book(
        asked,
        verdict=result.verdict,
        level=level,
        line=result.summary,
        found=encoded_finding.of_canaries(result, asked) if asked.settings.report else None,
    )
    said = f"{result.summary}\n  repeat   {asked.test.command}"
    if result.verdict is AuditVerdict.VIOLATED:
        asked.test.violations[asked.number] = said
        raise AssertionError(said)
    if result.verdict is AuditVerdict.UNDECIDED:
        pytest.fail(f"{said}\n  raise    the number of canaries, or --dpsco-error-budget")
    return result
