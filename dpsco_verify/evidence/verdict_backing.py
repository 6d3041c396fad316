"""The backing that a verdict needs to stand: a certificate, accepted by the independent checker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec

from dpsco_verify.errors import no_truth_value
from dpsco_verify.evidence import checker
from dpsco_verify.evidence.checker import Certificate, Kinds, Scope, Shows
from dpsco_verify.evidence.values import Verdict

NEEDS = {Verdict.REFUTED: Shows.REFUTES, Verdict.CERTIFIED: Shows.CERTIFIES}
"""The verdicts that do not stand without a certificate, and what it has to show."""


@dataclass(frozen=True, kw_only=True)
class Backed:
    """A verdict that stands, with its summary, its certificate as a file, and how much of it is in there."""

    verdict: Verdict
    summary: str
    data: bytes | None = None
    scope: Scope | None = None

    __bool__ = no_truth_value("backed.verdict is Verdict.CERTIFIED")


def with_checked_certificate(
    verdict: Verdict, summary: str, certificate: Certificate[Any] | None, kinds: Kinds
) -> Backed:
    """Return the verdict with its certificate, if they stand; ``inconclusive`` and why if not.

    The certificate is read back from the bytes that are returned, and checked as whoever receives the file would. It
    has to show what the verdict says.
    """
    if certificate is None:
        if verdict in NEEDS:
            return Backed(verdict=Verdict.INCONCLUSIVE, summary=f"no certificate backs this: {summary}")
        return Backed(verdict=verdict, summary=summary)
    data = msgspec.json.format(msgspec.json.encode(certificate), indent=2) + b"\n"
    try:
        decided = kinds.check(kinds.decode(data))
        wanted = NEEDS.get(verdict, Shows.SUPPORTS)
        checker.require(
            holds=decided.shows is wanted,
            reason=f"it {decided.shows} {decided.claim}/{decided.reading}, and the verdict is {verdict.value}",
        )
    except checker.Rejected as reason:
        return Backed(
            verdict=Verdict.INCONCLUSIVE, summary=f"the certificate was rejected ({reason}): {summary}"
        )
    return Backed(verdict=verdict, summary=summary, data=data, scope=decided.scope)
