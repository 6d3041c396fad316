"""E-values of independent runs multiply, and nothing that is not independent is multiplied."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.inference import bounded_mean
from dpsco_verify.store import (
    EValue,
    EvidenceStore,
    MeanObservations,
    RunEvidence,
    StoreError,
    accumulate,
    accumulate_in_store,
    null_name,
)

SEEN = MeanObservations.of([0.0, 1.0, 1.0], bound=0.5, low=0.0, fractions=np.array([0.5, 0.25]))


def run(number, seed, log_e_value):
    return RunEvidence(run=number, profile="quick", seed=seed, log_e_value=log_e_value, observations=SEEN)


def test_logs_add_up_and_reject_at_the_level():
    earlier = (run(1, 1, 1.0), run(2, 2, 2.0))
    found = accumulate(earlier, run(3, 3, math.log(1e6) - 3.0 + 1e-9), alpha=1e-6)
    assert found.log_e_value == pytest.approx(math.log(1e6))
    assert found.rejected
    assert found.p_value == pytest.approx(1e-6)
    assert [one.run for one in found.runs] == [1, 2, 3]
    assert not accumulate(earlier, run(3, 3, math.log(1e6) - 3.0 - 1e-9), alpha=1e-6).rejected


def test_rounding_alone_never_rejects():
    """A hundred thousand e-values of exactly 1 after one of exactly 1/α: the sum's rounding is not evidence."""
    below = math.nextafter(math.log(1e6), 0.0)
    assert not accumulate((), run(1, 0, below), alpha=1e-6).rejected


def test_of_one_seed_the_first_run_counts_also_before_the_present_one():
    earlier = (run(1, 7, 5.0), run(2, 8, 1.0), run(3, 7, 9.0), run(4, 9, 4.0))
    found = accumulate(earlier, run(5, 9, 50.0), alpha=0.05)
    assert [(one.run, one.log_e_value) for one in found.runs] == [(1, 5.0), (2, 1.0), (4, 4.0)]
    assert found.log_e_value == 10.0


def test_a_seed_that_could_be_tried_again_would_break_the_level():
    """Why the first run of a seed counts, not the last: a second draw for it would be a second chance.

    Exact: one seed in two profiles, so two e-values that it can be judged by, over all outcomes of 3 draws each.
    """
    nearly_one = 1.0 - 1e-9  # three successes are worth 8, so the level is that of three successes, 1/8
    alpha = 1.0 / math.exp(bernoulli_e_value(3, 3, q=nearly_one))
    first_counts, last_counts = 0.0, 0.0
    for outcome in itertools.product(range(4), repeat=2):
        probability = math.prod(math.comb(3, successes) / 8 for successes in outcome)
        runs = [run(k, 0, bernoulli_e_value(s, 3, q=nearly_one) + 1e-9) for k, s in enumerate(outcome)]
        looks = [accumulate((), runs[0], alpha=alpha), accumulate((runs[0],), runs[1], alpha=alpha)]
        first_counts += probability * any(look.rejected for look in looks)
        last_counts += probability * any(accumulate((), one, alpha=alpha).rejected for one in runs)
    assert first_counts == 1 / 8 <= alpha
    assert last_counts == 15 / 64 > alpha


def test_an_e_value_of_zero_stays_zero():
    found = accumulate((run(1, 1, -math.inf),), run(2, 2, 500.0), alpha=0.05)
    assert found.log_e_value == -math.inf
    assert not found.rejected
    assert found.p_value == 1.0


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_e_value_is_refused(value):
    with pytest.raises(InputError, match="is not the log of an e-value"):
        accumulate((run(1, 1, value),), run(2, 2, 0.0), alpha=0.05)


@pytest.mark.parametrize("alpha", [0.0, 1.0, math.nan])
def test_what_is_no_level_is_refused(alpha):
    with pytest.raises(InputError, match="alpha"):
        accumulate((), run(1, 2, 0.0), alpha=alpha)


def test_a_null_hypothesis_has_one_name():
    assert null_name("mean", {"n": 4, "sigma": 0.1}) == null_name("mean", {"sigma": 0.1, "n": 4})
    names = {
        null_name(*one) for one in [("m", {"n": 4}), ("m", {"n": 4.0}), ("m", {"n": 5}), ("o", {"n": 4})]
    }
    assert len(names) == 4
    with pytest.raises(InputError, match="is not finite"):
        null_name("mean", {"n": math.inf})


def bernoulli_e_value(successes, draws, *, p=0.5, q=0.75):
    """The likelihood ratio of q against p: under p its mean is 1 exactly."""
    return successes * math.log(q / p) + (draws - successes) * math.log((1 - q) / (1 - p))


@pytest.mark.slow
def test_the_probability_of_ever_rejecting_is_at_most_the_level_exactly():
    """All outcomes of six runs of three draws at the boundary of the null hypothesis, decided after each run.

    No error probability: the probability of a rejection at any time is added up over all 4^6 paths.
    """
    alpha, rejected = 0.05, 0.0
    for path in itertools.product(range(4), repeat=6):
        probability = math.prod(math.comb(3, successes) / 8 for successes in path)
        earlier = ()
        for seed, successes in enumerate(path):
            current = run(seed, seed, bernoulli_e_value(successes, 3))
            if accumulate(earlier, current, alpha=alpha).rejected:
                rejected += probability
                break
            earlier = (*earlier, current)
    assert 0.0 < rejected <= alpha


@pytest.mark.slow
def test_with_the_largest_wealth_in_place_of_the_last_it_would_be_broken():
    """Why an e-value is the wealth at the end: the largest that was seen rejects too often.

    Exact: one draw a run, and the "e-value" the larger of 1 and the likelihood ratio, over all 2^12 paths.
    """
    alpha = 0.05

    def rejection_probability(e_value):
        rejected = 0.0
        for path in itertools.product(range(2), repeat=12):
            logs = np.cumsum([e_value(bernoulli_e_value(successes, 1)) for successes in path])
            rejected += float((logs >= -math.log(alpha)).any()) / 2**12
        return rejected

    assert rejection_probability(lambda log: log) <= alpha
    assert rejection_probability(lambda log: max(log, 0.0)) > alpha


def test_runs_that_are_too_weak_alone_find_together_what_is_wrong():
    """Five runs of 400 draws of mean 0.6 against the bound 0.5; the seed is fixed, so nothing is left to chance."""
    alpha, earlier = 1e-6, ()
    for seed in range(5):
        draws = (np.random.default_rng(seed).random(400) < 0.6).astype(float)
        decision = bounded_mean.decide(draws, bound=0.5, low=0.0, high=1.0, alpha=alpha)
        assert not decision.rejected
        current = run(seed, seed, decision.log_wealth)
        found = accumulate(earlier, current, alpha=alpha)
        earlier = (*earlier, current)
    assert found.rejected


def test_over_the_runs_of_a_store(tmp_path):
    with EvidenceStore(tmp_path / "store.sqlite3") as store:

        def one(seed, log_e_value, *, finish=True, with_earlier=True, code="c", name="n"):
            number = store.begin_run(profile="quick", seed=seed)
            found = accumulate_in_store(
                store,
                number,
                claim="a/b",
                code=code,
                profile="quick",
                seed=seed,
                e_values={name: EValue(log_e_value=log_e_value, alpha=1e-3, observations=SEEN)},
                with_earlier=with_earlier,
            )
            if finish:
                store.finish_run(number, exit_code=0, results=b"{}")
            return found[name]

        assert one(1, 2.0).log_e_value == 2.0
        assert one(2, 3.0).log_e_value == 5.0
        assert one(2, 4.0).log_e_value == 5.0  # of seed 2 the first run counts, not the present one
        assert one(3, 1.0, with_earlier=False).log_e_value == 1.0
        assert one(4, 1.0, code="another").log_e_value == 1.0
        assert one(5, 1.0, name="another").log_e_value == 1.0
        assert one(6, 50.0, finish=False).log_e_value == 56.0
        # A run that did not end does not count, and of seed 2 the first does.
        final = one(7, 1.0)
        assert final.log_e_value == 2.0 + 3.0 + 1.0 + 1.0
        assert final.rejected  # 7 is above log(1000)
        assert [(e.seed, e.log_e_value) for e in final.runs] == [(1, 2.0), (2, 3.0), (3, 1.0), (7, 1.0)]
        for e in final.runs:
            assert e.observations.values.tolist() == [0.0, 1.0]
            assert e.observations.counts.tolist() == [1, 2]
            assert (e.observations.bound, e.observations.low) == (0.5, 0.0)
            assert e.observations.fractions.tolist() == [0.5, 0.25]


def test_what_is_stored_as_observations_and_is_none_is_told(tmp_path):
    with EvidenceStore(tmp_path / "store.sqlite3") as store:
        number = store.begin_run(profile="quick", seed=1)
        store.add_e_value(
            number, claim="a/b", null_hypothesis="n", code="c", seed=1, log_e_value=1.0, observations={}
        )
        store.finish_run(number, exit_code=0, results=b"{}")
        with pytest.raises(StoreError, match="its observations are none"):
            accumulate_in_store(
                store,
                store.begin_run(profile="quick", seed=2),
                claim="a/b",
                code="c",
                profile="quick",
                seed=2,
                e_values={"n": EValue(log_e_value=1.0, alpha=1e-3, observations=SEEN)},
                with_earlier=True,
            )
