"""The sensitivity of the mean gradient of a batch, as a quantity to be measured."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.related.one_pass import mean_gradient, repeated
from dpsco_verify.related.system import Sensitivity
from dpsco_verify.related.task import Task

ROUNDING = 1e-12
"""Of computed gradients, in units of their bound."""


def batch_sensitivity(task: Task, *, what: str, first: int, count: int) -> Sensitivity:
    """Return that of the mean gradient of the points ``first, …, first + count − 1`` at the initial point: 2L/B."""

    def gradient(sample: FloatArray) -> FloatArray:
        start = repeated(task.initial_point, 1)
        points: FloatArray = sample[np.newaxis, first : first + count]
        mean: FloatArray = mean_gradient(task.loss, start, points)[0]
        return mean

    return Sensitivity(
        what=what,
        bound=2.0 * task.lipschitz / count,
        query=gradient,
        rounding=ROUNDING * task.lipschitz,
    )


def end_batches(task: Task, batches: IntArray) -> tuple[Sensitivity, ...]:
    """Return the sensitivities of the first and of the last of consecutive batches."""
    before = int(batches[:-1].sum())
    return (
        batch_sensitivity(task, what="mean gradient of the first batch", first=0, count=int(batches[0])),
        batch_sensitivity(task, what="mean gradient of the last batch", first=before, count=int(batches[-1])),
    )
