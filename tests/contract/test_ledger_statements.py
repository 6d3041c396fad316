"""What every statement of every installed paper owes: the same checks for each."""

from __future__ import annotations

import pickle
import sys

import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Finding, Stance, Verdict
from dpsco_verify.evidence.exit_code import ExitCode, exit_code
from dpsco_verify.ledger.expectations import load_expectations
from dpsco_verify.ledger.explain import explanation
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.statement import Context
from dpsco_verify.ledger.systems.risk_statement import RiskClaim
from dpsco_verify.ledger.units import Units

LEDGER = installed_ledger()
CLAIMS = {claim.key: claim for claim in LEDGER.claims}
STATEMENTS = [statement for entry in LEDGER.papers for statement in entry.statements]
WITNESSES = [(entry, kind) for entry in LEDGER.papers for kind in entry.witness_kinds]


def plan(claim, profile=Profile.QUICK):
    """Return the units that a statement plans for a reading, and what it keeps of them."""
    share = LEDGER.error_budget.share(claim.key) if claim.reading.weight else None
    units = Units(claim.key, seed=0)
    work = claim.statement.plan(claim.reading, Context(profile=profile, seed=0, share=share), units)
    return list(units), work


def test_names_are_unique():
    assert len({statement.id for statement in STATEMENTS}) == len(STATEMENTS)
    assert len(CLAIMS) == len(LEDGER.claims) == sum(len(statement.readings) for statement in STATEMENTS)


@pytest.mark.parametrize("entry", LEDGER.papers, ids=lambda entry: entry.paper.id)
def test_the_expectations_of_a_paper_name_each_of_its_claims_and_no_other(entry):
    assert set(entry.expectations) == {claim.key for claim in entry.claims}
    assert {claim.paper for claim in entry.claims} == {entry.paper.id}


@pytest.mark.parametrize("key", CLAIMS)
@pytest.mark.parametrize("profile", list(Profile))
def test_units_are_named_after_the_claim_and_can_travel(key, profile):
    units, _ = plan(CLAIMS[key], profile)
    names = [unit.name for unit in units]
    assert names
    assert len(set(names)) == len(names)
    assert all(name.startswith(f"{key}/") for name in names)
    for unit in units:
        assert pickle.loads(pickle.dumps(unit)) == unit  # noqa: S301  our own bytes


@pytest.mark.slow
@pytest.mark.parametrize("key", CLAIMS)
def test_the_plan_depends_on_nothing_but_its_arguments(key):
    assert plan(CLAIMS[key]) == plan(CLAIMS[key])


def test_the_search_for_the_worst_utility_is_where_the_conventions_of_the_noise_part():
    """They agree at σ = 1, and the noise is in proportion to L."""
    searched = {
        key: unit.arguments["lipschitz"]
        for key, claim in CLAIMS.items()
        if claim.statement.id == "utility"
        for unit in plan(claim)[0]
        if unit.name.endswith("/search")
    }
    assert len(searched) >= 3
    assert searched == {
        key: 1e-6 if CLAIMS[key].reading.parameters.variance_is_sigma else 1.0 for key in searched
    }
    assert len(set(searched.values())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("key", CLAIMS)
def test_a_card_holds_everything(key):
    claim = CLAIMS[key]
    card = " ".join(explanation(LEDGER, key).split())
    for part in (claim.statement.text, claim.reading.text, claim.reading.statement, claim.reading.method):
        assert " ".join(part.split()) in card
    assert f"paper: {claim.paper}: " in card
    assert f"stance: {claim.reading.stance}: " in card
    assert LEDGER.expectations[key].why in card
    for discrepancy in claim.statement.discrepancies:
        for part in (discrepancy.id, discrepancy.text, discrepancy.repair, *discrepancy.shown_by):
            assert " ".join(part.split()) in card


# A definition in running text, which the source gives no label.
UNLABELLED = {"dual-norm"}


@pytest.mark.parametrize("key", CLAIMS)
def test_every_text_is_written(key):
    claim = CLAIMS[key]
    own = {name: getattr(claim.statement, name) for name in ("title", "reference", "text")}
    own |= {f"reading.{name}": getattr(claim.reading, name) for name in ("text", "statement", "method")}
    assert [name for name, text in own.items() if not text.strip()] == []


OURS = [
    pytest.param(entry.paper.id, statement, id=statement.id)
    for entry in LEDGER.papers
    for statement in entry.statements
    if type(statement).__module__.startswith("dpsco_verify.")
]


@pytest.mark.parametrize(("paper", "statement"), OURS)
def test_the_label_stands_in_the_docstring_of_its_module(paper, statement):
    # The risk bounds of a paper are values of one class, and stand in its list.
    bounds = f"dpsco_verify.papers.{paper}.paper"
    module = bounds if isinstance(statement, RiskClaim) else type(statement).__module__
    assert (not statement.label) == (statement.id in UNLABELLED)
    assert statement.label in sys.modules[module].__doc__


@pytest.mark.parametrize(
    ("entry", "kind"), WITNESSES, ids=[f"{entry.paper.id}-{kind.__name__}" for entry, kind in WITNESSES]
)
def test_a_kind_of_witness_speaks_of_readings_of_its_paper(entry, kind):
    keys = {claim.key for claim in entry.claims}
    assert kind.readings
    assert {f"{kind.claim_id}/{reading}" for reading in kind.readings} <= keys


WITHOUT_NULL = {"rate/measured-n", "rate/measured-d"}
"""What samples judge and cannot refute: no witness certifies an exponent."""


def test_a_reading_that_samples_may_refute_admits_a_null_hypothesis():
    admitted = {claim.key for claim in LEDGER.claims if claim.reading.null is not None}
    assert admitted == {claim.key for claim in LEDGER.claims if claim.reading.weight} - WITHOUT_NULL


def test_selection():
    def keys(select, ignore):
        return [claim.key for claim in LEDGER.select(select, ignore)]

    assert {key.partition("/")[0] for key in keys(["utility"], [])} == {"utility"}
    assert keys(["utility/diameter"], []) == ["utility/diameter"]
    assert set(CLAIMS) - set(keys([], ["utility/diameter"])) == {"utility/diameter"}
    with pytest.raises(InputError, match="id='utillity'"):
        LEDGER.select(["utillity"], [])
    with pytest.raises(InputError, match="id='utility/x'"):
        LEDGER.select([], ["utility/x"])
    with pytest.raises(InputError, match="leaves no claim"):
        LEDGER.select(["utility"], ["utility"])


def finding(verdict, expected):
    return Finding(
        paper="p",
        id="x",
        title="",
        reference="",
        label="",
        reading="r",
        reading_text="",
        stance=Stance.PRINTED,
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
        ("claim = 3", "not a valid file of expectations"),
        ("[[claim]]\nid = 'a'", "not a valid file of expectations"),
        ("[[claim]]\nid='a'\nreading='b'\nexpected='fine'\nwhy=''", "not a valid file of expectations"),
        (
            "[[claim]]\nid='a'\nreading='b'\nexpected='refuted'\nwhy=''\nmore=1",
            "not a valid file of expectations",
        ),
        ("[[claim]\n", "not a valid file of expectations"),
        (2 * "[[claim]]\nid='a'\nreading='b'\nexpected='refuted'\nwhy=''\n", "twice"),
    ],
)
def test_bad_expectations(tmp_path, text, message):
    file = tmp_path / "expectations.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        load_expectations(file)
    assert str(file) in str(caught.value)


def test_expectations_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_expectations(tmp_path / "none.toml")
