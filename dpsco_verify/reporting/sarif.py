"""``results.sarif``: the findings in the Static Analysis Results Interchange Format, version 2.1.0 (OASIS, 2020).

Code hosts show its results beside the lines that they name: the mechanism of an audit, or the LaTeX source of a
paper where an erratum is. What departs from what is expected is an error, an undecided check a warning; what is as
expected is kept as a result that nobody is alarmed by. ``python -m dpsco_verify.reporting.sarif FILE`` prints what
fails as annotations for a pull request on GitHub.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import msgspec

from dpsco_verify.evidence import AuditRecord, Erratum, Finding, Verdict
from dpsco_verify.reporting import errata, summary
from dpsco_verify.reporting.naming import SARIF
from dpsco_verify.reporting.text import one_line

_KINDS = {Verdict.INCONCLUSIVE: "open", Verdict.REFUTED: "informational", Verdict.ILL_POSED: "informational"}
"""What SARIF calls a verdict that is as expected; any other is a pass."""

_PAPERS = "PAPERS"
"""The base of the addresses of LaTeX sources, which are not part of a checkout: whoever reads the file sets it."""


@dataclass(frozen=True)
class SarifReport:
    """A result for each reading, and one for each erratum."""

    name: str = "sarif"

    def filenames(self, record: AuditRecord) -> tuple[str, ...]:  # noqa: ARG002  one file, whatever the record
        """Return the one file."""
        return (SARIF,)

    def render(
        self,
        record: AuditRecord,
        *,
        beside: frozenset[str],  # noqa: ARG002  the format has no links
    ) -> dict[str, bytes]:
        """Return the log: one run, its rules in the order of the record."""
        rules = [*_rules(record)]
        index = {rule["id"]: number for number, rule in enumerate(rules)}
        results = [*map(_finding, record.claims), *map(_erratum, record.errata)]
        for result in results:
            result["ruleIndex"] = index[result["ruleId"]]
        driver = {
            "name": "dpsco-verify",
            "version": record.versions.get("dpsco-verify", "unknown"),
            "rules": rules,
        }
        run = {
            "tool": {"driver": driver},
            "automationDetails": {"id": f"dpsco-verify/{one_line(record.profile)}"},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }
        log = {
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [run],
        }
        return {SARIF: json.dumps(log, ensure_ascii=False, indent=1).encode() + b"\n"}


def _rules(record: AuditRecord) -> Iterator[dict[str, Any]]:
    for claim in summary.claims(record):
        yield _rule(claim.id, claim.first.title, f"{claim.first.reference}: {claim.first.statement}")
    for erratum in record.errata:
        yield _rule(_erratum_rule(erratum), erratum.title, errata.where(erratum))


def _rule(name: str, title: str, text: str) -> dict[str, Any]:
    return {
        "id": one_line(name),
        "shortDescription": {"text": one_line(title)},
        "fullDescription": {"text": one_line(text)},
    }


def _finding(finding: Finding) -> dict[str, Any]:
    if finding.as_expected:
        # A result that is no failure has no level.
        grade = {"kind": _KINDS.get(finding.verdict, "pass"), "level": "none"}
        said = finding.summary
    else:
        undecided = summary.outcome(finding) is summary.Outcome.UNDECIDED
        grade = {"kind": "fail", "level": "warning" if undecided else "error"}
        said = f"{summary.reason(finding)}: {finding.summary}"
    source = finding.source
    return {
        "ruleId": one_line(finding.id),
        **grade,
        "message": {"text": one_line(f"{finding.reading}: {said}. Repeat it with: {finding.reproduce}")},
        "locations": [] if source is msgspec.UNSET else [_location({"uri": quote(source.file)}, source.line)],
        "partialFingerprints": {"reading/v1": finding.key},
    }


def _erratum(erratum: Erratum) -> dict[str, Any]:
    file = {"uri": quote(f"{erratum.paper}.tex"), "uriBaseId": _PAPERS}
    return {
        "ruleId": one_line(_erratum_rule(erratum)),
        "kind": "informational",
        "level": "none",
        "message": {"text": one_line(f"{erratum.text} Repair: {erratum.repair}")},
        "locations": [_location(file, line) for line in erratum.lines],
        "partialFingerprints": {"erratum/v1": _erratum_rule(erratum)},
    }


def _erratum_rule(erratum: Erratum) -> str:
    return f"erratum/{erratum.paper}/{erratum.id}"


def _location(file: dict[str, str], line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": file, "region": {"startLine": line}}}


def marks_of(log: dict[str, Any]) -> Iterator[str]:
    """Return the failures of a log as GitHub's workflow commands, which mark the lines of a pull request."""
    for result in (result for run in log["runs"] for result in run["results"] if result["kind"] == "fail"):
        word = {"error": "error", "warning": "warning"}.get(result["level"], "notice")
        places = [location["physicalLocation"] for location in result["locations"]] or [None]
        for place in places:
            said = {"title": f"dpsco-verify {result['ruleId']}"}
            if place is not None:
                file = unquote(place["artifactLocation"]["uri"])
                said |= {"file": file, "line": str(place["region"]["startLine"])}
            fields = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in said.items())
            yield f"::{word} {fields}::{_escaped(result['message']['text'], '')}"


def _escaped(text: str, more: str) -> str:
    return "".join(f"%{ord(c):02X}" if c in f"%\r\n{more}" else c for c in text)


if __name__ == "__main__":
    print(*marks_of(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), sep="\n")  # noqa: T201  the command's answer
