from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import msgspec
import pytest

from dpsco_verify.evidence import Source, Verdict
from dpsco_verify.reporting.badge import BadgeReport, message
from dpsco_verify.reporting.sarif import SarifReport


def run_of(record):
    log = json.loads(SarifReport().render(record, beside=frozenset())["results.sarif"])
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return run


def faults(run):
    """What the standard forbids, and what code hosts refuse, of the parts that are used here."""
    rules = run["tool"]["driver"]["rules"]
    found = [] if len({rule["id"] for rule in rules}) == len(rules) else ["two rules have one id"]
    for result in run["results"]:
        if rules[result["ruleIndex"]]["id"] != result["ruleId"]:
            found.append("a result names another rule by number")
        if (result["kind"] == "fail") == (result["level"] == "none"):
            found.append("a level that does not fit the kind (section 3.27.10)")
        if result["kind"] not in {"pass", "open", "informational", "fail"}:
            found.append("an unknown kind")
        if not result["message"]["text"] or "\n" in result["message"]["text"]:
            found.append("a message of no or many lines")
        if any(one["physicalLocation"]["region"]["startLine"] < 1 for one in result["locations"]):
            found.append("lines count from 1")
    return found


def test_the_log_is_sound_and_its_faults_would_be_seen(nasty, plain):
    for record in (nasty, plain):
        run = run_of(record)
        assert faults(run) == []
        assert len(run["results"]) == len(record.claims) + len(record.errata)
        assert run["tool"]["driver"]["version"]
    run["results"][0] |= {"kind": "fail", "level": "none"}
    run["results"][1]["ruleIndex"] += 1
    assert len(faults(run)) == 2


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("expected", [Verdict.CERTIFIED, Verdict.REFUTED, Verdict.INCONCLUSIVE, None])
def test_only_departures_alarm(make_finding, make_record, verdict, expected):
    result, *_ = run_of(make_record([make_finding("a", "b", verdict, expected)]))["results"]
    if verdict is expected:
        assert result["level"] == "none"
        assert (result["kind"] == "pass") == (verdict is Verdict.CERTIFIED)
    else:
        assert result["level"] == ("warning" if verdict is Verdict.INCONCLUSIVE else "error")
        assert "plain." in result["message"]["text"]
    assert "dpsco-verify audit --select a/b" in result["message"]["text"]


def test_results_stand_at_their_lines(make_finding, make_record, plain):
    finding = make_finding("a", "b", Verdict.REFUTED, Verdict.NOT_REFUTED)
    finding = msgspec.structs.replace(finding, source=Source(file="src/my mechanism.py", line=7))
    result, *_ = run_of(make_record([finding]))["results"]
    (location,) = result["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/my%20mechanism.py"},
        "region": {"startLine": 7},
    }
    errata = [result for result in run_of(plain)["results"] if result["ruleId"].startswith("erratum/")]
    lines = [
        [one["physicalLocation"]["region"]["startLine"] for one in result["locations"]] for result in errata
    ]
    assert lines == [list(erratum.lines) for erratum in plain.errata]
    assert any(lines)


def with_exit_code(record, code):
    return msgspec.structs.replace(record, exit_code=code)


def test_the_badge_says_it_in_a_few_words(make_finding, make_record, nasty):
    good = make_finding("a", "b", Verdict.REFUTED, Verdict.REFUTED)
    bad = make_finding("a", "c", Verdict.REFUTED, Verdict.CERTIFIED)
    open_ = make_finding("a", "d", Verdict.INCONCLUSIVE, Verdict.CERTIFIED)
    assert message(make_record([good])) == "1 reading as expected"
    assert message(make_record([good, bad, open_])) == "1 unexpected, 1 undecided of 3"
    colours = set()
    for record in (*(with_exit_code(make_record([good]), code) for code in (0, 1, 3)), nasty):
        files = BadgeReport().render(record, beside=frozenset())
        data = json.loads(files["badge.json"])
        assert data["schemaVersion"] == 1
        assert data["message"] == message(record)
        picture = ET.fromstring(files["badge.svg"])  # noqa: S314  our own picture
        assert message(record) in "".join(picture.itertext())
        colours.add(data["color"])
    assert len(colours) == 3
