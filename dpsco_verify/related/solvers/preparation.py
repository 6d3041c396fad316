"""What the systems that call the solver share: the condition, the distinct samples, the cost to expect."""

from __future__ import annotations

from dpsco_verify.arrays import FloatArray
from dpsco_verify.problems.losses import Linear
from dpsco_verify.related.conditions import Condition
from dpsco_verify.related.solvers.minimise import is_supported
from dpsco_verify.related.task import Task

_SMOOTH_PASSES, _KINKED_PASSES = 20.0, 100.0
"""Typical numbers of passes over the data, of the right order."""


def solvable(task: Task) -> Condition:
    """Ask for a loss that has a solver that certifies its accuracy."""
    return Condition(
        holds=is_supported(task.loss),
        words=f"loss={task.loss.name} has no certified solver; give a linear loss, a Euclidean distance, or a loss of "
        "a linear predictor that is smooth or made of two lines",
    )


def distinct(sample: FloatArray) -> FloatArray:
    """Return a sample of shape ``(R, m, k)``, with 1 for R if it is one sample that all runs share in memory."""
    return sample[:1] if sample.shape[0] > 1 and sample.strides[0] == 0 else sample


def typical_queries(task: Task, m: int) -> float:
    """Return the gradients of single points that a call on m points needs, roughly: the data decide."""
    if isinstance(task.loss, Linear):
        return float(m)
    return m * (_KINKED_PASSES if task.smoothness is None else _SMOOTH_PASSES)
