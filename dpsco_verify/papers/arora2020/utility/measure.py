"""Units of work of ``utility``: Monte-Carlo excess risk of the implementation."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.algorithm import NoiseConvention, Options, run_ensemble, utility_scale, utility_step_size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.execution import stream
from dpsco_verify.ledger.measured import Measured, Range, tested
from dpsco_verify.papers.arora2020.utility.instances import Geometry, Instance, build

THEOREM_CONSTANT = 2.5
"""The 5/2 of the theorem."""

_CHUNK_BYTES = 2**25


def excess_ratios(
    instance: Instance,
    *,
    n: int,
    sigma: float,
    noise: NoiseConvention,
    runs: int,
    seed: int,
    name: str,
    options: Options | None = None,
) -> FloatArray:
    """Return ``(F(ŵ) − F*)/(DG/√n)``, with G = L + σ√d, independent and unbiased, for the price of `runs` runs.

    Where the noise exceeds the gradients, σ√d ≥ L, each is the mean of an antithetic pair of runs and there are half as
    many. On the ledger's instances its variance is then less than half of a run's, so the intervals are narrower for
    the same price (``python -m benchmarks --only estimates``). Where the noise is smaller a pair can be worth less than
    two runs.

    F* is the value at a feasible point, at most the certified gap above the minimum: the excess errs downwards, so it
    can only make a refutation harder.
    """
    population = instance.population
    dimension, L, D = population.dimension, instance.lipschitz, instance.D
    step_size = utility_step_size(diameter=D, lipschitz=L, sigma=sigma, n=n, dimension=dimension)
    scale = D * utility_scale(lipschitz=L, sigma=sigma, dimension=dimension) / math.sqrt(n)
    antithetic = sigma * math.sqrt(dimension) >= L
    sets = max(2, runs // 2) if antithetic else runs
    size = max(1, min(sets, _CHUNK_BYTES // (8 * n * population.data_dimension)))
    ratios = []
    for chunk, first in enumerate(range(0, sets, size)):
        rng = stream(seed, name, chunk=chunk)
        data = population.sample(rng, (min(size, sets - first), n))
        ensemble = run_ensemble(
            data,
            loss=population.loss,
            convex_set=instance.convex_set,
            step_size=step_size,
            sigma=sigma,
            lipschitz=L,
            rng=rng,
            initial_point=instance.initial_point,
            options=options or Options(noise=noise),
            antithetic=antithetic,
        )
        risk = population.risk(ensemble.outputs).reshape(len(data), -1).mean(axis=1)
        ratios.append((risk - instance.minimum_value) / scale)
    return np.concatenate(ratios)


def ratio_range(instance: Instance, *, n: int, sigma: float) -> Range:
    """Return the range of :func:`excess_ratios`; at or below the bound, the theorem says nothing."""
    L, dimension = instance.lipschitz, instance.population.dimension
    scale = instance.D * utility_scale(lipschitz=L, sigma=sigma, dimension=dimension) / math.sqrt(n)
    room = 1e-9 * (1.0 + abs(instance.minimum_value)) / scale
    gap = instance.minimum_gap / scale
    return Range(low=-gap - room, high=L * instance.convex_set.diameter / scale + room, gap=gap)


def measure(
    *,
    instance: str,
    geometry: Geometry,
    n: int,
    sigma_over_lipschitz: float,
    noise: NoiseConvention,
    runs: int,
    alpha: float,
    constant: float,
    seed: int,
    name: str,
) -> Measured | None:
    """Measure one instance; None where the bound exceeds the largest possible excess risk, so nothing could fail."""
    built = build(instance, geometry)
    sigma = sigma_over_lipschitz * built.lipschitz
    span = ratio_range(built, n=n, sigma=sigma)
    if span.high <= constant:
        return None
    ratios = excess_ratios(built, n=n, sigma=sigma, noise=noise, runs=runs, seed=seed, name=name)
    return tested(
        ratios,
        span,
        alpha=alpha,
        bound=constant,
        label=instance,
        dimension=built.population.dimension,
        n=n,
        sigma=sigma_over_lipschitz,
    )
