"""The errata: what is listed, how grave it is, and that nothing that fails is left out."""

from __future__ import annotations

import msgspec
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import (
    WHOLE_RANGE,
    WORST_CASE,
    Consequence,
    ContradictionError,
    Finding,
    ProofStep,
    Sharpness,
    Stance,
    Verdict,
)
from dpsco_verify.ledger.errata import FAILING, HOLDING, Discrepancy, errata
from dpsco_verify.ledger.installed import installed_ledger


def finding(key, verdict, *, steps=(), sharpness=()):
    id_, _, reading = key.partition("/")
    return Finding(
        paper="first",
        id=id_,
        title=f"title of {id_}",
        reference="Theorem 1",
        label="thm:one",
        reading=reading,
        reading_text="",
        stance=Stance.PRINTED,
        statement="",
        verdict=verdict,
        expected=verdict,
        summary=f"summary of {key}",
        method="",
        evidence={},
        proof_steps=tuple(ProofStep(id=name, statement=f"step {name}", verdict=v) for name, v in steps),
        sharpness=tuple(sharpness),
        reproduce="",
        seconds=0.0,
    )


CONSTANT = Sharpness(constant="5/2", claimed=2.5, holds_with=1.7, needed=1.2, how="")


def discrepancy(**changes):
    plain = {
        "id": "slip",
        "title": "a slip",
        "lines": (1,),
        "consequence": Consequence.NOTHING,
        "text": "wrong",
        "repair": "right",
        "shown_by": ("a/literal", "b#step"),
        "rests_on": ("a/corrected",),
        "constants": (("a/corrected", "5/2"), ("a/corrected", "another"), ("c/absent", "5/2")),
    }
    return Discrepancy(**(plain | changes))


LITERAL = finding("a/literal", Verdict.REFUTED)
CORRECTED = finding("a/corrected", Verdict.CERTIFIED, sharpness=(CONSTANT,))


def test_a_refuted_reading_lists_its_discrepancy_with_the_repaired_constant():
    (found,) = errata([LITERAL, CORRECTED], [("first", "Theorem 1", discrepancy())])
    assert (found.paper, found.id) == ("first", "slip")
    assert found.shown_by == ("a/literal",)
    assert found.consequence is Consequence.NOTHING
    assert found.rests_on == ("a/corrected",)
    assert [(c.reading, c.sharpness) for c in found.constants] == [("a/corrected", CONSTANT)]


@pytest.mark.parametrize("verdict", sorted(HOLDING | {Verdict.INCONCLUSIVE}))
def test_what_does_not_fail_lists_nothing(verdict):
    assert errata([finding("a/literal", verdict)], [("first", "Theorem 1", discrepancy())]) == ()


@pytest.mark.parametrize("verdict", sorted(FAILING))
@pytest.mark.parametrize("reading", ["one", "two"])
def test_a_step_is_named_in_any_reading_of_its_statement(verdict, reading):
    (found,) = errata(
        [finding(f"b/{reading}", Verdict.CERTIFIED, steps=[("step", verdict), ("other", Verdict.CERTIFIED)])],
        [("first", "Theorem 1", discrepancy())],
    )
    assert found.shown_by == (f"b/{reading}#step",)
    assert found.not_verified == ("a/corrected",)


@pytest.mark.parametrize("verdict", sorted(FAILING | {Verdict.INCONCLUSIVE}))
def test_a_mild_consequence_does_not_outlive_what_it_rests_on(verdict):
    found = errata([LITERAL, finding("a/corrected", verdict)], [("first", "Theorem 1", discrepancy())])
    assert next(e for e in found if e.id == "slip").consequence is Consequence.GUARANTEE


def test_the_gravest_come_first_and_what_nobody_described_is_grave():
    found = errata(
        [LITERAL, CORRECTED, finding("z/new", Verdict.REFUTED, steps=[("s", Verdict.ILL_POSED)])],
        [("first", "Theorem 1", discrepancy())],
    )
    assert [e.consequence for e in found] == [
        Consequence.GUARANTEE,
        Consequence.GUARANTEE,
        Consequence.NOTHING,
    ]
    assert [e.shown_by for e in found] == [("z/new",), ("z/new#s",), ("a/literal",)]
    assert found[0].text == "summary of z/new"
    assert {e.paper for e in found} == {"first"}


def test_a_step_of_another_statement_is_another_step():
    other = finding("c/one", Verdict.CERTIFIED, steps=[("step", Verdict.REFUTED)])
    assert [e.id for e in errata([other], [("first", "Theorem 1", discrepancy())])] == ["c-one-step"]


def test_every_name_in_the_ledger_exists():
    ledger = installed_ledger()
    described = [d for _, _, d in ledger.discrepancies]
    assert len({d.id for d in described}) == len(described) > 10
    for paper, _, d in ledger.discrepancies:
        # A paper's discrepancies speak of the paper's own readings.
        keys = {claim.key for claim in ledger.paper(paper).claims}
        ids = {statement.id for statement in ledger.paper(paper).statements}
        for name in d.shown_by:
            reading, _, step = name.partition("#")
            assert reading in (keys | ids if step else keys), name
        assert set(d.rests_on) <= keys
        assert {key for key, _ in d.constants} <= keys
        assert d.lines == tuple(sorted(d.lines))
        assert d.consequence is Consequence.GUARANTEE or d.rests_on or d.constants


@pytest.mark.parametrize(
    ("holds_with", "needed", "larger"), [(1.0, 2.0, False), (2.0, 1.0, True), (1.0, 1.0 + 1e-15, False)]
)
def test_a_constant_does_not_both_hold_and_fail(holds_with, needed, larger):
    with pytest.raises(ContradictionError, match="wrong"):
        Sharpness(
            constant="c", claimed=1.0, holds_with=holds_with, needed=needed, larger_is_stronger=larger, how=""
        )
    swapped = Sharpness(
        constant="c", claimed=1.0, holds_with=needed, needed=holds_with, larger_is_stronger=larger, how=""
    )
    assert msgspec.structs.replace(swapped, needed=None).needed is None


def test_a_value_that_holds_says_where():
    whole = Sharpness(constant="c", claimed=1.0, holds_with=1.0, needed=None, how="")
    assert whole.over == WHOLE_RANGE
    assert msgspec.structs.replace(whole, over="n = 16").over == "n = 16"
    for silent in ("", None):
        with pytest.raises(InputError, match="does not say where 1.0 was proven"):
            msgspec.structs.replace(whole, over=silent)
    # What does not hold holds nowhere.
    assert msgspec.structs.replace(whole, holds_with=None).over is None


def test_what_is_needed_says_where():
    whole = Sharpness(constant="2", claimed=2.0, holds_with=None, needed=1.5, how="")
    assert whole.at == WORST_CASE
    assert msgspec.structs.replace(whole, at="n = 16").at == "n = 16"
    for silent in ("", None):
        with pytest.raises(InputError, match=r"does not say where 1\.5 is needed; name the place"):
            msgspec.structs.replace(whole, at=silent)
    assert msgspec.structs.replace(whole, needed=None, at="n = 16").at is None
