"""The report of the session, in the formats of an audit of the ledger."""

from __future__ import annotations

from pathlib import Path

from dpsco_verify.evidence import AuditRecord
from dpsco_verify.gating import FindingNames, record_of
from dpsco_verify.plugin.encoded_finding import decode, without_verdict
from dpsco_verify.plugin.session import SessionAudits
from dpsco_verify.plugin.settings import Settings
from dpsco_verify.reporting import FORMAT_NAMES, write_reports


def write(audits: SessionAudits, settings: Settings, out: Path, *, seconds: float) -> None:
    """Write the report to `out`, whole or not at all.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    record, certificates = session_record(audits, settings, seconds=seconds)
    write_reports(record, out, FORMAT_NAMES, extra_files=certificates)


def session_record(
    audits: SessionAudits, settings: Settings, *, seconds: float
) -> tuple[AuditRecord, dict[str, bytes]]:
    """Return the record of the session, and the certificates by path.

    A test that did not end is a finding too, without a verdict, and all that is left of its share counts as spent:
    nobody knows what it drew.
    """
    findings, levels = [], {}
    certificates: dict[str, bytes] = {}
    for audit in audits.in_order():
        if audit.finding is None:
            continue
        finding = decode(audit.finding)
        findings.append(finding)
        levels[finding.key] = audit.level
        if finding.certificate is not None and audit.certificate is not None:
            certificates[finding.certificate] = audit.certificate.encode()
    names = FindingNames()
    for one in audits.unfinished():
        id_, reading = names.of(str(one.test), "unfinished")
        finding = without_verdict(
            id_=id_,
            reading=reading,
            title=one.test.name,
            test=one.test.name,
            why=f"the test {one.test} did not end: its process crashed or was interrupted",
            command=one.command,
        )
        findings.append(finding)
        levels[finding.key] = one.left
    record = record_of(
        findings,
        levels,
        error_budget=settings.error_budget,
        seed=settings.seed,
        profile=settings.profile,
        seconds=seconds,
    )
    return record, certificates
