"""An event is judged on outputs that had no say in building it, and by bounds that are exact."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.zoo_cases import AUDITORIUM
from dpsco_verify.auditing import AuditVerdict, audit, region_search, selection
from dpsco_verify.auditing.features import Feature
from dpsco_verify.auditing.orders import Aims, Order, rating, remoteness
from dpsco_verify.auditing.outputs import encode
from dpsco_verify.auditing.regions import Candidate
from dpsco_verify.inference import binomial
from dpsco_verify.inference.bets import bet_fractions

ORDER = Order(0.5, 0.01)
AIMS = Aims(orders=(ORDER,), reach=0.1, needed=0.01)


def counted(size):
    """Outputs 0, 1, …, which tell their places."""
    return encode(np.arange(float(size)), size)


def places(outputs):
    return outputs.numbers[:, 0].tolist()


@dataclass(frozen=True)
class Below:
    """The outputs below an end."""

    end: float
    pieces: int = 1

    def contains(self, outputs):
        return outputs.numbers[:, 0] < self.end


def candidate(end, *, pieces=1, swapped=False):
    return Candidate(Below(end, pieces), swapped, ORDER, 0.0, 0.0)


def choice(*, growth, remoteness, rating=0.0):
    return selection.Choice(
        candidate=candidate(1.0),
        growth=growth,
        frequency=0.5,
        frequency_neighbour=0.5,
        remoteness=remoteness,
        rating=rating,
        tried=1,
    )


@pytest.fixture
def seen(monkeypatch):
    """Who saw which outputs, as ranges of places on each data set; (start, end) of what built unions among them."""
    found = SimpleNamespace(atoms=[], learned=[], cut=[], given=[], judged=[], fitted={})

    def ranges(*both):
        return [(places(x)[0], places(x)[-1] + 1) for x in both]

    def learned_features(first, second, *, classifier):
        found.learned += ranges(first, second)
        yield Feature(name="learned", values=lambda x: x.numbers[:, 0])

    def feature_candidates(feature, first, second, aims, *, built_from=0.5, fitted=0.5):
        found.fitted.setdefault(feature.name == "learned", set()).add(fitted)
        built = [(v[0], v[0] + int(built_from * v.size)) for v in (first, second)]
        (found.cut if feature.name == "learned" else found.given).append(built)
        return []

    class Judge:
        def __init__(self, first, second, aims, *, tried):
            found.judged += ranges(first, second)

        def __call__(self, candidate):
            return choice(growth=0.0, remoteness=0.0)

    def atom_candidates(first, second, aims):
        found.atoms += ranges(first, second)
        return [candidate(1.0)]

    for name, fake in (
        ("learned_features", learned_features),
        ("feature_candidates", feature_candidates),
        ("atom_candidates", atom_candidates),
        ("label_candidates", lambda *_: []),
        ("_Judge", Judge),
    ):
        monkeypatch.setattr(selection, name, fake)
    return found


def test_a_quarter_learns_the_next_builds_and_the_other_half_judges_what_is_built(seen):
    selection.select(counted(40), counted(80), AIMS)
    assert seen.atoms == [(0, 20), (0, 40)]
    assert seen.given
    assert all(built == [(0, 20), (0, 40)] for built in seen.given)
    assert seen.learned == [(0, 10), (0, 20)]
    assert seen.cut == [[(10, 20), (20, 40)]]
    assert seen.judged == [(20, 40), (40, 80)]
    # What is fitted to next to nothing is judged by all, but for those that learned.
    assert seen.fitted == {False: {0.0}, True: {0.25}}


def test_so_it_is_where_the_largest_violation_is_sought(seen):
    selection.select_largest(counted(40), counted(80), AIMS, lambda p, q, size: 0.0)
    assert seen.atoms == [(0, 20), (0, 40)]
    assert seen.given
    assert all(built == [(0, 20), (0, 40)] for built in seen.given)
    assert seen.learned == [(0, 10), (0, 20)]
    assert seen.cut == [[(10, 20), (20, 40)]]
    assert seen.judged == [(20, 40), (40, 80)]
    assert seen.fitted == {False: {0.5}, True: {0.5}}


def test_events_of_many_pieces_crowd_no_half_line_out(seen, monkeypatch):
    # They look better where they were built: unions of 64 cells of pure noise by six standard errors.
    made = [replace(candidate(float(k), pieces=9), rating=9.0) for k in range(2, 40)]
    made.append(replace(candidate(1.0), rating=3.0))
    judged = []

    def judge(one):
        judged.append(one.region.end)
        return replace(choice(growth=0.0, remoteness=0.0), candidate=one, frequency=1.0 / one.region.end)

    monkeypatch.setattr(selection, "_Judge", lambda *_, tried: judge)
    monkeypatch.setattr(selection, "atom_candidates", lambda *_: made)
    best = selection.select_largest(counted(8), counted(8), AIMS, lambda p, q, size: p)
    assert best.candidate.region.end == 1.0
    assert len(judged) < 10


def test_growth_counts_from_what_is_needed_and_below_it_remoteness(seen, monkeypatch):
    made = [candidate(end) for end in (1.0, 2.0, 3.0)]
    choices = {
        1.0: choice(growth=0.009, remoteness=2.0, rating=1.0),
        2.0: choice(growth=-1.0, remoteness=1.0, rating=-1.0),
        3.0: choice(growth=0.01, remoteness=3.0, rating=0.5),
    }
    monkeypatch.setattr(selection, "_Judge", lambda *_, tried: lambda c: choices[c.region.end])
    for several, best in ((made, 3.0), (made[:2], 2.0)):
        monkeypatch.setattr(selection, "atom_candidates", lambda *_, several=several: several)
        # A search over pairs compares them by the best rating of any event.
        assert selection.select(counted(8), counted(8), AIMS) == replace(choices[best], best_rating=1.0)


@pytest.mark.parametrize(("end", "swapped"), [(6.0, False), (6.0, True), (0.0, False), (100.0, False)])
def test_a_judgement_is_made_of_exact_bounds(end, swapped):
    first, second = encode(np.arange(10.0), 10), encode(np.arange(0.0, 60.0, 3.0), 20)
    counts = [(min(int(end), 10), 10), (min(int(end / 3), 20), 20)]
    (in_p, n_p), (in_q, n_q) = reversed(counts) if swapped else counts
    found = selection._Judge(first, second, AIMS, tried=7)(candidate(end, swapped=swapped))
    low = binomial.clopper_pearson_lower(in_p, n_p, alpha=0.1)
    high = binomial.clopper_pearson_upper(in_q, n_q, alpha=0.1)
    assert found.growth == pytest.approx(selection.growth_rate(low, high, ORDER), rel=1e-9)
    assert (found.frequency, found.frequency_neighbour, found.tried) == (in_p / n_p, in_q / n_q, 7)
    frequencies = np.array([in_p / n_p]), np.array([in_q / n_q])
    assert found.rating == rating(*frequencies, [ORDER], n_p, n_q)[0, 0]
    far = remoteness(*frequencies, [ORDER], n_p, n_q, reach=AIMS.reach)[0][0, 0]
    assert found.remoteness == far


@pytest.mark.parametrize(("pieces", "more"), [(1, 0.0), (3, 0.3), (5, 0.6), (9, 0.6)])
def test_each_further_piece_makes_an_event_a_little_more_remote(pieces, more):
    judge = selection._Judge(counted(10), counted(20), AIMS, tried=1)
    one, several = judge(candidate(6.0)).remoteness, judge(candidate(6.0, pieces=pieces)).remoteness
    assert several == pytest.approx(one + more * abs(one), rel=1e-12)


def test_the_growth_of_a_bet_in_closed_form():
    """At ε = δ = 0 a bet λ earns log(1 + λ) where E occurs on d alone, and log(1 − λ) where on d_prime alone."""
    order, fractions = Order(0.0, 0.0), bet_fractions(depth=14)
    assert selection.growth_rate(0.5, 0.0, order) == pytest.approx(
        0.5 * math.log1p(fractions.max()), rel=1e-12
    )
    expected = (0.42 * np.log1p(fractions) + 0.12 * np.log1p(-fractions)).max()
    assert selection.growth_rate(0.6, 0.3, order) == pytest.approx(expected, rel=1e-12)
    assert selection.growth_rate(0.3, 0.6, order) <= 0.0


def test_any_growth_is_more_than_none_and_without_it_the_rating_decides():
    judge = selection._Judge(counted(10), counted(20), AIMS, tried=1)
    choice = replace(judge(candidate(6.0)), growth=0.0, rating=3.0)
    assert choice.score == pytest.approx(-97e-6, rel=1e-12)
    assert replace(choice, growth=1e-9).score == 1e-9


def test_bits_leak_where_they_differ_and_only_there():
    rng = np.random.default_rng(0)
    coarse = encode(rng.integers(0, 2**20, 4000) / 2.0**20, 4000)
    fine = encode(rng.random(4000), 4000)
    assert selection.floating_point_leak(coarse, fine, AIMS) is not None
    assert selection.floating_point_leak(fine, fine, AIMS) is None


@pytest.mark.slow
def test_what_is_learned_is_learned_by_one_thread(monkeypatch):
    import sklearn.linear_model  # noqa: F401  brings scipy's library beside numpy's, with threads of its own
    import threadpoolctl

    def threads():
        return [one["num_threads"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"]

    seen = []
    monkeypatch.setattr(selection, "learned_features", lambda *_, **__: seen.append(threads()) or [])
    with threadpoolctl.threadpool_limits(limits=2):
        before = threads()  # some libraries never have more than one
        selection.select(counted(64), counted(64), AIMS)
        assert 2 in before
        assert (seen, threads()) == ([[1] * len(before)], before)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_an_outcome_of_one_run_in_fifty_is_found_at_the_default(seed):
    """Found 30 times of 30 in other seeds; cautious bounds of so rare an event hid it 23 times of 30."""

    def sometimes(data, size, rng):
        return np.where(rng.random(size) < 0.02 * data, np.nan, rng.laplace(size=size))

    result = audit(sometimes, 0.0, 1.0, epsilon=1.0, seed=seed)
    assert result.verdict is AuditVerdict.VIOLATED, result.summary


def test_the_standard_error_of_remoteness_by_hand():
    """s/(e^ε q(1 − q)√n), ``s² = p(1 − p) + e^{2ε} q(1 − q)``, with one occurrence more in q."""
    p, q, n_p, n_q = np.array([0.3, 0.6]), np.array([0.1, 0.2]), 400, 250
    error = remoteness(p, q, [Order(0.5, 0.01), Order(2.0, 0.0)], n_p, n_q, reach=0.1)[1]
    q = q + 1 / n_q
    for row, factor in zip(error, np.exp([0.5, 2.0]), strict=True):
        s = np.sqrt(p * (1 - p) + factor**2 * q * (1 - q))
        np.testing.assert_allclose(row, s / (factor * q * (1 - q) * math.sqrt(n_q)), rtol=1e-13)


def test_a_half_line_is_judged_by_all_outputs():
    rng = np.random.default_rng(0)
    first, second = (encode(rng.normal(shift, size=400), 400) for shift in (1.0, 0.0))
    choice = selection.select(first, second, AIMS)
    inside = [np.count_nonzero(choice.candidate.region.contains(x)) for x in (first, second)]
    assert choice.candidate.ends == 1
    if choice.candidate.swapped:
        inside.reverse()
    assert [400 * choice.frequency, 400 * choice.frequency_neighbour] == inside


def test_an_interval_has_to_rate_the_higher_the_more_are_tried_to_be_taken_for_what_it_looks_like():
    """Of rating 3.4: no fluke among 30 candidates, as a half-line is none in any case, and one among 60."""
    first, second = encode(np.arange(400.0), 400), encode(np.arange(0.0, 2000.0, 5.0), 400)
    aims = Aims(orders=(Order(0.5, 0.0),), reach=0.1, needed=0.001)
    found = {}
    for ends, tried in ((1, 30), (1, 60), (2, 30), (2, 60)):
        judge = selection._Judge(first, second, aims, tried=tried)
        found[ends, tried] = judge(replace(candidate(40.0), order=aims.orders[0], ends=ends))
    assert found[1, 30].rating == pytest.approx(3.4, abs=0.1)
    at_face = selection.growth_rate(40.0 / 400, 8.0 / 400, aims.orders[0])
    assert found[1, 30].growth == found[1, 60].growth == found[2, 30].growth
    assert found[1, 30].growth == pytest.approx(at_face, rel=0.2)
    assert found[2, 60].growth < 0.5 * at_face
    # Of several pieces it is one of many more.
    judge = selection._Judge(first, second, aims, tried=30)
    pieces = judge(replace(candidate(40.0, pieces=2), order=aims.orders[0], ends=1))
    assert pieces.rating == found[1, 30].rating
    assert pieces.growth == found[2, 60].growth


def test_an_interval_is_the_middle_of_those_that_are_as_good():
    """Between 6 and 9 in 10 the ratio is one and the same; the best of the sample's intervals is anywhere in there."""
    rng = np.random.default_rng(3)
    value = Feature(name="value", values=lambda outputs: outputs.numbers[:, 0])
    aims = Aims(orders=(Order(0.5, 0.0),), reach=0.05, needed=0.001)
    ends = []
    for _ in range(20):
        second = rng.random(800)
        first = np.where(rng.random(800) < 0.7, rng.uniform(0.6, 0.9, 800), rng.random(800))
        intervals = (
            one
            for one in region_search._intervals(value, region_search._Values.of(first, second), aims)
            if not one.swapped
        )
        best = max(intervals, key=lambda one: one.rating)
        ends.append(best.region.event.intervals[0])
    np.testing.assert_allclose(np.mean(ends, axis=0), [0.6, 0.9], atol=0.02)
    assert np.std(ends, axis=0).max() < 0.03


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.4), (-2.0, 1.5)])
def test_the_interval_in_which_all_of_the_excess_lies_is_found(low, high):
    rng = np.random.default_rng(1)
    outside = rng.uniform(-3.0, 3.0, 4000)
    first = np.concatenate([outside[:3000], rng.uniform(low, high, 1000)])
    value = Feature(name="value", values=lambda outputs: outputs.numbers[:, 0])
    aims = Aims(orders=(Order(0.0, 0.0),), reach=0.05, needed=0.01)
    best = max(
        region_search._intervals(value, region_search._Values.of(first, outside), aims),
        key=lambda one: one.rating,
    )
    [(start, end)] = best.region.event.intervals
    assert not best.swapped
    np.testing.assert_allclose([start, end], [low, high], atol=0.25)  # a cell of 40 holds at most 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("audits", "found"), [(10, 6), pytest.param(40, 25, marks=pytest.mark.long)])
def test_a_ratio_that_rises_and_falls_again_is_found(audits, found):
    # A mean over a noisy number of records: a half-line shows it with 2 standard errors, |value| in an interval with
    # 5.3. Without intervals and absolute values 10 of these 40 seeds find it; with them 32.
    [case] = (one for one in AUDITORIUM if one.name == "mean, number noisy in the mean alone")
    results = [
        audit(case.mechanism, *case.pair, epsilon=1.0, alpha=0.05, samples=10_000, seed=seed)
        for seed in range(audits)
    ]
    assert sum(result.verdict is AuditVerdict.VIOLATED for result in results) >= found


@pytest.mark.parametrize(
    ("chosen", "intervals"),
    [
        ([1], ((1.0, 2.0),)),
        ([2, 1], ((1.0, 3.0),)),
        ([3, 1, 2], ((1.0, math.inf),)),
        ([0, 2, 3], ((-math.inf, 1.0), (2.0, math.inf))),
        ([3, 2, 1, 0], ((-math.inf, math.inf),)),
    ],
)
def test_neighbouring_cells_of_a_union_are_one_interval(chosen, intervals):
    """The lowest cell reaches down to −∞ and the highest up to ∞."""
    assert region_search._union(np.arange(4.0), np.array(chosen)).intervals == intervals
