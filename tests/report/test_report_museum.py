"""The fault museum in every format, and at the gate."""

import io
import xml.etree.ElementTree as ET

import msgspec
import pytest
from rich.console import Console

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import AuditVerdict, ExhibitRecord, MuseumRecord, Verdict
from dpsco_verify.evidence.exit_code import ExitCode, exit_code
from dpsco_verify.evidence.records_codec import decode, encode
from dpsco_verify.reporting import print_report
from dpsco_verify.reporting.brief import brief
from dpsco_verify.reporting.write import render_all

CAUGHT = ExhibitRecord(
    id="no-noise",
    title="A sum | without <b>noise</b>",
    kind="fault",
    claim="1-DP",
    truth="unbounded",
    true_delta=1.0,
    expected=AuditVerdict.VIOLATED,
    verdict=AuditVerdict.VIOLATED,
    caught_by="value in [1, inf)",
    samples=589,
    seconds=0.25,
)
SILENT = msgspec.structs.replace(
    CAUGHT,
    id="laplace",
    kind="control",
    expected=AuditVerdict.NOT_VIOLATED,
    verdict=AuditVerdict.NOT_VIOLATED,
    caught_by="ε ≥ 1.2 would have been",
    true_delta=None,
)
MISSED = msgspec.structs.replace(CAUGHT, id="missed", verdict=AuditVerdict.NOT_VIOLATED)
ACCUSED = msgspec.structs.replace(SILENT, id="accused", verdict=AuditVerdict.VIOLATED)


def museum(*exhibits):
    return MuseumRecord(error_budget=1e-7, exhibits=exhibits)


@pytest.fixture
def shown(plain):
    return msgspec.structs.replace(plain, museum=museum(CAUGHT, SILENT))


@pytest.fixture
def failed(plain):
    return msgspec.structs.replace(plain, museum=museum(CAUGHT, SILENT, MISSED, ACCUSED), exit_code=1)


def printed(record):
    stream = io.StringIO()
    print_report(record, Console(file=stream, width=80, color_system=None))
    return " ".join(stream.getvalue().split())


def test_a_record_with_a_museum_is_read_back(shown):
    assert decode(encode(shown)) == shown


def test_the_counts_are_those_of_the_rows():
    assert museum(CAUGHT, SILENT).headline == "1 of 1 faults caught, 1 of 1 controls left alone"
    assert (
        museum(CAUGHT, MISSED, SILENT, ACCUSED).headline == "1 of 2 faults caught, 1 of 2 controls left alone"
    )


def test_every_format_shows_every_exhibit(shown, failed):
    for record in (shown, failed):
        files = render_all(record, ("json", "html", "markdown", "junit"))
        for name in ("results.json", "index.html", "report.md", "junit.xml"):
            text = files[name].decode()
            for exhibit in record.museum.exhibits:
                assert exhibit.id in text
        page = files["index.html"].decode()
        assert "<b>noise</b>" not in page
        assert "A sum | without &lt;b&gt;noise&lt;/b&gt;" in page
        assert "value in [1, inf)" in page


def test_without_a_museum_nothing_is_said_of_one(plain):
    files = render_all(plain, ("html", "markdown", "junit"))
    assert not any(b"museum" in content.lower().split(b"</style>")[-1] for content in files.values())
    assert "museum" not in printed(plain).lower()


def test_the_test_report_fails_what_is_not_as_expected(failed):
    document = ET.fromstring(render_all(failed, ("junit",))["junit.xml"])  # noqa: S314  our own text
    suite = next(s for s in document.iter("testsuite") if s.get("name") == "fault-museum")
    outcomes = {case.get("name"): case.find("failure") is not None for case in suite.iter("testcase")}
    assert outcomes == {"no-noise": False, "laplace": False, "missed": True, "accused": True}


def test_the_terminal_names_what_is_not_as_expected(shown, failed):
    assert "Fault museum: 1 of 1 faults caught, 1 of 1 controls left alone." in printed(shown)
    assert "no-noise" not in printed(shown)
    assert "missed: not violated, expected: violated" in printed(failed)
    assert "accused: violated, expected: not violated" in printed(failed)
    assert "Exit code 1" in printed(failed)


@pytest.mark.parametrize("bad", [MISSED, ACCUSED])
def test_the_gate_turns(plain, bad):
    assert exit_code(plain.claims) is ExitCode.AS_EXPECTED
    assert exit_code(plain.claims, museum(CAUGHT, SILENT)) is ExitCode.AS_EXPECTED
    assert exit_code(plain.claims, museum(CAUGHT, bad)) is ExitCode.NOT_AS_EXPECTED


def test_a_delta_that_is_not_finite_is_refused():
    with pytest.raises(InputError, match="true_delta of 'no-noise'"):
        msgspec.structs.replace(CAUGHT, true_delta=float("nan"))


def test_the_plain_fixture_has_every_verdict(plain):
    assert {finding.verdict for finding in plain.claims} == set(Verdict)


def test_the_brief_record_keeps_every_exhibit_without_its_time(failed):
    kept = brief(failed).museum
    assert kept is not None
    assert any(row.seconds for row in failed.museum.exhibits)
    assert kept.exhibits == tuple(msgspec.structs.replace(row, seconds=0.0) for row in failed.museum.exhibits)
