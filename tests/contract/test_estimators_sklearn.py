"""The estimators are scikit-learn's: its own checks, pipelines, pandas, searches, and errors as its users know them."""

from __future__ import annotations

import copy
import math
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpsco_verify.errors import InputError
from dpsco_verify.estimators import (
    NoiseWarning,
    PrivacyLeakWarning,
    PrivateSGDClassifier,
    PrivateSGDRegressor,
)

CANNOT_HOLD = {
    "PrivateSGDClassifier": {},
    "PrivateSGDRegressor": {
        "check_supervised_y_no_nan": "an exception for an infinite target would tell of a record; it is clipped",
    },
}


def all_checks(*estimators):
    return parametrize_with_checks(
        estimators, expected_failed_checks=lambda estimator: CANNOT_HOLD[type(estimator).__name__]
    )


@pytest.mark.filterwarnings("ignore::dpsco_verify.estimators.PrivacyLeakWarning")
@pytest.mark.filterwarnings("ignore::dpsco_verify.estimators.NoiseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning")  # by type_of_target
class TestScikitLearnsOwnChecks:
    @pytest.mark.slow
    @all_checks(PrivateSGDClassifier(), PrivateSGDRegressor())
    def test_of_full_passes(self, estimator, check):
        check(estimator)

    @pytest.mark.long
    @all_checks(PrivateSGDClassifier("hinge", epochs=1))
    def test_of_one_pass(self, estimator, check):
        check(estimator)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    return X, (X[:, 0] - X[:, 1] > 0).astype(int)


GIVEN = {"data_norm": 3.0, "classes": [0, 1]}


def test_a_fit_that_keeps_everything_warns_of_nothing_and_says_what_was_spent(data):
    model = PrivateSGDClassifier(epsilon=2.0, delta=1e-7, **GIVEN).fit(*data)
    assert (model.epsilon_, model.delta_, model.n_features_in_) == (2.0, 1e-7, 4)
    statement = model.privacy_statement_
    assert statement.provided == ()
    assert str(statement).startswith("(2, 1e-07)-differentially private for replace-one neighbours by ")
    assert statement.sigma == model.sigma_ > 0
    assert statement.points <= statement.n == 2000
    assert model.score(*data) > 0.9
    assert copy.deepcopy(model).privacy_statement_ == statement


@pytest.mark.slow
@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        ({"data_norm": None}, "data_norm=None was read from the data"),
        ({"classes": None}, "classes=None was read from y"),
        ({"random_state": 7}, "random_state=7 is for tests"),
    ],
)
def test_what_the_guarantee_does_not_cover_is_said(data, left_out, words):
    with pytest.warns(PrivacyLeakWarning, match=words):
        model = PrivateSGDClassifier(**(GIVEN | left_out)).fit(*data)
    assert len(model.privacy_statement_.provided) == 1
    assert "provided that" in str(model.privacy_statement_)


def test_target_bounds_that_are_read_are_said(data):
    X, _ = data
    with pytest.warns(PrivacyLeakWarning, match="target_bounds=None was read from y"):
        model = PrivateSGDRegressor(data_norm=3.0).fit(X, X[:, 0])
    assert model.target_bounds_ == (X[:, 0].min(), X[:, 0].max())


@pytest.mark.parametrize(
    ("targets", "bounds"),
    [
        ([10.0, 10.5], (10.0, 10.5)),
        ([100.0, 100.0 + 1e-9], (100.0, 100.0 + 1e-9)),
        ([3.0, 3.0], (2.0, 4.0)),
        ([5.0, 5.0 + 1e-14], (4.0, 6.0)),  # no wider than their rounding
        ([math.inf, math.nan], (-1.0, 1.0)),
        ([-1e200, 1e200], (-1e99, 1e99)),
    ],
)
def test_bounds_of_targets_are_an_interval_whatever_the_targets_are(targets, bounds):
    with pytest.warns(PrivacyLeakWarning):
        found = PrivateSGDRegressor(data_norm=3.0)._bounds(np.array(targets), [])
    assert found == pytest.approx(bounds, rel=1e-13)


def test_too_few_records_for_the_noise_are_said_with_what_would_do(data):
    X, y = data
    with pytest.warns(
        NoiseWarning, match=r"n=40 is too few for epsilon=0.1 and 5 parameters: .* about n=\d+ or"
    ):
        PrivateSGDClassifier(epsilon=0.1, **GIVEN).fit(X[:40], y[:40])


@pytest.mark.slow
def test_the_systems_entropy_gives_other_coefficients_each_time(data):
    first, second = (PrivateSGDClassifier(**GIVEN).fit(*data).coef_ for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.slow
def test_sigma_and_the_plan_are_public(data):
    X, y = data
    other = np.full_like(X, 1e9)
    plans = [
        (m.sigma_, m.batch_size_, m.n_iter_)
        for m in (PrivateSGDClassifier(**GIVEN).fit(X, y), PrivateSGDClassifier(**GIVEN).fit(other, y * 0))
    ]
    assert plans[0] == plans[1]


@pytest.mark.parametrize("constraint", ["l2", "l1", "box", "simplex"])
@pytest.mark.parametrize("labels", [2, 3])
def test_coefficients_are_in_the_set(data, constraint, labels):
    X, y = data
    model = PrivateSGDClassifier(
        constraint=constraint, radius=0.3, data_norm=3.0, classes=range(labels), epochs=20, batch_size=2000
    ).fit(X, y)
    size = {
        "l2": np.linalg.norm(model.coef_, axis=1),
        "l1": np.abs(model.coef_).sum(axis=1),
        "box": np.abs(model.coef_).max(axis=1),
        "simplex": model.coef_.sum(axis=1),
    }[constraint]
    assert model.coef_.shape == ((1, 4) if labels == 2 else (3, 4))
    assert np.all(size <= 0.3 * (1 + 1e-12))
    if constraint == "simplex":
        np.testing.assert_allclose(size, 0.3)
        assert np.all(model.coef_ >= 0)


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["absolute", "huber", "quantile"])
def test_regression_learns_in_the_units_of_the_target(data, loss):
    X, _ = data
    y = 100.0 + 10.0 * X[:, 0]
    model = PrivateSGDRegressor(loss, epsilon=4.0, data_norm=3.0, target_bounds=(70, 130)).fit(X, y)
    assert model.score(X, y) > 0.9
    assert abs(model.intercept_ - 100.0) < 3.0


def test_a_quantile_is_one(data):
    X, _ = data
    y = np.random.default_rng(1).uniform(size=len(X))
    model = PrivateSGDRegressor("quantile", level=0.9, epsilon=8.0, data_norm=3.0, target_bounds=(0, 1)).fit(
        X, y
    )
    assert 0.8 < np.mean(y <= model.predict(X)) < 0.98


@pytest.mark.slow
def test_probabilities(data):
    X, y = data
    two = PrivateSGDClassifier(**GIVEN).fit(X, y).predict_proba(X)
    three = PrivateSGDClassifier(data_norm=3.0, classes=[0, 1, 2]).fit(X, y).predict_proba(X)
    for p in (two, three):
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert not hasattr(PrivateSGDClassifier("hinge"), "predict_proba")


@pytest.mark.slow
def test_pipelines_frames_and_searches(data):
    X, y = data
    frame, names = pd.DataFrame(X, columns=list("abcd")), pd.Series(np.where(y == 1, "yes", "no"))
    model = make_pipeline(Normalizer(), PrivateSGDClassifier(data_norm=1.0, classes=["yes", "no"]))
    assert set(clone(model).fit(frame, names).predict(frame)) == {"yes", "no"}
    assert cross_val_score(model, frame, names, cv=2).mean() > 0.9
    search = GridSearchCV(model, {"privatesgdclassifier__loss": ["hinge", "logistic"]}, cv=2).fit(
        frame, names
    )
    assert search.best_score_ > 0.9


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0 is not positive"),
        ({"epsilon": 200.0}, "epsilon=200.0 is outside"),
        ({"delta": 1.0}, "delta=1.0 is outside"),
        ({"delta": 0.0}, "delta=0.0 is outside"),
        ({"data_norm": -1.0}, "data_norm=-1.0 is not positive"),
        ({"classes": [1]}, "names fewer than two classes"),
        ({"classes": ["no", "yes"]}, "and y are of different types"),
        ({"loss": "squared"}, "loss='squared' is not allowed"),
        ({"constraint": "ball"}, "constraint='ball' is not allowed"),
        ({"radius": 0.0}, "radius=0.0 is not positive"),
        ({"batch_size": 2001}, "batch_size=2001 is above n=2000"),
        ({"batch_size": "large"}, "batch_size='large' is not allowed"),
        ({"epochs": 0}, "epochs=0 is too small"),
    ],
)
def test_bad_parameters_are_told_in_one_sentence(data, changes, words):
    with pytest.raises(InputError, match=words):
        PrivateSGDClassifier(**(GIVEN | changes)).fit(*data)


def test_bad_regression_parameters(data):
    X, y = data
    for changes, words in (
        ({"target_bounds": (1, 1)}, "are no interval"),
        ({"target_bounds": 3}, "is not a pair"),
        ({"loss": "hinge"}, "loss='hinge' is not allowed"),
    ):
        with pytest.raises(InputError, match=words):
            PrivateSGDRegressor(data_norm=1.0, **({"target_bounds": (0, 1)} | changes)).fit(X, y)


def test_weights_of_records_are_refused_with_the_reason(data):
    with pytest.raises(InputError, match="the noise would have to grow with the largest weight"):
        PrivateSGDClassifier(**GIVEN).fit(*data, sample_weight=np.ones(2000))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        PrivateSGDClassifier(**GIVEN).fit(*data, weights=None)


def test_nothing_before_a_fit(data):
    with pytest.raises(NotFittedError):
        PrivateSGDClassifier().predict(data[0])


@pytest.mark.slow
def test_a_label_outside_the_classes_and_missing_values_raise_nothing(data):
    """An exception for the values of a record would tell of it."""
    X, y = (a.copy() for a in data)
    X[0], X[1], X[2, 0], X[3, 1] = np.nan, np.inf, -np.inf, 1e308
    labels = y.astype(object)
    labels[5], labels[6] = "unknown", None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = PrivateSGDClassifier(**GIVEN).fit(X, labels)
        regressor = PrivateSGDRegressor(data_norm=3.0, target_bounds=(0, 1)).fit(X, X[:, 0])
    for fitted in (model, regressor):
        assert np.isfinite(fitted.coef_).all()
        assert len(fitted.predict(X)) == len(X)


def test_a_regressor_follows_the_units_of_its_target(data):
    """Bounds and targets four times as far apart and shifted: so are the predictions, with the same draws."""
    X, _ = data
    targets, fitted = np.clip(X[:, 0], 0.0, 2.0), []
    for y, bounds in ((targets, (0.0, 2.0)), (14.0 + 4.0 * (targets - 1.0), (10.0, 18.0))):
        model = PrivateSGDRegressor(data_norm=3.0, target_bounds=bounds, random_state=7)
        with pytest.warns(PrivacyLeakWarning, match="random_state=7"):
            fitted.append(model.fit(X, y).predict(X))
    np.testing.assert_allclose(fitted[1], 14.0 + 4.0 * (fitted[0] - 1.0), rtol=1e-9)
