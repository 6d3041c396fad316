"""How good private fits are: the estimators beside other systems at the same (ε, δ), on real and made data.

``python -m benchmarks.quality`` prints a table for each ε and, with ``--figure``, draws all of them. Every
system sees the same splits, the same clipped records and the same bounds, and guarantees (ε, δ) for replaced
records; only "DP-SGD, add-remove" guarantees it for added and removed ones, as its users do, which is weaker:
replacing is both.

What is taken to be public: n, and the means, deviations and ranges by which real data were scaled. The clipping norm is
√d for standardised records, without a look at them, and 1 for images, each of which is scaled by itself. No system's
parameters are chosen by a score here; the estimators' default radius (10, and 2 for regression) was chosen once, by
looking at breast cancer, wine, digits, diabetes and made data.
"""

from __future__ import annotations

import argparse
import functools
import json
import math
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dp_accounting
import numpy as np
from dp_accounting import dp_event, pld
from scipy import optimize, stats
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from dpsco_verify.arrays import FloatArray
from dpsco_verify.estimators import NoiseWarning, PrivateSGDClassifier, PrivateSGDRegressor
from dpsco_verify.estimators.descent import Problem, gradient_sum
from dpsco_verify.estimators.records import bounded_rows
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Huber, Logistic, breast_cancer, diabetes, engel, fair, randhie
from dpsco_verify.related import ConditionError, PrivacyBudget, Task
from dpsco_verify.related.catalogue import SYSTEMS

EPSILONS = (0.1, 0.3, 1.0, 3.0, 8.0)
DELTA = 1e-6
THRESHOLD = 0.2
_REACH = {"classification": 10.0, "regression": 2.0}
_RATE, _STEPS = 0.05, 400
"""DP-SGD's sampling rate and steps: 20 passes, where its noise is within 2 % of the least over rates at these steps."""
_MOST_STEPS = 5_000


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

    @property
    def kind(self) -> str:
        """Return "classification" or "regression"."""
        return "classification" if self.classes else "regression"


def problems() -> list[Data]:
    """Return the problems, small ones first; those that are made say so."""
    found = []
    for name, population in (
        ("breast cancer", breast_cancer("logistic")),
        ("fair", fair("logistic")),
        ("engel", engel()),
        ("diabetes", diabetes()),
        ("randhie", randhie("absolute")),
    ):
        points = population.data
        X, y = points[:, 1:-1] / points[:, :1], points[:, -1]  # the intercept's column has the scale
        labelled = name not in {"engel", "diabetes", "randhie"}
        classes = 2 if labelled else 0
        found.append(Data(name, X, (y > 0).astype(int) if labelled else y, classes, math.sqrt(X.shape[1])))
    wine = load_wine(return_X_y=True)
    pixels, number = load_digits(return_X_y=True)
    found.append(
        Data("wine", (wine[0] - wine[0].mean(axis=0)) / wine[0].std(axis=0), wine[1], 3, math.sqrt(13))
    )
    unit = pixels / np.linalg.norm(pixels, axis=1, keepdims=True)  # each image by itself
    found.append(Data("digits", unit, number, 10, 1.0))
    found.append(Data("digits, even or odd", unit, number % 2, 2, 1.0))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50_000, 20))
    score = X @ rng.normal(size=20) / math.sqrt(20)
    labels = (rng.random(50_000) < 1 / (1 + np.exp(-3 * score))).astype(int)
    targets = np.clip((score + 0.3 * rng.standard_t(2, 50_000)) / 4, -1, 1)
    found.append(Data("made, logistic", X, labels, 2, math.sqrt(20)))
    found.append(Data("made, heavy tails", X, targets, 0, math.sqrt(20)))
    return sorted(found, key=lambda data: (data.kind, len(data.X)))


def clipped(data: Data, X: FloatArray) -> FloatArray:
    """Return the records as the other systems take them: clipped, with an intercept, in the unit ball."""
    return np.column_stack([np.ones(len(X)), bounded_rows(X, data.norm)]) / math.sqrt(2.0)


Scores = Callable[[FloatArray], Any]
"""From records to scores, shape (n,) or (n, k)."""
Fitter = Callable[[Data, FloatArray, Any, float, np.random.Generator], Scores]


def estimator(**plan: Any) -> Fitter:
    """Return our estimator with a plan."""

    def fit(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
        del rng  # its noise is the operating system's
        given = {"epsilon": epsilon, "delta": DELTA, "data_norm": data.norm, **plan}
        if data.classes:
            return PrivateSGDClassifier(classes=range(data.classes), **given).fit(X, y).decision_function
        return (
            PrivateSGDRegressor("huber", threshold=THRESHOLD, target_bounds=(-1, 1), **given)
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
        step = dp_event.PoissonSampledDpEvent(_RATE, dp_event.GaussianDpEvent(multiplier))
        accountant.compose(dp_event.SelfComposedDpEvent(step, _STEPS))
        return float(accountant.get_epsilon(DELTA)) - epsilon

    return float(optimize.brentq(excess, 0.4, 200.0, rtol=1e-3)) * 1.001


def dp_sgd(relation: str) -> Fitter:
    """Return DP-SGD with Poisson sampling: our gradients, our steps and average, its sampling and accountant."""

    def fit(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
        loss = Logistic() if data.classes else Huber(THRESHOLD)
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


def related(name: str) -> Fitter:
    """Return a system of the comparison, on the ball of our reach."""

    def fit(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
        if data.classes > 2:
            raise ConditionError("it has two classes")
        loss = Logistic() if data.classes else Huber(THRESHOLD)
        rows = clipped(data, X)
        targets = 2.0 * np.asarray(y) - 1.0 if data.classes else y
        # the unit ball's coefficients are √2 times ours
        task = Task(loss, L2Ball(np.zeros(rows.shape[1]), math.sqrt(2.0) * _REACH[data.kind]), 1.0)
        sample = np.column_stack([rows, targets])
        found = SYSTEMS[name].fit(sample, task=task, budget=PrivacyBudget(epsilon, DELTA), rng=rng)
        return _linear(data, np.append(found.solution[1:], found.solution[:1])[np.newaxis] / math.sqrt(2.0))

    return fit


def without_privacy(data: Data, X: FloatArray, y: Any, epsilon: float, rng: np.random.Generator) -> Scores:
    """Minimise the same loss over the same set, or fit scikit-learn's logistic regression to several classes."""
    if data.classes > 2:
        return LogisticRegression(max_iter=2_000).fit(X, y).decision_function
    return related("empirical-optimum")(data, X, y, epsilon, rng)


FITTERS: dict[str, Fitter] = {
    "no privacy": without_privacy,
    "estimator": estimator(),
    "its one pass": estimator(epochs=1),
    "its full passes": estimator(epochs=100),
    "one by one": one_by_one,
    "Algorithm 1": related("algorithm-1"),
    "DP-SGD": dp_sgd("REPLACE_ONE"),
    "DP-SGD, add-remove": dp_sgd("ADD_OR_REMOVE_ONE"),
    "objective perturbation": related("objective-perturbation-sharp"),
    "output perturbation": related("output-perturbation"),
    "phased SGD": related("phased-sgd-tight"),
}


def score(data: Data, scores: Any, y: Any, y_train: Any) -> float:
    """Return the accuracy, or for regression the share of the mean absolute error of the median that is gone."""
    if data.classes:
        guess = np.argmax(scores, axis=1) if np.ndim(scores) == 2 else np.asarray(scores) > 0.0
        return float(np.mean(guess == y))
    return 1.0 - float(np.mean(np.abs(scores - y)) / np.mean(np.abs(np.median(y_train) - y)))


def measure(data: Data, name: str, epsilon: float, seeds: int) -> dict[str, Any]:
    """Return the mean test score over the splits with a 95 % t-interval, or why there is none."""
    values = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, len(data.X)])
        order = rng.permutation(len(data.X))
        train, test = order[: (7 * len(order)) // 10], order[(7 * len(order)) // 10 :]
        try:
            scores = FITTERS[name](data, data.X[train], data.y[train], epsilon, rng)
        except ConditionError as error:
            return {"problem": data.name, "system": name, "epsilon": epsilon, "mean": None, "why": str(error)}
        values.append(score(data, scores(data.X[test]), data.y[test], data.y[train]))
    half = float(stats.t.ppf(0.975, seeds - 1) * np.std(values, ddof=1) / math.sqrt(seeds))
    return {
        "problem": data.name,
        "system": name,
        "epsilon": epsilon,
        "mean": float(np.mean(values)),
        "half": half,
        "values": values,
    }


def table(found: list[dict[str, Any]], data: list[Data], epsilon: float) -> str:
    """Return the figures at one ε in Markdown."""
    head = "| problem | n, d | constant | " + " | ".join(FITTERS) + " |"
    lines = [head, "|" + "---|" * (3 + len(FITTERS))]
    for one in data:
        constant = f"{np.bincount(one.y).max() / len(one.y):.3f}" if one.classes else "0"
        cells = []
        for name in FITTERS:
            cell = next(
                f for f in found if (f["problem"], f["system"], f["epsilon"]) == (one.name, name, epsilon)
            )
            cells.append("–" if cell["mean"] is None else f"{cell['mean']:.3f} ± {cell['half']:.3f}")
        lines.append(
            f"| {one.name} | {len(one.X)}, {one.X.shape[1]} | {constant} | " + " | ".join(cells) + " |"
        )
    return "\n".join(lines)


def draw(found: list[dict[str, Any]], data: list[Data], path: Path) -> None:
    """Draw the score over ε, one panel a problem."""
    import matplotlib as mpl  # noqa: PLC0415  heavy

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "quality", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt  # noqa: PLC0415  likewise

    columns = math.ceil(len(data) / 2)
    figure, axes = plt.subplots(2, columns, figsize=(3.1 * columns, 6.4), layout="constrained")
    for one, axis in zip(data, np.ravel(axes), strict=False):
        for name in FITTERS:
            rows = [
                f for f in found if f["problem"] == one.name and f["system"] == name and f["mean"] is not None
            ]
            axis.errorbar(
                [f["epsilon"] for f in rows],
                [f["mean"] for f in rows],
                [f["half"] for f in rows],
                label=name,
                linewidth=2.4 if name == "estimator" else 1.0,
                linestyle=":" if name == "no privacy" else "-",
            )
        axis.set(title=f"{one.name}, n = {len(one.X)}", xscale="log", xlabel="ε")
        axis.set_ylim(*((0.0, 1.0) if one.classes else (-0.5, 0.8)))
    handles, labels = np.ravel(axes)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the tables, and write what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--epsilon", type=float, nargs="+", default=list(EPSILONS))
    parser.add_argument("--json", type=Path, metavar="PATH")
    parser.add_argument("--figure", type=Path, metavar="PATH")
    parser.add_argument("--most", type=int, default=10**9, help="leave out problems with more records")
    options = parser.parse_args(arguments)
    data = [one for one in problems() if len(one.X) <= options.most]
    found: list[dict[str, Any]] = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseWarning)
        for one in data:
            for name in FITTERS:
                for epsilon in options.epsilon:
                    private = name != "no privacy" or epsilon == options.epsilon[0]
                    cell = measure(one, name, epsilon, options.seeds) if private else {**found[-1]}
                    found.append({**cell, "epsilon": epsilon})
                print(f"{one.name}: {name}", file=sys.stderr, flush=True)  # noqa: T201  progress
    for epsilon in options.epsilon:
        print(f"\nε = {epsilon:g}, δ = {DELTA:g}\n\n{table(found, data, epsilon)}")  # noqa: T201  a benchmark prints
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.figure is not None:
        draw(found, data, options.figure)
    return 0


if __name__ == "__main__":
    sys.exit(main())
