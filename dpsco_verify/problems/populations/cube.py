"""Explicit laws on the corners of the cube ``{−1, +1}^d``: risks are finite sums, and nothing is drawn to build them.

Corners are divided by ``√d``, so that all features have norm 1. Each law is symmetric or well specified enough for its
minimiser to be known without a solver; the tests use that.
"""

from __future__ import annotations

import itertools
import math
from typing import SupportsFloat, SupportsIndex

import numpy as np
from scipy.special import expit

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems.losses import EuclideanDistance, Hinge, Logistic, Quantile
from dpsco_verify.problems.populations.finite import FinitePopulation
from dpsco_verify.validation import require_finite_array, require_integer, require_open_interval

_LARGEST_DIMENSION = 16


def majority_vote(dimension: SupportsIndex, *, flip: SupportsFloat) -> FinitePopulation:
    """Return the hinge loss with features ``a = s/√d``, ``s`` uniform, labelled by majority with errors.

    The label is the sign of ``Σ s_j``, wrong with probability `flip`; a tie is labelled by a fair coin. The law is
    symmetric in the coordinates, so a minimiser over a centred ball is a multiple of ``(1, …, 1)``.

    Raises
    ------
    InputError
        If the dimension is not in [1, 16] or `flip` is not in (0, 1/2).
    """
    d = _require_dimension(dimension)
    error = require_open_interval("flip", flip, 0.0, 0.5)
    signs = _corners(d)
    votes = np.add.reduce(signs, axis=-1)
    positive = np.where(votes > 0.0, 1.0 - error, np.where(votes < 0.0, error, 0.5))
    return _labelled(signs, positive, Hinge(), f"majority of {d} signs, hinge")


def logistic_model(parameter: ArrayLike) -> FinitePopulation:
    """Return the logistic loss with ``a = s/√d``, ``s`` uniform, and ``P(y = 1 | a) = 1/(1 + exp(−<w₀, a>))``.

    The model is true, so ``w₀ = parameter`` minimises the risk over ``R^d``, and the minimum is the entropy of the
    label given the features.

    Raises
    ------
    InputError
        If the parameter holds NaN, or its length is not in [1, 16].
    """
    truth = require_finite_array("parameter", parameter, shape=(None,))
    d = _require_dimension(truth.size)
    signs = _corners(d)
    scores = np.add.reduce(signs * truth, axis=-1) / math.sqrt(d)
    return _labelled(signs, expit(scores), Logistic(), f"logistic model, d={d}")


def quantile_model(parameter: ArrayLike, noise: ArrayLike, *, level: SupportsFloat) -> FinitePopulation:
    """Return the quantile loss with ``a = (1, s)/√d``, ``s`` uniform; ``b = <w₀, a> + e``, ``e`` uniform on `noise`.

    If 0 is the one quantile of the noise at this level, ``w₀ = parameter`` minimises the risk over ``R^d`` and nothing
    else does.

    Raises
    ------
    InputError
        If an argument holds NaN, the parameter's length is not in [1, 16], the level is not in (0, 1), or 0 is not
        the one quantile.
    """
    truth = require_finite_array("parameter", parameter, shape=(None,))
    errors = require_finite_array("noise", noise, shape=(None,))
    loss = Quantile(float(level))
    d = _require_dimension(truth.size)
    below, up_to = np.count_nonzero(errors < 0.0), np.count_nonzero(errors <= 0.0)
    if not below < loss.level * errors.size < up_to:
        raise InputError(
            f"noise={errors.tolist()!r} does not have 0 as its one quantile at level={loss.level:g}; shift it"
        )
    rows = np.column_stack([np.ones(2 ** (d - 1)), _corners(d - 1)])
    features = _unit(rows)
    centres = np.add.reduce(features * truth, axis=-1)
    data = np.column_stack([np.repeat(features, errors.size, axis=0), np.add.outer(centres, errors).ravel()])
    return FinitePopulation(data, loss, name=f"quantile model, d={d}", data_radius=1.0)


def biased_corners(mean: ArrayLike) -> FinitePopulation:
    """Return the distance to ``z = s/√d`` with independent signs of the given means, for the geometric median.

    Where all means are equal, the minimiser over a centred ball is a multiple of ``(1, …, 1)``.

    Raises
    ------
    InputError
        If a mean is NaN or outside [−1, 1], or their number is not in [1, 16].
    """
    means = require_finite_array("mean", mean, shape=(None,))
    d = _require_dimension(means.size)
    if (np.abs(means) > 1.0).any():
        raise InputError(f"mean={means.tolist()!r} has entries outside [-1, 1]; give means of signs")
    signs = _corners(d)
    probabilities = np.multiply.reduce(0.5 * (1.0 + signs * means), axis=-1)
    return FinitePopulation(
        _unit(signs), EuclideanDistance(), probabilities, f"biased corners, d={d}", data_radius=1.0
    )


def _require_dimension(dimension: SupportsIndex) -> int:
    d = require_integer("dimension", dimension, minimum=1)
    if d > _LARGEST_DIMENSION:
        raise InputError(
            f"dimension={d} means 2^{d} corners; give a dimension of at most {_LARGEST_DIMENSION}"
        )
    return d


def _corners(dimension: int) -> FloatArray:
    """Return all sign vectors, shape ``(2^d, d)``."""
    signs = list(itertools.product((-1.0, 1.0), repeat=dimension))
    return np.array(signs, dtype=np.float64).reshape(2**dimension, dimension)


def _unit(signs: FloatArray) -> FloatArray:
    """Return the rows over a common divisor, of norm 1 from below."""
    scaled = signs / math.sqrt(signs.shape[-1])
    # All rows have the same norm, and a little more than it lifts none above 1.
    unit: FloatArray = scaled / (float(np.max(euclidean_norm(scaled))) * (1.0 + 2.0**-48))
    return unit


def _labelled(signs: FloatArray, positive: FloatArray, loss: Hinge | Logistic, name: str) -> FinitePopulation:
    """Return the law of corners, uniform, with the label +1 with probability `positive`."""
    features = _unit(signs)
    count = features.shape[0]
    data = np.column_stack([np.tile(features, (2, 1)), np.repeat([1.0, -1.0], count)])
    return FinitePopulation(
        data, loss, np.concatenate([positive, 1.0 - positive]) / count, name, data_radius=1.0
    )
