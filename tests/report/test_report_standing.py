"""What stands of a statement follows from the verdicts of its readings, the printed ones first."""

from __future__ import annotations

import pytest

from dpsco_verify.evidence import Sharpness, Stance, Verdict
from dpsco_verify.reporting.standing import Standing, chapters, headline

GOOD, WEAK, BAD, OPEN = Verdict.CERTIFIED, Verdict.NOT_REFUTED, Verdict.REFUTED, Verdict.INCONCLUSIVE
PRINTED, REPAIR, EXTENSION = Stance
NEEDS_MORE = Sharpness(constant="5/2", claimed=2.5, holds_with=4.7, needed=4.2, how="")
IN_PART = Sharpness(constant="5/2", claimed=2.5, holds_with=4.7, over="n = 16", needed=4.2, how="")
NOTHING_HELPS = Sharpness(constant="2", claimed=2.0, holds_with=None, needed=9.0, how="")


@pytest.fixture
def standing_of(make_finding, make_record):
    def standing(*readings):
        made = [
            make_finding("a", f"r{k}", verdict, verdict, stance=stance, sharpness=tuple(sharpness))
            for k, (stance, verdict, *sharpness) in enumerate(readings)
        ]
        (chapter,) = chapters(make_record(made))
        (statement,) = chapter.statements
        return statement.standing, statement.how

    return standing


CASES = [
    ([(PRINTED, GOOD)], Standing.AS_PRINTED, "certified"),
    ([(PRINTED, GOOD), (PRINTED, Verdict.HOLDS_ON_GRID)], Standing.AS_PRINTED, "holds on grid"),
    # What samples did not refute is not called true.
    ([(PRINTED, GOOD), (PRINTED, WEAK)], Standing.NOT_REFUTED, "not refuted"),
    # What nobody claims takes nothing away.
    ([(PRINTED, GOOD), (EXTENSION, BAD)], Standing.AS_PRINTED, "certified"),
    ([(PRINTED, GOOD), (PRINTED, BAD)], Standing.UNDER_A_READING, "r0 (certified), not r1 (refuted)"),
    ([(PRINTED, GOOD), (PRINTED, OPEN)], Standing.UNDER_A_READING, "r0 (certified), not r1 (inconclusive)"),
    ([(PRINTED, BAD), (REPAIR, GOOD)], Standing.REPAIRED, "r1: what it means: plain"),
    ([(PRINTED, BAD, NEEDS_MORE), (REPAIR, GOOD)], Standing.REPAIRED, "r1: what it means: plain"),
    ([(PRINTED, BAD, NEEDS_MORE), (REPAIR, BAD)], Standing.OTHER_CONSTANT, "5/2 → 4.7"),
    # What was proven of a part of the range repairs nothing.
    ([(PRINTED, BAD, IN_PART)], Standing.FALSE, "r0 (refuted)"),
    # One constant that can be repaired is not enough where another cannot.
    ([(PRINTED, BAD, NEEDS_MORE, NOTHING_HELPS)], Standing.FALSE, "r0 (refuted)"),
    ([(PRINTED, BAD, NOTHING_HELPS)], Standing.FALSE, "r0 (refuted)"),
    ([(PRINTED, BAD), (EXTENSION, GOOD)], Standing.FALSE, "r0 (refuted)"),
    ([(PRINTED, Verdict.ILL_POSED)], Standing.FALSE, "r0 (ill posed)"),
    ([(PRINTED, OPEN), (PRINTED, BAD)], Standing.OPEN, "r0 (inconclusive) and r1 (refuted)"),
    ([(EXTENSION, GOOD), (EXTENSION, GOOD), (REPAIR, BAD)], Standing.NOT_CLAIMED, "2 of 3 readings hold"),
    ([(EXTENSION, BAD)], Standing.NOT_CLAIMED, "no reading holds"),
]


@pytest.mark.parametrize(("readings", "standing", "how"), CASES)
def test_what_stands(standing_of, readings, standing, how):
    assert standing_of(*readings) == (standing, how)


def test_every_standing_occurs():
    assert {standing for _, standing, _ in CASES} == set(Standing)


def test_each_paper_has_its_chapter_and_its_count(nasty, make_finding, make_record):
    one, two = chapters(nasty)
    assert [chapter.paper.id for chapter in (one, two)] == ["uthor2020", "other1999"]
    assert one.line == "4 statements: 1 not refuted as printed, 1 true under a reading, 1 false and 1 open"
    assert [s.claim.id for s in two.statements] == ["A-B"]
    assert two.line == "1 statement: 1 not claimed by the source"
    own = make_record([make_finding("a", "b", GOOD, GOOD, paper="")])
    (chapter,) = chapters(own)
    assert chapter.paper is None
    assert chapter.title == "Claimed privacy guarantees"


def test_what_can_be_used_as_printed_is_named_by_its_place(make_finding, make_record):
    made = [
        make_finding("a", "r", GOOD, GOOD, stance=PRINTED, reference="Section 2"),
        make_finding("b", "r", BAD, BAD, stance=PRINTED, reference="Bassily and Feldman 2019, Theorem 3.2"),
        make_finding(
            "c", "r", GOOD, GOOD, stance=PRINTED, reference="Lemma 3.2 of Dwork (2010), used in a proof"
        ),
        make_finding("d", "r", GOOD, GOOD, stance=EXTENSION, reference="Section 7"),
    ]
    (chapter,) = chapters(make_record(made))
    assert chapter.usable == (
        (Standing.AS_PRINTED, "Section 2 (a), Lemma 3.2 of Dwork (2010), used in a proof (c)"),
        (Standing.FALSE, "Theorem 3.2 (b)"),
    )
    assert chapter.unconfirmed == ""


def test_the_headline_counts_what_sources_claim_and_names_what_is_false(make_finding, make_record):
    def of(id_, stance, verdict):
        return make_finding(id_, "r", verdict, verdict, stance=stance)

    found = headline(
        make_record(
            [of("a", PRINTED, GOOD), of("b", PRINTED, WEAK), of("c", PRINTED, BAD), of("d", EXTENSION, BAD)]
        )
    )
    assert found.startswith(
        "Of 3 statements that their sources claim, 1 is true as printed, 1 is not refuted as printed and 1 is false. "
        "False: "
    )
    assert (
        headline(make_record([of("d", EXTENSION, BAD)])) == "No statement that a source claims was checked."
    )
