"""The report of a session of the pytest plugin, and what its parts carry there.

Every audit here has a fixed seed, a mechanism exactly at its claim or one far beyond it, so nothing is left to chance.
"""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from dpsco_verify.cli import main
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.plugin.session import Origin, ReceivedAudit, SessionAudits, UnfinishedTest, attach
from dpsco_verify.plugin.shares import AuditedTest, Everyone
from plugin_sessions import GOOD_AND_BAD, results, run_as_a_user, write

pytest_plugins = ["pytester"]


@pytest.mark.slow
def test_the_report_holds_all_audits_and_the_budget(suite, pytester):
    session = suite(GOOD_AND_BAD, process="same")("--dpsco-error-budget=8e-6", "--dpsco-report=out/privacy")
    out = pytester.path / "out" / "privacy"
    assert "report: out/privacy/index.html" in session.out
    record = results(out)
    assert record["exit_code"] == 1
    assert record["profile"] == "quick"
    assert record["error_budget"]["total"] == 8e-6
    assert record["error_budget"]["spent"] == pytest.approx(5e-6, rel=1e-12)
    assert sorted(record["error_budget"]["by_claim"].values()) == pytest.approx(
        [5e-7, 5e-7, *[1e-6] * 4], rel=1e-12
    )
    verdicts = [claim["verdict"] for claim in record["claims"]]
    assert verdicts == ["not_violated", "violated", *["not_violated"] * 4]
    bad = record["claims"][1]
    assert bad["reproduce"] == (
        "pytest test_it.py::test_bad --dpsco-seed=0 --dpsco-profile=quick --dpsco-error-budget=2e-06"
    )
    replayed = CliRunner().invoke(main, ["replay", str(out / bad["certificate"])])
    assert replayed.exit_code == 0, replayed.output


@pytest.mark.long
def test_a_crashed_worker_leaves_a_report_that_says_so(tmp_path):
    write(
        tmp_path,
        GOOD_AND_BAD
        + """
def test_crash(assert_private):
    import os
    os._exit(0)
""",
    )
    session = run_as_a_user(tmp_path, "-n", "1", "--dpsco-report=out", "-k", "good or crash")
    assert session.code == 1
    assert re.search(r"unfinished +test_it.py::test_crash", session.out)
    record = results(tmp_path / "out")
    assert [claim["verdict"] for claim in record["claims"]] == ["not_violated", "undecided"]
    assert record["exit_code"] == 3
    # what the crashed test spent is unknown, but no more than its share
    assert record["error_budget"]["spent"] == pytest.approx(1e-6 / 5 * 1.5, rel=1e-12)


@pytest.mark.slow
def test_a_session_that_is_interrupted_leaves_a_whole_report_of_what_ended(suite, pytester):
    session = suite(
        GOOD_AND_BAD
        + """
def test_interrupt(assert_private):
    raise KeyboardInterrupt
"""
    )("--dpsco-report=out", "-k", "good or interrupt")
    assert session.code == 2
    record = results(pytester.path / "out")
    assert [claim["verdict"] for claim in record["claims"]] == ["not_violated", "undecided"]
    assert (pytester.path / "out" / "index.html").exists()


@pytest.mark.slow
def test_a_report_that_cannot_be_written_stops_the_session_before_it_starts(suite, pytester):
    run = suite(GOOD_AND_BAD)
    (pytester.path / "thesis.tex").write_text("ten years")
    for out in ("test_it.py", ".", "test_it.py/below"):
        session = run(f"--dpsco-report={out}")
        assert session.code == pytest.ExitCode.USAGE_ERROR
        assert session.out == ""
        assert len(session.err.strip().splitlines()) == 1
        assert session.err.startswith("ERROR: --dpsco-report: out=")
    assert (pytester.path / "thesis.tex").read_text() == "ten years"


@pytest.mark.slow
def test_a_report_that_cannot_be_written_in_the_end_is_an_error(suite, pytester):
    session = suite(
        GOOD_AND_BAD
        + """
def test_spoil(assert_private):
    import pathlib
    pathlib.Path("out").write_text("mine")
"""
    )("--dpsco-report=out", "-k", "good or spoil")
    assert session.code == pytest.ExitCode.USAGE_ERROR
    assert re.search(r"the report was not written: out='.*/out' is a file", session.out)
    assert (pytester.path / "out").read_text() == "mine"


@pytest.mark.slow
def test_no_audit_no_report(suite, pytester):
    session = suite("def test_nothing(): pass\n")("--dpsco-report=out")
    assert session.code == 0
    assert "no audits, so no report" in session.out
    assert not (pytester.path / "out").exists()


def test_what_a_report_carries_arrives():
    test = AuditedTest(
        name="t.py::a", position=1, everyone=Everyone(("t.py::b", "t.py::a")), share=1e-7, command="again"
    )
    test.finished.append(
        json.dumps(
            {
                "number": 1,
                "verdict": "violated",
                "level": 5e-8,
                "line": "x",
                "finding": None,
                "certificate": None,
            }
        )
    )
    audits = SessionAudits()
    report = pytest.TestReport("t.py::a", ("t.py", 0, "a"), {}, "passed", None, "call")
    attach(report, test)
    assert test.finished == []
    sent = pytest.TestReport._from_json(json.loads(json.dumps(report._to_json())))
    audits.receive(sent)
    origin = Origin(1, "t.py::a")
    assert audits.audits == [
        ReceivedAudit(
            test=origin,
            number=1,
            verdict=AuditVerdict.VIOLATED,
            level=5e-8,
            line="x",
            finding=None,
            certificate=None,
        )
    ]
    # it did not end yet: all of its share counts as spent
    assert audits.unfinished() == [UnfinishedTest(test=origin, command="again", left=5e-8)]
    assert audits.spent() == 1e-7
    report.when = "teardown"
    attach(report, test)
    audits.receive(report)
    assert audits.unfinished() == []
    assert audits.spent() == 5e-8
    assert len(audits.audits) == 1
