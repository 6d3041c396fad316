"""Scores over random splits, as tables and as pictures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from benchmarks.quality.fitters import FITTERS, LEVEL, OTHER_LOSSES, Fitter
from benchmarks.quality.records import Data
from dpsco_verify.related import ConditionError

Cell = dict[str, Any]


def score(data: Data, scores: Any, y: Any, y_train: Any) -> float:
    """Return the accuracy, or for regression which share of the loss of the best constant is gone.

    The loss is the absolute error, whose best constant is the median; for the quantile loss it is that.
    """
    if data.classes:
        guess = np.argmax(scores, axis=1) if np.ndim(scores) == 2 else np.asarray(scores) > 0.0
        return float(np.mean(guess == y))
    level = LEVEL if data.loss == "quantile" else 0.5

    def pinball(error: Any) -> float:
        return float(np.mean(np.maximum(level * error, (level - 1.0) * error)))

    return 1.0 - pinball(y - scores) / pinball(y - np.quantile(y_train, level))


def constant(data: Data) -> float:
    """Return the score of the best constant: that of the majority class, or 0."""
    return float(np.bincount(data.y).max() / len(data.y)) if data.classes else 0.0


def measure(data: Data, name: str, fitter: Fitter, epsilon: float, seeds: int) -> Cell:
    """Return the mean test score over the splits with a 95 % t-interval, or why there is none."""
    told = {"problem": data.name, "loss": data.loss, "system": name, "epsilon": epsilon}
    values = []
    for seed in range(seeds):
        rng = np.random.default_rng([seed, len(data.X)])
        order = rng.permutation(len(data.X))
        train, test = order[: (7 * len(order)) // 10], order[(7 * len(order)) // 10 :]
        try:
            scores = fitter(data, data.X[train], data.y[train], epsilon, rng)
        except ConditionError as error:
            return {**told, "mean": None, "why": str(error)}
        values.append(score(data, scores(data.X[test]), data.y[test], data.y[train]))
    half = float(stats.t.ppf(0.975, seeds - 1) * np.std(values, ddof=1) / math.sqrt(seeds))
    return {**told, "mean": float(np.mean(values)), "half": half, "values": values}


def table(found: Iterable[Cell], data: Iterable[Data], systems: Mapping[str, Fitter], epsilon: float) -> str:
    """Return the figures at one ε in Markdown."""
    cells = {(f["problem"], f["loss"], f["system"]): f for f in found if f["epsilon"] == epsilon}
    named = systems is OTHER_LOSSES
    head = "| problem | " + ("loss | " if named else "n, d | ") + "constant | " + " | ".join(systems) + " |"
    lines = [head, "|" + "---|" * (3 + len(systems))]
    for one in data:
        row = [cells.get((one.name, one.loss, name)) for name in systems]
        if all(cell is None for cell in row):
            continue
        shown = one.loss if named else f"{len(one.X)}, {one.X.shape[1]}"
        line = f"| {one.name} | {shown} | {constant(one):.3f} | "
        lines.append(line + " | ".join(_shown(cell) for cell in row) + " |")
    return "\n".join(lines)


def _shown(cell: Cell | None) -> str:
    if cell is None or cell["mean"] is None:
        return "–"
    return f"{cell['mean']:.3f} ± {cell['half']:.3f}" if abs(cell["mean"]) < 1e4 else f"{cell['mean']:.0e}"


def difference(found: Iterable[Cell], system: str, other: str) -> list[tuple[str, float, float, float]]:
    """Return where two systems' mean difference is beyond its 95 % t-interval: (problem, ε, mean, half)."""
    values = {(f["problem"], f["epsilon"], f["system"]): f.get("values") for f in found}
    beyond = []
    for (problem, epsilon, name), ours in values.items():
        theirs = values.get((problem, epsilon, other))
        if name == system and ours and theirs:
            paired = np.subtract(ours, theirs)
            half = float(stats.t.ppf(0.975, len(paired) - 1) * paired.std(ddof=1) / math.sqrt(len(paired)))
            if abs(paired.mean()) > half:
                beyond.append((problem, epsilon, float(paired.mean()), half))
    return beyond


def draw(found: list[Cell], data: list[Data], path: Path) -> None:
    """Draw the score over ε, one panel a problem, from half the gain of no privacy below the best constant on."""
    import matplotlib as mpl  # noqa: PLC0415  heavy

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "quality", "svg.fonttype": "none"})
    from matplotlib import pyplot as plt  # noqa: PLC0415  likewise

    columns = math.ceil(len(data) / 3)
    figure, axes = plt.subplots(3, columns, figsize=(3.1 * columns, 8.6), layout="constrained")
    for axis in np.ravel(axes)[len(data) :]:
        axis.set_axis_off()
    for one, axis in zip(data, np.ravel(axes), strict=False):
        cells = [
            f for f in found if (f["problem"], f["loss"]) == (one.name, one.loss) and f["mean"] is not None
        ]
        best = max((f["mean"] for f in cells if f["system"] == "no privacy"), default=1.0)
        gain = best - constant(one)
        low = constant(one) - 0.5 * gain
        for number, name in enumerate(FITTERS):
            rows = [f for f in cells if f["system"] == name and f["mean"] >= low]
            axis.errorbar(
                [f["epsilon"] for f in rows],
                [f["mean"] for f in rows],
                [f["half"] for f in rows],
                label=name,
                color=mpl.colormaps["Paired"](number),
                linewidth=2.4 if name == "estimator" else 1.0,
                linestyle=":" if name == "no privacy" else "-",
            )
        axis.set(title=f"{one.name}, n = {len(one.X)}", xscale="log", xlabel="ε")
        least = min((f["mean"] for f in cells if f["mean"] >= low), default=low)
        axis.set_ylim(least - 0.05 * gain, best + 0.1 * gain)
    handles, labels = np.ravel(axes)[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
