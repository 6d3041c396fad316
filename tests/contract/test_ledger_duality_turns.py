"""``duality`` and ``bregman-dual``: the verdicts turn when the claim is strengthened or a potential is broken."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import Shows
from dpsco_verify.geometry import Euclidean, NegativeEntropy, PNorm
from dpsco_verify.papers.arora2020.bregman_dual.certificates import BregmanDualTight
from dpsco_verify.papers.arora2020.bregman_dual.statement import Constant
from dpsco_verify.papers.arora2020.duality import certificates, curvature
from dpsco_verify.papers.arora2020.duality import statement as duality
from dpsco_verify.papers.arora2020.duality.certificates import DualityConstant, curvatures

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "constant", [pytest.param(Fraction(2, 5), marks=pytest.mark.long), Fraction(49, 100)]
)
@pytest.mark.parametrize("reading", ["literal", "tight"])
def test_a_constant_below_a_half_is_refuted(verify, certificate_of, monkeypatch, reading, constant):
    monkeypatch.setitem(BregmanDualTight.readings, reading, constant)
    monkeypatch.setitem(BregmanDualTight.shows, reading, Shows.REFUTES)
    finding, result = verify(f"bregman-dual/{reading}", Constant(value=constant, least=reading == "tight"))
    assert finding.verdict is Verdict.REFUTED
    witness = certificate_of(finding, result).witness
    assert isinstance(witness, BregmanDualTight)
    assert witness.constant == str(constant)


def test_a_constant_above_a_half_is_not_tight(verify):
    finding, _ = verify("bregman-dual/tight", Constant(value=Fraction(3, 5), least=True))
    assert finding.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    "reading",
    ["euclidean", *(pytest.param(other, marks=pytest.mark.long) for other in ("p-norm", "entropy-simplex"))],
)
def test_a_larger_alpha_is_refuted(verify, certificate_of, monkeypatch, reading):
    monkeypatch.setattr(
        duality.Duality, "claimed", staticmethod(lambda case: case.alpha * Fraction(101, 100))
    )
    monkeypatch.setattr(certificates, "LARGEST_MARGIN", Fraction(101, 100))
    assert verify(f"duality/{reading}")[0].verdict is Verdict.INCONCLUSIVE  # it certifies what is claimed
    monkeypatch.setattr(DualityConstant, "shows", Shows.REFUTES)
    finding, result = verify(f"duality/{reading}")
    assert finding.verdict is Verdict.REFUTED
    assert isinstance(certificate_of(finding, result).witness, DualityConstant)
    assert result.record.exit_code == 1


@pytest.mark.parametrize(
    ("reading", "potential", "method", "factor"),
    [
        ("euclidean", Euclidean, "divergence", 0.99),
        pytest.param("p-norm", PNorm, "divergence", 0.99, marks=pytest.mark.long),
        ("p-norm", PNorm, "conjugate_divergence", 1.01),
        ("entropy-simplex", NegativeEntropy, "divergence", 0.99),
    ],
)
def test_a_broken_divergence_is_noticed(verify, monkeypatch, reading, potential, method, factor):
    right = getattr(potential, method)
    monkeypatch.setattr(potential, method, lambda self, x, y: factor * right(self, x, y))
    finding, result = verify(f"duality/{reading}")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "contradicts the closed form" in finding.summary
    assert result.record.exit_code == 3


def test_a_broken_conjugate_leaves_the_bound_open(verify, monkeypatch):
    right = PNorm.conjugate_divergence
    monkeypatch.setattr(PNorm, "conjugate_divergence", lambda self, x, y: 1.01 * right(self, x, y))
    assert verify("bregman-dual/literal")[0].verdict is Verdict.INCONCLUSIVE


def test_a_wrongly_stated_constant_is_noticed(verify, monkeypatch):
    monkeypatch.setattr(PNorm, "strong_convexity", property(lambda self: self.p))
    assert verify("duality/p-norm")[0].verdict is Verdict.INCONCLUSIVE


def test_the_restricted_conjugate_repairs_the_entropy(verify, monkeypatch):
    """With log-sum-exp in place of the sum of exponentials no pair violates the constant 1."""
    assert verify("duality/entropy-unrestricted")[0].verdict is Verdict.REFUTED

    def restricted(self, x, y):
        pad = np.zeros_like(np.asarray(x, dtype=float))
        return curvature.softmax_divergence(
            np.concatenate([x, pad], axis=-1), np.concatenate([y, pad], axis=-1)
        )

    monkeypatch.setattr(NegativeEntropy, "conjugate_divergence", restricted)
    finding, _ = verify("duality/entropy-unrestricted")
    assert finding.verdict is not Verdict.REFUTED


@pytest.mark.parametrize("p", ["1", "9/8", "3/2", "2"])
def test_the_quotients_against_the_checkers_balls(p):
    """The implementation's doubles and the checker's balls agree on the extreme pairs, coded apart."""
    case = next(c for c in curvature.CASES if c.p == Fraction(p))
    potential = case.potential()
    step = 2.0**-4
    primal, dual, alpha = curvatures(case.p, Fraction(step))
    x, y = np.array([1 + step, 1 - step]), np.ones(2)
    if case.p == 1:
        x, y = x / 2, y / 2
        a, b = np.array([step, -step]), np.zeros(2)
        smooth = 2 * curvature.softmax_divergence(a, b) / step**2
    else:
        smooth = 2 * potential.conjugate_divergence(x, y) / potential.dual_norm(x - y) ** 2
    assert float(primal) == pytest.approx(
        float(2 * potential.divergence(x, y) / potential.norm(x - y) ** 2), rel=1e-12
    )
    assert float(dual) == pytest.approx(float(smooth), rel=1e-12)
    assert alpha == case.alpha


@pytest.mark.parametrize("dimension", [2, 5])
def test_pairs_for_the_entropy_are_inside_the_simplex(dimension):
    case = next(c for c in curvature.CASES if c.kind == "entropy-simplex")
    for points in curvature._primal(case, dimension, 20, np.random.default_rng(2)):
        assert (points > 0.0).all()
        np.testing.assert_allclose(points.sum(axis=-1), 1.0, rtol=0.0, atol=1e-13)


def test_log_sum_exp_against_mpmath():
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(2, 20, 4)) * 3.0
    mine = curvature.softmax_divergence(a, b)
    with mpmath.workdps(50):
        for row, (u, v) in enumerate(zip(a, b, strict=True)):
            weights = [mpmath.exp(x) for x in v]
            total = mpmath.fsum(weights)
            slope = mpmath.fsum(w / total * (x - y) for w, x, y in zip(weights, u, v, strict=True))
            exact = mpmath.log(mpmath.fsum(mpmath.exp(x) for x in u)) - mpmath.log(total) - slope
            assert abs(mine[row] - exact) <= 1e-12 * float(np.abs(u - v).max()) ** 2


def test_the_unrestricted_smoothness_grows_like_the_exponential():
    found = duality.explore_unrestricted(largest=5)
    np.testing.assert_allclose(np.diff(np.log(found.smoothness)), 1.0, rtol=1e-12)
    assert found.curvature_on_simplex == pytest.approx(1.0, rel=1e-5)
