"""What a run of Algorithm 1 is, and what is checked before and while it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpsco_verify.algorithm.options import Options
from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, Euclidean
from dpsco_verify.problems import Loss
from dpsco_verify.validation import require_finite_array, require_non_negative, require_positive

StepSize = float | Callable[[int], float]
"""A constant η, or the schedule ``t -> η_t`` for t = 1, 2, …"""

SUBGRADIENT_SLACK = 1e-9
"""Relative room for rounding when a subgradient's norm is held against L."""


@dataclass(frozen=True, eq=False)
class RunSpec:
    """A run of Algorithm 1 but for its randomness, checked by :func:`check_run`.

    Attributes
    ----------
    data
        Shape (n, k), or (R, n, k) for an ensemble.
    loss, convex_set, step_size, sigma, lipschitz, initial_point, options
        As for :func:`dpsco_verify.algorithm.private_sgd`, defaults filled in.
    """

    data: FloatArray
    loss: Loss
    convex_set: ConvexSet
    step_size: StepSize
    sigma: float
    lipschitz: float
    initial_point: FloatArray
    options: Options

    @property
    def n(self) -> int:
        """The number of points."""
        return int(self.data.shape[-2])

    @cached_property
    def stop_at(self) -> int:
        """The number of distinct points at which a run stops."""
        return self.options.stopping.distinct_points(self.n)

    @cached_property
    def noise_scale(self) -> float:
        """The standard deviation of one coordinate of the noise."""
        return self.options.noise.standard_deviation(self.sigma)

    def step_size_at(self, t: int) -> float:
        """Return ``η_t``."""
        return self.step_size(t) if callable(self.step_size) else self.step_size


def check_run(
    data: ArrayLike,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: StepSize,
    sigma: float,
    lipschitz: float,
    initial_point: ArrayLike | None,
    options: Options | None,
    *,
    leading_axes: int = 0,
) -> RunSpec:
    """Check the arguments of a run (or of an ensemble with `leading_axes` = 1)."""
    options = options or Options()
    dimension = convex_set.dimension
    wanted = loss.data_dimension(dimension)
    points = require_finite_array("data", data, shape=(None,) * (leading_axes + 1) + (wanted,))
    n = points.shape[-2]
    if n < 2:
        raise InputError(f"n={n} points are too few; give at least 2 rows of data")
    if options.batch_size > n:
        raise InputError(f"batch_size={options.batch_size} exceeds n={n}; give at most n")
    if not callable(step_size):
        require_positive("step_size", step_size)
    if initial_point is None:
        start = convex_set.minimiser(Euclidean())
    else:
        start = require_finite_array("initial_point", initial_point, shape=(dimension,))
        if not bool(convex_set.contains(start)):
            raise InputError(
                f"initial_point={np.array2string(start, threshold=6)} is outside W={convex_set!r}; "
                "give a point of W, or None for the minimiser of the potential"
            )
    sigma, lipschitz = require_non_negative("sigma", sigma), require_positive("lipschitz", lipschitz)
    return RunSpec(points, loss, convex_set, step_size, sigma, lipschitz, start, options)


def check_subgradient(subgradient: FloatArray, lipschitz: float) -> None:
    """Hold subgradients, shape (…, d), against the stated L."""
    norm = float(np.sqrt(np.max(np.sum(subgradient * subgradient, axis=-1), initial=0.0)))
    if not norm <= lipschitz * (1.0 + SUBGRADIENT_SLACK):
        raise InputError(
            f"subgradient norm={norm:.12g} exceeds lipschitz={lipschitz:.12g}; "
            "state a larger L, or scale the data so that the loss is L-Lipschitz"
        )
