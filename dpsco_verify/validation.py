"""Checks of arguments, named so that the message prints the caller's own variable.

Each returns the checked value, converted to the type it promises, or raises :class:`InputError` with one
sentence that holds ``name=value`` and what is allowed. NaN is refused everywhere: an error where it enters.
"""

from __future__ import annotations

import math
import operator
from typing import SupportsFloat, SupportsIndex

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import InputError


def require_number(name: str, value: SupportsFloat) -> float:
    """Return `value` as a float that is not NaN."""
    if isinstance(value, bool | np.bool_):
        raise InputError(f"{name}={value!r} is a truth value; give a number")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}={value!r} is not a number; give a real number") from None
    if math.isnan(number):
        raise InputError(f"{name}={value!r} is not a number (NaN); give a real number")
    return number


def require_finite(name: str, value: SupportsFloat) -> float:
    """Return `value` as a finite float."""
    number = require_number(name, value)
    if math.isinf(number):
        raise InputError(f"{name}={value!r} is infinite; give a finite number")
    return number


def require_positive(name: str, value: SupportsFloat) -> float:
    """Return `value` as a finite float above 0."""
    number = require_finite(name, value)
    if number <= 0:
        raise InputError(f"{name}={value!r} is not positive; give a finite number above 0")
    return number


def require_non_negative(name: str, value: SupportsFloat) -> float:
    """Return `value` as a finite float of at least 0."""
    number = require_finite(name, value)
    if number < 0:
        raise InputError(f"{name}={value!r} is negative; give a finite number of at least 0")
    return number


def require_open_interval(name: str, value: SupportsFloat, low: float, high: float) -> float:
    """Return `value` as a float strictly between `low` and `high`."""
    number = require_number(name, value)
    if not low < number < high:
        raise InputError(f"{name}={value!r} is outside ({low:g}, {high:g}); give a number strictly between")
    return number


def require_half_open_interval(name: str, value: SupportsFloat, low: float, high: float) -> float:
    """Return `value` as a float in ``(low, high]``."""
    number = require_number(name, value)
    if not low < number <= high:
        raise InputError(
            f"{name}={value!r} is outside ({low:g}, {high:g}]; give a number above {low:g}, at most {high:g}"
        )
    return number


def require_bool(name: str, value: object) -> bool:
    """Return `value`, which has to be True or False: what else has a truth value was meant for something else."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name}={value!r} is not a truth value; give True or False")
    return bool(value)


def require_integer(name: str, value: SupportsIndex, *, minimum: int) -> int:
    """Return `value` as an int of at least `minimum`; floats are refused, also whole ones."""
    if isinstance(value, bool | np.bool_):
        raise InputError(f"{name}={value!r} is a truth value; give an integer of at least {minimum}")
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(
            f"{name}={value!r} is not an integer; give an integer of at least {minimum}"
        ) from None
    if number < minimum:
        raise InputError(f"{name}={value!r} is too small; give an integer of at least {minimum}")
    return number


def require_finite_array(
    name: str, value: ArrayLike, *, shape: tuple[int | None, ...] | None = None
) -> FloatArray:
    """Return `value` as an array of finite doubles.

    `shape` fixes the number of axes and, where not None, their lengths.
    """
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} of type {type(value).__name__} is not an array of numbers; give real numbers"
        ) from None
    if shape is not None and (
        array.ndim != len(shape)
        or any(want is not None and want != got for want, got in zip(shape, array.shape, strict=True))
    ):
        wanted = (
            "("
            + ", ".join("any" if want is None else str(want) for want in shape)
            + ("," if len(shape) == 1 else "")
            + ")"
        )
        raise InputError(f"{name}.shape={array.shape} does not fit; give an array of shape {wanted}")
    if not np.isfinite(array).all():
        position = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"{name}[{', '.join(map(str, position))}]={float(array[position])!r} is not finite; give finite numbers"
        )
    return array
