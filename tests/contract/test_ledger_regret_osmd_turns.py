"""``regret-osmd``: the verdicts turn when the bound is repaired, strengthened, or the step broken."""

from __future__ import annotations

import dataclasses
import sys

import mpmath
import numpy as np
import pytest

from dpsco_verify.evidence import Verdict, checker
from dpsco_verify.geometry import Euclidean, NegativeEntropy
from dpsco_verify.papers.arora2020.regret_osmd import runs
from dpsco_verify.papers.arora2020.regret_osmd import statement as regret_osmd
from dpsco_verify.papers.arora2020.regret_osmd.certificates import OsmdLiteralViolation

pytestmark = pytest.mark.slow

module = sys.modules["dpsco_verify.algorithm.mirror_descent"]  # the package hands on a function of that name


@pytest.mark.parametrize("reading", ["literal", "corrected"])
def test_the_verdicts_are_the_expected_ones(verify, certificate_of, reading):
    finding, result = verify(f"regret-osmd/{reading}")
    assert finding.as_expected
    assert all(step.verdict is Verdict.HOLDS_ON_GRID for step in finding.proof_steps)
    # Rounding errors are noise: the room that they have is recorded, and not what they were.
    assert [figure.value for step in finding.proof_steps for figure in step.evidence.values()] == [1e-12] * 2
    if reading == "literal":
        assert isinstance(certificate_of(finding, result).witness, OsmdLiteralViolation)


def test_the_mirror_image_inside_the_divergence_repairs_the_literal_bound(verify, monkeypatch):
    right = runs.single_steps

    def repaired():
        return tuple(dataclasses.replace(step, literal=step.corrected) for step in right())

    monkeypatch.setattr(regret_osmd, "single_steps", repaired)
    assert verify("regret-osmd/literal")[0].verdict is not Verdict.REFUTED


@pytest.mark.parametrize("factor", [pytest.param(0.5, marks=pytest.mark.long), 0.99])
def test_less_than_the_corrected_bound_does_not_hold(verify, monkeypatch, factor):
    """A single step attains the bound, so any smaller constant is noticed."""
    right = runs.single_steps

    def smaller():
        return tuple(dataclasses.replace(step, corrected=factor * step.corrected) for step in right())

    monkeypatch.setattr(regret_osmd, "single_steps", smaller)
    finding, result = verify("regret-osmd/corrected")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert result.record.exit_code == 3


def test_a_step_of_another_length_is_noticed(verify, monkeypatch):
    right = module.mirror_step
    monkeypatch.setattr(
        module, "mirror_step", lambda w, g, *, step_size, **k: right(w, g, step_size=1.1 * step_size, **k)
    )
    finding, _ = verify("regret-osmd/corrected")
    assert finding.verdict is Verdict.INCONCLUSIVE
    assert "not those of mirror descent" in finding.summary


def test_a_path_above_the_bound_is_noticed(verify, monkeypatch):
    """Losses reported with a slope that the steps did not see."""
    right = runs.mirror_descent

    def other(slopes, **keywords):
        return right(-slopes, **keywords)

    monkeypatch.setattr(runs, "mirror_descent", other)
    assert verify("regret-osmd/corrected")[0].verdict is Verdict.INCONCLUSIVE


def test_the_wrong_divergence_breaks_the_identity(verify, monkeypatch):
    right = Euclidean.conjugate_divergence
    monkeypatch.setattr(Euclidean, "conjugate_divergence", lambda self, x, y: 1.01 * right(self, x, y))
    finding, _ = verify("regret-osmd/corrected")
    assert {step.id: step.verdict for step in finding.proof_steps}["identity"] is Verdict.INCONCLUSIVE
    assert finding.proof_steps[0].evidence["relative error at most"].value > 1e-12
    assert finding.verdict is Verdict.INCONCLUSIVE


def test_for_the_euclidean_potential_the_readings_agree():
    for step in runs.single_steps():
        if step.potential == "euclidean":
            assert step.literal == pytest.approx(step.corrected, rel=1e-14)
    rng = np.random.default_rng(3)
    x, y, g = rng.normal(size=(3, 50, 4))
    np.testing.assert_allclose(
        Euclidean().conjugate_divergence(x - g, x),
        Euclidean().conjugate_divergence(y - g, y),
        rtol=1e-12,
    )


def test_the_p_norm_has_steps_above_the_literal_bound_too():
    own = [step for step in runs.single_steps() if step.potential.startswith("p-norm")]
    assert all(step.regret > 1.3 * step.literal for step in own)
    assert all(step.regret == pytest.approx(step.corrected, rel=1e-12) for step in own)


def test_the_counterexample_against_mpmath():
    """G = 10, η = 1, from the definitions of Φ, Φ* and their divergences, without a closed form."""
    with mpmath.workdps(40):
        g, w, u = [mpmath.mpf(-10), mpmath.mpf(0)], [mpmath.mpf("0.5")] * 2, [mpmath.mpf(1), mpmath.mpf(0)]

        def phi(x):
            return mpmath.fsum(t * mpmath.log(t) if t else 0 for t in x)

        def conjugate(y):
            return mpmath.fsum(mpmath.exp(t - 1) for t in y)

        start = (
            phi(u) - phi(w) - mpmath.fsum((1 + mpmath.log(b)) * (a - b) for a, b in zip(u, w, strict=True))
        )
        moved = [mpmath.mpf(0)] * 2  # g − ηg
        term = conjugate(moved) - conjugate(g)
        term -= mpmath.fsum(mpmath.exp(b - 1) * (a - b) for a, b in zip(moved, g, strict=True))
        regret = mpmath.fsum(s * (a - b) for s, a, b in zip(g, w, u, strict=True))
        certificate = checker.issue("regret-osmd", "literal", OsmdLiteralViolation(slope="10", step_size="1"))
        assert mpmath.almosteq(regret, mpmath.mpf(certificate.left), 1e-16)
        assert mpmath.almosteq(start + term, mpmath.mpf(certificate.right), 1e-16)
        step = next(
            s
            for s in runs.single_steps()
            if s.potential == "entropy" and (s.slope, s.step_size) == (10.0, 1.0)
        )
        assert step.literal == pytest.approx(float(start + term), rel=1e-13)
        assert step.regret == pytest.approx(float(regret), rel=1e-13)


def test_the_counterexample_survives_the_restricted_entropy():
    """With log-sum-exp, the conjugate of the entropy restricted to the simplex, the bound is below 5 too."""
    from dpsco_verify.papers.arora2020.duality.curvature import softmax_divergence

    g = np.array([-10.0, 0.0])
    start = float(NegativeEntropy().divergence([1.0, 0.0], [0.5, 0.5]))
    assert start + float(softmax_divergence(g - g, g)) < 5.0 / 3.0


def test_long_runs_stay_in_the_interior():
    """At the deep profile's sizes the entropy's weights would underflow, were the steps not bounded."""
    found = runs.run_pair(pair="entropy/simplex", dimension=8, steps=64, runs=40, seed=1, name="s")
    assert found.steps_are_right
    assert found.excess <= 0
