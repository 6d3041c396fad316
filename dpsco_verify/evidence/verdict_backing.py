"""The backing that a verdict needs to stand: a certificate, accepted by the independent checker."""

from __future__ import annotations

from typing import Any

import msgspec

from dpsco_verify.evidence import checker
from dpsco_verify.evidence.checker import Certificate, Kinds
from dpsco_verify.evidence.values import Verdict

NEEDS_CERTIFICATE = frozenset({Verdict.REFUTED, Verdict.CERTIFIED})
"""The verdicts that do not stand without one."""


def with_checked_certificate(
    verdict: Verdict, summary: str, certificate: Certificate[Any] | None, kinds: Kinds
) -> tuple[Verdict, str, bytes | None]:
    """Return the verdict, its summary, and its certificate as a file, if they stand; ``inconclusive`` and why if not.

    The certificate is read back from the bytes that are returned, and checked as whoever receives the file would.
    """
    if certificate is None:
        if verdict in NEEDS_CERTIFICATE:
            return Verdict.INCONCLUSIVE, f"no certificate backs this: {summary}", None
        return verdict, summary, None
    data = msgspec.json.format(msgspec.json.encode(certificate), indent=2) + b"\n"
    try:
        checker.check(kinds.decode(data))
    except checker.Rejected as reason:
        return Verdict.INCONCLUSIVE, f"the certificate was rejected ({reason}): {summary}", None
    return verdict, summary, data
