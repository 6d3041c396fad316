"""One guarantee of a test: its level and seed, what becomes of its verdict, and what the session is told of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import pytest

from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.errors import InputError
from dpsco_verify.gating.guarantees import GUARANTEES
from dpsco_verify.guarantees import GuaranteeResult
from dpsco_verify.guarantees.optimiser import OptimiserReport
from dpsco_verify.plugin import encoded_finding
from dpsco_verify.plugin.assertion import book, book_failure, require_known
from dpsco_verify.plugin.judging import judged
from dpsco_verify.plugin.shares import AskedAudit

G = TypeVar("G", bound=GuaranteeResult | OptimiserReport)


def run_guarantee(
    asked: AskedAudit,
    guarantee: Callable[..., G],
    arguments: Sequence[Any],
    options: Mapping[str, Any],
) -> G:
    """Check the guarantee and return its result, or fail the test; a violation stands when the test is run again."""
    __tracebackhide__ = True
    if all(guarantee is not known for known in GUARANTEES.values()):
        raise InputError(
            f"guarantee={guarantee!r} is none of dpsco_verify.guarantees; give one of {', '.join(GUARANTEES)}"
        )
    kind = guarantee.__name__
    require_known(options, guarantee, said=kind)
    if asked.number in asked.test.violations:
        raise AssertionError(asked.test.violations[asked.number])
    spends = "alpha" in inspect.signature(guarantee).parameters
    level = asked.test.charge() if spends else 0.0
    name = options.get("name") or kind
    check = partial(guarantee, *arguments, **options, seed=asked.seed, **({"alpha": level} if spends else {}))
    try:
        result = judged(check, name=name, own_process=asked.settings.own_process, shared=())
    except BaseException as error:
        book_failure(asked, name, level, error)
        raise
    _book(asked, kind, result)
    found = str(result) if isinstance(result, OptimiserReport) else result.summary
    said = f"{found}\n  repeat   {asked.test.command}"
    if result.verdict is AuditVerdict.VIOLATED:
        asked.test.violations[asked.number] = said
        raise AssertionError(said)
    if result.verdict is AuditVerdict.UNDECIDED:
        pytest.fail(f"{said}\n  raise    samples=, or --dpsco-error-budget")
    return result


def _book(asked: AskedAudit, kind: str, result: GuaranteeResult | OptimiserReport) -> None:
    """Book the guarantee; an optimiser's claims are so many, each with its own level."""
    if isinstance(result, GuaranteeResult):
        parts = [(result.verdict, result.alpha, result.summary)]
    else:
        parts = [(one.verdict, one.alpha, one.summary) for one in result.results]
        parts += [
            (AuditVerdict.UNDECIDED, 0.0, f"{result.name}: {claim} was not checked, as {reason}")
            for claim, reason in result.skipped
        ]
    findings: Sequence[encoded_finding.EncodedFinding | None] = [None] * len(parts)
    if asked.settings.report:
        findings = encoded_finding.of_guarantee(result, kind, asked)
    for (verdict, level, line), finding in zip(parts, findings, strict=True):
        book(asked, verdict=verdict, level=level, line=line, found=finding)
