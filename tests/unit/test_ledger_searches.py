"""The searches in doubles say what the certificates say that are evaluated anew, and refuse at the same edges."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import Rejected
from dpsco_verify.papers.arora2020.risk import instances as risk
from dpsco_verify.papers.arora2020.risk.certificates import RiskDriftViolation
from dpsco_verify.papers.arora2020.utility import counterexample as utility
from dpsco_verify.papers.arora2020.utility.certificates import UtilityDriftViolation, UtilityVarianceViolation
from dpsco_verify.papers.arora2020.utility.instances import DIAMETER, NORM_ARBITRARY, NORM_ARGMIN, build
from dpsco_verify.papers.arora2020.utility.proof import proof_steps as utility_proof


def ratio(witness, reading):
    left, right, _ = witness.sides(reading)
    return float(left / right)


@pytest.mark.parametrize("n", [2, 3, 17, 400])
@pytest.mark.parametrize("sigma", [Fraction(0), Fraction(1, 100), Fraction(3)])
def test_the_drift_of_the_utility_theorem(n, sigma):
    witness = UtilityDriftViolation(n=n, sigma=str(sigma))
    assert utility.drift_ratio(n, float(sigma)) / 2.5 == pytest.approx(
        ratio(witness, "norm-arbitrary"), rel=1e-9
    )


@pytest.mark.parametrize("n", [2, 100, 10**4])
@pytest.mark.parametrize(
    ("lipschitz", "sigma"), [(Fraction(1, 10**6), Fraction(1, 10**6)), (Fraction(1), Fraction(2))]
)
def test_the_variance_of_the_utility_theorem(n, lipschitz, sigma):
    witness = UtilityVarianceViolation(n=n, lipschitz=str(lipschitz), sigma=str(sigma))
    found = utility.variance_ratio(n, float(lipschitz), float(sigma)) / 2.5
    assert found == pytest.approx(ratio(witness, "diameter-variance-sigma"), rel=1e-9)


@pytest.mark.parametrize("n", [16, 17, 1000])
@pytest.mark.parametrize("delta", [Fraction(1, 10**6), Fraction(9, 10)])
def test_the_drift_of_the_risk_bound(n, delta):
    witness = RiskDriftViolation(n=n, scale="1/2", delta=str(delta))
    found, steps = risk.drift_ratio(n, float(delta), first=5.0, second=20.0)
    assert found == pytest.approx(ratio(witness, "norm-arbitrary"), rel=1e-9)
    assert 1 <= steps <= n // 2 + 1


@pytest.mark.parametrize(
    ("name", "far", "argmin", "w", "norm", "diameter"),
    [
        ("drift", [-1.0], [0.0], [1.0], 1.0, 2.0),
        ("off-centre", [0.5], [0.5], [1.0], 1.0, 0.5),
        ("median", [-0.5], [0.0], [0.5], 0.5, 1.0),
        ("signs-4", [-0.5] * 4, [0.0] * 4, [0.5] * 4, 1.0, 2.0),
    ],
)
def test_runs_start_at_the_least_norm_or_opposite_the_minimiser(name, far, argmin, w, norm, diameter):
    for geometry, start, d in (
        (DIAMETER, far, diameter),
        (NORM_ARGMIN, argmin, norm),
        (NORM_ARBITRARY, far, norm),
    ):
        instance = build(name, geometry)
        assert instance.initial_point == pytest.approx(start, abs=1e-12)
        assert abs(instance.D - d) < 1e-12
        assert instance.population.risk([w])[0] == pytest.approx(instance.minimum_value)
        assert math.dist(start, w) <= geometry.distance_factor * d + 1e-12


def test_the_figures_of_the_proof_of_the_utility_theorem_by_hand():
    """At n = 16 the stop has seen m = 9 points, after E[T] = Σ 16/(16 − k) iterations."""
    mean = math.fsum(1.0 / (16 - k) for k in range(9))  # E[T]/16
    last = {"right side": 16.0, "left side for f ≡ 1, n = 16": 9.0}
    chain = {
        "constant that they give, n = 10⁶": 2e6 / (5e5 + 1),
        "constant that a careful proof gives": 1.0 + math.log(2.0),
    }
    for factor, verdict in ((1.0, Verdict.CERTIFIED), (2.0, Verdict.INCONCLUSIVE)):
        energy, regret, *others = utility_proof(factor, variance_is_sigma=False)
        assert (energy.verdict, regret.verdict) == (Verdict.CERTIFIED, verdict)
        assert figures(energy) == {"E‖ξ‖² at σ = 1/4, d = 1": 1 / 16}
        assert figures(regret) == pytest.approx(
            {
                "careful constant at n = 16": (factor**2 + mean) / 2,
                "careful constant, all n ≥ 16": (factor**2 + math.log(2) - math.log(1 - 2 / 16)) / 2,
            }
        )
        assert [step.verdict for step in others] == [Verdict.REFUTED, Verdict.REFUTED]
        assert [figures(step) for step in others] == [last, pytest.approx(chain)]
    energy, regret, *_ = utility_proof(1.0, variance_is_sigma=True)
    assert (energy.verdict, regret.verdict) == (Verdict.REFUTED, Verdict.INCONCLUSIVE)
    assert figures(energy) == {"E‖ξ‖² at σ = 1/4, d = 1": 1 / 4}
    # (D²/η + ηdσE[T])/2 in DG√n at σ = L = 1/100 and so G = 2/100
    (careful,) = figures(regret).values()
    assert careful == pytest.approx((1 + 0.01 * mean / 0.02**2) / 2)


def figures(step):
    return {words: quantity.value for words, quantity in step.evidence.items()}


def test_a_shorter_way_leaves_less_to_gain():
    """From a start κD away without noise nothing is left once k steps of η reach it."""
    n = 100
    gaps = [max(1.0 - k / 10.0, 0.0) for k in range(51)]
    assert utility.drift_ratio(n, 0.0, 1.0) == pytest.approx(sum(gaps) / 51 * 10, rel=1e-12)
    near, steps = risk.drift_ratio(10**5, 0.9, first=5.0, second=20.0, distance_factor=1.0)
    far, more = risk.drift_ratio(10**5, 0.9, first=5.0, second=20.0)
    assert near < far
    assert steps < more < 10**5 // 2


def test_the_members_found_are_the_best_of_their_ranges():
    silent = utility.silent_drift(2.0)
    assert all(utility.drift_ratio(n, 0.0) <= silent.ratio for n in (2, 5, 16, 18, 99, 1000, 10**4))
    assert silent.ratio == utility.drift_ratio(silent.n, 0.0)
    noisy, spread = utility.search_drift(), utility.search_variance()
    assert noisy.ratio == utility.drift_ratio(noisy.n, float(noisy.sigma))
    assert noisy.sigma >= Fraction(1, 1000)
    assert noisy.lipschitz == silent.lipschitz == 1
    assert spread.ratio == utility.variance_ratio(spread.n, float(spread.lipschitz), float(spread.sigma))
    assert all(
        utility.variance_ratio(n, s, s) <= spread.ratio for n in (16, 100, 10**4) for s in (1e-8, 1e-6, 1e-4)
    )
    # From a distance of D without noise the smallest n is the worst: no n from 2 on is left out.
    assert utility.silent_drift(1.0).n == max(range(2, 100), key=lambda n: utility.drift_ratio(n, 0.0, 1.0))


@pytest.mark.slow
def test_a_risk_drift_is_the_first_of_the_ladder_that_is_clear():
    found = risk.search_drift(first=5.0, second=20.0)
    assert found is not None
    assert found.ratio >= 1.01
    assert risk.drift_ratio(found.n, float(found.delta), first=5.0, second=20.0)[0] == found.ratio
    assert risk.drift_ratio(found.n, float(found.delta), first=5.0, second=20.0)[1] <= risk.MAX_STEPS
    needed = risk.needed_second(first=5.0, distance_factor=2.0)
    assert needed is not None
    second, n, delta = needed
    # With so much in the second term, and no more, the drift just meets the bound.
    assert risk.drift_ratio(n, delta, first=5.0, second=second)[0] == pytest.approx(1.0, rel=1e-9)
    assert risk.needed_second(first=1e6, distance_factor=2.0) is None


@pytest.mark.slow
def test_where_no_risk_drift_is_clear_the_best_of_the_ladder_is_found():
    first, second = 500.0, 2000.0
    ladder = [
        (risk.drift_ratio(10**k, float(delta), first=first, second=second), 10**k, delta)
        for delta in (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
        for k in range(3, 9)
    ]
    best = max((ratio, n, delta) for (ratio, steps), n, delta in ladder if steps <= risk.MAX_STEPS)
    found = risk.search_drift(first=first, second=second)
    assert best == (found.ratio, found.n, found.delta)
    assert found.delta == Fraction(1, 2)
    assert found.ratio < 1.0


def test_the_smallest_useful_n_is_the_first():
    for dimension, delta in ((1, 0.5), (10, 1e-6)):
        n = risk.smallest_useful_n(first=5.0, second=20.0, dimension=dimension, delta=delta)
        bounds = [
            5.0 / math.sqrt(k) + 20.0 * math.sqrt(dimension * -math.log(delta)) / (0.5 / math.sqrt(k) * k)
            for k in (n - 1, n)
        ]
        assert bounds[1] < 1.0 <= bounds[0]


@pytest.mark.parametrize(
    ("witness", "reading", "reason"),
    [
        (UtilityDriftViolation(n=1, sigma="0"), "norm-arbitrary", "n=1 is below 2"),
        (UtilityDriftViolation(n=2, sigma="-1/2"), "norm-arbitrary", "negative"),
        (
            UtilityVarianceViolation(n=1, lipschitz="1", sigma="1"),
            "diameter-variance-sigma",
            "n=1 is below 2",
        ),
        (UtilityVarianceViolation(n=2, lipschitz="0", sigma="1"), "diameter-variance-sigma", "positive"),
        (UtilityVarianceViolation(n=2, lipschitz="1", sigma="0"), "diameter-variance-sigma", "positive"),
        (RiskDriftViolation(n=15, scale="1/2", delta="1/2"), "norm-arbitrary", "n=15 is below 16"),
        (RiskDriftViolation(n=16, scale="51/100", delta="1/2"), "norm-arbitrary", "scale"),
        (RiskDriftViolation(n=16, scale="0", delta="1/2"), "norm-arbitrary", "scale"),
        (RiskDriftViolation(n=16, scale="1/2", delta="1"), "norm-arbitrary", "delta"),
        (RiskDriftViolation(n=16, scale="1/2", delta="0"), "norm-arbitrary", "delta"),
    ],
)
def test_what_is_out_of_range_is_refused(witness, reading, reason):
    with pytest.raises(Rejected, match=reason):
        witness.sides(reading)
