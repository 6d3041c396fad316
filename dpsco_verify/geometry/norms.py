"""Norms over the last axis that neither overflow nor underflow, and the rounding errors of last-axis sums.

Every function here reduces over the last axis of a C-contiguous array alone, so that the result for a row is
bitwise the same whether the row comes alone or inside a batch.
"""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.arrays import FloatArray

UNIT_ROUNDOFF = 2.0**-53
"""Largest relative error u of one operation on doubles."""

SMALLEST_NORMAL = 2.0**-1022
"""Smallest double with the full relative precision: bounds relative to something that may vanish add it."""

_SQUARE_LOW, _SQUARE_HIGH = 1e-280, 1e300


def summation_error(dimension: int) -> float:
    """Bound on the error of ``np.sum(x * y, axis=-1)``, relative to the sum of ``|x y|``.

    numpy sums the contiguous axis in blocks of at most 128 terms with 8 accumulators, and the blocks
    pairwise: each term passes one product, at most 16 + 3 additions in its block and ``log2(d / 128) + 1``
    above it. Three more units cover the terms of second order.
    """
    return (23 + max(0.0, math.log2(dimension / 128) + 1)) * UNIT_ROUNDOFF


def euclidean_norm(x: FloatArray) -> FloatArray:
    """Return ``||x||_2`` over the last axis of `x`, shape (..., d) to (...)."""
    with np.errstate(over="ignore"):
        squares = np.sum(x * x, axis=-1)
    safe = (squares > _SQUARE_LOW) & (squares < _SQUARE_HIGH)
    if safe.all():
        return np.asarray(np.sqrt(squares))
    # Scaling by a power of two is exact, in two steps because 2^1074 is not a double.
    _, exponent = np.frexp(np.abs(x).max(axis=-1, keepdims=True))
    half = exponent // 2
    scaled = np.ldexp(np.ldexp(x, -half), half - exponent)
    careful = np.ldexp(np.sqrt(np.sum(scaled * scaled, axis=-1)), exponent[..., 0])
    return np.asarray(np.where(safe, np.sqrt(squares), careful))


def absolute_norm(x: FloatArray) -> FloatArray:
    """Return ``||x||_1`` over the last axis of `x`, shape (..., d) to (...)."""
    return np.asarray(np.sum(np.abs(x), axis=-1))


def maximum_norm(x: FloatArray) -> FloatArray:
    """Return ``||x||_inf`` over the last axis of `x`, shape (..., d) to (...)."""
    return np.asarray(np.abs(x).max(axis=-1))


def p_norm(x: FloatArray, p: float) -> FloatArray:
    """Return ``||x||_p`` over the last axis of `x`, shape (..., d) to (...), for 1 <= p < infinity."""
    largest = np.abs(x).max(axis=-1)
    divisor = np.where(largest > 0, largest, 1.0)
    powers = np.sum((np.abs(x) / divisor[..., np.newaxis]) ** p, axis=-1)
    return np.asarray(largest * powers ** (1 / p))


def spread_factor(dimension: int, *, smaller: float, larger: float) -> float:
    """Return ``max ||v||_smaller / ||v||_larger = d^(1/smaller - 1/larger)``, and 1 when `smaller` is not smaller."""
    return float(dimension ** max(0.0, 1 / smaller - 1 / larger))
