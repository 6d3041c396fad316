"""An audit of each system at each ε, by what it releases: a linear model.

The data sets have one feature, which is 1 throughout, and labels, or targets, that alternate; so the optimum is in the
middle of the set, where no projection hides a record. In one of them the first record is turned about: its label or
target is the other, which makes the gradient the opposite one. For added and removed records it is there or not.
What is judged is the score at the feature. All audits of a table together accuse a right system with a probability
of at most 0.001.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.quality.fitters import DELTA, Fitter
from benchmarks.quality.records import Data
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import audit
from dpsco_verify.related import ConditionError

RECORDS = 60
_LEVEL = 1e-3
_NORM = 4.0
"""Of the feature, and where it is clipped."""

Cell = dict[str, Any]


def pair(*, classes: int, replaced: bool) -> tuple[FloatArray, FloatArray]:
    """Return neighbours, of shape (n, 2): features and labels or targets."""
    targets = np.arange(RECORDS) % 2.0
    first = np.column_stack([np.full(RECORDS, _NORM), targets if classes else 2.0 * targets - 1.0])
    if not replaced:
        return first, first[1:]
    second = first.copy()
    second[0, 1] = 1.0
    return first, second


class _Release:
    """The score at the feature, as a mechanism; the estimators draw their noise from the operating system."""

    takes_rng = False

    def __init__(self, fitter: Fitter, epsilon: float, classes: int) -> None:
        self.data = Data("audit", np.zeros((0, 1)), np.zeros(0), classes, _NORM)
        self._fitter, self._epsilon = fitter, epsilon

    def __call__(self, dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        y = dataset[:, 1].astype(int) if self.data.classes else dataset[:, 1]
        at = np.array([[_NORM]])
        return np.array(
            [self._fitter(self.data, dataset[:, :1], y, self._epsilon, rng)(at)[0] for _ in range(size)]
        )


def audits(
    systems: Mapping[str, Fitter], epsilons: list[float], *, classes: int, samples: int
) -> Iterator[Cell]:
    """Yield what each audit found: verdict, and the least ε that would have been found with power 0.9."""
    alpha = _LEVEL / (2 * len(systems) * len(epsilons))
    for name, fitter in systems.items():
        if name == "no privacy":
            continue
        replaced = "add-remove" not in name
        first, second = pair(classes=classes, replaced=replaced)
        for epsilon in epsilons:
            mechanism = _Release(fitter, epsilon, classes)
            told = {"kind": mechanism.data.kind, "system": name, "epsilon": epsilon}
            try:
                mechanism(first, 1, np.random.default_rng(0))
            except ConditionError as error:
                yield {**told, "verdict": None, "why": str(error)}
                continue
            found = audit(
                mechanism,
                first,
                second,
                epsilon=epsilon,
                delta=DELTA,
                relation="replace-one" if replaced else "add-remove",
                alpha=alpha,
                samples=samples,
                classifier="none",
                name=name,
            )
            yield {
                **told,
                "verdict": str(found.verdict),
                "epsilon_lower": found.epsilon_lower,
                "detectable": None if found.mdv is None else found.mdv.epsilon,
            }


def table(found: list[Cell], epsilons: list[float]) -> str:
    """Return in Markdown which ε would have been found; a violation in words."""
    lines = ["| system | " + " | ".join(f"ε = {e:g}" for e in epsilons) + " |"]
    lines.append("|" + "---|" * (1 + len(epsilons)))
    for kind, name in dict.fromkeys((f["kind"], f["system"]) for f in found):
        row = {f["epsilon"]: f for f in found if (f["kind"], f["system"]) == (kind, name)}
        lines.append(f"| {name}, {kind} | " + " | ".join(_shown(row.get(e)) for e in epsilons) + " |")
    return "\n".join(lines)


def _shown(cell: Cell | None) -> str:
    if cell is None or cell["verdict"] is None:
        return "–"
    if cell["verdict"] == "violated":
        return f"**violated: ε ≥ {cell['epsilon_lower']:.2f}**"
    detectable = cell["detectable"]
    return "undecided" if detectable is None or not math.isfinite(detectable) else f"{detectable:.2f}"
