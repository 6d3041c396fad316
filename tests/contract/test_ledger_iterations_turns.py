"""The statements about the run of Algorithm 1: strengthen, break or repair each, and compute it by another route."""

from __future__ import annotations

import dataclasses
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpsco_verify.algorithm import (
    Averaging,
    NoiseConvention,
    Options,
    StoppingRule,
    private_sgd,
    run_ensemble,
)
from dpsco_verify.algorithm.stopping_law import survival, tail_exact
from dpsco_verify.algorithm.tape import RecordedTape
from dpsco_verify.evidence import Verdict, checker
from dpsco_verify.geometry import Box
from dpsco_verify.papers.arora2020.fresh_sum import statement as fresh_sum
from dpsco_verify.papers.arora2020.fresh_sum.certificates import FreshSumInstance
from dpsco_verify.papers.arora2020.gradient_queries import statement as gradient_queries
from dpsco_verify.papers.arora2020.output import statement as output
from dpsco_verify.papers.arora2020.stopping_mean import statement as stopping_mean
from dpsco_verify.papers.arora2020.stopping_mean.certificates import StoppingMeanConstant
from dpsco_verify.papers.arora2020.stopping_tail import law
from dpsco_verify.papers.arora2020.tail_integral import derivation as tail_derivation
from dpsco_verify.papers.arora2020.tail_integral import statement as tail_integral
from dpsco_verify.papers.arora2020.tail_integral.certificates import TailIntegralViolation
from dpsco_verify.problems import Linear

# --- stopping-mean


@pytest.mark.parametrize("rule", list(StoppingRule))
def test_the_mean_is_the_sum_of_the_tails(rule):
    found = stopping_mean.means(rule=rule, counter=False, largest=40, doublings=5)
    for n in (16, 17, 40):
        tails = survival(n, law.points_at_stop(rule, n), 60 * n)
        assert math.fsum(tails) / n == pytest.approx(float(found.exact[n]), rel=1e-12)
    assert dict(found.doubling)[32] == pytest.approx(float(found.exact[32]), rel=1e-14)


@pytest.mark.parametrize("counter", [False, True])
@pytest.mark.parametrize("rule", [StoppingRule.LOOP, StoppingRule.TEXT])
def test_the_supremum_lies_at_the_smallest_sizes(rule, counter):
    """The certificate's monotonicity, size by size up to 3000."""
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, 3001))])
    ratios = {
        n: harmonic[n] - harmonic[n - law.points_at_stop(rule, n)] + int(counter) / n for n in range(16, 3001)
    }
    assert max(ratios, key=ratios.get) in {16, 17}


@pytest.mark.slow
@pytest.mark.parametrize("key", ["loop", "loop-counter", "text", "text-counter"])
def test_a_smaller_constant_is_not_certified(verify, certificate_of, key):
    finding, result = verify(f"stopping-mean/{key}")
    constant = Fraction(certificate_of(finding, result).witness.constant)
    with pytest.raises(checker.Rejected):
        checker.issue(
            "stopping-mean",
            key,
            StoppingMeanConstant(constant=str(constant - Fraction(1, 1000))),
        )


def test_waiting_for_all_points_is_not_certified(verify, monkeypatch):
    monkeypatch.setattr(law, "points_at_stop", lambda rule, n: n)
    monkeypatch.setattr(StoppingRule, "distinct_points", lambda self, n: n)
    assert verify("stopping-mean/loop")[0].verdict is Verdict.INCONCLUSIVE


def test_half_of_the_points_repair_the_mean(verify, monkeypatch):
    monkeypatch.setattr(law, "points_at_stop", lambda rule, n: (n + 1) // 2)
    monkeypatch.setattr(StoppingRule, "distinct_points", lambda self, n: (n + 1) // 2)
    assert verify("stopping-mean/all-points")[0].verdict is not Verdict.REFUTED


def test_an_implementation_that_stops_elsewhere_is_noticed(verify, monkeypatch):
    monkeypatch.setattr(StoppingRule, "distinct_points", lambda self, n: min(n, n // 2 + 2))
    for key in ("stopping-mean/loop", "gradient-queries/loop"):
        assert verify(key)[0].verdict is Verdict.INCONCLUSIVE


# --- tail-integral


@pytest.mark.parametrize(
    ("rate", "verdict"),
    [("1/10", Verdict.CERTIFIED), ("1/5", Verdict.INCONCLUSIVE), ("1/2", Verdict.INCONCLUSIVE)],
)
def test_a_faster_tail_is_certified_up_to_what_is_proven(verify, monkeypatch, rate, verdict):
    monkeypatch.setattr(tail_integral, "RATE", Fraction(rate))
    assert verify("tail-integral/literal")[0].verdict is verdict


def test_half_of_the_points_repair_the_tail(verify, monkeypatch):
    monkeypatch.setattr(law, "points_at_stop", lambda rule, n: (n + 1) // 2)
    assert verify("tail-integral/all-points")[0].verdict is not Verdict.REFUTED


def test_the_derivation_holds_where_it_reaches(verify, monkeypatch):
    monkeypatch.setattr(tail_derivation, "_GRID", tuple(Fraction(k, 100) for k in range(200, 221)))
    assert verify("tail-integral/derivation")[0].verdict is Verdict.HOLDS_ON_GRID


def test_the_last_horizon_is_the_root():
    low, high = tail_integral.derivation().last
    root = float(mpmath.findroot(lambda x: 0.5 - mpmath.exp(-x) - x / mpmath.sqrt(32), 2.2))
    assert low - 1e-12 <= root <= high + 1e-12


@pytest.mark.parametrize(("n", "t"), [(16, 32), (16, 40), (20, 45)])
def test_inclusion_and_exclusion_give_the_recursions_tail(n, t):
    certificate = checker.issue("tail-integral", "all-points", TailIntegralViolation(n=n, t=t))
    assert float(certificate.left) == pytest.approx(float(tail_exact(n, n, t - 1)), rel=1e-15)


@pytest.mark.parametrize("n", [16, 17, 25])
def test_the_tail_of_the_literal_reading_is_the_rational_one(n):
    (found,) = tail_integral.exact_tails(rule=StoppingRule.LOOP, counter=True, sizes=(n,))
    for t in range(2 * n, 4 * n + 1, 7):
        exact = tail_exact(n, n // 2 + 1, t - 2)  # τ = T + 1 ≥ t
        assert found.curve[t - 2 * n] == pytest.approx(float(exact), rel=1e-12)
        assert exact <= math.exp(-float(tail_integral.sharpest_rate()) * t)


# --- gradient-queries


def test_a_loss_that_is_asked_twice_is_noticed(verify, monkeypatch):
    class Twice(gradient_queries.CountedLoss):
        def subgradient(self, w, z):
            super().subgradient(w, z)
            return super().subgradient(w, z)

    monkeypatch.setattr(gradient_queries, "CountedLoss", Twice)
    finding, result = verify("gradient-queries/text")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert result.record.exit_code == 3


# --- output


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_the_undefined_probability_by_enumeration(n):
    m = n // 2 + 1
    length = max(n - 2, 1)  # later stops leave nothing undefined
    bad = 0
    for draws in itertools.product(range(1, n + 1), repeat=length):
        stop = next((t for t in range(1, length + 1) if len(set(draws[:t])) == m), None)
        bad += stop is not None and max(draws[:stop]) > stop + 1
    assert output.undefined_probability(n, m) == Fraction(bad, n**length)


@pytest.mark.slow
def test_the_implementation_is_undefined_as_often():
    """Hoeffding: 20,000 runs are further than 0.024 from the exact probability with probability below 2e-10."""
    n, runs = 8, 20_000
    found = run_ensemble(
        np.zeros((runs, n, 1)),
        loss=Linear(),
        convex_set=Box([-1.0], [1.0]),
        step_size=1.0,
        sigma=0.0,
        lipschitz=1.0,
        rng=np.random.default_rng(0),
        options=Options(averaging=Averaging.DATA_INDICES),
    )
    exact = float(output.undefined_probability(n, n // 2 + 1))
    assert 0.1 < exact < 0.9
    assert abs((~found.defined).mean() - exact) < 0.024


def test_an_output_over_all_points_is_defined(verify, monkeypatch):
    monkeypatch.setattr(law, "points_at_stop", lambda rule, n: n)
    assert verify("output/literal")[0].verdict is Verdict.HOLDS_ON_GRID


@pytest.mark.slow
@pytest.mark.parametrize("key", ["output/literal", "output/corrected"])
def test_an_implementation_that_averages_something_else_is_noticed(verify, monkeypatch, key):
    right = output.private_sgd

    def wrong(*arguments, **keywords):
        run = right(*arguments, **keywords)
        return run if run.output is None else dataclasses.replace(run, output=run.output + 1e-6)

    monkeypatch.setattr(output, "private_sgd", wrong)
    assert verify(key)[0].verdict is Verdict.INCONCLUSIVE


# --- fresh-sum


class Quadratic(Linear):
    """``(w − x)²/2``."""

    def value(self, w, z):
        return ((w - z) ** 2).sum(axis=-1) / 2

    def subgradient(self, w, z):
        return w - z


@pytest.mark.parametrize("step", [0.25, 0.5, 1.0])
def test_the_quadratic_instance_by_running_the_algorithm(step):
    """Given the draws, the mean over the data is exact: all sign patterns of the n points, each with the same tape."""
    n = 6
    m = n // 2 + 1
    draws = np.array([2, 2, 0, 5, 0, 3])[:, np.newaxis, np.newaxis]
    tape = RecordedTape(draws, np.zeros((6, 1, 1)))
    losses = risks = 0.0
    patterns = list(itertools.product((-1.0, 1.0), repeat=n))
    for data in patterns:
        run = private_sgd(
            np.array(data)[:, np.newaxis],
            loss=Quadratic(),
            convex_set=Box([-1.0], [1.0]),
            step_size=step,
            sigma=0.0,
            lipschitz=2.0,
            tape=tape.of_run(0),
            initial_point=[0.0],
            options=Options(noise=NoiseConvention.COVARIANCE_SIGMA_SQUARED),
            transcript=True,
        )
        fresh = np.flatnonzero(run.transcript.fresh[:, 0])
        w = run.transcript.iterates[fresh, 0]
        x = np.array(data)[run.transcript.draws[fresh, 0]]
        losses += ((w - x) ** 2).sum() / 2
        risks += (float(run.output[0]) ** 2 + 1) / 2
    exact = fresh_sum.quadratic(n, m, Fraction(step))
    assert losses / len(patterns) == pytest.approx(float(exact.fresh_sum), rel=1e-12)
    assert risks / len(patterns) == pytest.approx(float(exact.risk), rel=1e-12)


@pytest.mark.parametrize("step", ["1/4", "1/2", "1"])
def test_the_checkers_enumeration_gives_the_moments(step):
    certificate = checker.issue("fresh-sum", "corrected", FreshSumInstance(n=10, step=step))
    exact = fresh_sum.quadratic(10, 6, Fraction(step))
    assert float(certificate.left) == pytest.approx(float(exact.fresh_sum), rel=1e-15)
    assert float(certificate.right) == pytest.approx(float(exact.points * exact.risk), rel=1e-15)


def test_all_points_repair_the_factor(verify, monkeypatch):
    monkeypatch.setattr(law, "points_at_stop", lambda rule, n: n)
    finding, _ = verify("fresh-sum/literal")
    assert finding.verdict is Verdict.HOLDS_ON_GRID


def test_more_than_the_number_of_terms_is_not_certified(verify, monkeypatch):
    right = fresh_sum.instances

    def heavier(*, sizes):
        return [dataclasses.replace(i, points=i.points + 1) for i in right(sizes=sizes)]

    monkeypatch.setattr(fresh_sum, "instances", heavier)
    finding, _ = verify("fresh-sum/corrected")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "violated by" in finding.summary
