"""What the session's report is to hold about an audit, as text that travels between processes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from dpsco_verify.auditing import AuditResult
from dpsco_verify.evidence import Finding, Verdict
from dpsco_verify.gating.finding import METHOD, REFERENCE, STATEMENT, Names, audit_finding

if TYPE_CHECKING:
    from dpsco_verify.plugin.assertion import Audit

_NO_VERDICT = "no-verdict"


@dataclass(frozen=True, kw_only=True)
class Made:
    """A finding, encoded, and the certificate that backs it, if there is one."""

    finding: str
    certificate: str | None


def of_result(result: AuditResult, asked: Audit) -> Made:
    """Return the finding of an audit that ended."""
    id_, reading = _named(asked, str(result.claim))
    finding, certificate = audit_finding(
        result, id_=id_, reading=reading, label=asked.test.name, reproduce=asked.test.command
    )
    return Made(finding=encode(finding), certificate=None if certificate is None else certificate.decode())


def of_failure(mechanism: str, why: str, asked: Audit) -> Made:
    """Return the finding of an audit that ended without a verdict."""
    id_, reading = _named(asked, _NO_VERDICT)
    return Made(
        finding=encode(
            without_verdict(
                id_=id_,
                reading=reading,
                title=mechanism,
                test=asked.test.name,
                why=f"the audit of {mechanism} ended without a verdict: {why}",
                command=asked.test.command,
            )
        ),
        certificate=None,
    )


def without_verdict(*, id_: str, reading: str, title: str, test: str, why: str, command: str) -> Finding:
    """Return the finding of what ended without a verdict."""
    return Finding(
        id=id_,
        title=title,
        reference=REFERENCE,
        label="",
        reading=reading,
        reading_text=f"what {test} asserts",
        statement=STATEMENT.format(claim="what the test says"),
        verdict=Verdict.INCONCLUSIVE,
        expected=Verdict.NOT_REFUTED,
        summary=why,
        method=METHOD,
        evidence={},
        reproduce=command,
        seconds=0.0,
    )


def encode(finding: Finding) -> str:
    """Return `finding` as JSON."""
    return msgspec.json.encode(finding, enc_hook=_plain).decode()


def decode(text: str) -> Finding:
    """Return the finding that `text` encodes."""
    return msgspec.json.decode(text, type=Finding)


def _named(asked: Audit, reading: str) -> tuple[str, str]:
    """Return id and reading: the same in every process, as all collected tests are named first, in their order."""
    everyone = asked.test.everyone
    if everyone.in_report is None:
        everyone.in_report = Names()
        for name in everyone.names:
            everyone.in_report.of(name, "test")
    names: Names = everyone.in_report
    return names.of(asked.test.name, f"{reading} {asked.test.worker}".rstrip())


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a value of type {type(value).__name__} has no place in a report")
