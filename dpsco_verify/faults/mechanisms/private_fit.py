"""The releases of a private fit, right or with one fault: the noisy mean gradient of each step."""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray
from dpsco_verify.estimators import noise
from dpsco_verify.estimators.descent import Problem, gradient_sum, release_of
from dpsco_verify.estimators.records import bounded_rows
from dpsco_verify.geometry import L2Ball
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems import Hinge

EPSILON, DELTA = 0.5, 0.05


class FitFault(enum.StrEnum):
    """What is wrong with a fit."""

    NONE = "none"
    HALF_NOISE = "half-noise"
    UNCLIPPED = "unclipped"
    NORM_FROM_DATA = "norm-from-data"
    MISSING_KEPT = "missing-kept"
    WEIGHTED = "weighted"
    CLASSES_APART = "classes-apart"
    INTERCEPT_FORGOTTEN = "intercept-forgotten"
    ONE_STEP_NOISE = "one-step-noise"
    SAME_NOISE = "same-noise"
    KNOWN_ORDER = "known-order"


@dataclass(frozen=True, kw_only=True)
class PrivateFit:
    """Fits records (features, label) by the hinge loss, (0.5, 0.05)-private if nothing is wrong, for replaced records.

    The gradients are the estimators' own (:func:`~dpsco_verify.estimators.descent.gradient_sum`), at the first
    iterate: in a small ball the hinge's slope is the same at each. With WEIGHTED the last feature is the
    record's weight.

    Parameters
    ----------
    fault
        What is wrong.
    batch_size, epochs
        The plan; None for full passes.
    classes
        Labels are −1 and 1, or 0, …, classes − 1 where there are more than two; NaN is none of them.
    intercept
        Whether there is one.
    """

    fault: FitFault = FitFault.NONE
    batch_size: int | None = None
    epochs: int = 1
    classes: int = 2
    intercept: bool = False

    def plan(self, n: int) -> noise.Plan:
        """Return the plan for n records, with the noise that the fit takes."""
        paid = 1 if self.fault is FitFault.ONE_STEP_NOISE else self.epochs
        chosen = noise.plan(
            n=n, parameters=1, epsilon=EPSILON, delta=DELTA, batch_size=self.batch_size or n, epochs=paid
        )
        factor = 0.5 if self.fault is FitFault.HALF_NOISE else 1.0
        return dataclasses.replace(chosen, epochs=self.epochs, ratio=factor * chosen.ratio)

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return all releases of independent fits, shape (size, T·p)."""
        plan = self.plan(len(dataset))
        problem = self._problem(dataset)
        without = dataclasses.replace(problem, intercept_bound=None)
        release = release_of(without if self.fault is FitFault.INTERCEPT_FORGOTTEN else problem, plan)
        gradients = self._gradients(problem, release.lattice)
        if self.fault is FitFault.WEIGHTED:
            gradients = gradients * dataset[:, -2:-1]
        n, f = len(dataset), plan.batch_size
        shape = (size, plan.steps, problem.parameters)
        if f == n:
            total = np.broadcast_to(gradients.sum(axis=0), shape)
        else:
            orders = np.argsort(rng.random((size, n)), axis=1)
            if self.fault is FitFault.KNOWN_ORDER:
                orders = np.broadcast_to(np.arange(n), (size, n))
            batches = gradients[orders[:, : plan.points]].reshape(size, plan.steps, f, -1)
            total = batches.sum(axis=2)
        if self.fault is FitFault.SAME_NOISE:
            normals = np.broadcast_to(rng.normal(size=(size, 1, problem.parameters)), shape)
        else:
            normals = rng.normal(size=shape)
        rounded = np.rint(release.deviation / release.lattice * normals) * release.lattice
        return ((total + rounded) / f).reshape(size, -1)

    def _problem(self, dataset: NDArray[np.float64]) -> Problem:
        rows, labels = dataset[:, :-1], dataset[:, -1]
        if self.fault is FitFault.WEIGHTED:
            rows = rows[:, :-1]
        several = np.where(labels[:, np.newaxis] == np.arange(self.classes), 1.0, -1.0)
        return Problem(
            rows=rows,
            norm=1.0,
            targets=np.nan_to_num(labels)[:, np.newaxis] if self.classes == 2 else several,
            counted=np.isfinite(labels),
            slopes=Hinge().score_slope,
            slope_bound=1.0,
            convex_set=L2Ball(np.zeros(rows.shape[1]), 0.5),
            intercept_bound=0.5 if self.intercept else None,
        )

    def _gradients(self, problem: Problem, lattice: float) -> FloatArray:
        """Return the gradient of each record, shape (n, p)."""
        rows = bounded_rows(problem.rows, problem.norm)
        lengths = euclidean_norm(problem.rows)[:, np.newaxis]
        if self.fault is FitFault.UNCLIPPED:
            rows = problem.rows
        if self.fault is FitFault.NORM_FROM_DATA:
            rows = problem.rows / lengths.max()
        if self.fault is FitFault.MISSING_KEPT:
            rows = problem.rows / np.maximum(lengths, 1.0)
        if self.fault is FitFault.CLASSES_APART:
            problem = dataclasses.replace(problem, slope_bound=float(np.sqrt(self.classes)))
        w = np.zeros((problem.outputs, problem.rows.shape[1] + self.intercept))
        found = [
            gradient_sum(problem, rows[i : i + 1], slice(i, i + 1), w, lattice).ravel()
            for i in range(len(rows))
        ]
        return np.array(found)
