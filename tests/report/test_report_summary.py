from __future__ import annotations

import pytest

from dpsco_verify.evidence import VERDICT_MEANING, Verdict
from dpsco_verify.reporting import summary
from dpsco_verify.reporting.summary import Outcome
from dpsco_verify.reporting.vocabulary import PAPER


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("expected", [*Verdict, None])
def test_outcomes(make_finding, verdict, expected):
    found = make_finding("a", "b", verdict, expected)
    wanted = Outcome.UNDECIDED if verdict is Verdict.INCONCLUSIVE else Outcome.UNEXPECTED
    assert summary.outcome(found) is (Outcome.AS_EXPECTED if verdict is expected else wanted)
    assert (summary.expectation(found) == "as expected") == (verdict is expected)
    if expected is not None and expected is not verdict:
        assert PAPER.words[expected] in summary.expectation(found)
        assert PAPER.words[expected] in summary.reason(found)


def test_every_verdict_has_words_a_shape_and_a_meaning():
    assert set(PAPER.words) == set(summary.VERDICT_SYMBOLS) == set(VERDICT_MEANING) == set(Verdict)
    assert len(set(summary.VERDICT_SYMBOLS.values())) == len(Verdict)


def test_the_headline_counts(make_record, make_finding, plain):
    two = [make_finding("a", r, Verdict.REFUTED, Verdict.REFUTED) for r in ("x", "y")]
    one = [make_finding("b", "z", Verdict.HOLDS_ON_GRID, None)]
    assert summary.headline(make_record(two + one)) == (
        "Of 3 readings of 2 claims, 1 holds on its grid and 2 are refuted."
    )
    assert summary.headline(make_record(one)) == "Of 1 reading of 1 claim, 1 holds on its grid."
    assert summary.headline(make_record([])) == "No reading was checked."
    assert summary.headline(plain).startswith("Of 6 readings of 1 claim, 1 is certified, ")


@pytest.mark.parametrize("code", [0, 1, 2, 3, 77])
def test_the_gate_says_what_the_code_means(make_record, code):
    sentence = summary.gate(make_record([], exit_code=code))
    assert sentence.startswith(f"Exit code {code}: ")
    assert PAPER.exit_meaning.get(code, "unknown") in sentence


def test_the_unexpected_come_before_the_undecided_and_the_refuted_before_the_ill_posed(nasty, plain):
    assert [f.key for f in summary.departures(nasty)] == ["a-b/c", "a.b/c", "a/b-c"]
    assert summary.departures(plain) == ()
    assert [f.verdict for f in summary.failing(nasty)] == [Verdict.REFUTED, Verdict.ILL_POSED]


def test_findings_are_grouped_in_the_order_of_the_record(make_finding, make_record):
    claims = summary.claims(
        make_record([make_finding(i, r, Verdict.CERTIFIED, None) for i, r in ("ax", "bx", "ay", "ay")])
    )
    assert [(c.id, [f.reading for f in c.findings]) for c in claims] == [("a", ["x", "y", "y"]), ("b", ["x"])]


def test_a_statement_is_shared_only_if_all_readings_have_it(make_finding, make_record):
    same = [make_finding("a", r, Verdict.CERTIFIED, None) for r in "xy"]
    other = make_finding("a", "z", Verdict.CERTIFIED, None, statement="another")
    assert summary.claims(make_record(same))[0].shared_statement == same[0].statement
    assert summary.claims(make_record([*same, other]))[0].shared_statement is None
