"""Certificates over several runs: what they prove, and that nothing in them can be changed unnoticed."""

from __future__ import annotations

import math
from fractions import Fraction

import msgspec
import numpy as np
import pytest

from dpsco_verify.evidence import Sharpness, Verdict, checker
from dpsco_verify.evidence.checker import (
    AccumulatedEventEvidence,
    AccumulatedMeanEvidence,
    Draw,
    EventNull,
    Kinds,
    MeanNull,
    approximate,
    ball,
    issue,
)
from dpsco_verify.inference import CellCounts, PrivacyEventTest, bounded_mean
from dpsco_verify.ledger.accumulation import _witness, decided_together, records
from dpsco_verify.ledger.e_values import event_e_value, mean_e_value
from dpsco_verify.ledger.statement import Decision
from dpsco_verify.store import EValue, RunEvidence, accumulate

pytestmark = pytest.mark.slow  # the everyday part has two minutes

ALPHA = 1e-7
EPSILON, DELTA = 0.5, 0.01


def mean_value(seed, *, mean=0.62, bound=0.5, low=0.0):
    draws = np.random.default_rng(seed).beta(2.0, 2.0 * (1.0 - mean) / mean, size=80)
    decision = bounded_mean.decide(draws, bound=bound, low=low, high=1.0, alpha=ALPHA)
    return mean_e_value(draws, log_wealth=decision.log_wealth, bound=bound, low=low, high=1.0, alpha=ALPHA)


def event_value(seed, *, epsilon=EPSILON):
    rng = np.random.default_rng(seed)
    counts = CellCounts.from_indicators(rng.random(2200) < 0.25, rng.random(2200) < 0.1)
    test = PrivacyEventTest(epsilon=epsilon, delta=DELTA, alpha=ALPHA)
    return event_e_value(
        counts, decision=test.update_counts(counts), epsilon=epsilon, delta=DELTA, alpha=ALPHA
    )


def runs_of(*values):
    return tuple(
        RunEvidence(
            run=k + 1,
            profile="quick",
            seed=10 * k,
            log_e_value=one.log_e_value,
            observations=one.observations,
        )
        for k, one in enumerate(values)
    )


def certificate(*values, alpha=ALPHA):
    witness = _witness("the null {}", alpha=alpha, runs=runs_of(*values))
    return issue("utility", "diameter", witness, Draw(profile="quick", seed="20", papers=("a",)))


MEANS = tuple(mean_value(seed) for seed in range(3))
EVENTS = tuple(event_value(seed) for seed in range(3))


@pytest.mark.parametrize(
    ("values", "kind"), [(MEANS, AccumulatedMeanEvidence), (EVENTS, AccumulatedEventEvidence)]
)
def test_the_product_is_computed_anew(values, kind):
    found = certificate(*values)
    assert isinstance(found.witness, kind)
    total = math.fsum(one.log_e_value for one in values)
    assert math.log(float(Fraction(found.left))) == pytest.approx(total, abs=1e-6)
    assert "the runs of seeds 0, 10, 20" in found.inequality
    assert "alpha = 1e-07 (the null {})" in found.inequality


def test_the_wealth_of_a_run_is_that_of_exact_arithmetic():
    """Rationals throughout, from the certificate's own numbers."""
    witness = certificate(*MEANS).witness
    product = Fraction(1)
    for run in witness.runs:
        wealth = Fraction(0)
        for bet in map(Fraction, run.bets):
            factors = (
                (1 + bet * (Fraction(x) - Fraction(witness.bound))) ** count
                for x, count in zip(run.values[:20], run.counts[:20], strict=True)
            )
            wealth += math.prod(factors)
        product *= wealth / len(run.bets)
    first = msgspec.structs.replace(
        witness,
        alpha="999/1000",
        runs=tuple(
            msgspec.structs.replace(run, values=run.values[:20], counts=run.counts[:20])
            for run in witness.runs
        ),
    )
    left, _, _ = first.sides("diameter")
    assert float(left) == pytest.approx(float(product), rel=1e-12)


@pytest.mark.parametrize("values", [MEANS, EVENTS], ids=["means", "events"])
def test_no_single_run_would_do_and_together_they_do(values):
    for one in values:
        with pytest.raises(checker.Rejected, match="the inequality is false"):
            certificate(one)
    with pytest.raises(checker.Rejected, match="the inequality is false"):
        certificate(*values, alpha=1e-60)


def swapped(text, old, new):
    assert text.count(old) >= 1
    return text.replace(old, new, 1)


def tampered(change, values=MEANS):
    found = certificate(*values)
    with pytest.raises(checker.Rejected) as caught:
        check(msgspec.structs.replace(found, witness=change(found.witness)))
    return str(caught.value)


def check(found):
    """Check a certificate under a reading that admits it."""
    mean = isinstance(found.witness, AccumulatedMeanEvidence)
    null = (
        MeanNull(name="the null", parameters={}, bound=lambda _: ball(Fraction(1, 2)))
        if mean
        else EventNull(
            name="the null", parameters={}, implies=approximate(Fraction(EPSILON), Fraction(DELTA))
        )
    )

    class Claims:
        def nulls(self):
            return {"utility/diameter": null}

        def share(self, key, papers):
            return 2 * Fraction(ALPHA)

    kinds = Kinds((), Claims())
    return kinds.check(kinds.decode(msgspec.json.encode(found)))


def with_run(change):
    """Change the last run of a witness."""

    def changed(witness):
        *rest, last = witness.runs
        return msgspec.structs.replace(witness, runs=(*rest, change(last)))

    return changed


def replaced(**fields):
    return lambda record: msgspec.structs.replace(record, **fields)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda w: msgspec.structs.replace(w, runs=w.runs[:2]), "inequality should read"),
        (lambda w: msgspec.structs.replace(w, runs=(*w.runs, w.runs[0])), "not those of different runs"),
        (lambda w: msgspec.structs.replace(w, runs=()), "there are no runs"),
        (replaced(null_hypothesis="another"), "which this reading admits"),
        (replaced(bound="1/3"), "which the claim allows"),
        (replaced(bound="100001/200000"), "inequality should read"),
        (replaced(alpha="1/9999999"), "inequality should read"),
        (replaced(alpha="1/1000"), "share of the error budget"),
        (replaced(alpha="2"), "share of the error budget"),
        (with_run(replaced(seed="7")), "inequality should read"),
        (with_run(replaced(low="1/3")), "observations can be lower"),
        (with_run(replaced(bets=())), "there are no bets"),
        (with_run(replaced(bets=("2",))), "is not admissible"),
        (with_run(replaced(bets=("0",))), "is not admissible"),
        (with_run(lambda r: msgspec.structs.replace(r, counts=r.counts[:-1])), "values and"),
        (with_run(lambda r: msgspec.structs.replace(r, values=r.values[:-1])), "values and"),
        (with_run(lambda r: msgspec.structs.replace(r, counts=(*r.counts[:-1], 2))), "left="),
        (
            with_run(lambda r: msgspec.structs.replace(r, values=(*r.values[:-1], "9/10"))),
            "left=",
        ),
    ],
)
def test_a_changed_mean_certificate_is_rejected(change, reason):
    assert reason in tampered(change)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda w: msgspec.structs.replace(w, runs=w.runs[:2]), "inequality should read"),
        (lambda w: msgspec.structs.replace(w, runs=(*w.runs, w.runs[0])), "not those of different runs"),
        (replaced(epsilon="-1"), "does not imply"),
        (replaced(epsilon="1"), "is not admissible"),
        (replaced(epsilon="1/4"), "does not imply"),
        (replaced(delta="1"), "outside"),
        (replaced(delta="0"), "does not imply"),
        (with_run(replaced(seed="7")), "inequality should read"),
        (with_run(replaced(bets=())), "there are no bets"),
        (with_run(replaced(bets=("1",))), "is not admissible"),
        (with_run(lambda r: msgspec.structs.replace(r, both=r.both + 1)), "left="),
        (with_run(lambda r: msgspec.structs.replace(r, first_only=r.first_only + 1)), "left="),
        (with_run(lambda r: msgspec.structs.replace(r, second_only=r.second_only + 1)), "left="),
        (with_run(lambda r: msgspec.structs.replace(r, neither=r.neither - 1)), "left="),
    ],
)
def test_a_changed_event_certificate_is_rejected(change, reason):
    assert reason in tampered(change, EVENTS)


@pytest.mark.parametrize("seed", ['"-1"', '"01"', '"1.0"', "7"])
def test_what_is_no_seed_is_no_certificate(seed):
    text = msgspec.json.encode(certificate(*MEANS)).decode()
    with pytest.raises(checker.Rejected, match="this is not a valid certificate"):
        Kinds().decode(swapped(text, '"seed":"20"', f'"seed":{seed}').encode())


def test_runs_of_different_claims_make_no_certificate():
    with pytest.raises(checker.Rejected, match="means and events"):
        certificate(MEANS[0], EVENTS[0])
    with pytest.raises(checker.Rejected, match="bound=.* differ from run to run"):
        certificate(*MEANS, mean_value(7, bound=0.25))
    with pytest.raises(checker.Rejected, match="epsilon=.* differ from run to run"):
        certificate(*EVENTS, event_value(7, epsilon=0.25))


def test_indicators_are_counted():
    """A hundred thousand runs of an algorithm that were late or not are two numbers."""
    flags = np.repeat([0.0, 1.0], [4000, 600])
    decision = bounded_mean.decide(flags, bound=0.1, low=0.0, high=1.0, alpha=ALPHA)
    one = mean_e_value(flags, log_wealth=decision.log_wealth, bound=0.1, low=0.0, high=1.0, alpha=ALPHA)
    found = certificate(*[one] * 3, alpha=1e-20)
    assert found.witness.runs[0].values == ("0", "1")
    assert found.witness.runs[0].counts == (4000, 600)


def test_runs_may_know_different_lower_bounds():
    """Another machine may compute the range of what is observed to another last digit."""
    check(certificate(*MEANS, mean_value(7, low=-1e-12)))


# What the ledger makes of products.


def decision(verdict=Verdict.CERTIFIED):
    sharpness = [
        Sharpness(constant="a", claimed=2.5, holds_with=1.7, needed=1.0, how="by a proof"),
        Sharpness(constant="b", claimed=2.5, holds_with=3.5, needed=3.0, how="by a proof"),
        Sharpness(constant="c", claimed=1.0, holds_with=2.0, needed=None, how="h", larger_is_stronger=True),
    ]
    return Decision(verdict=verdict, summary="holds", evidence={}, sharpness=sharpness)


def products(values, *, name="the null"):
    *earlier, current = runs_of(*values)
    return {name: accumulate(tuple(earlier), current, alpha=ALPHA)}


def test_a_product_that_rejects_refutes_what_a_proof_certified():
    found = decided_together(decision(), products(MEANS))
    assert found.verdict is Verdict.REFUTED
    assert "over 3 runs" in found.summary
    for part in ("the null", "run 1 (seed 0)", "run 2 (seed 10)", "run 3 (seed 20)"):
        assert part in found.counterexample
    assert issue("utility", "diameter", found.witness)
    # What was shown to hold was shown of another algorithm than the one that ran; a repair stays one.
    assert [one.holds_with for one in found.sharpness] == [None, 3.5, None]
    assert all(
        one.needed == old.needed for one, old in zip(found.sharpness, decision().sharpness, strict=True)
    )


def test_what_is_refuted_already_stays_as_it_is():
    before = decision(Verdict.REFUTED)
    assert decided_together(before, products(MEANS)) is before


def test_a_product_that_does_not_reject_changes_nothing():
    before = decision()
    assert decided_together(before, products(MEANS[:1])) is before
    assert decided_together(before, {}) is before


def test_of_two_products_the_clearer_is_certified():
    both = products(MEANS[:2], name="weaker") | products(MEANS, name="clearer")
    assert both["clearer"].rejected
    assert both["weaker"].rejected
    assert decided_together(decision(), both).witness.null_hypothesis == "clearer"


def test_records_tell_the_runs():
    (record,) = records(products(MEANS))
    assert [(one.run, one.seed) for one in record.runs] == [(1, 0), (2, 10), (3, 20)]
    assert record.log10_e_value == pytest.approx(sum(one.log10_e_value for one in record.runs))
    assert record.rejected
    assert records({}) is msgspec.UNSET


def test_an_e_value_of_zero_is_recorded_as_nothing():
    dead = EValue(log_e_value=-math.inf, alpha=ALPHA, observations=MEANS[0].observations)
    (record,) = records(products((MEANS[0], dead)))
    assert record.log10_e_value is None
    assert [one.log10_e_value is None for one in record.runs] == [False, True]
    assert not record.rejected
