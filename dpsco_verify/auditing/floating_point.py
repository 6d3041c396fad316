"""The floating-point grid on which a number lies.

A double is ``m·2^e`` with a whole number m. Noise added in doubles leaves the sum on the grid that the larger summand's
spacing gives it, so the set of reachable outputs depends on the data (Mironov 2012, On significance of the least
significant bits for differential privacy): the position of the lowest set bit sees that.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray


def trailing_zeros(x: FloatArray) -> FloatArray:
    """Return how many bits at the end of the 53-bit significand are zero, elementwise; NaN for what is not finite.

    The result is 53 for 0, 52 for a power of two, and 0 for an odd significand.
    """
    zeros = _trailing_zeros(x).astype(np.float64)
    return np.where(np.isfinite(x), zeros, np.nan)


def lowest_bit(x: FloatArray) -> FloatArray:
    """Return the largest k for which x is a whole multiple of 2^k, elementwise; NaN for 0 and what is not finite."""
    usable = np.isfinite(x) & (x != 0.0)
    _, exponent = np.frexp(np.where(usable, x, 1.0))
    return np.where(usable, exponent - 53.0 + _trailing_zeros(np.where(usable, x, 1.0)), np.nan)


def _trailing_zeros(x: FloatArray) -> IntArray:
    fraction, _ = np.frexp(np.where(np.isfinite(x), x, 0.0))
    significand = np.ldexp(np.abs(fraction), 53).astype(np.uint64)
    # x & −x keeps the lowest set bit, a power of two that frexp takes the logarithm of exactly.
    lowest = significand & (~significand + np.uint64(1))
    _, position = np.frexp(lowest.astype(np.float64))
    return np.where(significand == 0, 53, position - 1).astype(np.int64)
