"""The elementary statements: strengthen or repair each, see its verdict turn, and compute it by another route."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import binom

from dpsco_verify.evidence import Verdict
from dpsco_verify.papers.arora2020.azuma_step import statement as azuma_step
from dpsco_verify.papers.arora2020.dual_norm import statement as dual_norm
from dpsco_verify.papers.arora2020.exp_linear import statement as exp_linear
from dpsco_verify.papers.arora2020.kl_bound import statement as kl_bound


@pytest.mark.slow
@pytest.mark.parametrize(
    "key",
    [
        "exp-linear/literal",
        "kl-bound/literal",
        "azuma-step/literal",
        "azuma-step/corrected",
        "dual-norm/literal",
        "dual-norm/corrected",
    ],
)
def test_as_expected_with_a_certificate_that_is_accepted(verify, certificate_of, key):
    finding, result = verify(key)
    assert finding.as_expected
    assert result.record.exit_code == 0
    if finding.verdict in (Verdict.CERTIFIED, Verdict.REFUTED):
        certificate_of(finding, result)


@pytest.mark.parametrize(("factor", "end"), [("2", "1257/1000"), ("1999/1000", "157/125")])
def test_a_longer_range_or_a_smaller_factor_is_not_certified(verify, monkeypatch, factor, end):
    monkeypatch.setattr(exp_linear.ExpLinearStatement, "factor", Fraction(factor))
    monkeypatch.setattr(exp_linear.ExpLinearStatement, "end", Fraction(end))
    finding, _ = verify("exp-linear/literal")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "false at x" in finding.summary


def test_a_range_up_to_the_root_is_still_certified(verify, monkeypatch):
    monkeypatch.setattr(exp_linear.ExpLinearStatement, "end", Fraction("1.25643"))
    assert verify("exp-linear/literal")[0].verdict is Verdict.CERTIFIED


def test_the_end_of_the_range_is_lamberts():
    """``e^x = 1 + 2x`` iff ``x = −1/2 − W_{−1}(−e^{−1/2}/2)``."""
    low, high = exp_linear.last_point(Fraction(2))
    with mpmath.workdps(40):
        root = -mpmath.mpf(1) / 2 - mpmath.lambertw(-mpmath.exp(-mpmath.mpf(1) / 2) / 2, -1).real
        assert mpmath.mpf(low.numerator) / low.denominator <= root
        assert root <= mpmath.mpf(high.numerator) / high.denominator
    assert float(low) == pytest.approx(1.25643, abs=5e-6)


def test_the_cells_notice_a_violation():
    found = exp_linear.examine(factor=Fraction(2), end=Fraction(13, 10), cells=64)
    assert not found.end_holds
    assert found.cells_proven < 64


def test_half_of_the_kl_bound_is_the_limit(verify, monkeypatch):
    monkeypatch.setattr(kl_bound.KlBound, "constant", Fraction(51, 100))
    assert verify("kl-bound/literal")[0].verdict is Verdict.CERTIFIED
    monkeypatch.setattr(kl_bound.KlBound, "constant", Fraction(49, 100))
    finding, _ = verify("kl-bound/literal")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "randomised response has a larger divergence" in finding.summary


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0])
def test_randomised_response_is_the_extreme_pair(epsilon):
    """A linear programme over the law of r = dP/dQ on a fine grid in [e^−ε, e^ε]: maximise E r ln r, E r = 1."""
    r = np.exp(np.linspace(-epsilon, epsilon, 2001))
    best = linprog(
        -r * np.log(r),
        A_eq=np.vstack([np.ones_like(r), r]),
        b_eq=[1.0, 1.0],
        bounds=(0, None),
        method="highs",
    )
    extreme = float(kl_bound.randomised_response_kl(Fraction(epsilon)))
    assert -best.fun == pytest.approx(extreme, rel=1e-6)
    assert extreme == pytest.approx(epsilon * math.tanh(epsilon / 2), rel=1e-12)


def test_the_right_denominator_repairs_the_azuma_step(verify, monkeypatch):
    assert verify("azuma-step/literal")[0].verdict is Verdict.REFUTED
    monkeypatch.setattr(azuma_step, "PRINTED_POWER", 0)
    assert verify("azuma-step/literal")[0].verdict is Verdict.HOLDS_ON_GRID


@pytest.mark.parametrize("root", ["19/10", "21/10"])
def test_another_factor_under_the_root_is_another_exponent(verify, monkeypatch, root):
    monkeypatch.setattr(azuma_step.AzumaStep, "root", Fraction(root))
    assert verify("azuma-step/corrected")[0].verdict is Verdict.INCONCLUSIVE


def test_the_corrected_azuma_bound_holds_for_randomised_response():
    """The exact tail of the privacy loss of τ rounds of randomised response, a binomial, is below δ'."""
    with mpmath.workdps(30):
        for epsilon in (mpmath.mpf(1) / 10, mpmath.mpf(1) / 2, mpmath.mpf(1)):
            for tau in (1, 8, 64):
                for delta in (mpmath.mpf(1) / 10, mpmath.mpf(10) ** -4):
                    p = mpmath.exp(epsilon) / (1 + mpmath.exp(epsilon))
                    level = epsilon * mpmath.sqrt(
                        2 * tau * mpmath.log(1 / delta)
                    ) + tau * epsilon * mpmath.expm1(epsilon)
                    tail = sum(
                        mpmath.binomial(tau, k) * p**k * (1 - p) ** (tau - k)
                        for k in range(tau + 1)
                        if epsilon * (2 * k - tau) > level
                    )
                    assert tail <= delta


def test_the_literal_azuma_bound_is_exceeded_by_randomised_response():
    """Not a matter of notation: what the exponent as written promises of centred losses is false.

    The loss of τ rounds is ε(2K − τ) with K binomial, so its tail is exact.
    """
    epsilon, tau, delta = 0.1, 10_000, 0.5
    claimed = delta ** (1 / math.expm1(epsilon) ** 2)
    mean = tau * epsilon * math.tanh(epsilon / 2)
    deviation = epsilon * math.sqrt(2 * tau * math.log(1 / delta))
    wins = math.floor((mean + deviation) / (2 * epsilon) + tau / 2)
    tail = binom.sf(wins, tau, math.exp(epsilon) / (1 + math.exp(epsilon)))
    assert 1e6 * claimed < tail <= delta


def test_the_maximum_repairs_the_dual_norm(verify):
    assert verify("dual-norm/literal")[0].verdict is Verdict.REFUTED
    assert verify("dual-norm/literal", dual_norm.Extreme.GREATEST)[0].verdict is Verdict.HOLDS_ON_GRID


def test_a_wrong_conjugate_exponent_is_noticed(verify, monkeypatch):
    right = dual_norm.lp_norm
    monkeypatch.setattr(dual_norm, "lp_norm", lambda x, reciprocal: right(x, reciprocal or Fraction(1, 9)))
    assert verify("dual-norm/corrected")[0].verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("row", dual_norm.extremes(), ids=lambda row: f"{row.h}-{row.p}")
def test_no_point_of_the_ball_exceeds_the_maximum(row):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((4000, len(row.h)))
    order = np.inf if row.p is None else row.p
    points /= np.linalg.norm(points, ord=order, axis=1, keepdims=True)
    values = points @ np.array(row.h)
    assert values.max() <= row.greatest * (1 + 1e-12)
    assert values.min() >= row.least * (1 + 1e-12)
    assert row.greatest > 0 > row.least
