"""One audit of a test: its level and seed, what becomes of its verdict, and what the session is told of it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from dpsco_verify.auditing import AuditResult, AuditVerdict, MechanismError, audit
from dpsco_verify.auditing.mechanism import mechanism_name
from dpsco_verify.errors import InputError
from dpsco_verify.plugin import encoded_finding, message
from dpsco_verify.plugin.judging import judged, members
from dpsco_verify.plugin.shares import AskedAudit

OF_THE_SESSION = {
    "alpha": "the session's error budget is split over its tests; set --dpsco-error-budget",
    "seed": "the seeds come from the session's; set --dpsco-seed",
}


def run_audit(
    asked: AskedAudit,
    mechanism: Any,
    arguments: Mapping[str, Any],
    options: Mapping[str, Any],
) -> AuditResult:
    """Make the audit and return its result, or fail the test.

    A violation stands: a test that is run again in the same session fails with what its first run found, so that reruns
    of flaky tests cannot take a violation back.
    """
    __tracebackhide__ = True
    require_known(options)
    if asked.number in asked.test.violations:
        raise AssertionError(asked.test.violations[asked.number])
    level = asked.test.charge()
    name = arguments["name"] or mechanism_name(mechanism)
    try:
        result = judged(
            partial(audit, mechanism, alpha=level, seed=asked.seed, **arguments, **options),
            name=name,
            own_process=asked.settings.own_process,
            shared=[mechanism, *arguments.values(), *options.values(), *members(arguments["pairs"])],
        )
    except InputError as error:
        # Bad arguments are refused before anything is drawn; a mechanism that misbehaves leaves an audit undecided.
        if isinstance(error, MechanismError):
            book_failure(asked, name, level, error)
        raise error.with_traceback(None)  # noqa: B904  the test's own line is the place to look at
    except BaseException as error:
        book_failure(asked, name, level, error)
        raise
    book(
        asked,
        verdict=result.verdict,
        level=level,
        line=result.summary,
        found=encoded_finding.of_result(result, asked) if asked.settings.report else None,
    )
    if result.verdict is AuditVerdict.VIOLATED:
        asked.test.violations[asked.number] = message.violated(result, asked)
        raise AssertionError(asked.test.violations[asked.number])
    if result.verdict is AuditVerdict.UNDECIDED:
        pytest.fail(message.undecided(result, asked))
    return result


def require_known(
    options: Mapping[str, Any], of: Callable[..., Any] = audit, *, said: str = "assert_private"
) -> None:
    """Refuse options that the session chooses, or that an audit does not take."""
    __tracebackhide__ = True
    known = sorted({*inspect.signature(of).parameters} - {*OF_THE_SESSION})
    for name, value in options.items():
        if name in OF_THE_SESSION:
            raise InputError(f"{name}={value!r} is not for a test to choose: {OF_THE_SESSION[name]}")
        if name not in known:
            raise InputError(
                f"{name}={value!r} is not an argument of {said}; give some of {', '.join(known)}"
            )


def book_failure(asked: AskedAudit, name: str, level: float, error: BaseException) -> None:
    """Keep that an audit ended without a verdict."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    book(
        asked,
        verdict=AuditVerdict.UNDECIDED,
        level=level,
        line=f"{name}: the audit did not end ({said})",
        found=encoded_finding.of_failure(name, said, asked) if asked.settings.report else None,
    )


def book(
    asked: AskedAudit,
    *,
    verdict: AuditVerdict,
    level: float,
    line: str,
    found: encoded_finding.EncodedFinding | None,
) -> None:
    """Keep what an audit found until a report of the test carries it to the session."""
    payload = {
        "number": asked.number,
        "verdict": verdict.value,
        "level": level,
        "line": line,
        "finding": found.finding if found else None,
        "certificate": found.certificate if found else None,
    }
    asked.test.finished.append(json.dumps(payload))
