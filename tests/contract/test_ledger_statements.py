"""What every statement of the ledger owes: the same checks for each."""

from __future__ import annotations

import pickle

import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Finding, Verdict
from dpsco_verify.inference.budget import ErrorBudget
from dpsco_verify.ledger.audit import ERROR_BUDGET
from dpsco_verify.ledger.baseline import load_baseline
from dpsco_verify.ledger.explain import explanation
from dpsco_verify.ledger.gate import ExitCode, exit_code
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.registry import STATEMENTS, all_claims, select_claims
from dpsco_verify.ledger.statement import Context

CLAIMS = {claim.key: claim for claim in all_claims()}


def context(claim, profile=Profile.QUICK):
    budget = ErrorBudget.split(
        ERROR_BUDGET, {c.key: c.reading.weight for c in all_claims() if c.reading.weight}
    )
    return Context(profile=profile, seed=0, share=budget.share(claim.key) if claim.reading.weight else None)


def test_names_are_unique():
    assert len({statement.id for statement in STATEMENTS}) == len(STATEMENTS)
    assert len(CLAIMS) == len(all_claims())


def test_the_baseline_names_every_claim_and_no_other():
    assert set(load_baseline()) == set(CLAIMS)


@pytest.mark.parametrize("key", CLAIMS)
@pytest.mark.parametrize("profile", list(Profile))
def test_units_are_named_after_the_claim_and_can_travel(key, profile):
    claim = CLAIMS[key]
    units = claim.statement.units(claim.reading, context(claim, profile))
    names = [unit.name for unit in units]
    assert names
    assert len(set(names)) == len(names)
    assert all(name.startswith(f"{key}/") for name in names)
    for unit in units:
        assert pickle.loads(pickle.dumps(unit)) == unit  # noqa: S301  our own bytes


@pytest.mark.parametrize("key", CLAIMS)
def test_the_plan_depends_on_nothing_but_its_arguments(key):
    claim = CLAIMS[key]
    first = claim.statement.units(claim.reading, context(claim))
    assert list(first) == list(claim.statement.units(claim.reading, context(claim)))


@pytest.mark.parametrize("key", CLAIMS)
def test_a_card_holds_everything(key):
    claim = CLAIMS[key]
    card = " ".join(explanation(key).split())
    for part in (claim.statement.text, claim.reading.text, claim.reading.statement, claim.reading.method):
        assert " ".join(part.split()) in card
    assert load_baseline()[key].why in card
    for discrepancy in claim.statement.discrepancies:
        for part in (discrepancy.id, discrepancy.text, discrepancy.repair, *discrepancy.shown_by):
            assert " ".join(part.split()) in card


@pytest.mark.parametrize("statement", STATEMENTS, ids=lambda statement: statement.id)
def test_the_label_stands_in_the_docstring_of_its_module(statement):
    import sys

    assert statement.label in sys.modules[type(statement).__module__].__doc__


def test_selection():
    assert {c.statement.id for c in select_claims(["utility"], [])} == {"utility"}
    assert [c.key for c in select_claims(["utility/diameter"], [])] == ["utility/diameter"]
    assert "utility/diameter" not in {c.key for c in select_claims([], ["utility/diameter"])}
    with pytest.raises(InputError, match="id='utillity'"):
        select_claims(["utillity"], [])
    with pytest.raises(InputError, match="id='utility/x'"):
        select_claims([], ["utility/x"])
    with pytest.raises(InputError, match="leaves no claim"):
        select_claims(["utility"], ["utility"])


def finding(verdict, expected):
    return Finding(
        id="x",
        title="",
        reference="",
        label="",
        reading="r",
        reading_text="",
        statement="",
        verdict=verdict,
        expected=expected,
        summary="",
        method="",
        evidence={},
        reproduce="",
        seconds=0.0,
    )


V = Verdict


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([(V.CERTIFIED, V.CERTIFIED), (V.REFUTED, V.REFUTED)], ExitCode.AS_EXPECTED),
        ([(V.INCONCLUSIVE, V.INCONCLUSIVE)], ExitCode.AS_EXPECTED),
        ([(V.REFUTED, V.CERTIFIED)], ExitCode.NOT_AS_EXPECTED),
        ([(V.CERTIFIED, V.REFUTED)], ExitCode.NOT_AS_EXPECTED),
        ([(V.CERTIFIED, None)], ExitCode.NOT_AS_EXPECTED),
        ([(V.INCONCLUSIVE, V.CERTIFIED)], ExitCode.UNDECIDED),
        ([(V.INCONCLUSIVE, V.CERTIFIED), (V.REFUTED, V.CERTIFIED)], ExitCode.NOT_AS_EXPECTED),
    ],
)
def test_the_gate(pairs, code):
    assert exit_code([finding(*pair) for pair in pairs]) is code


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("claim = 3", "no baseline"),
        ("[[claim]]\nid = 'a'", "no baseline"),
        ("[[claim]]\nid='a'\nreading='b'\nexpected='fine'\nwhy=''", "no baseline"),
        ("[[claim]]\nid='a'\nreading='b'\nexpected='refuted'\nwhy=''\nmore=1", "no baseline"),
        ("[[claim]\n", "no baseline"),
        (2 * "[[claim]]\nid='a'\nreading='b'\nexpected='refuted'\nwhy=''\n", "twice"),
    ],
)
def test_bad_baselines(tmp_path, text, message):
    file = tmp_path / "claims.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_baseline(file)
    assert str(file) in str(caught.value)


def test_a_baseline_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_baseline(tmp_path / "none.toml")
