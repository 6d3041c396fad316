"""Features: numbers computed from an output, chosen to see what real faults leak.

By the post-processing property whatever is computed from an output keeps the claim, so an event on any feature is an
event of the mechanism, and nothing that a feature does can make a true claim look false.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.auditing.floating_point import lowest_bit, trailing_zeros
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.errors import InputError

MAX_COORDINATES = 128
MAX_FOR_PAIRS = 8
_MOST_KINDS = 64
MAX_FOR_BITS = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Feature:
    """A number for each output.

    Attributes
    ----------
    name
        In words, as it stands in a description of an event: ``coordinate 2``.
    values
        ``values(outputs)`` of shape (size,); NaN where the feature has no value, which lies in no interval.
    yes_no
        For a feature that is 1 or 0, what each says.
    """

    name: str
    values: Callable[[Outputs], FloatArray]
    yes_no: tuple[str, str] | None = None


def standard_features(sample: Outputs) -> Iterator[Feature]:
    """Yield the features that fit outputs like those in `sample`."""
    if len(sample.kind_names) > 1:
        for name in _commonest_kinds(sample):
            yield Feature(
                name=f"1 for an output of kind {name}, else 0",
                values=_KindIs(name),
                yes_no=(f"the output is of kind {name}", f"the output is not of kind {name}"),
            )
    if np.any(sample.lengths != sample.lengths[:1]):
        yield Feature(name="length", values=_lengths)
    width = sample.width
    if width == 0:
        return
    shown = min(width, MAX_COORDINATES)
    for j in range(shown):
        yield Feature(name="value" if width == 1 else f"coordinate {j + 1}", values=_Coordinate(j))
    if np.any(~np.isfinite(sample.numbers)):
        yield Feature(name="number of NaN or missing entries", values=_nan_count)
        yield Feature(name="number of infinite entries", values=_infinite_count)
    if width > 1:
        yield from _many_coordinates(width)
    elif sample.numbers.min() < 0.0 < sample.numbers.max():
        yield Feature(name="absolute value", values=_absolute)


def _commonest_kinds(sample: Outputs) -> list[str]:
    """Return the kinds that occur most often: texts of many forms may all be of kinds of their own."""
    counts = np.bincount(sample.kinds, minlength=len(sample.kind_names))
    common = np.argsort(-counts, kind="stable")[:_MOST_KINDS]
    return [sample.kind_names[kind] for kind in sorted(common.tolist())]


def bit_features(sample: Outputs) -> Iterator[Feature]:
    """Yield the features that see on which floating-point grid an output lies."""
    for j in range(min(sample.width, MAX_FOR_BITS)):
        where = "the value" if sample.width == 1 else f"coordinate {j + 1}"
        yield Feature(name=f"position of the lowest bit of {where}", values=_LowestBit(j))
        yield Feature(name=f"trailing zero bits of {where}", values=_TrailingZeros(j))


def entries(outputs: Outputs, width: int) -> FloatArray:
    """Return the first `width` entries of each output, NaN where it has fewer, shape (size, width).

    A feature of several entries takes them so: the table of a call is as wide as its longest output, and what a feature
    says of an output must not depend on the others, else one rare output would move all of its call at once.
    """
    if outputs.width >= width:
        return np.asarray(outputs.numbers[:, :width])
    padded = np.full((outputs.size, width), np.nan)
    padded[:, : outputs.width] = outputs.numbers
    return padded


def _many_coordinates(width: int) -> Iterator[Feature]:
    for name, function in _OF_ALL.items():
        yield Feature(name=name, values=_OfAll(width, function))
    pairs = (
        itertools.combinations(range(width), 2)
        if width <= MAX_FOR_PAIRS
        else ((j, j + 1) for j in range(min(width, MAX_COORDINATES) - 1))
    )
    for i, j in pairs:
        yield Feature(name=f"coordinate {j + 1} minus coordinate {i + 1}", values=_Difference(i, j))
        if width <= MAX_FOR_PAIRS:
            yield Feature(name=f"coordinate {i + 1} over coordinate {j + 1}", values=_Ratio(i, j))


def user_features(functions: Mapping[str, Callable[[Any], ArrayLike]]) -> Iterator[Feature]:
    """Yield features of a user's own, each a function of the mechanism's outputs as it returned them."""
    for name, function in functions.items():
        yield Feature(name=name, values=_UserFeature(name, function))


def _coordinate(outputs: Outputs, j: int) -> FloatArray:
    if j >= outputs.width:
        return np.full(outputs.size, np.nan)
    return np.asarray(outputs.numbers[:, j])


@dataclass(frozen=True)
class _Coordinate:
    j: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        return _coordinate(outputs, self.j)


@dataclass(frozen=True)
class _Difference:
    i: int
    j: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        with np.errstate(invalid="ignore", over="ignore"):
            return _coordinate(outputs, self.j) - _coordinate(outputs, self.i)


@dataclass(frozen=True)
class _Ratio:
    i: int
    j: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            return np.asarray(_coordinate(outputs, self.i) / _coordinate(outputs, self.j))


@dataclass(frozen=True)
class _LowestBit:
    j: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        return lowest_bit(_coordinate(outputs, self.j))


@dataclass(frozen=True)
class _TrailingZeros:
    j: int

    def __call__(self, outputs: Outputs) -> FloatArray:
        return trailing_zeros(_coordinate(outputs, self.j))


@dataclass(frozen=True)
class _UserFeature:
    name: str
    function: Callable[[Any], ArrayLike]

    def __call__(self, outputs: Outputs) -> FloatArray:
        values = np.asarray(self.function(outputs.raw), dtype=np.float64)
        if values.shape != (outputs.size,):
            raise InputError(
                f"features[{self.name!r}] returned shape {values.shape}; return one number an output, ({outputs.size},)"
            )
        return values


@dataclass(frozen=True)
class _KindIs:
    name: str

    def __call__(self, outputs: Outputs) -> FloatArray:
        if self.name not in outputs.kind_names:
            return np.zeros(outputs.size)
        return np.asarray(outputs.kinds == outputs.kind_names.index(self.name), dtype=np.float64)


def _lengths(outputs: Outputs) -> FloatArray:
    return outputs.lengths.astype(np.float64)


def _absolute(outputs: Outputs) -> FloatArray:
    return np.abs(_coordinate(outputs, 0))


def _nan_count(outputs: Outputs) -> FloatArray:
    missing = outputs.width - outputs.lengths
    return np.asarray(np.isnan(outputs.numbers).sum(axis=1) - missing, dtype=np.float64)


def _infinite_count(outputs: Outputs) -> FloatArray:
    return np.asarray(np.isinf(outputs.numbers).sum(axis=1), dtype=np.float64)


def _present(numbers: FloatArray, instead: float) -> FloatArray:
    # A sum tells whether there is a NaN in a third of the time that a look at each entry takes.
    with np.errstate(invalid="ignore", over="ignore"):
        complete = not np.isnan(numbers.sum())
    return numbers if complete else np.where(np.isnan(numbers), instead, numbers)


def _norm_1(numbers: FloatArray) -> FloatArray:
    return np.asarray(np.abs(_present(numbers, 0.0)).sum(axis=1))


def _norm_2(numbers: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.norm(_present(numbers, 0.0), axis=1))


def _norm_max(numbers: FloatArray) -> FloatArray:
    return np.asarray(np.abs(_present(numbers, 0.0)).max(axis=1))


def _largest(numbers: FloatArray) -> FloatArray:
    return np.asarray(_present(numbers, -np.inf).max(axis=1))


def _smallest(numbers: FloatArray) -> FloatArray:
    return np.asarray(_present(numbers, np.inf).min(axis=1))


def _place_of_largest(numbers: FloatArray) -> FloatArray:
    return np.asarray(_present(numbers, -np.inf).argmax(axis=1) + 1.0)


def _sum(numbers: FloatArray) -> FloatArray:
    return np.asarray(_present(numbers, 0.0).sum(axis=1))


def _distinct_entries(numbers: FloatArray) -> FloatArray:
    ordered = np.sort(_present(numbers, np.inf), axis=1)
    return np.asarray(1.0 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1))


_OF_ALL: dict[str, Callable[[FloatArray], FloatArray]] = {
    "l1 norm": _norm_1,
    "l2 norm": _norm_2,
    "largest absolute entry": _norm_max,
    "largest entry": _largest,
    "smallest entry": _smallest,
    "place of the largest entry": _place_of_largest,
    "sum of the entries": _sum,
    "number of different entries": _distinct_entries,
}


@dataclass(frozen=True)
class _OfAll:
    width: int
    function: Callable[[FloatArray], FloatArray]

    def __call__(self, outputs: Outputs) -> FloatArray:
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return self.function(entries(outputs, self.width))
