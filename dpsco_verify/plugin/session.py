"""The audits of a session: plain data that the reports of the tests carry, from whichever process.

A worker process attaches to each report of a test what was audited since the last one; so the audits of all tests that
ended are known where the session's report is written, also when a worker crashed later.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest

from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.plugin import CARRIED
from dpsco_verify.plugin.shares import AuditedTest


@dataclass(frozen=True, order=True)
class Origin:
    """A test in the order of collection; `worker` tells copies apart where every worker runs every test."""

    position: int
    name: str
    worker: str = ""

    def __str__(self) -> str:
        return f"{self.name} on {self.worker}" if self.worker else self.name


@dataclass(frozen=True, kw_only=True)
class ReceivedAudit:
    """One audit, as it was received.

    Attributes
    ----------
    test, number
        The test, and the number of the audit in its run.
    verdict
        ``undecided`` also where the audit did not end.
    level
        What was charged to the test's share.
    line
        What was found, in one sentence.
    finding, certificate
        Parts of the session's report, encoded; None where no report was asked for, or no
        certificate backs the verdict.
    """

    test: Origin
    number: int
    verdict: AuditVerdict
    level: float
    line: str
    finding: str | None
    certificate: str | None


@dataclass(frozen=True, kw_only=True)
class UnfinishedTest:
    """A test that began and did not end: its process crashed, or the session was interrupted.

    `left` is what of its share was not charged for audits that are known: what it spent of that, nobody knows.
    """

    test: Origin
    command: str
    left: float


@dataclass
class SessionAudits:
    """All that was received so far.

    Attributes
    ----------
    tests
        How many tests the budget was split over.
    audits
        In the order of arrival; see :meth:`in_order`.
    """

    tests: int = 0
    audits: list[ReceivedAudit] = field(default_factory=list)
    _open: dict[Origin, dict[str, Any]] = field(default_factory=dict)

    def receive(self, report: pytest.TestReport) -> None:
        """Take what `report` carries; it must carry something."""
        carried: dict[str, Any] = getattr(report, CARRIED)
        test = Origin(carried["position"], carried["name"], carried["worker"])
        self.tests = carried["tests"]
        self._open[test] = carried
        if report.when == "teardown":
            self._open.pop(test)
        for text in carried["audits"]:
            audit = json.loads(text)
            self.audits.append(
                ReceivedAudit(test=test, **audit | {"verdict": AuditVerdict(audit["verdict"])})
            )

    def in_order(self) -> list[ReceivedAudit]:
        """Return the audits in an order that does not depend on the processes: by test, then as they were made."""
        return sorted(self.audits, key=lambda audit: audit.test)

    def unfinished(self) -> list[UnfinishedTest]:
        """Return the tests that began and did not end, in the order of collection."""
        return [
            UnfinishedTest(
                test=test,
                command=self._open[test]["command"],
                left=self._open[test]["share"] - self._charged(test),
            )
            for test in sorted(self._open)
        ]

    def spent(self) -> float:
        """Return the sum, at most, of the levels of all audits that were made."""
        return math.fsum(
            [*(audit.level for audit in self.audits), *(test.left for test in self.unfinished())]
        )

    def count(self, verdict: AuditVerdict) -> int:
        """Return how many audits had this verdict."""
        return Counter(audit.verdict for audit in self.audits)[verdict]

    def _charged(self, test: Origin) -> float:
        return math.fsum(audit.level for audit in self.audits if audit.test == test)


def attach(report: pytest.TestReport, test: AuditedTest) -> None:
    """Let `report` carry the audits of `test` that no report has carried yet; text and numbers only."""
    carried = {
        "name": test.name,
        "position": test.position,
        "worker": test.worker,
        "tests": len(test.everyone.names),
        "share": test.share,
        "command": test.command,
        "audits": list(test.finished),
    }
    setattr(report, CARRIED, carried)
    test.finished.clear()
