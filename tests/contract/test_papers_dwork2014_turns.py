"""Dwork and Roth 2014: every reading as expected, and each statement's verdict turns when it is broken."""

from fractions import Fraction

import msgspec
import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import issue
from dpsco_verify.ledger.ledger import Ledger
from dpsco_verify.ledger.run import run_audit
from dpsco_verify.ledger.statement import Context
from dpsco_verify.ledger.units import Outcomes, Units
from dpsco_verify.papers.dwork2014.paper import PAPER

pytestmark = pytest.mark.slow

CLAIMS = {claim.key: claim for claim in PAPER.claims}


class Value:
    def __init__(self, value):
        self.value = value


def decide(statement, reading):
    context = Context(profile=Profile.QUICK, seed=0, share=None)
    units = Units(f"{statement.id}/{reading.id}", seed=0)
    work = statement.plan(reading, context, units)
    done = {unit.name: Value(unit.function(**unit.arguments)) for unit in units}
    return statement.conclude(reading, context, work, Outcomes(done))


def test_the_whole_paper_as_expected_and_without_any_test_that_can_err():
    record = run_audit(Ledger(papers=(PAPER,)), profile=Profile.QUICK, seed=0).record
    assert [(f.key, f.verdict) for f in record.claims if f.verdict is not f.expected] == []
    assert record.exit_code == 0
    assert record.error_budget.spent == 0.0
    assert all(claim.reading.weight == 0.0 for claim in PAPER.claims)
    # Each discrepancy is shown, and no failing reading or step goes without one.
    described = {d.id for s in PAPER.statements for d in s.discrepancies}
    assert {erratum.id for erratum in record.errata} == described


STRONGER = [
    ("randomised-response/printed", {"epsilon": 1.0}, Verdict.REFUTED),
    ("randomised-response/printed", {"lie": Fraction(2, 5)}, Verdict.REFUTED),
    ("laplace-mechanism/printed", {"scale": Fraction(99, 100)}, Verdict.REFUTED),
    ("laplace-accuracy/printed", {"factor": Fraction(99, 100)}, Verdict.REFUTED),
    ("report-noisy-max/printed", {"scale": Fraction(99, 100)}, Verdict.REFUTED),
    ("exponential-mechanism/printed", {"factor": Fraction(1)}, Verdict.REFUTED),
    ("exponential-utility/printed", {"factor": Fraction(19, 10)}, Verdict.REFUTED),
    ("one-sided-noisy-arg-max/later-printing", {"rate": Fraction(1)}, Verdict.REFUTED),
    ("basic-composition/printed", {"factor": Fraction(9, 10)}, Verdict.REFUTED),
    ("advanced-composition/bounded-delta-prime", {"spread": Fraction(19, 10)}, Verdict.REFUTED),
    ("advanced-composition/bounded-delta-prime", {"drift": Fraction(2, 5)}, Verdict.REFUTED),
    (
        "advanced-composition-corollary/bounded-delta-prime",
        {"delta_max": Fraction(999, 1000)},
        Verdict.REFUTED,
    ),
    (
        "advanced-composition-corollary/bounded-delta-prime",
        {"delta_max": Fraction(9, 10)},
        Verdict.INCONCLUSIVE,
    ),
    ("composition-example/sufficient", {"parts": 700}, Verdict.REFUTED),
    ("composition-example/tight", {"relaxed": 715}, Verdict.INCONCLUSIVE),
    ("gaussian-mechanism/printed", {"factor": Fraction(201, 200)}, Verdict.REFUTED),
    ("gaussian-mechanism/wider-range", {"factor": Fraction(6, 5)}, Verdict.INCONCLUSIVE),
    ("above-threshold/printed", {"unit": Fraction(9, 10)}, Verdict.REFUTED),
    ("above-threshold/monotone", {"unit": Fraction(9, 10)}, Verdict.REFUTED),
    ("above-threshold-accuracy/printed", {"factor": Fraction(39, 10)}, Verdict.REFUTED),
    ("sparse-vector/pure", {"unit": Fraction(9, 10)}, Verdict.REFUTED),
    ("sparse-vector/bounded", {"delta_max": Fraction(9, 10)}, Verdict.INCONCLUSIVE),
]


@pytest.mark.parametrize(("key", "broken", "verdict"), STRONGER)
def test_a_stronger_constant_turns_the_verdict(monkeypatch, key, broken, verdict):
    claim = CLAIMS[key]
    for name, value in broken.items():
        monkeypatch.setattr(type(claim.statement), name, value)
    decision = decide(claim.statement, claim.reading)
    assert decision.verdict is verdict
    assert decision.witness is None


WEAKER = [
    ("report-noisy-max/general", {"gap": 3}, True),
    ("report-noisy-max/general", {"gap": 1}, False),
    ("advanced-composition-corollary/printed", {"delta": "99/100"}, False),
    ("gaussian-mechanism/every-epsilon", {"epsilon": "17/2"}, True),
    ("gaussian-mechanism/every-epsilon", {"epsilon": "42/5"}, False),
    ("above-threshold/half-query-noise", {"queries": 2}, False),
    ("sparse-vector/approximate", {"epsilon": "1500"}, False),
    ("sparse-vector/numeric", {"epsilon": "1/100"}, False),
    ("sparse-vector/numeric-with-epsilon", {"epsilon_max": "10"}, False),
]


@pytest.mark.parametrize(("key", "changes", "stands"), WEAKER)
def test_a_verdict_stands_only_as_long_as_its_counterexample_does(monkeypatch, key, changes, stands):
    claim = CLAIMS[key]
    witness = msgspec.structs.replace(claim.statement.witness(claim.reading), **changes)
    monkeypatch.setattr(type(claim.statement), "witness", lambda *_: witness)
    decision = decide(claim.statement, claim.reading)
    assert (decision.verdict is PAPER.expectations[key].expected) == stands
    if stands:
        assert issue(*key.split("/"), decision.witness)
    else:
        assert decision.verdict is Verdict.INCONCLUSIVE
