"""Both sides of certificates by other routes, and the edges of what they admit.

That an inequality is accepted says little of its sides: most have room, and a wrong constant keeps them apart.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpsco_verify.evidence.checker import Rejected, ball
from dpsco_verify.evidence.checker.nulls import Between, Null
from dpsco_verify.evidence.checker.sampling import least_gap
from dpsco_verify.papers.arora2020.duality.certificates import curvatures
from dpsco_verify.papers.arora2020.fresh_sum.certificates import FreshSumInstance, FreshSumViolation
from dpsco_verify.papers.arora2020.gradient_queries.certificates import GradientQueries
from dpsco_verify.papers.arora2020.output.certificates import OutputDefined
from dpsco_verify.papers.arora2020.regret.certificates import (
    RegretConstant,
    RegretDriftViolation,
    RegretVarianceViolation,
)
from dpsco_verify.papers.arora2020.stopping_mean.certificates import (
    StoppingMeanConstant,
    StoppingMeanUnbounded,
)
from dpsco_verify.papers.arora2020.stopping_tail.certificates import (
    StoppingTailExponent,
    StoppingTailViolation,
)
from dpsco_verify.papers.arora2020.tail_integral.certificates import (
    McDiarmidGap,
    TailIntegralExponent,
    TailIntegralViolation,
)
from dpsco_verify.papers.arora2020.utility.certificates import (
    UtilityConstant,
    UtilityDriftViolation,
    UtilityVarianceViolation,
)
from dpsco_verify.papers.bassily2014.noisy_sgd_erm.certificates import NoisySgdViolation
from dpsco_verify.papers.bassily2019.minibatch.certificates import MinibatchViolation
from dpsco_verify.papers.feldman2020.iteration_sgd.certificates import IterationStepViolation
from dpsco_verify.papers.feldman2020.phased.certificates import PhasedErmNoise, PhasedSgdNoise

PUSH = 1 / (4 * math.sqrt(2 * math.pi))
"""η E[N⁺] at n = 4 and σ = 1, where η = 1/4."""


def harmonic(n: int) -> Fraction:
    return sum((Fraction(1, k) for k in range(1, n + 1)), Fraction(0))


def exponent(horizon: float) -> float:
    """Return ``p(h − a − a ln(h/a))``, Janson's exponent over n at p = 1/2 and a = ln(2/(1 − 2/16)) = ln(16/7)."""
    a = math.log(16 / 7)
    return (horizon - a - a * math.log(horizon / a)) / 2


def minibatch(**changes) -> MinibatchViolation:
    fields = {"n": 150, "dimension": 20, "epsilon": "1", "delta": "1/1000000", "threshold": "22"}
    return MinibatchViolation(**fields | changes)


def iteration_step(**changes) -> IterationStepViolation:
    fields = {"dimension": 100, "factor": "10", "epsilon": "1", "delta": "1/1000000", "threshold": "7/20"}
    return IterationStepViolation(**fields | changes)


@pytest.mark.parametrize(
    ("reading", "witness", "left", "right"),
    [
        # κ² + ln 2 for the two κ
        ("diameter", UtilityConstant(constant="5/2"), 2.5, 1 + math.log(2)),
        ("norm-arbitrary", UtilityConstant(constant="5/2"), 2.5, 4 + math.log(2)),
        # n = 4, η = 1/2, three fresh draws: gaps of 2, 3/2 and 1
        ("norm-arbitrary", UtilityDriftViolation(n=4, sigma="0"), 3 / 2, 5 / 4),
        # n = 25, η = 1/5, thirteen: gaps of 2, 9/5, …, 1/5, 0, and 0 from there on
        ("norm-arbitrary", UtilityDriftViolation(n=25, sigma="0"), 11 / 13, 1 / 2),
        # E T_k = 1, 7/3, 13/3: the gaps are 2, 7/4 − (4/3) push and 3/2 − (10/3) push
        ("norm-arbitrary", UtilityDriftViolation(n=4, sigma="1"), 7 / 4 - 14 / 9 * PUSH, 5 / 2),
        # η = 1/12 and √σ = 2: (1 + 1/6)/(1/6) = 7
        (
            "diameter-variance-sigma",
            UtilityVarianceViolation(n=4, lipschitz="2", sigma="4"),
            2 * norm.sf(7),
            15 / 2,
        ),
        ("diameter", RegretConstant(constant="2"), 2, 5 / 4),
        ("norm-arbitrary", RegretConstant(constant="2"), 2, 11 / 4),
        ("norm-arbitrary", RegretDriftViolation(n=4, sigma="1", constant="3"), 21 / 4 - 14 / 3 * PUSH, 12),
        ("diameter", RegretDriftViolation(n=4, sigma="1", constant="2"), 9 / 4 - 14 / 3 * PUSH, 8),
        # n = 16, η = 1/4, nine fresh draws: gaps of 1, 3/4, 1/2, 1/4, 0, and 0 from there on
        ("norm-argmin", RegretDriftViolation(n=16, sigma="0", constant="2"), 5 / 2, 8),
        (
            "diameter-variance-sigma",
            RegretVarianceViolation(n=4, lipschitz="2", sigma="4", constant="2"),
            6 * norm.sf(7),
            24,
        ),
        # H_n − H_{n−m}, with 1/n for the counter, is largest at n = 16 for m = ⌊n/2⌋ + 1, at 17 for ⌈n/2⌉
        ("loop", StoppingMeanConstant(constant="3/4"), 3 / 4, float(harmonic(16) - harmonic(7))),
        (
            "loop-counter",
            StoppingMeanConstant(constant="3/4"),
            3 / 4,
            float(harmonic(16) - harmonic(7)) + 1 / 16,
        ),
        ("text", StoppingMeanConstant(constant="1/2"), 1 / 2, float(harmonic(17) - harmonic(8))),
        (
            "text-counter",
            StoppingMeanConstant(constant="1/2"),
            1 / 2,
            float(harmonic(17) - harmonic(8)) + 1 / 17,
        ),
        ("all-points", StoppingMeanUnbounded(constant=1000, doublings=2000), 1001, 1000),
        ("loop", StoppingTailExponent(from_n=16), exponent(2), 1 / 16),
        ("literal", TailIntegralExponent(rate="1/10"), exponent(31 / 16), 1 / 5),
        ("derivation", McDiarmidGap(horizon="4"), math.exp(-4) + 4 / math.sqrt(32), 1 / 2),
        # ⌊n/2⌋ + 1 is n at 2, and ⌈n/2⌉ is 2 at 3
        ("loop", GradientQueries(constant="1"), 1, 1),
        ("text", GradientQueries(constant="1/2"), 1 / 2, 2 / 3),
        ("all-points", GradientQueries(constant="1"), 1, 1),
        ("literal", FreshSumViolation(n=5, level="2"), 10, 6),
        # A full step goes to the last x: losses of 1/2 and five times 1, and w averages x₁ … x₅ over six
        ("corrected", FreshSumInstance(n=10, step="1"), 11 / 2, 6 * (5 / 36 + 1) / 2),
        ("corrected", OutputDefined(n=2, draws=(*[1] * 999, 2)), 1001, 1000),
        ("printed", PhasedSgdNoise(points=1000, below="199/100"), 4, 2),
        ("printed", PhasedErmNoise(n=7, lipschitz="2", step_size="1/3"), 8 / 3, 2),
    ],
)
def test_both_sides_by_hand(reading, witness, left, right):
    found = witness.sides(reading)
    assert [float(side.mid()) for side in found[:2]] == pytest.approx([left, right], rel=1e-12)


def test_sampling_with_replacement_by_its_binomial_law():
    """Two draws of two points: K is 0, 1, 2 with probabilities 1/4, 1/2, 1/4."""
    found = least_gap(2, 2, ball(4), epsilon=Fraction(1, 2), threshold=Fraction(1))
    tail = norm.sf([0.5, -0.5, -1.5])
    assert float(found) == pytest.approx(float(tail @ [0.25, 0.5, 0.25]) - math.exp(0.5) * tail[0], rel=1e-12)


@pytest.mark.parametrize("dimension", [100, 10_000])
def test_the_instance_with_large_steps(dimension):
    """At d = 100 the step leaves the linear part with probability 0.39, at 10,000 it does not."""
    edge = 2 * math.log(1e6)
    kappa = math.sqrt(edge + 2) - math.sqrt(edge)
    batch = math.ceil(math.sqrt(2 * dimension) / kappa)
    law = norm(scale=math.sqrt(82 / dimension))
    outside = 2 * norm.sf((1 / 10 - 1 / batch) * math.sqrt(dimension))
    gap = law.sf(0.35 - 9 / batch) - outside - math.e * (law.sf(0.35 + 9 / batch) + outside)
    found = iteration_step(dimension=dimension).sides("any-step-size")[0]
    assert float(found.mid()) == pytest.approx(gap, rel=1e-9)


def test_the_last_iterate_by_its_increments():
    """Three steps at n = 2: the tails of the sums of the last one, two and three increments."""
    sigma = 2 * math.sqrt(32 * math.log(2 / 0.99) * -math.log(0.99)) / 0.5
    steps = 1 / np.sqrt(np.array([3.0, 2.0, 1.0]) * (4 + sigma**2))
    there = norm.sf((0.5 / steps[0] - 2) / sigma) / 2
    without = norm.sf((0.5 + 2 * np.cumsum(steps)) / (sigma * np.sqrt(np.cumsum(steps**2)))).sum()
    witness = NoisySgdViolation(n=2, epsilon="1/2", delta="99/100", threshold="1/2")
    found = witness.sides("every-epsilon")[0]
    assert float(found.mid()) == pytest.approx(there - math.exp(0.5) * without, rel=1e-9)


@pytest.mark.parametrize(
    ("reading", "witness"),
    [
        ("diameter", UtilityConstant(constant="5/2")),
        ("loop-counter", StoppingMeanConstant(constant="851/1000")),
        ("text", GradientQueries(constant="2003/3000")),
        ("all-points", StoppingTailViolation(n=400, points=400, draws=800)),
        ("all-points", TailIntegralViolation(n=20, t=10_000)),
        ("derivation", McDiarmidGap(horizon="2")),
        ("corrected", FreshSumInstance(n=12, step="1/1000")),
        # δ = 1/n², and T = 2 from 17 to 25 dimensions: (εn)²/(32 log(1/δ)) = 50.9
        ("output-before", minibatch(dimension=30, delta="1/22500")),
        ("output-before", minibatch(dimension=17)),
        ("output-before", minibatch(dimension=25)),
        # T = ⌊n/8⌋ = 100
        ("every-epsilon", minibatch(n=800, dimension=1, epsilon="5")),
    ],
)
def test_what_is_just_admitted(reading, witness):
    witness.sides(reading)


@pytest.mark.parametrize(
    ("reading", "witness", "reason"),
    [
        ("norm-arbitrary", UtilityDriftViolation(n=1, sigma="0"), "below 2"),
        ("norm-arbitrary", UtilityDriftViolation(n=4, sigma="-1/10"), "negative"),
        ("diameter-variance-sigma", UtilityVarianceViolation(n=1, lipschitz="1", sigma="1"), "below 2"),
        ("diameter-variance-sigma", UtilityVarianceViolation(n=4, lipschitz="0", sigma="1"), "positive"),
        ("diameter-variance-sigma", UtilityVarianceViolation(n=4, lipschitz="1", sigma="0"), "positive"),
        ("diameter", RegretDriftViolation(n=1, sigma="0", constant="2"), "below 2"),
        ("diameter", RegretDriftViolation(n=4, sigma="-1/10", constant="2"), "negative"),
        ("diameter", RegretDriftViolation(n=4, sigma="0", constant="199/100"), "below the claim's"),
        (
            "diameter-variance-sigma",
            RegretVarianceViolation(n=4, lipschitz="1", sigma="1", constant="199/100"),
            "below the claim's",
        ),
        (
            "diameter-variance-sigma",
            RegretVarianceViolation(n=4, lipschitz="0", sigma="1", constant="2"),
            "positive",
        ),
        ("text", StoppingMeanConstant(constant="723/1000"), "is reported"),
        ("all-points", StoppingMeanUnbounded(constant=999, doublings=1998), "below 1000"),
        ("all-points", StoppingTailViolation(n=401, points=401, draws=802), "above 400"),
        ("all-points", TailIntegralViolation(n=20, t=10_001), "outside"),
        ("text", GradientQueries(constant="67/100"), "is reported"),
        ("literal", FreshSumViolation(n=16, level="0"), "not positive"),
        ("corrected", FreshSumInstance(n=13, step="1/4"), "outside"),
        ("corrected", FreshSumInstance(n=10, step="1/1001"), "outside"),
        ("corrected", OutputDefined(n=2, draws=(*[1] * 1000, 2)), "more than 1000"),
        ("output-before", minibatch(epsilon="0"), "not positive"),
        ("output-before", minibatch(threshold="0"), "not positive"),
        ("output-before", minibatch(dimension=16), "T=3"),
        ("output-before", minibatch(dimension=26), "T=1"),
        ("every-epsilon", minibatch(n=799, dimension=1, epsilon="5"), "T=99 is below 100"),
        ("any-step-size", iteration_step(threshold="0"), "outside"),
        ("any-step-size", iteration_step(threshold="7/10"), "outside"),
        ("any-step-size", iteration_step(epsilon="0"), "positive"),
        ("printed", PhasedErmNoise(n=7, lipschitz="2", step_size="0"), "positive"),
    ],
)
def test_what_is_just_refused(reading, witness, reason):
    with pytest.raises(Rejected, match=reason):
        witness.sides(reading)


@pytest.mark.parametrize(("p", "step"), [("99/100", "1/2"), ("201/100", "1/2"), ("3/2", "0"), ("3/2", "1")])
def test_curvatures_are_for_p_from_1_to_2_and_steps_within_the_simplex(p, step):
    with pytest.raises(Rejected, match="is outside"):
        curvatures(Fraction(p), Fraction(step))


def test_a_null_hypothesis_has_its_name_and_no_other():
    null = Null(name="mean", parameters={"n": Between(low=1, high=3)})
    assert null.read('mean {"n":3}') == {"n": 3}
    for text in (
        'mea {"n":3}',
        'means {"n":3}',
        "mean",
        'mean {"n":4}',
        'mean {"n":0}',
        'mean {"n":1.0}',
        'mean {"n": 3}',
    ):
        with pytest.raises(Rejected):
            null.read(text)
