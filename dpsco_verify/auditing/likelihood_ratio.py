"""A learned likelihood ratio: one number an output, larger where d is likelier than d_prime.

The built-in learner is a ridge-penalised logistic regression on the entries, their absolute values and their squares,
and on the products of entries where there are few; many entries leave the linear discriminant with a diagonal
covariance. Values that are common get a column of their own: what codes "no answer" is no number near the answers. And
what goes beyond the entries is shrunk by what noise explains of it, so that it costs no power where nothing is in it.
Beside it are what :mod:`dpsco_verify.auditing.marginals` learns from one or two coordinates at a time and
:mod:`dpsco_verify.auditing.wide` of many at once. A learner of scikit-learn, gradient boosting, can be asked for
instead of the regression. However bad a learner, an event on its number keeps the claim, so it costs power only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.auditing.features import Feature, entries
from dpsco_verify.auditing.marginals import marginal_features
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.wide import wide_features
from dpsco_verify.errors import InputError

CLASSIFIERS = ("built-in", "boosting", "none")

_MOST_COLUMNS = 120
_MOST_FOR_PRODUCTS = 8
_ROWS_FOR_ATOMS = 4096
_SHARE_OF_AN_ATOM = 0.02
_MOST_ATOMS = 4
"""A coordinate with more common values than these is a number like others."""
_NEWTON_STEPS = 8
_CONVERGED = 1e-4
_ROWS_FOR_A_START = 20_000
"""From so many outputs the columns are scaled, and the regression is started."""
_BLOCK = 4096
"""Outputs whose columns are built at once, so that they are in cache where they are used."""
_RIDGE = 1.0
_LARGEST = 30.0


@dataclass(frozen=True)
class _Columns:
    """The learner's columns: entries centred and scaled, and whether they are one of their coordinate's atoms.

    Where entries are no number, or an atom beside other numbers, the first are 0. With `powers` there are further
    columns, the absolute values and squares of the coordinates that are `continuous`, and products of few coordinates.
    """

    centre: FloatArray
    scale: FloatArray
    atoms: tuple[tuple[int, float], ...]
    continuous: BoolArray
    powers: bool

    def __call__(self, outputs: Outputs) -> FloatArray:
        """Return the columns of the outputs."""
        return np.concatenate(list(self.blocks(outputs)))

    def blocks(self, outputs: Outputs, *, intercept: bool = False) -> Iterator[FloatArray]:
        """Yield them block by block, if wanted with a last column of ones."""
        numbers = entries(outputs, self.centre.size)
        for start in range(0, len(numbers), _BLOCK):
            parts = self._of(numbers[start : start + _BLOCK])
            yield np.concatenate([*parts, np.ones((len(parts[0]), 1))] if intercept else parts, axis=1)

    def _of(self, numbers: FloatArray) -> list[FloatArray]:
        width = self.centre.size
        with np.errstate(invalid="ignore", over="ignore"):
            z = np.clip((numbers - self.centre) / self.scale, -_LARGEST, _LARGEST)
        z[np.isnan(z)] = 0.0
        inside = np.empty((len(z), len(self.atoms)))
        for k, (j, atom) in enumerate(self.atoms):
            there = np.isnan(numbers[:, j]) if np.isnan(atom) else numbers[:, j] == atom
            inside[:, k] = there
            if self.continuous[j]:
                z[there, j] = 0.0
        parts = [z, inside]
        if self.powers:
            smooth = z if self.continuous.all() else z[:, self.continuous]
            parts += [np.abs(smooth), np.minimum(smooth**2, _LARGEST)]
            if 1 < width <= _MOST_FOR_PRODUCTS:
                products = [z[:, i] * z[:, j] for i, j in itertools.combinations(range(width), 2)]
                parts.append(np.stack(products, axis=1))
        return parts

    @property
    def first(self) -> int:
        """How many columns there are without powers."""
        return self.centre.size + len(self.atoms)

    @property
    def most(self) -> int:
        """How many there are at most but for the products."""
        return self.first + (2 * self.centre.size if self.powers else 0)


@dataclass(frozen=True)
class _Linear:
    columns: _Columns
    weights: FloatArray

    def __call__(self, outputs: Outputs) -> FloatArray:
        return np.concatenate([block @ self.weights for block in self.columns.blocks(outputs)])


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
    if boosted:
        from sklearn.ensemble import HistGradientBoostingClassifier  # noqa: PLC0415  slow to load, seldom asked for

        a, b = columns(first), columns(second)
        labels = np.repeat([1, 0], [len(a), len(b)])
        model = HistGradientBoostingClassifier(max_iter=60, early_stopping=False, random_state=0)
        return _Boosted(columns, model.fit(np.concatenate([a, b]), labels))
    if columns.most > 2 * _MOST_COLUMNS:
        return _Linear(columns, _diagonal(columns(first), columns(second)))
    weights = _shrunk(*_logistic(columns, first, second), columns.first)
    if not weights[columns.first :].any():
        return _Linear(replace(columns, powers=False), weights[: columns.first])
    return _Linear(columns, weights)


def _columns(first: Outputs, second: Outputs, width: int, *, powers: bool) -> _Columns:
    first, second = _thinned(first, second)
    table = np.full((first.size + second.size, width), np.nan)
    table[: first.size, : first.width] = first.numbers
    table[first.size :, : second.width] = second.numbers
    atoms: list[tuple[int, float]] = []
    continuous = np.ones(width, dtype=np.bool_)
    if powers:
        every = max(len(table) // _ROWS_FOR_ATOMS, 1)
        for j in range(width):
            values, discrete = _atoms(table[::every, j])
            continuous[j] = not discrete
            atoms += [(j, value) for value in values]
            if not discrete:
                table[np.isin(table[:, j], values), j] = np.nan
    hidden = ~np.isfinite(table)
    if hidden.any():
        table[hidden] = np.nan
        table[:, hidden.all(axis=0)] = 0.0
    middle = np.nanmedian if hidden.any() else np.median
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        centre = middle(table, axis=0)
        spread = middle(np.abs(table - centre), axis=0)
        deviation = np.nanstd(table, axis=0)
    scale = np.where(spread > 0, spread, np.where(deviation > 0, deviation, 1.0))
    return _Columns(centre, scale, tuple(atoms), continuous, powers)


def _atoms(values: FloatArray) -> tuple[list[float], bool]:
    """Return the values of a coordinate that need columns of their own, and whether there are no others.

    Of discrete values two need none: one is what the others are compared with, and one is told by the number itself.
    """
    seen, counts = np.unique(values, return_counts=True)
    common = seen[counts >= _SHARE_OF_AN_ATOM * values.size]
    if common.size > _MOST_ATOMS:
        return [], False
    if counts[np.isin(seen, common)].sum() == values.size:
        numbers = common[~np.isnan(common)]
        return [*numbers[1:-1].tolist(), *common[np.isnan(common)].tolist()], True
    return common.tolist(), False


def _logistic(columns: _Columns, first: Outputs, second: Outputs) -> tuple[FloatArray, FloatArray]:
    """Return the weights of a ridge-penalised logistic regression, by Newton's method, and the curvature there.

    The last are the intercept's.
    """
    # One step on all from where a part of them converges is as good as all steps (Le Cam's one-step estimate).
    few = _thinned(first, second)
    start = list(_labelled(columns, *few))
    weights = np.zeros(start[0][0].shape[1])
    for _ in range(_NEWTON_STEPS):
        step, curvature = _newton_step(start, weights)
        weights += step
        if np.abs(step).max() < _CONVERGED:
            break
    if few[0].size < first.size:
        step, curvature = _newton_step(_labelled(columns, first, second), weights)
        weights += step
    return weights, curvature


def _thinned(first: Outputs, second: Outputs) -> tuple[Outputs, Outputs]:
    """Return outputs at equal distances, as many as a start needs."""
    every = max((first.size + second.size) // _ROWS_FOR_A_START, 1)
    if every == 1:
        return first, second
    return first.take(slice(0, None, every)), second.take(slice(0, None, every))


_Labelled = tuple[FloatArray, float]


def _labelled(columns: _Columns, first: Outputs, second: Outputs) -> Iterator[_Labelled]:
    """Yield blocks of columns with the intercept's, and 1 where they are of the first outputs, else 0."""
    for outputs, label in ((first, 1.0), (second, 0.0)):
        for block in columns.blocks(outputs, intercept=True):
            yield block, label


def _newton_step(blocks: Iterable[_Labelled], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    slope, curvature = -_RIDGE * weights, _RIDGE * np.eye(weights.size)
    for x, label in blocks:
        probability = 1.0 / (1.0 + np.exp(-np.clip(x @ weights, -_LARGEST, _LARGEST)))
        slope += (label - probability) @ x
        curvature += (x * (probability * (1 - probability))[:, np.newaxis]).T @ x
    return np.asarray(np.linalg.solve(curvature, slope)), curvature


def _shrunk(weights: FloatArray, curvature: FloatArray, first: int) -> FloatArray:
    """Return the weights without the intercept's, those after the first ones shrunk by what of them noise explains.

    As James and Stein shrink, by the ratio of their number and their squared distance from 0 in standard errors; the
    others are refitted to that.
    """
    rest = np.arange(first, weights.size - 1)
    kept = np.append(np.arange(first), weights.size - 1)
    if rest.size == 0:
        return weights[:-1]
    explained = np.linalg.solve(curvature[np.ix_(kept, kept)], curvature[np.ix_(kept, rest)])
    information = curvature[np.ix_(rest, rest)] - curvature[np.ix_(rest, kept)] @ explained
    statistic = float(weights[rest] @ information @ weights[rest])
    part = max(0.0, 1.0 - rest.size / max(statistic, 1e-300))
    shrunk = np.empty_like(weights)
    shrunk[rest] = part * weights[rest]
    shrunk[kept] = weights[kept] + explained @ ((1.0 - part) * weights[rest])
    return shrunk[:-1]


def _diagonal(a: FloatArray, b: FloatArray) -> FloatArray:
    variance = 0.5 * (a.var(axis=0) + b.var(axis=0))
    return np.asarray((a.mean(axis=0) - b.mean(axis=0)) / np.where(variance > 0, variance, 1.0))
