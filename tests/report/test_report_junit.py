from __future__ import annotations

import pytest
from junitparser import JUnitXml

from dpsco_verify.evidence import Verdict
from dpsco_verify.reporting.junit import JunitReport


def parse(record):
    return JUnitXml.fromstring(JunitReport().render(record, beside=frozenset())["junit.xml"])


def test_every_reading_is_a_case(nasty, plain):
    for record in (nasty, plain):
        cases = [(case.classname, case.name) for suite in parse(record) for case in suite]
        assert sorted(cases) == sorted((f.id, f.reading) for f in record.claims)
        assert {suite.name for suite in parse(record)} == {f.id for f in record.claims}


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("expected", [*Verdict, None])
def test_outcomes(make_finding, make_record, verdict, expected):
    document = parse(make_record([make_finding("a", "b", verdict, expected)]))
    ((case,),) = [list(suite) for suite in document]
    if verdict is expected:
        assert case.is_passed
        assert (document.tests, document.failures, document.errors) == (1, 0, 0)
    elif verdict is Verdict.INCONCLUSIVE:
        assert case.is_error
        assert (document.tests, document.failures, document.errors) == (1, 0, 1)
    else:
        assert case.is_failure
        assert (document.tests, document.failures, document.errors) == (1, 1, 0)
    if verdict is not expected:
        (result,) = case.result
        assert result.type == ("undecided" if verdict is Verdict.INCONCLUSIVE else "unexpected")
        assert "In one sentence: plain." in result.message
        assert "dpsco-verify audit --select a/b plain" in result.text


def test_the_message_says_why(nasty):
    messages = {
        f"{case.classname}/{case.name}": case.result[0].message
        for suite in parse(nasty)
        for case in suite
        if case.result
    }
    assert set(messages) == {"a-b/c", "a/b-c", "a.b/c"}
    assert messages["a-b/c"].startswith("expected certified, found not refuted: ")
    assert messages["a/b-c"].startswith("expected certified, but the check could not decide")
    assert messages["a.b/c"].startswith("no verdict is expected of this reading")


def test_times_and_properties(plain):
    document = parse(plain)
    (suite,) = document
    assert document.time == pytest.approx(1.5 * len(plain.claims))
    assert {p.name: p.value for p in suite.properties()}["seed"] == "7"
    assert all("worst n: 64" in case.system_out for case in suite)


def test_claims_that_look_alike_stay_apart(make_finding, make_record):
    twins = [make_finding("a", "b", Verdict.CERTIFIED, Verdict.CERTIFIED)] * 2
    assert parse(make_record(twins)).tests == 2
