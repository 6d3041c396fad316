"""``regret``: the verdict turns when the claim is strengthened, repaired, or the algorithm broken."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dpsco_verify.algorithm import NoiseConvention, RecordedTape, private_sgd, utility_step_size
from dpsco_verify.evidence import Verdict
from dpsco_verify.geometry import Box
from dpsco_verify.papers.arora2020.regret import bounds, certificates, paths, proof
from dpsco_verify.papers.arora2020.regret.certificates import (
    RegretConstant,
)
from dpsco_verify.papers.arora2020.regret.statement import Regret
from dpsco_verify.papers.arora2020.utility.instances import DIAMETER, NORM_ARBITRARY, NORM_ARGMIN
from dpsco_verify.problems import Linear

pytestmark = pytest.mark.slow  # runs of the quick profile


def claim(monkeypatch, constant):
    """Let the corollary, and what the checker knows of it, claim another constant."""
    monkeypatch.setattr(Regret, "constant", constant)
    monkeypatch.setattr(certificates, "CLAIMED", constant)


@pytest.mark.parametrize("reading", ["diameter", pytest.param("norm-argmin", marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("constant", "verdict"),
    [
        (Fraction(9, 10), Verdict.REFUTED),  # the drift at n = 2 needs 0.914
        pytest.param(Fraction(1), Verdict.INCONCLUSIVE, marks=pytest.mark.long),
        (Fraction(5, 4), Verdict.INCONCLUSIVE),  # proven with ≤, certificates are strict
        (Fraction(13, 10), Verdict.CERTIFIED),
    ],
)
def test_another_constant(verify, monkeypatch, reading, constant, verdict):
    claim(monkeypatch, constant)
    assert verify(f"regret/{reading}")[0].verdict is verdict


def test_a_larger_constant_repairs_any_start(verify, certificate_of, monkeypatch):
    claim(monkeypatch, Fraction(14, 5))  # above 11/4
    finding, result = verify("regret/norm-arbitrary")
    assert finding.verdict is Verdict.CERTIFIED
    assert isinstance(certificate_of(finding, result).witness, RegretConstant)


def test_no_constant_repairs_the_variance_but_the_other_convention_does(verify, monkeypatch):
    claim(monkeypatch, Fraction(20))
    finding, _ = verify("regret/diameter-variance-sigma")
    assert finding.verdict is Verdict.REFUTED
    assert verify("regret/diameter")[0].verdict is Verdict.CERTIFIED


def test_an_algorithm_that_walks_uphill_is_noticed(verify, monkeypatch):
    """Steps along −g give paths that violate the deterministic inequality."""
    right = paths.private_sgd

    class Uphill(Linear):
        def subgradient(self, w, z):
            return -super().subgradient(w, z)

    def broken(data, *, loss, **keywords):
        return right(data, loss=Uphill() if isinstance(loss, Linear) else loss, **keywords)

    monkeypatch.setattr(paths, "private_sgd", broken)
    finding, result = verify("regret/diameter")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "not those of the algorithm" in finding.summary
    assert result.record.exit_code == 3


def test_steps_that_are_too_long_are_noticed(verify, monkeypatch):
    right = paths.private_sgd
    monkeypatch.setattr(
        paths, "private_sgd", lambda data, *, step_size, **k: right(data, step_size=3 * step_size, **k)
    )
    assert verify("regret/diameter")[0].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("geometry", [DIAMETER, NORM_ARGMIN, NORM_ARBITRARY])
@pytest.mark.parametrize("n", [2, 3, 16, 33])
def test_the_closed_form_is_the_regret_of_a_run(geometry, n):
    """Without noise the drift's regret does not depend on the draws: the implementation must have it exactly."""
    reach = geometry.distance_factor
    box = Box([0.0], [reach])
    rng = np.random.default_rng(n)
    tape = RecordedTape(rng.integers(n, size=(200 * n, 1, 1)), np.zeros((200 * n, 1, 1)))
    eta = utility_step_size(diameter=1.0, lipschitz=1.0, sigma=0.0, n=n, dimension=1)
    run = private_sgd(
        np.ones((n, 1)),
        loss=Linear(),
        convex_set=box,
        step_size=eta,
        sigma=0.0,
        lipschitz=1.0,
        tape=tape,
        initial_point=[0.0],
        transcript=True,
    )
    fresh = run.transcript.fresh[:, 0]
    regret = float(np.sum((reach - run.transcript.iterates[:-1, 0])[fresh])) / math.sqrt(n)
    assert regret == pytest.approx(bounds.drift_regret(n, reach, 0.0), rel=1e-12)


def test_at_squares_the_drift_is_the_bound_plus_one():
    """Σ_{k≤2s} (2 − k/s) = 2s + 1 with s = √n, from n = 16 on, where ⌊n/2⌋ + 1 ≥ 2s + 1."""
    for s in (4, 5, 10, 30):
        exact = sum((2 - Fraction(k, s) for k in range(2 * s + 1)), Fraction(0))
        assert exact == 2 * s + 1
        assert bounds.drift_regret(s * s, 2.0, 0.0) == pytest.approx(float(exact / s), rel=1e-12)


@pytest.mark.parametrize("kappa", [1.0, 2.0])
def test_the_proven_constant_is_above_the_drift_and_largest_at_two(kappa):
    proven = {n: bounds.proven_constant(n, kappa) for n in range(2, 200)}
    assert max(proven, key=lambda n: proven[n]) == 2
    assert proven[2] == (Fraction(kappa) ** 2 + Fraction(3, 2)) / 2
    for n in (2, 3, 10, 50, 199):
        for sigma in (0.0, 0.1, 1.0):
            assert bounds.drift_regret(n, kappa, sigma) < proven[n]


def test_the_lower_bound_with_noise_is_below_simulation():
    """The closed form bounds the mean regret from below; runs differ from it by far more than their spread.

    Each run's regret lies in [0, mκ/(√n(1 + σ))], so by Hoeffding the mean of 400 runs is below its expectation by more
    than the allowance with probability below 1e-9.
    """
    n, runs = 16, 400
    found = paths.follow(
        instance="drift",
        geometry=NORM_ARBITRARY,
        n=n,
        sigma_over_lipschitz=0.05,
        noise=NoiseConvention.COVARIANCE_SIGMA_SQUARED,
        runs=runs,
        seed=11,
        name="cross-check",
    )
    span = (n // 2 + 1) * 2.0 / (math.sqrt(n) * 1.05)
    allowance = span * math.sqrt(math.log(1e9) / (2 * runs))
    assert found.mean_regret >= bounds.drift_regret(n, 2.0, 0.05) - allowance


def test_the_papers_own_mean_does_not_give_the_corollary(verify, monkeypatch):
    def step():
        return next(s for s in verify("regret/diameter")[0].proof_steps if s.id == "own-mean")

    assert step().verdict is Verdict.REFUTED
    assert step().evidence["constant that follows"].value == 2.5
    monkeypatch.setattr(proof, "OWN_MEAN", Fraction(3, 2))
    assert step().verdict is Verdict.CERTIFIED
