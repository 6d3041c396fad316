"""Real data sets that ship inside scikit-learn and statsmodels, as finite populations.

Features are standardised (mean 0, standard deviation 1 in each column), an intercept column of ones is put in front,
and all rows are divided by the largest row norm, so that ``‖a‖₂ ≤ 1`` and the class of linear predictors is
unchanged. Regression targets are centred and divided by their largest absolute value, so that ``|b| ≤ 1``; labels are
±1. Nothing is downloaded and nothing is random.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.losses import AbsoluteDeviation, Hinge, Huber, Logistic, Loss, Quantile
from dpsco_verify.problems.populations.finite import FinitePopulation


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
    from sklearn.datasets import load_breast_cancer  # noqa: PLC0415  heavy

    features, classes = load_breast_cancer(return_X_y=True)
    labels = 2.0 * classes - 1.0
    return _population(features, labels, chosen, f"breast cancer, {chosen.name}")


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
    chosen = _choose(
        "loss",
        loss,
        {"absolute": AbsoluteDeviation(), "huber": Huber(threshold), "quantile": Quantile(level)},
    )
    from sklearn.datasets import load_diabetes  # noqa: PLC0415  heavy

    features, progression = load_diabetes(return_X_y=True)
    return _population(features, _scale_targets(progression), chosen, f"diabetes, {chosen.name}")


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
    from statsmodels.datasets import engel as source  # noqa: PLC0415  heavy

    table = source.load_pandas().data
    features = table[["income"]].to_numpy(dtype=np.float64)
    return _population(features, _scale_targets(table["foodexp"].to_numpy()), chosen, f"engel, {chosen.name}")


def _choose(name: str, key: str, options: dict[str, Loss]) -> Loss:
    if key not in options:
        raise InputError(f"{name}={key!r} is unknown; give one of {', '.join(options)}")
    return options[key]


def _scale_targets(targets: FloatArray) -> FloatArray:
    centred = targets - np.mean(targets)
    scaled: FloatArray = centred / np.max(np.abs(centred))
    return scaled


def _population(features: FloatArray, targets: FloatArray, loss: Loss, name: str) -> FinitePopulation:
    standardised = (features - np.mean(features, axis=0)) / np.std(features, axis=0)
    rows = np.column_stack([np.ones(features.shape[0]), standardised])
    # A little more than the largest norm, so that no rounding lifts a row above 1.
    rows /= np.max(euclidean_norm(rows)) * (1.0 + 2.0**-48)
    return FinitePopulation(np.column_stack([rows, targets]), loss, name=name, data_radius=1.0)
