"""Statements hand over their e-values: under names that last from run to run, never above what the checker computes."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from fractions import Fraction

import flint
import pytest

from dpsco_verify.choices import Profile
from dpsco_verify.execution import SerialExecutor, execute
from dpsco_verify.inference.budget import Share
from dpsco_verify.ledger.installed import installed_ledger
from dpsco_verify.ledger.statement import Context
from dpsco_verify.ledger.units import Outcomes, Units
from dpsco_verify.papers.arora2020.single_step import statement as single_step
from dpsco_verify.papers.arora2020.single_step.work import points
from dpsco_verify.papers.arora2020.stopping_tail import statement as stopping_tail
from dpsco_verify.papers.arora2020.utility.statement import Utility
from dpsco_verify.papers.arora2020.utility.work import WORK, Work
from dpsco_verify.store import MeanObservations

pytestmark = pytest.mark.slow  # runs of the algorithm

HANDING_OVER = ("stopping-tail/loop", "single-step/corrected", "utility/diameter")


@pytest.fixture
def small(monkeypatch):
    """Profiles that differ in nothing but the number of samples, and take no time."""

    def work(runs):
        return Work(
            sizes=(16, 64),
            sigmas=(0.1,),
            runs=runs,
            trials=2,
            search_runs=5,
            confirm_runs=20,
            largest_n=64,
        )

    def capped(places, profile, *, factor):
        cap = {Profile.QUICK: 4000, Profile.STANDARD: 6000}[profile]
        return tuple(dataclasses.replace(p, cap=cap) for p in points(places, profile, factor=factor))

    for profile, runs in ((Profile.QUICK, 30), (Profile.STANDARD, 40)):
        monkeypatch.setitem(WORK, profile, work(runs))
        monkeypatch.setitem(
            stopping_tail._EFFORT,
            profile,
            stopping_tail._Effort(largest_n=20, simulated=(16, 37), runs=10 * runs),
        )
    monkeypatch.setattr(single_step, "points", capped)
    # The maps are costly and say nothing about samples.
    monkeypatch.setattr(single_step, "panels", lambda batches, profile: ((2, 1),))


def conclude(key, *, profile=Profile.QUICK, accumulate=False, seed=0):
    (claim,) = installed_ledger().find([key])
    context = Context(
        profile=profile, seed=seed, share=Share(claim_id=key, alpha=1e-7), accumulate=accumulate
    )
    units = Units(claim.key, seed=seed)
    work = claim.statement.plan(claim.reading, context, units)
    with SerialExecutor() as executor:
        outcomes = Outcomes(execute(list(units), executor))
    return claim.statement.conclude(claim.reading, context, work, outcomes)


@functools.cache
def concluded(key):
    """Return what is concluded at the small profiles alone."""
    return conclude(key)


@pytest.mark.parametrize("key", HANDING_OVER)
def test_names_do_not_depend_on_seed_or_samples_and_levels_do_on_accumulation_alone(small, key):
    plain = concluded(key)
    more = conclude(key, profile=Profile.STANDARD, seed=5)
    together = conclude(key, accumulate=True)
    assert plain.e_values
    assert set(plain.e_values) == set(more.e_values) == set(together.e_values)
    for name, one in plain.e_values.items():
        assert more.e_values[name].observations is not one.observations
        assert more.e_values[name].log_e_value != one.log_e_value
        assert together.e_values[name].alpha == one.alpha / 2
        if isinstance(one.observations, MeanObservations):
            assert one.observations.counts.sum() < more.e_values[name].observations.counts.sum()
    # With the products' half the tests spend what they spent without, and never more than the share.
    assert together.spent.keys() == plain.spent.keys()
    assert together.spent == plain.spent
    assert math.fsum(together.spent.values()) <= 1e-7


def test_the_search_hands_over_nothing(small):
    found = concluded("utility/diameter")
    assert "search" in found.spent
    assert len(found.e_values) == len(found.spent) - 1


@pytest.mark.parametrize("key", HANDING_OVER)
def test_names_hold_what_the_null_hypothesis_depends_on_and_no_more(small, key):
    parameters = [json.loads(name[name.index("{") :]) for name in concluded(key).e_values]
    assert {frozenset(one) for one in parameters} == {
        {
            "stopping-tail/loop": frozenset({"stopping", "counter", "n"}),
            "single-step/corrected": frozenset(
                {"n", "m", "fresh", "g", "g'", "h", "σ over the lemma's", "ε̃", "δ of the lemma"}
            ),
            "utility/diameter": frozenset({"c", "instance", "n", "σ/L", "noise", "D bounds norms", "w₁"}),
        }[key]
    }


def test_another_claim_has_other_names(small, monkeypatch):
    before = set(concluded("utility/diameter").e_values)
    assert before.isdisjoint(conclude("utility/norm-argmin").e_values)
    monkeypatch.setattr(Utility, "constant", 2.25)
    assert before.isdisjoint(conclude("utility/diameter").e_values)


@pytest.mark.parametrize("key", HANDING_OVER)
def test_an_e_value_is_the_wealth_at_the_end_and_not_above_it(small, key):
    """The checker's wealth, in balls and without the doubles' rounding, lies at or a hair above each e-value."""
    from dpsco_verify.evidence.checker.statistical import event_factor, event_wealth, mean_wealth

    for e_value in concluded(key).e_values.values():
        seen = e_value.observations
        with flint.ctx.workprec(256):
            if isinstance(seen, MeanObservations):
                largest = 1 / (Fraction(seen.bound) - Fraction(seen.low))
                wealth = mean_wealth(
                    low=Fraction(seen.low),
                    bound=Fraction(seen.bound),
                    bets=[str(Fraction(theta) * largest) for theta in seen.fractions.tolist()],
                    values=[str(Fraction(x)) for x in seen.values.tolist()],
                    counts=seen.counts.tolist(),
                )
            else:
                factor = event_factor(Fraction(seen.epsilon), Fraction(seen.delta))
                largest = 1 / (math.exp(seen.epsilon) + seen.delta)
                wealth = event_wealth(
                    factor=factor,
                    delta=Fraction(seen.delta),
                    bets=[str(Fraction(theta * largest)) for theta in seen.fractions.tolist()],
                    counts=(seen.both, seen.first_only, seen.second_only, seen.neither),
                )
            exact = float(wealth.log())
        assert exact - 1e-6 <= e_value.log_e_value <= exact


def test_a_level_is_halved_only_where_evidence_multiplies():
    plain = Context(profile=Profile.QUICK, seed=0, share=Share(claim_id="a", alpha=1e-6))
    together = dataclasses.replace(plain, accumulate=True)
    names = ["a", "b", "c"]
    assert plain.levels(names, accumulated=["a"]) == plain.levels(names)
    levels = together.levels(names, accumulated=["a"])
    assert levels == plain.levels(names) | {"a": plain.levels(names)["a"] / 2}
    assert together.spent(levels["a"]) == plain.spent(plain.levels(names)["a"]) == plain.levels(names)["a"]
