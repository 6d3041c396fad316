"""The unit of work of the comparison: one system on one problem, at several n and several ε."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.comparison.problems import PROBLEMS, ComparisonProblem
from dpsco_verify.comparison.systems import nominal_seconds
from dpsco_verify.evidence.comparison import CellState
from dpsco_verify.execution import stream
from dpsco_verify.problems import Population
from dpsco_verify.related import Fit, PrivacyBudget, System, Task
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.conditions import ConditionError

_NUMBERS_AT_ONCE = 4_000_000
"""Of the samples that are in memory together."""


@dataclass(frozen=True, kw_only=True)
class DesignPoint:
    """Where a system is run: n points at ε."""

    n: int
    epsilon: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Cell:
    """What became of a system at a place.

    Attributes
    ----------
    excess
        ``F(w) − (a lower bound of min F)`` of each run, so that no error of the minimum makes a system look better;
        empty where it was not run. Runs of the same number had the same sample, whatever the system and ε.
    bound
        The source's bound on its expectation.
    gradient_queries
        The mean over the runs; where it was too slow, what the calibration expects.
    seconds
        Processor time of all runs, sampling apart.
    """

    place: DesignPoint
    state: CellState
    reason: str = ""
    excess: FloatArray = field(default_factory=lambda: np.zeros(0))
    bound: float | None = None
    gradient_queries: float | None = None
    seconds: float = 0.0


def measure_system(
    *,
    system: str,
    problem: str,
    places: tuple[DesignPoint, ...],
    delta: float,
    runs: int,
    most_seconds: float,
    seed: int,
) -> tuple[Cell, ...]:
    """Run a system at each place.

    A place at which its nominal cost (:func:`~dpsco_verify.comparison.systems.nominal_seconds`, no clock) is above
    `most_seconds` is left out, and so is one where a condition of the source is not met.
    """
    chosen, setting = SYSTEMS[system], PROBLEMS[problem]
    return tuple(
        _measure(chosen, setting, place, delta=delta, runs=runs, most_seconds=most_seconds, seed=seed)
        for place in places
    )


def _measure(
    system: System,
    problem: ComparisonProblem,
    place: DesignPoint,
    *,
    delta: float,
    runs: int,
    most_seconds: float,
    seed: int,
) -> Cell:
    population, convex_set = problem.population, problem.convex_set
    task, budget = Task.of(population, convex_set), PrivacyBudget(place.epsilon, delta)
    try:
        calibration = system.calibrate(task, place.n, budget)
        bound = system.risk_bound(task, place.n, budget)
    except ConditionError as error:
        return Cell(place=place, state=CellState.CONDITIONS, reason=str(error))
    wanted = nominal_seconds(system, calibration, task, runs=runs)
    if wanted > most_seconds:
        return Cell(
            place=place,
            state=CellState.TOO_SLOW,
            reason=f"{calibration.gradient_queries:.3g} gradient queries a run, about {wanted:.2g} s for {runs} runs",
            bound=bound,
            gradient_queries=calibration.gradient_queries,
        )
    lower_bound = problem.minimum.lower_bound
    excess, queries, seconds = [], [], 0.0
    for number, sample in enumerate(_samples(population, problem.id, place.n, runs=runs, seed=seed)):
        rng = stream(seed, f"comparison/{problem.id}/{system.id}/{place.n}/{place.epsilon!r}", chunk=number)
        started = time.process_time()
        fit: Fit = system.fit(sample, task=task, budget=budget, rng=rng)
        seconds += time.process_time() - started
        excess.append(np.asarray(population.risk(fit.solution)) - lower_bound)
        queries.append(fit.gradient_queries)
    return Cell(
        place=place,
        state=CellState.MEASURED,
        excess=np.concatenate(excess),
        bound=bound,
        gradient_queries=float(np.mean(np.concatenate(queries))),
        seconds=seconds,
    )


def _samples(population: Population, problem: str, n: int, *, runs: int, seed: int) -> Iterator[FloatArray]:
    """Yield samples for all runs, some runs at a time: the same for every system."""
    at_once = max(1, min(runs, _NUMBERS_AT_ONCE // (n * population.data_dimension)))
    for number in range(math.ceil(runs / at_once)):
        rng = stream(seed, f"comparison/{problem}/sample/{n}", chunk=number)
        yield population.sample(rng, (min(at_once, runs - number * at_once), n))
