"""The conditions under which the statements about the regret and the output are decided, at their edges."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpsco_verify.algorithm import Averaging, private_sgd
from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Verdict
from dpsco_verify.inference.bets import bet_fractions, depth_for_range, log_wealth_error
from dpsco_verify.papers.arora2020.azuma_step import statement as azuma
from dpsco_verify.papers.arora2020.kl_bound import statement as kl_bound
from dpsco_verify.papers.arora2020.output import statement as output
from dpsco_verify.papers.arora2020.rate import measured
from dpsco_verify.papers.arora2020.rate.plan import Variable
from dpsco_verify.papers.arora2020.regret import proof
from dpsco_verify.papers.arora2020.regret import statement as regret
from dpsco_verify.papers.arora2020.regret.bounds import Member
from dpsco_verify.papers.arora2020.regret.certificates import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.papers.arora2020.single_step import present
from dpsco_verify.papers.arora2020.single_step.proof import DELTA_MAX, EPSILON_MAX
from dpsco_verify.papers.arora2020.single_step.readings import READINGS
from dpsco_verify.papers.arora2020.stopping_mean import statement as stopping_mean
from dpsco_verify.papers.arora2020.stopping_tail import law as stopping_law
from dpsco_verify.papers.arora2020.stopping_tail import statement as stopping_tail
from dpsco_verify.papers.arora2020.tail_integral import statement as tail_integral


def path(excess=0.0, tightest=0.5):
    return SimpleNamespace(instance="drift", n=16, sigma=0.1, excess=excess, tightest=tightest, runs=5)


def member(ratio):
    return Member(n=16, lipschitz=Fraction(1), sigma=Fraction(1, 10), ratio=ratio)


ABOVE, BELOW = 2.0 + 1e-9, Fraction(2) - Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("ratio", "proven", "verdict", "kind"),
    [
        (ABOVE, Fraction(11, 4), Verdict.REFUTED, RegretDriftViolation),
        (ABOVE, None, Verdict.REFUTED, RegretVarianceViolation),
        (
            2.0,
            Fraction(11, 4),
            Verdict.INCONCLUSIVE,
            None,
        ),  # a regret of just what is claimed contradicts nothing
        (2.0, None, Verdict.INCONCLUSIVE, None),
        (1.0, BELOW, Verdict.CERTIFIED, RegretConstant),
        (1.0, Fraction(2), Verdict.INCONCLUSIVE, None),  # certificates are strict
    ],
)
def test_the_regret_is_decided_on_the_strict_side(ratio, proven, verdict, kind):
    found, _, witness = regret.Regret()._decide([path()], member(ratio), proven)
    assert found is verdict
    assert witness is None if kind is None else isinstance(witness, kind)


def test_the_least_excess_of_one_path_leaves_the_regret_undecided():
    paths = [path(), path(excess=1e-12)]
    verdict, summary, witness = regret.Regret()._decide(paths, member(ABOVE), Fraction(11, 4))
    assert (verdict, witness) == (Verdict.INCONCLUSIVE, None)
    assert "not those of the algorithm" in summary


@pytest.mark.parametrize(
    ("kappa", "claimed", "n"),
    [
        (2.0, Fraction(2), 16),  # 2.249 at n = 16
        (2.0, Fraction(23, 10), 2),  # 2.326 at n = 2
        (1.0, Fraction(9, 10), 2),
    ],
)
def test_a_drift_of_at_least_16_points_where_one_contradicts_the_claim(kappa, claimed, n):
    found = regret._drift(kappa, claimed)
    assert found.n == n
    assert found.ratio > claimed


@pytest.mark.slow
def test_the_evidence_of_the_regret_by_hand():
    """(κ² + H_n − H_{n−m})/2 at n = 2, and at n = 16 the largest of those from there on; H_16 − H_7 = 113567/144144."""
    found = regret._evidence(1.0, [path(tightest=0.25), path(tightest=0.75)], member(1.0), Fraction(5, 4))
    assert found["constant of a careful proof, all n ≥ 2"].value == 1.25
    at_16 = (1 + Fraction(113_567, 144_144)) / 2
    assert found["constant of a careful proof, all n ≥ 16"].value == pytest.approx(float(at_16), rel=1e-9)
    assert found["paths held against the inequality"].value == 10
    assert found["largest left over right of the inequality"].value == 0.75
    assert 2 in regret._RANGE


@pytest.mark.parametrize("agrees", [(True, False), (False, True), (True, True)])
def test_a_run_counts_if_both_averages_agree_with_the_transcript(monkeypatch, agrees):
    monkeypatch.setattr(output, "_one_run", lambda *_: (*agrees, True, (1, 2)))
    (found,) = output.replay(sizes=(4,), runs=3, seed=0, name="x")
    assert (found.consistent, found.undefined) == (3 * all(agrees), 3)


@pytest.mark.parametrize(("consistent", "verdict"), [(2, Verdict.INCONCLUSIVE), (3, Verdict.CERTIFIED)])
def test_one_run_that_differs_leaves_the_output_undecided(consistent, verdict):
    statement = output.Output()
    runs = [output.Replay(n=4, runs=3, undefined=0, consistent=consistent, draws=(1, 2, 3))]
    work = output.Work(runs="runs", exact=None)
    found = statement.conclude(statement.readings[1], None, work, {"runs": runs})
    assert found.verdict is verdict


def transcript(run, **changes):
    return replace(run, transcript=replace(run.transcript, **changes))


LITERAL, CORRECTED = Averaging.DATA_INDICES, Averaging.FRESH_TIMES
DEFINED, UNDEFINED = 9, 0  # runs on 16 points without and with an index beyond the end
NEITHER, NOT_LITERAL, NOT_CORRECTED = (False, False), (False, True), (True, False)
# What is done to the run with which averaging, and which of the two then no longer agree with the transcript.
WRONG = {
    "an index beyond the end more": (LITERAL, lambda run: replace(run, undefined_indices=(99,)), NOT_LITERAL),
    "no average of what is there": (LITERAL, lambda run: replace(run, output=None), NOT_LITERAL),
    "another average over indices": (
        LITERAL,
        lambda run: replace(run, output=run.output + 1e-10),
        NOT_LITERAL,
    ),
    "no transcript of the literal run": (LITERAL, lambda run: replace(run, transcript=None), NEITHER),
    "another average over times": (
        CORRECTED,
        lambda run: replace(run, output=run.output + 1e-10),
        NOT_CORRECTED,
    ),
    "no average over times": (CORRECTED, lambda run: replace(run, output=None), NEITHER),
    "no transcript": (CORRECTED, lambda run: replace(run, transcript=None), NEITHER),
    "a fresh time after the end": (
        CORRECTED,
        lambda run: replace(run, iterations=run.iterations - 1),
        NOT_CORRECTED,
    ),
    "no iterate after the last pass": (
        CORRECTED,
        lambda run: replace(run, iterations=run.iterations + 1),
        NOT_CORRECTED,
    ),
    "other iterates": (
        CORRECTED,
        lambda run: transcript(run, iterates=run.transcript.iterates + 1e-10),
        NEITHER,
    ),
}


def one_run(monkeypatch, run, averaging, change):
    """Return what is found in a run on 16 points, after a change of the one with this averaging."""

    def changed(data, *, options, **others):
        found = private_sgd(data, options=options, **others)
        return change(found) if options.averaging is averaging else found

    monkeypatch.setattr(output, "private_sgd", changed)
    return output._one_run(16, 0, "x", run)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_run_that_is_not_what_its_transcript_says_does_not_count(monkeypatch, wrong):
    averaging, change, agrees = WRONG[wrong]
    found = one_run(monkeypatch, DEFINED, averaging, change)
    assert found[:3] == (*agrees, False)


def test_an_average_of_what_is_not_there_does_not_count(monkeypatch):
    given = one_run(monkeypatch, UNDEFINED, LITERAL, lambda run: replace(run, output=np.zeros(1)))
    unnamed = one_run(monkeypatch, UNDEFINED, LITERAL, lambda run: replace(run, undefined_indices=()))
    assert given[:3] == unnamed[:3] == (False, True, True)


def test_honest_runs_agree_with_their_transcripts():
    seen = [output._one_run(n, 0, "x", run) for n in (2, 3, 16) for run in (DEFINED, UNDEFINED)]
    assert [found[:2] for found in seen] == [(True, True)] * 6
    assert [found[2] for found in seen[-2:]] == [False, True]


def test_the_exponents_of_azuma_by_hand():
    """At ε₀ = log 3, so that ε₁ = 2: −1/4 as it is written, and −1/9 for increments up to ε₀(1 + ε₁)."""
    row = azuma._row(Fraction(math.log(3)))
    for (low, high), value in ((row.literal, -1 / 4), (row.symmetric, -1 / 9)):
        assert low <= high
        assert (low, high) == pytest.approx((value, value), rel=1e-14)


@pytest.mark.parametrize(("kappa", "constant"), [(1.0, 2.0), (2.0, 3.5)])
def test_the_constant_that_follows_from_the_steps_by_hand(kappa, constant):
    """κ²/2 + E[τ]/n; E[τ]/n is 3/2 at n = 2, and the paper's own bound on it is 2."""
    for make, follows in ((proof._constant, constant), (proof._own_mean, constant + 0.5)):
        for claimed in (Fraction(19, 10), Fraction(2), Fraction(5, 2), Fraction(4)):
            step = make(kappa, claimed)
            assert step.evidence["constant that follows"].value == follows
            assert step.verdict is (Verdict.CERTIFIED if follows <= claimed else Verdict.REFUTED)


@pytest.mark.parametrize(
    ("value", "reach", "meets"),
    [(0.65, 0.1, True), (0.25, 0.2, True), (0.66, 0.1, False), (0.5, None, False)],
)
def test_an_exponent_meets_what_is_within_its_reach_and_the_slack(value, reach, meets):
    estimate = SimpleNamespace(value=value)
    assert measured._Test(estimate=estimate, reach=reach, centre=0.5, slack=0.0501).meets is meets


@pytest.mark.parametrize(
    ("changes", "obstacle"),
    [
        ({}, None),
        ({"bend": 0.1}, None),
        ({"bend": 0.1 + 1e-9}, "not in the asymptotic range"),
        ({"mdv": 0.25}, None),
        ({"mdv": 0.25 + 1e-9}, "find a deviation of 0.25 in the exponent, not one of 0.25"),
        ({"mdv": None}, "too few runs"),
        ({"exponent": 0.7}, "departs from the claimed 0.5"),
        ({"level": 0.02}, "1.0202 times as large, by 4.0 standard errors"),
    ],
)
def test_what_keeps_an_exponent_from_passing(changes, obstacle):
    """The sizes, the runs, the exponent, the level: e^0.02 = 1.0202, and 0.02 is four times 0.005."""
    given = {"bend": 0.0, "mdv": 0.1, "exponent": 0.5, "level": 0.0} | changes
    exponent, level = (
        measured._Test(
            estimate=SimpleNamespace(value=given[name], standard_error=0.005),
            reach=0.01,
            centre=centre,
            slack=0.0,
        )
        for name, centre in (("exponent", 0.5), ("level", 0.0))
    )
    found = measured._obstacle(Variable.DIMENSION, exponent, level, bend=given["bend"], mdv=given["mdv"])
    assert found is None if obstacle is None else obstacle in found


def test_the_evidence_of_late_stops_is_that_of_indicators():
    """Their range is [0, 1], by which the wealth's rounding is bounded."""
    run = stopping_law.Simulation(
        n=16,
        runs=100,
        alpha=1e-3,
        distance=0.0,
        threshold=1.0,
        detectable_distance=1.0,
        follows_law=True,
        claimed=0.25,
        late=3,
        tail_rejected=False,
        tail_log_wealth=-1.5,
        tail_mdv=None,
        late_flags=(),
    )
    found = stopping_tail._e_value(stopping_tail.StoppingTail.readings[0].parameters, run)[1]
    fractions = bet_fractions(depth=depth_for_range(-0.25, 0.75))
    assert found.log_e_value == -1.5 - log_wealth_error(fractions, 3.0, 100)
    assert (found.observations.bound, found.observations.low) == (0.25, 0.0)
    assert found.observations.values.tolist() == [0.0, 1.0]
    assert found.observations.counts.tolist() == [97, 3]
    assert found.alpha == 1e-3


def test_exact_tails_are_judged_by_the_slowest_and_shown_at_the_first_that_fails():
    fails = tail_integral.Tails(n=2, smallest_rate=0.05, at=6, failures=(5, 6), curve=(0.1, 0.9, 0.8))
    holds = tail_integral.Tails(n=3, smallest_rate=0.125, at=7, failures=(), curve=(0.1, 0.2))
    found = tail_integral._judge_tails([holds, fails])
    assert (found.verdict, found.witness.n, found.witness.t) == (Verdict.REFUTED, 2, 5)
    assert [quantity.value for quantity in found.evidence.values()] == [0.05, 1, 2]
    assert found.sharpness[0].needed == 20.0
    assert found.sharpness[0].at == "n = 2, t = 6"
    assert "P(τ ≥ 5) is 0.9; the bound is 1.46323" in found.counterexample  # 2 exp(−5/16)
    proven = tail_integral._judge_tails([holds])
    assert (proven.verdict, proven.sharpness[0].needed) == (Verdict.CERTIFIED, 8.0)
    assert proven.sharpness[0].holds_with == pytest.approx(float(1 / tail_integral.sharpest_rate()), rel=1e-9)


@pytest.mark.parametrize("profile", list(Profile))
def test_the_table_of_means_ends_with_the_largest_n(profile):
    largest = stopping_mean._LARGEST[profile]
    exact = {n: Fraction(n, n + 1) for n in range(16, largest + 1)}
    rows = stopping_mean._table(stopping_mean.Means(exact=exact, doubling=(), disagreement=None)).rows
    assert [row[0] for row in rows[:4]] == [16, 17, 18, 19]
    assert rows[-1][0] == largest
    assert {32, 64} < {row[0] for row in rows}
    for n, mean, share in rows:
        assert (mean, share) == pytest.approx((n * n / (n + 1), n / (n + 1)))


def test_the_constant_of_the_divergence_is_read_off_the_grid():
    statement, sides = kl_bound.KlBound(), {"largest": (0.1, 0.1), "bound": (0.2, 0.2)}
    found = [
        kl_bound.Ratio(epsilon=0.01, ratio=(0.4975, 0.4976), **sides),
        kl_bound.Ratio(epsilon=1.0, ratio=(0.2689, 0.269), **sides),
    ]
    decision = statement.decide(statement.readings[0], found)
    assert decision.verdict is Verdict.CERTIFIED
    largest, typical, smallest = decision.evidence.values()
    assert (largest.value, typical.value, smallest.value) == (0.4976, 0.269, 0.5)
    assert "at ε = 0.01;" in largest.note
    assert "at least 0.497500 from the grid" in smallest.note
    above = [*found, kl_bound.Ratio(epsilon=2.0, ratio=(1.01, 1.02), **sides)]
    assert statement.decide(statement.readings[0], above).verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("x", "words"), [(1, "+L"), (-1, "−L"), (0, "0"), ("1/2", "0.5 L"), ("-3/4", "-0.75 L")]
)
def test_gradients_in_words(x, words):
    assert present._multiple(Fraction(x)) == words


def test_the_corrected_lemma_says_up_to_where_it_is_proven():
    corrected = next(reading for reading in READINGS if reading.id == "corrected")
    assert f"0 < ε̃ ≤ {float(EPSILON_MAX):g} and 0 < δ ≤ {float(DELTA_MAX):g}" in corrected.statement
