"""An audit of each system at each ε, by what it releases: a linear model.

The data sets have one feature, which is 1 throughout, and labels, or targets, that alternate; so the optimum is in the
middle of the set, where no projection hides a record. In one of them the first record is turned about: its label or
target is the other, which makes the gradient the opposite one. For added and removed records it is there or not.
What is judged is the score at the feature. Up to ε = 1 an event is sought that breaks (ε, δ). Beyond, such events are
rare, and the score is held against all that the noise promises (:mod:`benchmarks.quality.curves`), as that of a canary
that is in or out, each of a fit of its own. All audits of a table together accuse a right system with a probability of
at most 0.001.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.quality.curves import CURVES, Curve
from benchmarks.quality.fitters import DELTA, Fitter, Related
from benchmarks.quality.records import Data
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import CanaryAudit, audit, audit_canaries
from dpsco_verify.privacy.claims import PureDP
from dpsco_verify.related import ConditionError

RECORDS = 60
_LEVEL = 1e-3
_NORM = 4.0
"""Of the feature, and where it is clipped."""
_BY_EVENTS = 1.0
"""The largest ε that is held against an event."""
_OF_PURE = 22.0
"""Times e^ε fits show half the noise that ε with δ = 0 asks for: so rare are the events that break it."""
_TOGETHER = 5_000
"""Fits that are made in one call, where many can be."""

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

    @property
    def many(self) -> bool:
        """Whether many fits are made in one call."""
        return isinstance(self._fitter, Related)

    def __call__(self, dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
        y = dataset[:, 1].astype(int) if self.data.classes else dataset[:, 1]
        given = (self.data, dataset[:, :1], y, self._epsilon, rng)
        if isinstance(self._fitter, Related):
            parts = [min(_TOGETHER, size - start) for start in range(0, size, _TOGETHER)]
            return np.concatenate(
                [self._fitter.solutions(*given, fits=part).sum(axis=1) for part in parts] or [np.zeros(0)]
            )
        at = np.array([[_NORM]])
        return np.array([self._fitter(*given)(at)[0] for _ in range(size)])


def audits(
    systems: Mapping[str, Fitter],
    epsilons: list[float],
    *,
    classes: int,
    samples: int,
    curves: Mapping[str, Curve] = CURVES,
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
            if epsilon > _BY_EVENTS:
                found = _by_curve(mechanism, first, second, curves[name], epsilon, samples, alpha)
            else:
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


def _by_curve(
    mechanism: _Release,
    first: FloatArray,
    second: FloatArray,
    curve: Curve,
    epsilon: float,
    samples: int,
    alpha: float,
) -> CanaryAudit:
    """Hold the scores on both data sets against the curve; in the second the first record pulls the score up."""
    claim = curve(epsilon, RECORDS)
    pure = isinstance(claim, PureDP)
    fits = max(samples, math.ceil(_OF_PURE * math.exp(epsilon))) if pure and mechanism.many else samples
    streams = np.random.default_rng([RECORDS, fits]).spawn(2)
    below, above = (mechanism(data, fits, rng) for data, rng in zip((first, second), streams, strict=True))
    return audit_canaries(
        above, below, claim=claim, delta=None if pure else DELTA, method="clopper-pearson", alpha=alpha
    )


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
