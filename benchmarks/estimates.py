"""What antithetic pairs save: the cost of a mean of given variance, singly over in pairs.

N values of variance v that take s seconds each give a mean of variance v/N, so a unit of it costs ``s·v``. Below 1 a
pair is worth less than two runs: there the ledger leaves them single.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from benchmarks.measure import in_turn
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.algorithm import run_ensemble, utility_step_size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.papers.arora2020.utility.instances import DIAMETER, Instance, build

GROUP = "estimates"
INSTANCES = ("drift", "signs-4", "diabetes-absolute")
NOISE = (0.1, 1.0, 10.0)
_N = 64


def rows(size: Size) -> Iterator[Row]:
    """Yield the gain on three of the ledger's instances, at three sizes of the noise."""
    for name in INSTANCES:
        instance = build(name, DIAMETER)
        for level in NOISE:
            paired = level * np.sqrt(instance.population.dimension) >= 1.0
            yield row(
                GROUP,
                f"antithetic pairs, {name}, σ = {level:g} L",
                [_gain(instance, level, runs=size.of(4000, 40), seed=s) for s in range(size.of(5, 1))],
                unit="x",
                at_least=1.0 if paired else None,
                note=f"cost of a given variance; {'pairs' if paired else 'single runs'} in the ledger",
            )


def _gain(instance: Instance, level: float, *, runs: int, seed: int) -> float:
    data = instance.population.sample(np.random.default_rng(seed), (runs, _N))
    single = functools.partial(_risks, instance, level, data, antithetic=False, seed=seed)
    pairs = functools.partial(_risks, instance, level, data[: runs // 2], antithetic=True, seed=seed)
    ((a, b),) = in_turn(single, pairs, rounds=1)
    return float(a * single().var() / runs / (b * pairs().var() / (runs // 2)))


def _risks(instance: Instance, level: float, data: FloatArray, *, antithetic: bool, seed: int) -> FloatArray:
    """Return the risks of runs, or the means of pairs, one a data set."""
    population = instance.population
    d, lipschitz = population.dimension, population.lipschitz
    sigma = level * lipschitz
    found = run_ensemble(
        data,
        loss=population.loss,
        convex_set=instance.convex_set,
        step_size=utility_step_size(diameter=instance.D, lipschitz=lipschitz, sigma=sigma, n=_N, dimension=d),
        sigma=sigma,
        lipschitz=lipschitz,
        rng=np.random.default_rng(seed),
        initial_point=instance.initial_point,
        antithetic=antithetic,
    )
    risks: FloatArray = population.risk(found.outputs).reshape(len(data), -1).mean(axis=1)
    return risks
