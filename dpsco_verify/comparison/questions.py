"""The two questions that the paper leaves open, with figures.

Section 6 supposes that the batches of privacy by iteration may do with subsampling in its place. The figure that
decides is the noise: what whole-transcript bounds need for that schedule, beside iteration's ``L/√d`` and what
Algorithm 1 needs.

Section 7 says that Algorithm 1 extends to other potentials. The mirror step is post-processing of the noisy gradient,
so the privacy is the same for all; what changes is the risk, ``D(L + σ√d)/√n`` for the Euclidean potential against
``√(2 log d)(G + σE‖ξ‖_∞)/√n`` for the entropic one on the simplex. They are run on the same samples of one informative
coordinate out of d, where the signal does not fall with d.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from dpsco_verify.comparison.plan import Study
from dpsco_verify.comparison.statistics import mean_interval
from dpsco_verify.evidence.values import Column, Scalar, Table
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Simplex
from dpsco_verify.problems import FinitePopulation, Linear
from dpsco_verify.related import PrivacyBudget, Task
from dpsco_verify.related.algorithm_one import AlgorithmOne
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.related.conditions import ConditionError
from dpsco_verify.related.private_mirror_descent import PrivateEntropicMirrorDescent

_ADVANTAGE = 0.5
"""The expected value of the informative coordinate's gradient, in units of L."""

Row = tuple[Scalar, ...]


def noise_of_schedules(*, study: Study, delta: float) -> tuple[Row, ...]:
    """Return for each d, n, ε the largest noise on a step in units of L: subsampled, by batch, iteration, Algorithm 1.

    None where the schedule's conditions are not met.
    """
    rows: list[Row] = []
    for d, n, epsilon in itertools.product(study.dimensions, study.sizes, study.epsilons):
        task, budget = Task(Linear(), Simplex(d), 1.0), PrivacyBudget(epsilon, delta)
        cells: list[Scalar] = [d, n, epsilon]
        for name in ("subsampled-one-pass", "subsampled-one-pass-scaled"):
            try:
                figures = SYSTEMS[name].calibrate(task, n, budget).figures
                cells.append(max(figures["σ₁"], figures["σ_T"]))
            except ConditionError:
                cells.append(None)
        rows.append((*cells, d**-0.5, AlgorithmOne().noise(task, n, budget)))
    return tuple(rows)


def potentials_on_the_simplex(*, study: Study, delta: float, runs: int, seed: int) -> tuple[Row, ...]:
    """Return for each d, n, ε the excess risk and the bound by the Euclidean and by the entropic potential."""
    rows: list[Row] = []
    for d, n in itertools.product(study.dimensions, study.sizes):
        population = _one_informative_coordinate(d)
        task = Task.of(population, Simplex(d))
        least = population.minimum(task.convex_set).lower_bound
        sample = population.sample(stream(seed, f"comparison/potentials/sample/{d}/{n}"), (runs, n))
        for epsilon in study.epsilons:
            budget = PrivacyBudget(epsilon, delta)
            cells: list[Scalar] = [d, n, epsilon]
            for system in (AlgorithmOne(), PrivateEntropicMirrorDescent()):
                rng = stream(seed, f"comparison/potentials/{system.id}/{d}/{n}/{epsilon!r}")
                fit = system.fit(sample, task=task, budget=budget, rng=rng)
                found = mean_interval(np.asarray(population.risk(fit.solution)) - least, least=0.0)
                cells += [found.value, found.low, found.high, system.risk_bound(task, n, budget)]
            rows.append(tuple(cells))
    return tuple(rows)


def _one_informative_coordinate(d: int) -> FinitePopulation:
    point = np.eye(d)[:1]
    half = 0.5 * (1.0 + _ADVANTAGE)
    return FinitePopulation(
        np.concatenate([point, -point]), Linear(), [half, 1.0 - half], "one informative coordinate"
    )


def question_tables(schedules: Sequence[Row], potentials: Sequence[Row]) -> tuple[Table, ...]:
    """Return the tables of both questions."""
    names = ("d", "n", "ε")
    kinds = ("subsampling", "subsampling, noise by batch", "iteration (smooth losses)", "Algorithm 1")
    risks = ("risk", "from", "to", "bound")
    return (
        Table(
            id="section-6",
            title="Section 6: the largest noise on a step, subsampling in the place of iteration",
            columns=(
                *(Column(name=name) for name in names),
                *(Column(name=kind, unit="L") for kind in kinds),
            ),
            rows=tuple(schedules),
        ),
        Table(
            id="section-7",
            title="Section 7: Algorithm 1 on the simplex with two potentials, one informative coordinate of d",
            columns=(
                *(Column(name=name) for name in names),
                *(
                    Column(name=f"{name}, {potential}")
                    for potential in ("Euclidean", "entropic")
                    for name in risks
                ),
            ),
            rows=tuple(potentials),
        ),
    )
