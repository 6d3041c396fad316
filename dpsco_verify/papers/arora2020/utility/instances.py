"""The problems on which ``utility`` is measured, each under the geometry that a reading asks for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import NoiseConvention
from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import Box, ConvexSet, Euclidean, L2Ball
from dpsco_verify.problems import (
    Drift,
    LinearSigns,
    Median,
    Population,
    breast_cancer,
    diabetes,
    engel,
)


@dataclass(frozen=True, kw_only=True)
class Geometry:
    """How a reading understands D and w₁.

    Attributes
    ----------
    norm_bound
        Whether D bounds the norm of W's elements (then W may have diameter 2D) rather than the diameter.
    start
        "argmin" (of ½‖w‖² over W), or "far": the point of W opposite to the minimiser of the risk.
    """

    norm_bound: bool
    start: str

    @property
    def distance_factor(self) -> float:
        """The largest ``‖u − w₁‖/D`` that the reading allows.

        1 for a diameter. With norms bounded by D and w₁ = argmin: ``‖u − w₁‖² ≤ ‖u‖² − ‖w₁‖² ≤ D²`` by the variational
        inequality ``⟨w₁, u − w₁⟩ ≥ 0``. 2 for any w₁.
        """
        return 2.0 if self.norm_bound and self.start == "far" else 1.0


DIAMETER = Geometry(norm_bound=False, start="far")
NORM_ARGMIN = Geometry(norm_bound=True, start="argmin")
NORM_ARBITRARY = Geometry(norm_bound=True, start="far")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How a reading understands D and w₁, and which noise it has."""

    geometry: Geometry
    noise: NoiseConvention = NoiseConvention.COVARIANCE_SIGMA_SQUARED

    @property
    def variance_is_sigma(self) -> bool:
        """Whether the noise is N(0, σI)."""
        return self.noise is NoiseConvention.COVARIANCE_SIGMA


@dataclass(frozen=True, eq=False, kw_only=True)
class Instance:
    """A population over a set, with the D that the reading gives to the step size and the bound."""

    name: str
    population: Population
    convex_set: ConvexSet
    initial_point: FloatArray
    D: float
    minimum_value: float
    minimum_gap: float

    @property
    def lipschitz(self) -> float:
        """L."""
        return self.population.lipschitz


_POPULATIONS: dict[str, Callable[[], Population]] = {
    "drift": lambda: Drift(1.0),
    "off-centre": lambda: Drift(1.0),
    "weak-drift": lambda: Drift(1e-6),  # L far below 1, where the conventions N(0, σI) and N(0, σ²I) part
    "median": lambda: Median([-0.5, 0.5], [0.4, 0.6]),
    "signs-4": lambda: LinearSigns(np.full(4, 0.2)),
    "signs-64": lambda: LinearSigns(np.full(64, 0.2)),
    "breast-cancer-hinge": lambda: breast_cancer("hinge"),
    "breast-cancer-logistic": lambda: breast_cancer("logistic"),
    "diabetes-absolute": lambda: diabetes("absolute"),
    "engel-median": lambda: engel("quantile", level=0.5),
}

NAMES = tuple(name for name in _POPULATIONS if name != "weak-drift")
"""The instances on which every reading but the one about N(0, σI) is measured."""


def _set(name: str, dimension: int, radius: float) -> ConvexSet:
    if name == "off-centre":  # does not hold the origin, so that argmin is a proper point
        return Box([0.5 * radius], [radius])
    if dimension == 1:
        return Box([-radius], [radius])
    return L2Ball(np.zeros(dimension), radius)


@functools.cache
def build(name: str, geometry: Geometry) -> Instance:
    """Return the instance called `name`; sets have a size of the order of 1.

    The real data have w* of larger norm, so the constraint binds; the minimum is certified all the same.
    """
    if name not in _POPULATIONS:
        raise InputError(f"instance={name!r} is unknown; give one of {', '.join(_POPULATIONS)}")
    population = _POPULATIONS[name]()
    convex_set = _set(name, population.dimension, 0.5 if name == "median" else 1.0)
    minimum = population.minimum(convex_set)
    if geometry.start == "argmin":
        start = convex_set.minimiser(Euclidean())
    else:  # away from the minimiser, as far as W reaches
        centre = convex_set.project(np.zeros(population.dimension)) if name != "off-centre" else 0.75
        start = convex_set.project(np.asarray(centre - 10.0 * (minimum.w - centre)))
    return Instance(
        name=name,
        population=population,
        convex_set=convex_set,
        initial_point=start,
        D=convex_set.max_norm if geometry.norm_bound else convex_set.diameter,
        minimum_value=minimum.value,
        minimum_gap=minimum.gap,
    )
