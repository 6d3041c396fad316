"""Units of work: runs of the implementation, and the exact expectation beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import main_schedule, run_ensemble
from dpsco_verify.arrays import FloatArray
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Box
from dpsco_verify.papers.arora2020.rate.exact import expected_risk
from dpsco_verify.papers.arora2020.rate.plan import Cell
from dpsco_verify.problems import LinearSigns

_CHUNK_BYTES = 2**28


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured:
    """The excess risks of the runs at one size, and the theorem's bound, in units of LD."""

    risks: FloatArray
    bound: float


def measure(*, cell: Cell, runs: int, seed: int, name: str) -> Measured:
    """Run Algorithm 1 with Theorem 5.3's schedule at ``ε = 1/(2√n)`` on the cube, from argmin Φ, with L = D = 1."""
    n, dimension = cell.n, cell.dimension
    population = LinearSigns(np.ones(dimension))  # signs of mean 1: every point is (1, …, 1)/√d
    half = np.full(dimension, 0.5 / math.sqrt(dimension))
    cube = Box(-half, half)
    schedule = main_schedule(
        n=n,
        dimension=dimension,
        diameter=1.0,
        lipschitz=1.0,
        epsilon=1.0 / (2.0 * math.sqrt(n)),
        delta=cell.delta,
        delta_prime=cell.delta,  # it has no part in the schedule, only in the promise
    )
    assert schedule.risk_bound is not None  # noqa: S101  the schedule is asked for within the theorem's conditions
    minimum = population.minimum(cube)
    size = max(1, min(runs, _CHUNK_BYTES // (n * dimension)))
    risks = []
    for chunk, first in enumerate(range(0, runs, size)):
        rng = stream(seed, name, chunk=chunk)
        ensemble = run_ensemble(
            # The one data set that can occur, without a copy for each run.
            np.broadcast_to(population.sample(rng, (1, 1)), (min(size, runs - first), n, dimension)),
            loss=population.loss,
            convex_set=cube,
            step_size=schedule.step_size,
            sigma=schedule.sigma,
            lipschitz=population.lipschitz,
            rng=rng,
        )
        risks.append(population.risk(ensemble.outputs) - minimum.value)
    return Measured(risks=np.concatenate(risks), bound=schedule.risk_bound)


def exact(*, cell: Cell) -> float:
    """Return the exact expected excess risk at a size, in units of LD, to eight digits."""
    return _rounded(expected_risk(cell.n, cell.noise))


def exact_in_abstracts_regime(*, sizes: tuple[int, ...], delta: float) -> tuple[float, ...]:
    """Return the exact expected excess risk at ``ε = 1/n``, d = 1, for each n, in units of LD, to eight digits."""
    return tuple(_rounded(expected_risk(n, 8.0 * math.sqrt(-n * math.log(delta)))) for n in sizes)


def _rounded(value: float) -> float:
    """Drop the digits in which linear algebra depends on the number of threads, and so on that of the workers."""
    return float(f"{value:.7e}")
