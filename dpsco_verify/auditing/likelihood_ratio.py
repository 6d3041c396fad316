"""A learned likelihood ratio: one number an output, larger where d is likelier than d_prime.

The built-in learner is a ridge-penalised logistic regression on the entries, their absolute values and their squares,
and on the products of entries where there are few; many entries leave the linear discriminant with a diagonal
covariance. Beside it are what :mod:`dpsco_verify.auditing.marginals` learns from one or two coordinates at a time and
:mod:`dpsco_verify.auditing.wide` of many at once. A learner of scikit-learn, gradient boosting, can be asked for
instead of the regression. However bad a learner, an event on its number keeps the claim, so it costs power only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.features import Feature, entries
from dpsco_verify.auditing.marginals import marginal_features
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.wide import wide_features
from dpsco_verify.errors import InputError

CLASSIFIERS = ("built-in", "boosting", "none")

_MOST_COLUMNS = 120
_MOST_FOR_PRODUCTS = 8
_NEWTON_STEPS = 8
_CONVERGED = 1e-4
_ROWS_FOR_A_START = 20_000
_RIDGE = 1.0
_LARGEST = 30.0


@dataclass(frozen=True)
class _Columns:
    """The learner's columns: entries centred and scaled, their absolute values, squares and products."""

    centre: FloatArray
    scale: FloatArray
    powers: bool

    def __call__(self, outputs: Outputs) -> FloatArray:
        width = self.centre.size
        numbers = entries(outputs, width)
        with np.errstate(invalid="ignore", over="ignore"):
            z = np.clip((numbers - self.centre) / self.scale, -_LARGEST, _LARGEST)
        z[np.isnan(z)] = 0.0
        if not self.powers:
            return z
        parts = [z, np.abs(z), np.minimum(z**2, _LARGEST)]
        if 1 < width <= _MOST_FOR_PRODUCTS:
            parts.append(
                np.stack([z[:, i] * z[:, j] for i, j in itertools.combinations(range(width), 2)], axis=1)
            )
        return np.concatenate(parts, axis=1)


@dataclass(frozen=True)
class _Linear:
    columns: _Columns
    weights: FloatArray

    def __call__(self, outputs: Outputs) -> FloatArray:
        return np.asarray(self.columns(outputs) @ self.weights)


@dataclass(frozen=True)
class _Boosted:
    columns: _Columns
    model: Any

    def __call__(self, outputs: Outputs) -> FloatArray:
        return np.asarray(self.model.decision_function(self.columns(outputs)), dtype=np.float64)


def learned_features(first: Outputs, second: Outputs, *, classifier: str = "built-in") -> Iterator[Feature]:
    """Yield the features that are learned from `first` against `second`; none where there is nothing to learn.

    Parameters
    ----------
    first, second
        Outputs on d and on d_prime that are used for nothing else.
    classifier
        ``built-in``, ``boosting`` (scikit-learn), or ``none``.
    """
    if classifier not in CLASSIFIERS:
        raise InputError(f"classifier={classifier!r} is unknown; give one of {', '.join(CLASSIFIERS)}")
    width = max(first.width, second.width)
    if classifier == "none" or width == 0 or (width == 1 and classifier == "built-in"):
        return
    yield Feature(
        name="learned log-likelihood ratio",
        values=_classifier(first, second, width, boosted=classifier == "boosting"),
    )
    yield from marginal_features(first, second)
    yield from wide_features(first, second)


def _classifier(first: Outputs, second: Outputs, width: int, *, boosted: bool) -> _Linear | _Boosted:
    columns = _columns(first, second, width, powers=3 * width <= _MOST_COLUMNS)
    a, b = columns(first), columns(second)
    if boosted:
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  slow to load, seldom asked for

        labels = np.repeat([1, 0], [len(a), len(b)])
        model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
        return _Boosted(columns, model.fit(np.concatenate([a, b]), labels))
    return _Linear(columns, _logistic(a, b) if a.shape[1] <= 2 * _MOST_COLUMNS else _diagonal(a, b))


def _columns(first: Outputs, second: Outputs, width: int, *, powers: bool) -> _Columns:
    table = np.zeros((first.size + second.size, width))
    table[: first.size, : first.width] = first.numbers
    table[first.size :, : second.width] = second.numbers
    table = np.where(np.isfinite(table), table, 0.0)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        centre = np.median(table, axis=0)
        spread = np.median(np.abs(table - centre), axis=0)
        deviation = table.std(axis=0)
    scale = np.where(spread > 0, spread, np.where(deviation > 0, deviation, 1.0))
    return _Columns(centre, scale, powers)


def _logistic(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the weights of a ridge-penalised logistic regression, by Newton's method; the intercept is dropped."""
    x = np.concatenate([a, b])
    x = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    y = np.repeat([1.0, 0.0], [len(a), len(b)])
    # One step on all from where a part of them converges is as good as all steps (Le Cam's one-step estimate).
    every = max(len(x) // _ROWS_FOR_A_START, 1)
    weights = np.zeros(x.shape[1])
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(x[::every], y[::every], weights)
        weights += step
        if np.abs(step).max() < _CONVERGED:
            break
    if every > 1:
        weights += _newton_step(x, y, weights)
    return weights[:-1]


def _newton_step(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    probability = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -_LARGEST, _LARGEST)))
    slope = x.T @ (y - probability) - _RIDGE * weights
    curvature = (x * (probability * (1 - probability))[:, np.newaxis]).T @ x + _RIDGE * np.eye(x.shape[1])
    return np.asarray(np.linalg.solve(curvature, slope))


def _diagonal(a: FloatArray, b: FloatArray) -> FloatArray:
    variance = 0.5 * (a.var(axis=0) + b.var(axis=0))
    return np.asarray((a.mean(axis=0) - b.mean(axis=0)) / np.where(variance > 0, variance, 1.0))
