"""Real data sets that ship inside scikit-learn and statsmodels, as finite populations.

Features are standardised (mean 0, standard deviation 1 in each column), an intercept column of ones is put in front,
and all rows are divided by the largest row norm, so that ``‖a‖₂ ≤ 1`` and the class of linear predictors is
unchanged. The pixels of `digits` have one unit already: they are centred, and their full range is the unit. Regression
targets are centred and divided by their largest absolute value, so that ``|b| ≤ 1``; labels are ±1. Nothing is
downloaded and nothing is random.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.losses import AbsoluteDeviation, Hinge, Huber, Logistic, Loss, Quantile
from dpsco_verify.problems.populations.finite import FinitePopulation

_DARKEST_PIXEL = 16.0
_Option = TypeVar("_Option")


@cache
def breast_cancer(loss: Literal["hinge", "logistic"] = "hinge") -> FinitePopulation:
    """Return the Wisconsin diagnostic breast cancer data: N = 569, d = 31, label +1 for benign.

    Source: Street, Wolberg and Mangasarian (1993), through scikit-learn.

    Raises
    ------
    InputError
        If the loss is not one of the two.
    """
    chosen = _choose("loss", loss, {"hinge": Hinge(), "logistic": Logistic()})
    table = _table("sklearn", "datasets/data/breast_cancer.csv", above=1, between=",")
    labels = 2.0 * table[:, -1] - 1.0
    return _population(np.ascontiguousarray(table[:, :-1]), labels, chosen, f"breast cancer, {chosen.name}")


@cache
def diabetes(
    loss: Literal["absolute", "huber", "quantile"] = "absolute",
    *,
    level: float = 0.5,
    threshold: float = 0.25,
) -> FinitePopulation:
    """Return the diabetes progression data: N = 442, d = 11.

    `level` is the quantile loss's, `threshold` the Huber loss's. Source: Efron, Hastie, Johnstone and Tibshirani
    (2004), through scikit-learn.

    Raises
    ------
    InputError
        If the loss is not one of the three, or its parameter is out of range.
    """
    chosen = _regression_loss(loss, level=level, threshold=threshold)
    features = _table("sklearn", "datasets/data/diabetes_data_raw.csv.gz")
    progression = _table("sklearn", "datasets/data/diabetes_target.csv.gz")
    return _population(features, _scale_targets(progression), chosen, f"diabetes, {chosen.name}")


@cache
def digits(
    loss: Literal["hinge", "logistic"] = "hinge", *, labels: Literal["parity", "at least 5"] = "parity"
) -> FinitePopulation:
    """Return the handwritten digits of 8 × 8 pixels: N = 1797, d = 65.

    The label is +1 for an even digit, or for a digit of at least 5. Three pixels are white in every image; they stay,
    for the shape of an image is public and what the images show is not. Source: Alpaydin and Kaynak (1998), through
    scikit-learn.

    Raises
    ------
    InputError
        If the loss or the labels are not one of the two.
    """
    chosen = _choose("loss", loss, {"hinge": Hinge(), "logistic": Logistic()})
    from sklearn.datasets import load_digits  # noqa: PLC0415  heavy

    pixels, digit = load_digits(return_X_y=True)
    classes = _choose("labels", labels, {"parity": digit % 2 == 0, "at least 5": digit >= 5})
    signs = 2.0 * classes.astype(np.float64) - 1.0
    centred = (pixels - np.mean(pixels, axis=0)) / _DARKEST_PIXEL
    return _scaled_population(centred, signs, chosen, f"digits {labels}, {chosen.name}")


@cache
def engel(loss: Literal["quantile"] = "quantile", *, level: float = 0.5) -> FinitePopulation:
    """Return Engel's data, food expenditure against household income: N = 235, d = 2.

    Source: Koenker and Bassett (1982), through statsmodels.

    Raises
    ------
    InputError
        If the loss is not the quantile loss, or the level is not in (0, 1).
    """
    chosen = _choose("loss", loss, {"quantile": Quantile(level)})
    table = _table("statsmodels", "datasets/engel/engel.csv", above=1, between=",")
    return _population(table[:, :1], _scale_targets(table[:, 1]), chosen, f"engel, {chosen.name}")


@cache
def fair(loss: Literal["hinge", "logistic"] = "hinge") -> FinitePopulation:
    """Return Fair's survey of marriages: N = 6366, d = 9, label +1 where there was an affair.

    The features are the eight other answers. Source: Fair (1978), through statsmodels.

    Raises
    ------
    InputError
        If the loss is not one of the two.
    """
    chosen = _choose("loss", loss, {"hinge": Hinge(), "logistic": Logistic()})
    from statsmodels.datasets import fair as source  # noqa: PLC0415  heavy

    table = source.load_pandas().data
    labels = np.where(table["affairs"].to_numpy() > 0.0, 1.0, -1.0)
    features = table.drop(columns="affairs").to_numpy(dtype=np.float64)
    return _population(features, labels, chosen, f"fair, {chosen.name}")


@cache
def randhie(
    loss: Literal["absolute", "huber", "quantile"] = "absolute",
    *,
    level: float = 0.5,
    threshold: float = 0.25,
) -> FinitePopulation:
    """Return the RAND health insurance experiment: N = 20190, d = 10, the target ``log(1 + visits to a doctor)``.

    `level` is the quantile loss's, `threshold` the Huber loss's. Source: Newhouse and others (1993), as in Cameron and
    Trivedi (2005), through statsmodels.

    Raises
    ------
    InputError
        If the loss is not one of the three, or its parameter is out of range.
    """
    chosen = _regression_loss(loss, level=level, threshold=threshold)
    from statsmodels.datasets import randhie as source  # noqa: PLC0415  heavy

    table = source.load_pandas().data
    counts = table["mdvis"].to_numpy(dtype=np.int64)
    # From a table: equal counts get equal targets wherever they stand.
    visits = np.log1p(np.arange(counts.max() + 1.0))[counts]
    features = table.drop(columns="mdvis").to_numpy(dtype=np.float64)
    return _population(features, _scale_targets(visits), chosen, f"randhie, {chosen.name}")


def _regression_loss(loss: str, *, level: float, threshold: float) -> Loss:
    options: dict[str, Loss] = {
        "absolute": AbsoluteDeviation(),
        "huber": Huber(threshold),
        "quantile": Quantile(level),
    }
    return _choose("loss", loss, options)


def _choose(name: str, key: str, options: Mapping[str, _Option]) -> _Option:
    if key not in options:
        raise InputError(f"{name}={key!r} is unknown; give one of {', '.join(options)}")
    return options[key]


def _table(package: str, path: str, *, above: int = 0, between: str | None = None) -> FloatArray:
    """Return the numbers of a file that an installed package ships, which stand below `above` lines.

    It is found without an import of the package, which would take each process half a second.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise InputError(f"package={package!r} is not installed; install it for the data that it ships")
    return np.loadtxt(Path(spec.origin).parent / path, delimiter=between, skiprows=above)


def _scale_targets(targets: FloatArray) -> FloatArray:
    centred = targets - np.mean(targets)
    scaled: FloatArray = centred / np.max(np.abs(centred))
    return scaled


def _population(features: FloatArray, targets: FloatArray, loss: Loss, name: str) -> FinitePopulation:
    standardised = (features - np.mean(features, axis=0)) / np.std(features, axis=0)
    return _scaled_population(standardised, targets, loss, name)


def _scaled_population(features: FloatArray, targets: FloatArray, loss: Loss, name: str) -> FinitePopulation:
    rows = np.column_stack([np.ones(features.shape[0]), features])
    # A little more than the largest norm, so that no rounding lifts a row above 1.
    rows /= np.max(euclidean_norm(rows)) * (1.0 + 2.0**-48)
    return FinitePopulation(np.column_stack([rows, targets]), loss, name=name, data_radius=1.0)
