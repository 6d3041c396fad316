"""Checks of the arguments that several tests of this package share."""

from __future__ import annotations

from typing import SupportsFloat

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_finite, require_finite_array, require_non_negative


def require_range(low: SupportsFloat, high: SupportsFloat) -> tuple[float, float]:
    """Return `low` and `high` as finite floats with ``low < high``."""
    bottom, top = require_finite("low", low), require_finite("high", high)
    if not bottom < top:
        raise InputError(f"low={low!r} is not below high={high!r}; give low < high")
    return bottom, top


def require_within(name: str, values: ArrayLike, low: float, high: float) -> FloatArray:
    """Return `values`, a scalar or an array (N,), as a new array (N,) of doubles in ``[low, high]``."""
    array = require_finite_array(name, np.atleast_1d(np.asarray(values)), shape=(None,))
    outside = array[(array < low) | (array > high)]
    if outside.size:
        raise InputError(
            f"{name} holds {float(outside[0])!r} outside [{low!r}, {high!r}]; give values within the bounds"
        )
    return array.copy()


def require_probability(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float in [0, 1]."""
    number = require_non_negative(name, value)
    if number > 1.0:
        raise InputError(f"{name}={value!r} is not a probability; give a number in [0, 1]")
    return number


def require_counts(name: str, values: ArrayLike, *, size: int) -> FloatArray:
    """Return `values`, integers of at least 0 and shape (size,), as doubles."""
    array = np.asarray(values)
    if array.shape != (size,) or not np.issubdtype(array.dtype, np.integer):
        raise InputError(
            f"{name} of type {array.dtype}, shape {array.shape} does not fit; give integers of shape ({size},)"
        )
    if size and array.min() < 0:
        raise InputError(f"{name} holds {int(array.min())}, a negative count; give counts of at least 0")
    return array.astype(np.float64)
