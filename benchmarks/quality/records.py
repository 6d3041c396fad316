"""The problems: real data that packages ship, and two that are made."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_wine
from statsmodels.datasets import anes96
from statsmodels.datasets import randhie as visits

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems import Population, breast_cancer, diabetes, engel, fair, randhie

_DIAMONDS = "plotnine/data/diamonds.csv"


@dataclass(frozen=True)
class Data:
    """Records scaled by public numbers, with labels 0, …, k − 1 or targets in [−1, 1]."""

    name: str
    X: FloatArray
    y: Any
    classes: int
    """0 for regression."""
    norm: float
    """Where records are clipped."""
    loss: str = ""
    """By default "logistic" or "huber"."""

    def __post_init__(self) -> None:
        """Take the default loss."""
        if not self.loss:
            object.__setattr__(self, "loss", "logistic" if self.classes else "huber")

    @property
    def kind(self) -> str:
        """Return "classification" or "regression"."""
        return "classification" if self.classes else "regression"

    def of_loss(self, loss: str) -> Data:
        """Return the same data for another loss."""
        return replace(self, loss=loss)


def problems() -> list[Data]:
    """Return the problems, classification first, small ones first; those that are made say so."""
    return sorted([*_real(), *_made(), *_diamonds()], key=lambda data: (data.kind, len(data.X)))


def _real() -> Iterator[Data]:
    for name, population, classes in (
        ("breast cancer", breast_cancer("logistic"), 2),
        ("fair", fair("logistic"), 2),
        ("engel", engel(), 0),
        ("diabetes", diabetes(), 0),
        ("randhie", randhie("absolute"), 0),
    ):
        yield _of_population(name, population, classes)
    health = visits.load_pandas().data.to_numpy(np.float64)
    yield _standardised("randhie, any visit", health[:, 1:], health[:, 0] > 0.0)
    votes = anes96.load_pandas().data
    opinions = votes[["logpopul", "TVnews", "selfLR", "ClinLR", "DoleLR", "age", "educ", "income"]]
    yield _standardised("anes96", opinions.to_numpy(np.float64), votes["vote"].to_numpy() > 0.0)
    X, y = load_wine(return_X_y=True)
    yield Data("wine", (X - X.mean(axis=0)) / X.std(axis=0), y, 3, math.sqrt(X.shape[1]))
    pixels, number = load_digits(return_X_y=True)
    unit = pixels / np.linalg.norm(pixels, axis=1, keepdims=True)  # each image by itself
    yield Data("digits", unit, number, 10, 1.0)
    yield Data("digits, even or odd", unit, number % 2, 2, 1.0)


def _of_population(name: str, population: Population, classes: int) -> Data:
    points = population.data  # type: ignore[attr-defined]  # those on real data are finite
    X, y = points[:, 1:-1] / points[:, :1], points[:, -1]  # the intercept's column has the scale
    return Data(name, X, (y > 0).astype(int) if classes else y, classes, math.sqrt(X.shape[1]))


def _standardised(name: str, X: FloatArray, positive: Any) -> Data:
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Data(name, X, np.asarray(positive).astype(int), 2, math.sqrt(X.shape[1]))


def _made() -> Iterator[Data]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 20))
    score = X @ rng.normal(size=20) / math.sqrt(20)
    labels = (rng.random(50_000) < 1 / (1 + np.exp(-3 * score))).astype(int)
    targets = np.clip((score + 0.3 * rng.standard_t(2, 50_000)) / 4, -1, 1)
    yield Data("made, logistic", X, labels, 2, math.sqrt(20))
    yield Data("made, heavy tails", X, targets, 0, math.sqrt(20))


def _diamonds() -> Iterator[Data]:
    """Yield 50,000 diamonds, where plotnine is installed, which ships them: of the best cut or not, and their price."""
    package = importlib.util.find_spec("plotnine")
    if package is None or package.origin is None:
        print("diamonds: left out; pip install plotnine brings them", file=sys.stderr)  # noqa: T201  progress
        return
    table = pd.read_csv(Path(package.origin).parent.parent / _DIAMONDS)
    table = table.sample(n=50_000, random_state=0)
    sizes = table[["depth", "table", "x", "y", "z"]].to_numpy(np.float64)
    grades = pd.get_dummies(table[["color", "clarity"]]).to_numpy(np.float64)
    logs = np.log(table[["carat", "price"]].to_numpy(np.float64))
    yield _standardised("diamonds, best cut", np.column_stack([sizes, grades, logs]), table["cut"] == "Ideal")
    priced = _standardised("diamonds, price", np.column_stack([sizes, grades, logs[:, :1]]), logs[:, 1] > 0.0)
    low, high = math.log(100.0), math.log(100_000.0)
    yield replace(priced, y=2.0 * (logs[:, 1] - low) / (high - low) - 1.0, classes=0, loss="huber")
