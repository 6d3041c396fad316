"""The problems on which the risk bounds of the systems are measured, all with L = 1 and D of the order of 1."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, L2Ball, Simplex
from dpsco_verify.problems import LinearSigns, Median, Population
from dpsco_verify.related import Task


@dataclass(frozen=True, kw_only=True, eq=False)
class Instance:
    """A population over a set, with its minimum to within `gap`."""

    population: Population
    convex_set: ConvexSet
    minimum: float
    gap: float

    @property
    def task(self) -> Task:
        """What a system may know."""
        return Task.of(self.population, self.convex_set)


def _ball(dimension: int) -> ConvexSet:
    return L2Ball(np.zeros(dimension), 0.5)


_INSTANCES: dict[str, Callable[[], tuple[Population, ConvexSet]]] = {
    # All points alike: the excess risk is what optimisation and noise cost, and largest.
    "drift": lambda: (LinearSigns(np.ones(1)), _ball(1)),
    "signs-5": lambda: (LinearSigns(np.full(5, 0.2)), _ball(5)),
    "median": lambda: (Median([-0.5, 0.5], [0.4, 0.6]), _ball(1)),
    "simplex-8": lambda: (LinearSigns(np.r_[np.zeros(7), 0.5]), Simplex(8)),
}


@functools.cache
def build(name: str) -> Instance:
    """Return the instance called `name`."""
    if name not in _INSTANCES:
        raise InputError(f"instance={name!r} is unknown; give one of {', '.join(_INSTANCES)}")
    population, convex_set = _INSTANCES[name]()
    found = population.minimum(convex_set)
    return Instance(population=population, convex_set=convex_set, minimum=found.value, gap=found.gap)
