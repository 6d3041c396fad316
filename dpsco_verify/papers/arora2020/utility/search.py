"""A unit of work of ``utility``: the search for the worst ratio, confirmed on fresh runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import NoiseConvention
from dpsco_verify.arrays import FloatArray
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Box
from dpsco_verify.ledger.measured import Measured, tested
from dpsco_verify.papers.arora2020.utility.instances import Geometry, Instance
from dpsco_verify.papers.arora2020.utility.measure import excess_ratios, ratio_range
from dpsco_verify.problems import Drift, Median


@dataclass(frozen=True, kw_only=True)
class WorstInstance:
    """The worst instance that a search found, and what fresh runs say of it."""

    trials: int
    description: str
    start: float
    probability: float
    confirmed: Measured


def _candidate(
    *, reach: float, probability: float, start: float, diameter_reading: bool, lipschitz: float
) -> Instance:
    """Return a two-point median on a segment: `probability` 1 is the drift; `start` is w₁'s place, 0 far, 1 near."""
    population = (
        Drift(lipschitz)
        if probability >= 1.0
        else Median([-1.0, 1.0], [1.0 - probability, probability], lipschitz=lipschitz)
    )
    convex_set = Box([-reach], [reach])
    minimum = population.minimum(convex_set)
    return Instance(
        name=f"segment, P(+1) = {probability:.3g}",
        population=population,
        convex_set=convex_set,
        initial_point=np.array([reach * (2.0 * start - 1.0)]),
        D=convex_set.diameter if diameter_reading else convex_set.max_norm,
        minimum_value=minimum.value,
        minimum_gap=minimum.gap,
    )


def search_worst(
    *,
    geometry: Geometry,
    noise: NoiseConvention,
    trials: int,
    search_runs: int,
    confirm_runs: int,
    alpha: float,
    constant: float,
    lipschitz: float,
    largest_n: int,
    seed: int,
    name: str,
) -> WorstInstance:
    """Search one-dimensional instances, n and σ for the largest ratio; confirm the best on fresh runs.

    Half of the trials are drawn at large, the other half near the best so far. Where the start is argmin it stays
    at the middle of the segment.
    """
    rng = stream(seed, f"{name}/search")
    best: tuple[float, dict[str, float]] = (-math.inf, {})
    for trial in range(trials):
        if trial < trials // 2 or not best[1]:
            place = {
                "log_n": rng.uniform(math.log(16), math.log(largest_n)),
                "log_sigma": rng.uniform(math.log(1e-3), math.log(10.0)),
                "start": rng.uniform(0.0, 1.0),
                "probability": rng.choice([rng.uniform(0.5, 1.0), 1.0]),
            }
        else:
            place = {key: value + 0.1 * rng.standard_normal() for key, value in best[1].items()}
        place["start"] = 0.5 if geometry.start == "argmin" else min(max(place["start"], 0.0), 1.0)
        place["probability"] = min(max(place["probability"], 0.5), 1.0)
        place["log_n"] = min(max(place["log_n"], math.log(16)), math.log(largest_n))
        ratios = _ratios_at(
            place, geometry, noise, search_runs, lipschitz=lipschitz, seed=seed, name=f"{name}/search/{trial}"
        )
        if ratios is not None and float(ratios.mean()) > best[0]:
            best = (float(ratios.mean()), place)
    place = best[1]
    instance, n, sigma = _at(place, geometry, lipschitz)
    ratios = excess_ratios(
        instance, n=n, sigma=sigma, noise=noise, runs=confirm_runs, seed=seed, name=f"{name}/confirm"
    )
    confirmed = tested(
        ratios,
        ratio_range(instance, n=n, sigma=sigma),
        alpha=alpha,
        bound=min(constant, 0.999 * ratio_range(instance, n=n, sigma=sigma).high),
        label=instance.name,
        dimension=1,
        n=n,
        sigma=sigma / lipschitz,
    )
    return WorstInstance(
        trials=trials,
        description=f"{instance.name}, w₁ at {place['start']:.3g} of the way from the far end of W to the near one, "
        f"n = {n}, σ = {sigma / lipschitz:.4g} L",
        start=place["start"],
        probability=place["probability"],
        confirmed=confirmed,
    )


def _at(place: dict[str, float], geometry: Geometry, lipschitz: float) -> tuple[Instance, int, float]:
    instance = _candidate(
        reach=1.0,
        probability=place["probability"],
        start=place["start"],
        diameter_reading=not geometry.norm_bound,
        lipschitz=lipschitz,
    )
    return instance, round(math.exp(place["log_n"])), lipschitz * math.exp(place["log_sigma"])


def _ratios_at(
    place: dict[str, float],
    geometry: Geometry,
    noise: NoiseConvention,
    runs: int,
    *,
    lipschitz: float,
    seed: int,
    name: str,
) -> FloatArray | None:
    instance, n, sigma = _at(place, geometry, lipschitz)
    return excess_ratios(instance, n=n, sigma=sigma, noise=noise, runs=runs, seed=seed, name=name)
