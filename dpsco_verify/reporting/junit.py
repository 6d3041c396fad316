"""``junit.xml``: one test case for each reading of each claim, for continuous integration.

A case passes when the verdict is as expected, whatever the verdict: a statement that is known to be false and
is refuted again is not a failure of the run. It fails when the verdict is another, and is an error when the check
could not decide.
"""

from __future__ import annotations

import io
from dataclasses import dataclass

from junitparser import Error, Failure, JUnitXml, TestCase, TestSuite

from dpsco_verify.evidence import AuditRecord, ExhibitRecord, Finding
from dpsco_verify.reporting import museum, summary
from dpsco_verify.reporting.naming import JUNIT
from dpsco_verify.reporting.numbers import format_quantity
from dpsco_verify.reporting.text import one_line, printable, words
from dpsco_verify.reporting.vocabulary import Vocabulary, vocabulary


@dataclass(frozen=True)
class JunitReport:
    """The test report: a suite for each claim, a case for each of its readings."""

    name: str = "junit"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  one file, whatever the record
        """Return the one file."""
        return (JUNIT,)

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  the format has no links
    ) -> dict[str, bytes]:
        """Return the test report."""
        document = JUnitXml("dpsco-verify")
        for claim in summary.claims(record):
            suite = TestSuite(one_line(claim.id))
            for name, value in (
                ("title", claim.first.title),
                ("reference", claim.first.reference),
                ("label", claim.first.label),
                ("profile", record.profile),
                ("seed", str(record.seed)),
            ):
                suite.add_property(name, one_line(value))
            suite.add_testcases([_case(finding, vocabulary(record)) for finding in claim.findings])
            # Straight into the tree: the library's own way merges suites that it takes for equal.
            document.append(suite)  # type: ignore[no-untyped-call]  # the library is typed in part
        if record.museum is not None:
            suite = TestSuite("fault-museum")
            suite.add_testcases([_exhibit(exhibit) for exhibit in record.museum.exhibits])
            document.append(suite)  # type: ignore[no-untyped-call]  # as above
        document.update_statistics()  # type: ignore[no-untyped-call]  # as above
        buffer = io.BytesIO()
        document.write(buffer, pretty=True)
        return {JUNIT: buffer.getvalue()}


def _case(finding: Finding, say: Vocabulary) -> TestCase:
    case = TestCase(
        name=one_line(finding.reading), classname=one_line(finding.id), time=round(finding.seconds, 3)
    )
    outcome = summary.outcome(finding)
    if outcome is not summary.Outcome.AS_EXPECTED:
        kind = Error if outcome is summary.Outcome.UNDECIDED else Failure
        result = kind(one_line(f"{summary.reason(finding)}: {finding.summary}"), str(outcome))
        result.text = _details(finding, say)
        case.result = [result]
    case.system_out = _details(finding, say)
    return case


def _exhibit(exhibit: ExhibitRecord) -> TestCase:
    case = TestCase(name=one_line(exhibit.id), classname="fault-museum", time=round(exhibit.seconds, 3))
    if not exhibit.as_expected:
        case.result = [Failure(one_line(museum.verdict(exhibit)), "unexpected")]
    case.system_out = printable(f"{exhibit.title}; {museum.verdict(exhibit)}; {exhibit.caught_by}")
    return case


def _details(finding: Finding, say: Vocabulary) -> str:
    lines = [
        f"{say.words[finding.verdict]} ({summary.expectation(finding)}): {finding.summary}",
        f"statement: {finding.statement}",
        f"{say.reading}: {finding.reading_text}",
        *(f"{words(name)}: {format_quantity(value)}" for name, value in sorted(finding.evidence.items())),
        *([f"counterexample: {finding.counterexample}"] if finding.counterexample else []),
        *([f"certificate: {finding.certificate}"] if finding.certificate else []),
        f"reproduce: {finding.reproduce}",
    ]
    return "\n".join(printable(line) for line in lines)
