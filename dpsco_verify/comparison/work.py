"""The cost of running a system, by a formula without a clock, so that every machine leaves out the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsco_verify.related import Calibration, System, Task


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Seconds: a step of all runs, a gradient of one run, and a coordinate of one gradient of one run."""

    step: float = 8e-5
    gradient: float = 0.0
    coordinate: float = 2e-8


_NUMPY = Cost()
_COSTS: Mapping[str, Cost] = {
    "algorithm-1": Cost(step=0.0, coordinate=3e-8),
    "algorithm-1-printed": Cost(step=0.0, coordinate=3e-8),
    "output-perturbation": Cost(step=0.0, coordinate=5e-8),
    "objective-perturbation": Cost(step=0.0, coordinate=1.5e-7),
    "objective-perturbation-sharp": Cost(step=0.0, coordinate=1.5e-7),
    "phased-erm": Cost(step=0.0),
    "phased-erm-sharp": Cost(step=0.0),
    "empirical-optimum": Cost(step=0.0, coordinate=1.5e-7),
    "smoothed-minibatch-sgd": Cost(gradient=3e-6),
    "smoothed-minibatch-sgd-2l": Cost(gradient=3e-6),
    "private-mirror-descent-p-norm": Cost(step=5e-4, gradient=1.2e-4),
    "private-mirror-descent-entropic": Cost(step=2.5e-4),
    "mirror-descent-p-norm": Cost(step=5e-4, gradient=1.2e-4),
}
"""Measured on one core of a machine of 2024, rounded; a system that is not named is a loop of numpy over its steps."""


def nominal_seconds(system: System, calibration: Calibration, task: Task, *, runs: int) -> float:
    """Return about how long `runs` runs take on one core."""
    cost = _COSTS.get(system.id, _NUMPY)
    steps = calibration.figures.get("T", calibration.gradient_queries)
    a_gradient = cost.gradient + cost.coordinate * task.dimension
    return steps * cost.step + calibration.gradient_queries * runs * a_gradient
