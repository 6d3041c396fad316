"""Conditions that systems of gradient steps share, beside those of :mod:`dpsco_verify.related.conditions`."""

from __future__ import annotations

import math

from dpsco_verify.related.budget import PrivacyBudget
from dpsco_verify.related.conditions import Condition, bounded_set, positive_delta, smooth, smooth_at_most
from dpsco_verify.related.task import Task


def positive_lipschitz(task: Task) -> Condition:
    """Ask for ``L > 0``: step sizes divide by it."""
    return Condition(
        holds=task.lipschitz > 0.0,
        words=f"lipschitz={task.lipschitz:g} must be positive; give a loss and data that depend on the parameter",
    )


def enough_points(n: int, fewest: int, why: str) -> Condition:
    """Ask for at least `fewest` points, for the reason `why`."""
    return Condition(holds=n >= fewest, words=f"n={n} must be at least {why}={fewest}; give more points")


def nonexpansive_steps(task: Task, step_size: float, name: str) -> tuple[Condition, ...]:
    """Ask for a smooth loss and ``η ≤ 2/β``, under which ``w ↦ w − η∇f(w, z)`` moves no two points apart.

    Source: Feldman, Mironov, Talwar and Thakurta (2018), Proposition 18.
    """
    return (smooth(task), smooth_at_most(task, 2.0 / step_size, f"2/{name}"))


def more_than_a_point(task: Task) -> Condition:
    """Ask for ``D > 0``."""
    return Condition(
        holds=task.diameter > 0.0,
        words=f"diameter={task.diameter:g} must be positive; give a convex set of more than one point",
    )


def bounded_problem(task: Task) -> tuple[Condition, ...]:
    """Ask for ``0 < D < ∞`` and ``L > 0``."""
    return (bounded_set(task), more_than_a_point(task), positive_lipschitz(task))


def growing_batches(task: Task, n: int, budget: PrivacyBudget) -> tuple[Condition, ...]:
    """Ask for a bounded problem, ``δ > 0``, and points for the last of the batches ``⌈2√d/(κ√(T − t + 1))⌉``."""
    basic = (*bounded_problem(task), positive_delta(budget))
    if not all(condition.holds for condition in basic):
        return basic
    last = math.ceil(2.0 * math.sqrt(task.dimension) / budget.concentrated)
    return (*basic, enough_points(n, last, "the last batch ⌈2√d/κ⌉"))
