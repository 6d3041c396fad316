"""The finding of an audit, and its certificate, as text that travels between processes to the session's report."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np

from dpsco_verify.auditing import AuditResult, CanaryAudit
from dpsco_verify.evidence import Finding, Stance, Verdict
from dpsco_verify.gating.audit_evidence import METHOD, REFERENCE, STATEMENT, FindingNames, audit_finding
from dpsco_verify.gating.canary_evidence import canary_finding
from dpsco_verify.gating.guarantee_evidence import findings_of
from dpsco_verify.guarantees import GuaranteeResult
from dpsco_verify.guarantees.optimiser import OptimiserReport
from dpsco_verify.plugin.shares import AskedAudit

_NO_VERDICT = "no-verdict"


@dataclass(frozen=True, kw_only=True)
class EncodedFinding:
    """A finding, encoded, and the certificate that backs it, if there is one."""

    finding: str
    certificate: str | None


def of_result(result: AuditResult, asked: AskedAudit) -> EncodedFinding:
    """Return the finding of an audit that ended."""
    id_, reading = _named(asked, str(result.claim))
    finding, certificate = audit_finding(
        result, id_=id_, reading=reading, label=asked.test.name, reproduce=asked.test.command
    )
    return EncodedFinding(
        finding=encode(finding), certificate=None if certificate is None else certificate.decode()
    )


def of_canaries(result: CanaryAudit, asked: AskedAudit) -> EncodedFinding:
    """Return the finding of an audit by canaries."""
    id_, reading = _named(asked, str(result.claim))
    finding, certificate = canary_finding(result, id_=id_, reading=reading, reproduce=asked.test.command)
    return EncodedFinding(
        finding=encode(finding), certificate=None if certificate is None else certificate.decode()
    )


def of_guarantee(
    result: GuaranteeResult | OptimiserReport, kind: str, asked: AskedAudit
) -> list[EncodedFinding]:
    """Return the finding of a guarantee, or those of an optimiser's claims."""
    id_, reading = _named(asked, kind)
    found = findings_of(result, id_=id_, reading=reading, reproduce=asked.test.command)
    return [
        EncodedFinding(
            finding=encode(finding), certificate=None if certificate is None else certificate.decode()
        )
        for finding, _, certificate in found
    ]


def of_failure(mechanism: str, why: str, asked: AskedAudit) -> EncodedFinding:
    """Return the finding of an audit that ended without a verdict."""
    id_, reading = _named(asked, _NO_VERDICT)
    return EncodedFinding(
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
        paper="",
        stance=Stance.PRINTED,
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


def _named(asked: AskedAudit, reading: str) -> tuple[str, str]:
    """Return id and reading: the same in every process, as all collected tests are named first, in their order."""
    everyone = asked.test.everyone
    if everyone.in_report is None:
        everyone.in_report = FindingNames()
        for name in everyone.names:
            everyone.in_report.of(name, "test")
    names: FindingNames = everyone.in_report
    return names.of(asked.test.name, f"{reading} {asked.test.worker}".rstrip())


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a value of type {type(value).__name__} has no place in a report")
