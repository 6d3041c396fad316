"""What the oracle and the ensemble check before and while they run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.options import Options
from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, Euclidean
from dpsco_verify.problems import Loss
from dpsco_verify.validation import require_finite_array, require_non_negative, require_positive

SUBGRADIENT_SLACK = 1e-9
"""Relative room for rounding when a subgradient's norm is held against L."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Checked arguments of a run: `data` of shape (…, n, k)."""

    data: FloatArray
    n: int
    sigma: float
    lipschitz: float
    initial_point: FloatArray


def check_run(
    data: ArrayLike,
    *,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: float | Callable[[int], float],
    sigma: float,
    lipschitz: float,
    initial_point: ArrayLike | None,
    options: Options,
    leading_axes: int = 0,
) -> Setup:
    """Check the arguments of a run (or of an ensemble with `leading_axes` = 1)."""
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
    return Setup(
        data=points,
        n=n,
        sigma=require_non_negative("sigma", sigma),
        lipschitz=require_positive("lipschitz", lipschitz),
        initial_point=start,
    )


def check_subgradient(subgradient: FloatArray, lipschitz: float) -> None:
    """Hold subgradients, shape (…, d), against the stated L."""
    norm = float(np.sqrt(np.max(np.sum(subgradient * subgradient, axis=-1), initial=0.0)))
    if not norm <= lipschitz * (1.0 + SUBGRADIENT_SLACK):
        raise InputError(
            f"subgradient norm={norm:.12g} exceeds lipschitz={lipschitz:.12g}; "
            "state a larger L, or scale the data so that the loss is L-Lipschitz"
        )
