"""The whole ledger at the quick profile: what a run owes beyond its single readings."""

from __future__ import annotations

import pytest

from dpsco_verify.evidence import Consequence, Verdict, checker
from dpsco_verify.ledger.audit import ERROR_BUDGET, run_audit
from dpsco_verify.ledger.baseline import load_baseline
from dpsco_verify.ledger.errata import FAILING, HOLDING
from dpsco_verify.ledger.profile import Profile
from dpsco_verify.ledger.registry import all_claims, all_discrepancies

WITHOUT_CONSTANTS = {"dual-norm", "output"}
"""Statements without a constant: an identity, and a definition."""

MEASURED = {"rate/measured-n", "rate/measured-d"}
"""What is an exponent with an interval, and has no constant."""

REPAIRED_IN_WORDS = {"azuma-step/literal"}
"""What is mended by another expression, and by no constant."""


def every_verdict_is_as_expected(whole):
    assert [f.key for f in whole.record.claims if not f.as_expected] == []
    assert whole.record.exit_code == 0


def the_error_budget_holds_and_says_where_it_went(whole):
    budget = whole.record.error_budget
    assert budget.total == ERROR_BUDGET == 1e-6
    assert budget.spent <= budget.total
    assert sum(budget.by_claim.values()) == pytest.approx(budget.spent, rel=1e-12)
    assert set(budget.by_claim) == {c.key for c in all_claims() if c.reading.weight > 0}


def what_is_refuted_or_certified_has_a_certificate_that_replays(whole):
    for f in whole.record.claims:
        if f.verdict in {Verdict.REFUTED, Verdict.CERTIFIED}:
            checker.check(checker.decode(whole.certificates[f.certificate]))


def every_discrepancy_is_shown_and_nothing_that_fails_lacks_words(whole):
    assert {e.id for e in whole.record.errata} == {d.id for _, d in all_discrepancies()}
    shown = {key for e in whole.record.errata for key in e.shown_by}
    failing = {f.key for f in whole.record.claims if f.verdict in FAILING}
    failing |= {f"{f.key}#{s.id}" for f in whole.record.claims for s in f.proof_steps if s.verdict in FAILING}
    assert shown == failing


def errata_are_ordered_and_have_the_consequence_and_the_constants_of_their_words(whole):
    order = [list(Consequence).index(e.consequence) for e in whole.record.errata]
    assert order == sorted(order)
    words = {d.id: d for _, d in all_discrepancies()}
    for e in whole.record.errata:
        assert e.consequence is words[e.id].consequence
        assert len(e.constants) == len(words[e.id].constants)
        assert e.not_verified == ()


def every_constant_is_examined(whole):
    for f in whole.record.claims:
        if f.id in WITHOUT_CONSTANTS or f.key in REPAIRED_IN_WORDS | MEASURED:
            assert f.sharpness == ()
            continue
        assert f.sharpness, f.key
        if f.verdict in HOLDING:
            assert all(s.holds_with is not None for s in f.sharpness), f.key


def a_statement_that_holds_does_so_with_what_it_claims(whole):
    for f in whole.record.claims:
        for s in f.sharpness:
            if s.claimed is None or s.constant.startswith("4 in 4τ"):
                continue  # the drift term is a step of the proof, and refuted there
            enough = s.holds_with is not None and (
                s.holds_with >= s.claimed if s.larger_is_stronger else s.holds_with <= s.claimed
            )
            if f.verdict in HOLDING:
                assert enough, (f.key, s)
            elif f.verdict is Verdict.REFUTED and s.constant != "5":
                assert not enough, (f.key, s)


@pytest.mark.slow
def test_the_whole_ledger():
    """One test, so that the run is made once, whichever worker gets it."""
    whole = run_audit(all_claims(), profile=Profile.QUICK, seed=0, jobs=2, baseline=load_baseline())
    every_verdict_is_as_expected(whole)
    the_error_budget_holds_and_says_where_it_went(whole)
    what_is_refuted_or_certified_has_a_certificate_that_replays(whole)
    every_discrepancy_is_shown_and_nothing_that_fails_lacks_words(whole)
    errata_are_ordered_and_have_the_consequence_and_the_constants_of_their_words(whole)
    every_constant_is_examined(whole)
    a_statement_that_holds_does_so_with_what_it_claims(whole)
