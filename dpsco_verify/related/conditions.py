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
