"""What the estimators' guarantee rests on: no record moves a step's sum by more than the noise was made for.

The noise is exact on its lattice, the plans have the δ that they claim, and the limits turn: half the bound is passed.
"""

from __future__ import annotations

import math
import types
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsco_verify.estimators import PrivateSGDClassifier, noise
from dpsco_verify.estimators.descent import Problem, descend, gradient_sum, release_of
from dpsco_verify.estimators.randomness import SeededSource, SystemSource
from dpsco_verify.estimators.records import bounded_rows
from dpsco_verify.evidence.checker import Kinds
from dpsco_verify.geometry import L2Ball
from dpsco_verify.privacy.gaussian import gaussian_delta
from dpsco_verify.privacy.whole_run import calibrate
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Logistic, Quantile

CLASSIFICATION = [Hinge(), Logistic()]
REGRESSION = [AbsoluteDeviation(), Huber(0.2), Quantile(0.9)]
ANYTHING = st.one_of(
    st.floats(width=64),
    st.sampled_from([0.0, 1e6, -1e6, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf]),
)
D = 3


@st.composite
def steps(draw):
    """A batch, the same with one record replaced by anything, and a query."""
    f = draw(st.integers(1, 6))
    intercept = draw(st.booleans())
    loss = draw(st.sampled_from(CLASSIFICATION + REGRESSION))
    k = draw(st.sampled_from([1, 3])) if loss in CLASSIFICATION else 1
    rows = draw(arrays(np.float64, (f, D), elements=ANYTHING))
    other = rows.copy()
    other[0] = draw(arrays(np.float64, D, elements=ANYTHING))
    if loss in CLASSIFICATION:
        targets = draw(arrays(np.float64, (f, k), elements=st.sampled_from([-1.0, 1.0])))
        changed = draw(arrays(np.float64, k, elements=st.sampled_from([-1.0, 1.0])))
    else:
        targets = draw(arrays(np.float64, (f, k), elements=st.floats(-1, 1)))
        changed = draw(arrays(np.float64, k, elements=st.floats(-1, 1)))
    replaced = targets.copy()
    replaced[0] = changed
    counted, recounted = np.ones(f, dtype=bool), np.ones(f, dtype=bool)
    recounted[0] = draw(st.booleans())
    w = draw(arrays(np.float64, (k, D + intercept), elements=st.floats(-10, 10)))
    norm = draw(st.sampled_from([1e-100, 0.5, 1.0, 30.0, 1e100]))

    def problem(r, t, c):
        return Problem(
            rows=r,
            norm=norm,
            targets=t,
            counted=c,
            slopes=loss.score_slope,
            slope_bound=loss.slope_bound,
            convex_set=L2Ball(np.zeros(D), 10.0),
            intercept_bound=10.0 if intercept else None,
        )

    return problem(rows, targets, counted), problem(other, replaced, recounted), w


def summed(problem, w, lattice):
    return gradient_sum(problem, bounded_rows(problem.rows, problem.norm), slice(None), w, lattice)


@pytest.mark.slow
@given(steps(), st.sampled_from([0.1, 1.0, 8.0]))
def test_no_record_moves_a_sum_by_more_than_the_noise_was_made_for(pair, ratio):
    first, second, w = pair
    f = len(first.rows)
    release = release_of(first, noise.Plan(n=f, batch_size=f, epochs=1, ratio=ratio, theorem=""))
    moved = np.linalg.norm(summed(first, w, release.lattice) - summed(second, w, release.lattice))
    assert moved <= 2.0 * release.lipschitz
    assert release.deviation == pytest.approx(f * ratio * release.lipschitz, rel=1e-15)


def test_the_bound_is_attained_and_rounding_needs_its_room():
    problem = Problem(
        rows=np.array([[1.0, 0.0]]),
        norm=1.0,
        targets=np.array([[1.0]]),
        counted=None,
        slopes=Hinge().score_slope,
        slope_bound=1.0,
        convex_set=L2Ball(np.zeros(2), 1.0),
        intercept_bound=1.0,
    )
    release = release_of(problem, noise.Plan(n=1, batch_size=1, epochs=1, ratio=1.0, theorem=""))
    total = summed(problem, np.zeros((1, 3)), release.lattice)
    # a record and its mirror image differ by twice this
    assert np.linalg.norm(total) > 0.9999 * release.lipschitz
    assert math.sqrt(2.0) < release.lipschitz < math.sqrt(2.0) * (1 + 1e-4)


@pytest.mark.slow
@given(arrays(np.float64, (3, 4), elements=ANYTHING), st.sampled_from([1e-100, 1.0, 1e100]))
def test_rows_are_in_the_unit_ball_whatever_they_hold(rows, norm):
    assert np.all(np.linalg.norm(bounded_rows(rows, norm), axis=1) <= 1.0 + 64 * 2.0**-53)


def test_short_rows_are_scaled_alone():
    bounded = bounded_rows(np.array([[1.0, np.nan], [3.0, 4.0]]), 2.0)
    np.testing.assert_allclose(bounded, [[0.5, 0.0], [0.6, 0.8]], rtol=1e-15)


@pytest.mark.parametrize("batch_size", [7, 50])
@pytest.mark.parametrize("source", [SystemSource(), SeededSource(0)])
def test_every_release_is_on_the_lattice(batch_size, source):
    rng = np.random.default_rng(2)
    problem = Problem(
        rows=rng.normal(size=(50, 3)),
        norm=1.0,
        targets=np.where(rng.random((50, 2)) < 0.5, 1.0, -1.0),
        counted=None,
        slopes=Logistic().score_slope,
        slope_bound=1.0,
        convex_set=L2Ball(np.zeros(3), 1.0),
        intercept_bound=1.0,
    )
    plan = noise.Plan(n=50, batch_size=batch_size, epochs=2, ratio=0.3, theorem="")
    release, transcript = release_of(problem, plan), []
    descend(problem, plan, release, source, transcript=transcript)
    assert len(transcript) == plan.steps == (2 if batch_size == 50 else 14)
    cells = np.array(transcript) * batch_size / release.lattice
    np.testing.assert_allclose(cells, np.rint(cells), atol=1e-6)
    assert np.abs(np.rint(cells)).max() > 1000


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
@pytest.mark.parametrize("delta", [1e-9, 0.01])
def test_full_passes_have_the_delta_that_they_claim_and_half_the_noise_has_not(epsilon, delta):
    chosen = noise.plan(n=300, parameters=5, epsilon=epsilon, delta=delta, batch_size=300, epochs=17)
    mu = math.sqrt(17) * 2.0 / (300 * chosen.ratio)
    assert 0.999999 * delta <= gaussian_delta(epsilon, mu) <= delta
    assert gaussian_delta(epsilon, 2.0 * mu) > 1.5 * delta


@pytest.mark.slow
def test_one_pass_has_the_noise_of_the_whole_run_and_its_certificate():
    model = PrivateSGDClassifier(data_norm=1.0, classes=[0, 1], batch_size=30, epochs=1, epsilon=3.0)
    model.fit(np.eye(300), np.arange(300) % 2)
    statement = model.privacy_statement_
    found = calibrate(n=300, epsilon=3.0, delta=1e-6, points=270, batch_size=30)
    assert statement.points == 270
    assert statement.theorem == noise.WHOLE_RUN
    assert statement.sigma / statement.lipschitz == pytest.approx(found.sigma_over_lipschitz)
    certificate = statement.certificate()
    Kinds().check(certificate)
    assert certificate.witness.points == 270
    assert certificate.witness.mu == str(2 * Fraction(statement.lipschitz) / Fraction(statement.sigma))


def test_several_passes_in_batches_are_calibrated_together(monkeypatch):
    """With the accountant's own bound, which takes seconds and has tests of its own, stood in for."""
    asked = []

    def calibrated(**given):
        asked.append(given)
        return types.SimpleNamespace(sigma_over_lipschitz=0.5)

    monkeypatch.setattr(noise, "calibrate", calibrated)
    chosen = noise.plan(n=1001, parameters=3, epsilon=1.5, delta=1e-5, batch_size=70, epochs=3)
    noise.plan.cache_clear()
    points = 70 * 14
    given = {"n": 1001, "epsilon": 1.5, "delta": 1e-5, "points": points, "batch_size": 70, "epochs": 3}
    assert asked == [{**given, "certify": False}]
    assert (chosen.points, chosen.steps, chosen.ratio, chosen.theorem) == (points, 42, 0.5, noise.COMPOSED)


@pytest.mark.slow
def test_the_plan_follows_public_numbers():
    few = noise.plan(n=500, parameters=11, epsilon=1.0, delta=1e-6, batch_size="auto", epochs="auto")
    many = noise.plan(n=50_000, parameters=101, epsilon=1.0, delta=1e-6, batch_size="auto", epochs="auto")
    close = noise.plan(n=35_000, parameters=23, epsilon=1.0, delta=1e-6, batch_size="auto", epochs="auto")
    assert (few.batch_size, few.theorem) == (500, noise.GAUSSIAN)
    # 0.1/T is as small for 400 batches of 87 as for 372 passes; what a batch's mean varies by decides
    assert close.batch_size == 35_000
    assert many.batch_size < 5000
    assert many.theorem == noise.WHOLE_RUN
    # the secrecy of the order is worth three times the noise at large batches, and more at small ones
    shown = 2.0 / (many.batch_size * noise.gaussian_distance(1.0, 1e-6))
    assert 3.0 * many.ratio < shown
