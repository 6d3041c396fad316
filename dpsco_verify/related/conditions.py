"""The conditions under which a system's guarantee was proven, each checked."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.related.budget import PrivacyBudget
from dpsco_verify.related.task import Task

_ROUNDING = 1e-12


class ConditionError(InputError):
    """A task, a number of points or a budget outside a system's conditions."""


@dataclass(frozen=True, kw_only=True)
class Condition:
    """One condition: whether it is met, and in words what is asked and what is there (``name=value``)."""

    holds: bool
    words: str

    __bool__ = no_truth_value("condition.holds")


def require_conditions(system: str, conditions: Iterable[Condition]) -> None:
    """Raise for the first condition that is not met.

    Raises
    ------
    ConditionError
        It names the system and the condition.
    """
    for condition in conditions:
        if not condition.holds:
            raise ConditionError(f"{system}: {condition.words}")


def bounded_set(task: Task) -> Condition:
    """Ask for a bounded W."""
    return Condition(
        holds=task.is_bounded, words=f"diameter={task.diameter:g} must be finite; give a bounded convex set"
    )


def smooth(task: Task) -> Condition:
    """Ask for a Lipschitz gradient."""
    return Condition(
        holds=task.smoothness is not None,
        words=f"loss={task.loss.name} has no Lipschitz gradient, which is needed; give a smooth loss",
    )


def smooth_at_most(task: Task, largest: float, name: str) -> Condition:
    """Ask that the gradient's Lipschitz constant β be at most `largest`, which `name` explains."""
    beta = math.inf if task.smoothness is None else task.smoothness
    return Condition(
        holds=beta <= largest * (1.0 + _ROUNDING),
        words=f"smoothness={beta:g} must be at most {name}={largest:g}; give a smoother loss or other parameters",
    )


def unit_data(task: Task) -> Condition:
    """Ask for features of norm at most 1."""
    return Condition(
        holds=task.data_radius <= 1.0 + _ROUNDING,
        words=f"data_radius={task.data_radius:g} must be at most 1; divide the features by their largest norm",
    )


def unit_lipschitz(task: Task) -> Condition:
    """Ask for a 1-Lipschitz loss."""
    return Condition(
        holds=task.lipschitz <= 1.0 + _ROUNDING,
        words=f"lipschitz={task.lipschitz:g} must be at most 1; rescale the loss or the features",
    )


def positive_delta(budget: PrivacyBudget) -> Condition:
    """Ask for a positive δ."""
    return Condition(
        holds=budget.delta > 0.0, words=f"delta={budget.delta:g} must be positive; give a δ in (0, 1)"
    )


def at_most_epsilon(budget: PrivacyBudget, largest: float) -> Condition:
    """Ask that the budget's ε be within the range of the proof."""
    return Condition(
        holds=budget.epsilon <= largest,
        words=f"epsilon={budget.epsilon:g} must be at most {largest:g}; give a smaller ε",
    )


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
