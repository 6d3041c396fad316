"""The systems, each from clipped records to the scores of a linear model."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import dp_accounting
import numpy as np
from dp_accounting import dp_event, pld
from scipy import optimize
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from benchmarks.quality import diffprivlib_models
from benchmarks.quality.records import Data
from dpsco_verify.arrays import FloatArray
from dpsco_verify.estimators import PrivateSGDClassifier, PrivateSGDRegressor
from dpsco_verify.estimators.descent import Problem, gradient_sum
from dpsco_verify.estimators.records import bounded_rows
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import AbsoluteDeviation, Hinge, Huber, Logistic, Quantile
from dpsco_verify.related import ConditionError, PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS

DELTA = 1e-6
THRESHOLD = 0.2
LEVEL = 0.9
_REACH = {"classification": 10.0, "regression": 2.0}
_RATE, _STEPS = 0.05, 400
"""DP-SGD's sampling rate and steps: 20 passes, where its noise is within 2 % of the least over rates at these steps."""
_MOST_STEPS = 5_000

Scores = Callable[[FloatArray], Any]
"""From records to scores, shape (n,) or (n, k)."""
Fitter = Callable[[Data, FloatArray, Any, float, np.random.Generator], Scores]


def loss_of(data: Data) -> Any:
    """Return the loss that the data are fitted by."""
    return {
        "logistic": Logistic(),
        "hinge": Hinge(),
        "huber": Huber(THRESHOLD),
        "absolute": AbsoluteDeviation(),
        "quantile": Quantile(LEVEL),
    }[data.loss]


def estimator(**plan: Any) -> Fitter:
    """Return our estimator with a plan."""

    def fit(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
        del rng  # its noise is the operating system's
        given = {"epsilon": epsilon, "delta": DELTA, "data_norm": data.norm, **plan}
        if data.classes:
            return (
                PrivateSGDClassifier(data.loss, classes=range(data.classes), **given)
                .fit(X, y)
                .decision_function
            )
        return (
            PrivateSGDRegressor(data.loss, level=LEVEL, threshold=THRESHOLD, target_bounds=(-1, 1), **given)
            .fit(X, y)
            .predict
        )

    return fit


def one_by_one(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
    """Fit without repeats, one record a step, one pass."""
    if len(X) > _MOST_STEPS:
        raise ConditionError(f"{len(X)} steps are too slow here")
    return estimator(batch_size=1, epochs=1)(data, X, y, epsilon, rng)


@functools.cache
def poisson_noise(epsilon: float, relation: str) -> float:
    """Return DP-SGD's noise multiplier by dp-accounting's privacy-loss distributions."""
    neighbours = dp_accounting.NeighboringRelation[relation]

    def excess(multiplier: float) -> float:
        accountant = pld.PLDAccountant(neighbours)
        accountant.compose(_poisson(multiplier))
        return float(accountant.get_epsilon(DELTA)) - epsilon

    return float(optimize.brentq(excess, 0.4, 200.0, rtol=1e-3)) * 1.001


def _poisson(multiplier: float) -> dp_event.DpEvent:
    step = dp_event.PoissonSampledDpEvent(_RATE, dp_event.GaussianDpEvent(multiplier))
    return dp_event.SelfComposedDpEvent(step, _STEPS)


def poisson_sampling(epsilon: float, relation: str) -> dp_event.DpEvent:
    """Return all that DP-SGD releases, as dp-accounting has it."""
    return _poisson(poisson_noise(epsilon, relation))


def dp_sgd(relation: str) -> Fitter:
    """Return DP-SGD with Poisson sampling: our gradients, our steps and average, its sampling and accountant."""

    def fit(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
        loss = loss_of(data)
        targets = np.asarray(y, dtype=np.float64)[:, np.newaxis]
        if data.classes:
            one = np.arange(data.classes) if data.classes > 2 else np.ones(1)
            targets = np.where(targets == one, 1.0, -1.0)
        d, reach = X.shape[1], _REACH[data.kind]
        ball = L2Ball(np.zeros(d), reach)
        problem = Problem(
            rows=X,
            norm=data.norm,
            targets=targets,
            counted=None,
            slopes=loss.score_slope,
            slope_bound=loss.slope_bound,
            convex_set=ball,
            intercept_bound=reach,
        )
        rows = bounded_rows(X, data.norm)
        deviation = poisson_noise(epsilon, relation) * math.sqrt(2.0) * loss.slope_bound
        w = np.zeros((targets.shape[1], d + 1))
        average, squares, length = np.zeros_like(w), 0.0, problem.diameter / math.sqrt(2.0)
        for t in range(1, _STEPS + 1):
            which = np.flatnonzero(rng.random(len(X)) < _RATE)
            g = gradient_sum(problem, rows[which], which, w, 2.0**-40) + deviation * rng.normal(size=w.shape)
            g /= _RATE * len(X)
            squares += float(np.sum(g * g))
            w = w - length / math.sqrt(squares) * g
            w[:, :d] = ball.project(w[:, :d])
            w[:, d] = np.clip(w[:, d], -reach, reach)
            average += t * w
        return _linear(data, average / (0.5 * _STEPS * (_STEPS + 1)))

    return fit


def _linear(data: Data, w: FloatArray) -> Scores:
    def scores(X: FloatArray) -> Any:
        found = X / data.norm @ w[:, :-1].T + w[:, -1]
        return found[:, 0] if len(w) == 1 else found

    return scores


class Related:
    """A system of the comparison, on the ball of our reach."""

    def __init__(self, name: str) -> None:
        self._system = SYSTEMS[name]

    def __call__(self, data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
        """Return the scores of one fit."""
        return _linear(data, self.solutions(data, X, y, epsilon, rng, fits=1))

    def solutions(
        self, data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator, *, fits: int
    ) -> FloatArray:
        """Return the coefficients and the intercepts of independent fits, shape (fits, d + 1)."""
        if data.classes > 2:
            raise ConditionError("it has two classes")
        # clipped, with an intercept, in the unit ball, where the coefficients are √2 times ours
        rows = np.column_stack([np.ones(len(X)), bounded_rows(X, data.norm)]) / math.sqrt(2.0)
        targets = 2.0 * np.asarray(y) - 1.0 if data.classes else y
        ball = L2Ball(np.zeros(rows.shape[1]), math.sqrt(2.0) * _REACH[data.kind])
        task = Task(loss_of(data), ball, 1.0)
        sample = np.column_stack([rows, targets])
        found = self._system.fit(
            np.broadcast_to(sample, (fits, *sample.shape)),
            task=task,
            budget=PrivacyBudget(epsilon, DELTA),
            rng=rng,
        )
        return np.roll(found.solution, -1, axis=1) / math.sqrt(2.0)


def diffprivlib(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
    """Fit diffprivlib's model with its defaults, to the same clipped records: (ε, 0) by its word."""
    logistic, linear = diffprivlib_models.models()
    rows, seed = bounded_rows(X, data.norm) * data.norm, int(rng.integers(2**31))
    if data.classes:
        if len(np.unique(y)) < data.classes:
            raise ConditionError("it reads the classes from the data")
        model = logistic(epsilon=epsilon, data_norm=data.norm, random_state=seed)
        scores: Scores = diffprivlib_models.fit(model, rows, y).decision_function
        return scores
    bounds = {"bounds_X": (-data.norm, data.norm), "bounds_y": (-1.0, 1.0)}
    predict: Scores = diffprivlib_models.fit(
        linear(epsilon=epsilon, random_state=seed, **bounds), rows, y
    ).predict
    return predict


def without_privacy(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
    """Minimise the same loss over the same set, or fit scikit-learn's models to several classes."""
    if data.classes > 2:
        model = LogisticRegression(max_iter=2_000) if data.loss == "logistic" else LinearSVC(loss="hinge")
        scores: Scores = model.fit(X, y).decision_function
        return scores
    return Related("empirical-optimum")(data, X, y, epsilon, rng)


FITTERS: Mapping[str, Fitter] = {
    "no privacy": without_privacy,
    "estimator": estimator(),
    "its one pass": estimator(epochs=1),
    "its full passes": estimator(epochs=100),
    "one by one": one_by_one,
    "Algorithm 1": Related("algorithm-1"),
    "DP-SGD": dp_sgd("REPLACE_ONE"),
    "DP-SGD, add-remove": dp_sgd("ADD_OR_REMOVE_ONE"),
    "objective perturbation": Related("objective-perturbation-sharp"),
    "output perturbation": Related("output-perturbation"),
    "phased SGD": Related("phased-sgd-tight"),
    "diffprivlib": diffprivlib,
}
"""By the logistic loss, or Huber's."""

OTHER_LOSSES: Mapping[str, Fitter] = {
    name: FITTERS[name] for name in ("no privacy", "estimator", "its one pass", "Algorithm 1", "DP-SGD")
}
"""Those that take any convex loss: by hinge, absolute deviation and the quantile loss of level 0.9."""
