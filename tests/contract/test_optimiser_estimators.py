"""Linear estimators in scikit-learn's manner as optimisers: right ones pass, and a lack of noise is found.

Every level is 1e-6 and every seed fixed. What they return is projected onto a small ball, or comes of normalised steps:
on the line little more than a sign. With half the noise that still is (1, 0.01)-private:
``ln((Φ(μ/2) − δ)/Φ(−μ/2))``, with μ = 1.07 in place of 0.53, is 0.85. With a quarter it is 1.8. Against μ-GDP, which
the noise promises, half is seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.optimisers import noise
from dpsco_verify.adapters import diffprivlib_model
from dpsco_verify.auditing import AuditVerdict
from dpsco_verify.errors import InputError
from dpsco_verify.estimators import base
from dpsco_verify.guarantees import FunctionError
from dpsco_verify.guarantees.optimiser import check_optimiser, laws
from dpsco_verify.guarantees.optimiser.estimators import (
    CLASSIFICATION,
    REGRESSION,
    EstimatorFit,
    noise_claim,
    private_classifier,
    private_regressor,
)
from dpsco_verify.guarantees.optimiser.neighbours import Instances
from dpsco_verify.privacy.claims import ApproximateDP

QUICK = {"sizes": (20,), "samples": 600, "invariances": (), "outliers": False}
VERDICTS = {1.0: AuditVerdict.NOT_VIOLATED, 0.25: AuditVerdict.VIOLATED}


@pytest.fixture(autouse=True)
def two_records(monkeypatch):
    """Audit with two records, a pair a group, on the line: what others show is no matter of the adapter."""
    monkeypatch.setattr(laws, "SIZES", (2,))
    pairs, outliers = Instances.pairs, Instances.outliers
    monkeypatch.setattr(Instances, "pairs", lambda self, n: pairs(self, n)[:1])
    monkeypatch.setattr(Instances, "outliers", lambda self, sizes: outliers(self, sizes)[-1:])


@pytest.mark.slow
@pytest.mark.parametrize("factor", [pytest.param(1.0, marks=pytest.mark.long), 0.5])
def test_half_the_noise_is_seen_against_all_that_it_promises(factor, monkeypatch):
    plan = base.plan

    def planned(**settings):
        chosen = plan(**settings)
        return replace(chosen, ratio=factor * chosen.ratio)

    monkeypatch.setattr(base, "plan", planned)
    report = check_optimiser(
        private_classifier(epochs=1),
        losses=CLASSIFICATION,
        problems=("hinge",),
        privacy=noise_claim(epochs=1),
        **(QUICK | {"samples": 1_500}),
    )
    assert (report.result("privacy").verdict is AuditVerdict.VIOLATED) is (factor < 1.0)


@pytest.mark.slow
def test_batches_promise_their_point():
    assert noise_claim(epochs=1, batch_size=5)(200, 1, 1.0, 1.0, 1.0, 0.01) == ApproximateDP(1.0, 0.01)


class NoisyMean:
    """The mean of label times record, noise times a factor."""

    def __init__(self, data_norm, epsilon, delta, seed, factor):
        self.norm, self.rng = data_norm, np.random.default_rng(seed)
        self.deviation = factor * data_norm * noise(epsilon, delta)

    def fit(self, X, y):
        clipped = X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True) / self.norm)
        mean = (clipped * y[:, np.newaxis]).mean(axis=0)
        self.coef_ = [mean + self.rng.normal(0, self.deviation / len(y), len(mean))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("made", "losses", "problem", "factor"),
    [
        (private_classifier, CLASSIFICATION, "hinge", 0.25),
        (private_regressor, REGRESSION, "quantile", 1.0),
        pytest.param(private_classifier, CLASSIFICATION, "hinge", 1.0, marks=pytest.mark.long),
        pytest.param(private_regressor, REGRESSION, "quantile", 0.25, marks=pytest.mark.long),
    ],
)
def test_our_own_keep_their_claims_and_with_too_little_noise_they_do_not(
    made, losses, problem, factor, monkeypatch
):
    plan = base.plan

    def planned(**settings):
        chosen = plan(**settings)
        return replace(chosen, ratio=factor * chosen.ratio)

    monkeypatch.setattr(base, "plan", planned)
    report = check_optimiser(made(epochs=4), losses=losses, problems=(problem,), **QUICK)
    assert report.result("deterministic_given_seed").verdict is AuditVerdict.NOT_VIOLATED
    assert report.result("in_set").verdict is AuditVerdict.NOT_VIOLATED
    assert report.result("privacy").verdict is VERDICTS[factor]
    assert report.name == made().__name__


@pytest.mark.slow
@pytest.mark.parametrize("factor", VERDICTS)
def test_an_estimator_of_a_user_s_own_goes_through(factor):
    def make(data_norm, epsilon, delta, seed):
        return NoisyMean(data_norm, epsilon, delta, seed, factor)

    settings = QUICK | {"outliers": True}
    fit = EstimatorFit(make, project=True, name="mean")
    report = check_optimiser(fit, losses=("Hinge",), problems=("hinge",), **settings)
    assert report.result("privacy").verdict is VERDICTS[factor]
    assert report.result("in_set").verdict is AuditVerdict.NOT_VIOLATED
    assert report.name == "mean"


@pytest.mark.long
@pytest.mark.parametrize("outliers", [False, True])
def test_diffprivlib_s_regression_keeps_its_claim_for_records_within_its_bounds_alone(outliers):
    model = diffprivlib_model("LinearRegression")

    def make(data_norm, epsilon, seed):
        bounds = (-data_norm, data_norm)
        # Without an intercept it does not clip records to the bounds.
        return model(
            epsilon=epsilon, bounds_X=bounds, bounds_y=(-1, 1), fit_intercept=False, random_state=seed
        )

    report = check_optimiser(
        EstimatorFit(make, project=True),
        losses=("AbsoluteDeviation",),
        privacy=lambda n, d, L, D, epsilon, delta: (epsilon, 0.0),
        problems=("absolute-deviation-1d",),
        **(QUICK | {"outliers": outliers}),
    )
    found = report.result("privacy")
    assert found.verdict is (AuditVerdict.VIOLATED if outliers else AuditVerdict.NOT_VIOLATED)
    assert ("gradients longer than L" in str(found.counterexample)) is outliers


def test_what_of_diffprivlib_does_not_load_is_said():
    with pytest.raises(InputError, match="name='RandomForestClassifier' is no model that loads; give one of"):
        diffprivlib_model("RandomForestClassifier")
    with pytest.raises(TypeError, match="multi_class"):
        diffprivlib_model("LogisticRegression")()


class Unfit:
    pass


class NoCoefficients:
    def fit(self, X, y):
        return self


def test_what_is_no_linear_estimator_is_one_sentence():
    for match, make in {
        "which has no fit; return an estimator": Unfit,
        "which has no coef_ once it is fitted": NoCoefficients,
        "raised TypeError": lambda norm: Unfit(),
    }.items():
        with pytest.raises(FunctionError, match=match) as error:
            check_optimiser(EstimatorFit(make), losses=("Hinge",), problems=("hinge",), **QUICK)
        assert "\n" not in str(error.value)
    with pytest.raises(InputError, match="make=3 is not callable"):
        EstimatorFit(3)
