"""The mechanisms of the zoos with their pairs, and what DP-Sniper finds on its own or what is claimed of the others.

The peers' figures are of their own programs on a machine with two cores: DP-Sniper with 10⁶ samples a data set at
confidence 0.9; and what it published, from 2·10⁸ samples. The pairs of data sets are those on which the mechanisms are
known to break, or to be tight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from benchmarks.statdp import View, answers_below, answers_below_and_value, as_it_is, distance, first_entry
from benchmarks.zoo_mechanisms import (
    Mean,
    Noisy,
    NumericSparseVector,
    Rappor,
    Repeated,
    SideBySide,
    SparseVectorOf,
    TruncatedGeometric,
    exponential,
    largest,
    place_of_largest,
    prefix_sums,
)
from dpsco_verify.faults.mechanisms.sparse_vector import algorithm

_E = 0.1


@dataclass(frozen=True)
class Case:
    """A mechanism, its pair and true ε; what DP-Sniper finds and in how many seconds, or what is claimed of it.

    `view` is what StatDP's own mechanism returns of the outputs.
    """

    name: str
    mechanism: Any
    pair: tuple[Any, Any]
    true: float
    peer: float = 0.0
    peer_seconds: float = 0.0
    published: float = 0.0
    claim: float = 0.0
    view: View = as_it_is


def _sparse(number: int, *, cutoff: int = 1, threshold: float = 1.0, epsilon: float = _E) -> SparseVectorOf:
    return SparseVectorOf(algorithm(number, epsilon=epsilon, cutoff=cutoff, threshold=threshold))


def _five(first: float, rest: float) -> list[float]:
    return [first] + [rest] * 4


def _ten(first: float, second: float) -> list[float]:
    return [first] * 5 + [second] * 5


_ONES = [1.0] * 5
_BITS = ((0, 1, 2, 3), (4, 5, 6, 7))

SNIPER: tuple[Case, ...] = (
    Case("Laplace", Noisy(1 / _E), ([0.0], [1.0]), _E, 0.057, 1.7, 0.097),
    Case(
        "truncated geometric",
        TruncatedGeometric(math.log(1.125), 5),
        ([2.0], [1.0]),
        math.log(1.125),
        0.073,
        1.8,
        0.116,
    ),
    Case("histogram", Noisy(1 / _E), (_five(0.0, 1.0), _ONES), _E, 0.052, 1.9, 0.098),
    Case("histogram, scale inverted", Noisy(_E), (_five(0.0, 1.0), _ONES), 1 / _E, 4.61, 2.0, 4.6),
    Case(
        "arg max, Laplace",
        Noisy(2 / _E, take=place_of_largest),
        (_ONES, _five(0.0, 2.0)),
        _E,
        0.050,
        1.8,
        0.092,
    ),
    Case(
        "arg max, exponential",
        Noisy(2 / _E, exponential, place_of_largest),
        (_ONES, _five(0.0, 2.0)),
        _E,
        0.056,
        1.9,
        0.098,
    ),
    Case("maximum, Laplace", Noisy(2 / _E, take=largest), (_ONES, [2.0] * 5), 0.25, 0.198, 2.0, 0.248),
    Case(
        "maximum, exponential",
        Noisy(2 / _E, exponential, largest),
        (_ONES, [2.0] * 5),
        math.inf,
        0.300,
        2.4,
        0.346,
    ),
    Case(
        "sparse vector 1", _sparse(1, threshold=0.5), (_ten(0.0, 1.0), _ten(1.0, 0.0)), _E, 0.044, 2.5, 0.086
    ),
    Case("sparse vector 2", _sparse(2), (_ten(0.0, 1.0), _ten(1.0, 0.0)), _E, 0.0, 3.1, 0.086),
    Case("sparse vector 3", _sparse(3), (_ten(0.0, 1.0), _ten(1.0, 0.0)), math.inf, 0.035, 6.2, 0.172),
    Case("sparse vector 4", _sparse(4), ([1.0] * 10, _ten(2.0, 0.0)), 0.175, 0.132, 5.5, 0.169),
    Case("sparse vector 5", _sparse(5), (_ten(2.0, 0.0), [1.0] * 10), math.inf, 1.72, 3.7, 1.76),
    Case("sparse vector 6", _sparse(6), (_ten(1.0, 0.0), _ten(0.0, 1.0)), math.inf, 0.207, 4.5, 0.272),
    Case("RAPPOR", Rappor(20, 0.75, 0.45, 0.55), _BITS, 8 * math.log(0.5125 / 0.4875), 0.238, 8.2, 0.293),
    Case("RAPPOR, permanent step", Rappor(20, 0.95), _BITS, 8 * math.log(0.525 / 0.475), 0.567, 3.6, 0.598),
    Case("twenty Laplace", Repeated(20, 1 / 0.005), ([1.0], [0.0]), _E, 0.0, 2.7, 0.035),
    Case(
        "sparse vectors 3 and 4 side by side",
        SideBySide((_sparse(3, cutoff=2), _sparse(4, cutoff=2))),
        ([1.0] * 10, _ten(2.0, 0.0)),
        math.inf,
        0.161,
        7.6,
        0.261,
    ),
    Case("prefix sums", Noisy(1 / _E, take=prefix_sums), ([1.0] * 10, [0.0] * 10), 1.0, 0.377, 3.3, 0.504),
    Case(
        "numeric sparse vector",
        NumericSparseVector(_E, 2, 1.0),
        (_ten(1.0, 0.0), _ten(0.0, 1.0)),
        _E,
        0.002,
        3.0,
        0.034,
    ),
)

_S = 0.7
_WRONG, _RIGHT = 0.7, 0.6


def _stat(number: int) -> SparseVectorOf:
    return _sparse(number, epsilon=_S)


STAT: tuple[Case, ...] = (
    Case(
        "arg max, Laplace", Noisy(2 / _S, take=place_of_largest), (_ONES, _five(0.0, 2.0)), _S, claim=_RIGHT
    ),
    Case(
        "arg max, exponential",
        Noisy(2 / _S, exponential, place_of_largest),
        (_ONES, _five(0.0, 2.0)),
        _S,
        claim=_RIGHT,
    ),
    Case("maximum, Laplace", Noisy(2 / _S, take=largest), (_ONES, [2.0] * 5), 2.5 * _S, claim=_WRONG),
    Case(
        "maximum, exponential",
        Noisy(2 / _S, exponential, largest),
        (_ONES, [2.0] * 5),
        math.inf,
        claim=_WRONG,
    ),
    Case("histogram", Noisy(1 / _S), (_five(2.0, 1.0), _ONES), _S, claim=_RIGHT, view=first_entry),
    Case(
        "histogram, scale inverted",
        Noisy(_S),
        (_five(2.0, 1.0), _ONES),
        1 / _S,
        claim=_WRONG,
        view=first_entry,
    ),
    Case(
        "sparse vector 1",
        _sparse(1, threshold=0.5, epsilon=_S),
        ([0.0] * 9 + [1.0], [1.0] * 9 + [0.0]),
        _S,
        claim=_RIGHT,
        view=answers_below,
    ),
    Case("sparse vector 5", _stat(5), (_ten(2.0, 0.0), [1.0] * 10), math.inf, claim=_WRONG, view=distance),
    Case(
        "sparse vector 6", _stat(6), (_ten(1.0, 0.0), _ten(0.0, 1.0)), math.inf, claim=_WRONG, view=distance
    ),
    Case("sparse vector 4", _stat(4), ([1.0] * 10, _ten(2.0, 0.0)), 1.75 * _S, claim=_WRONG, view=distance),
    Case(
        "sparse vector 3",
        _stat(3),
        (_ten(0.0, 1.0), _ten(1.0, 0.0)),
        math.inf,
        claim=_WRONG,
        view=answers_below_and_value,
    ),
)


def _auditorium(number: int, pair: tuple[Any, Any]) -> Case:
    return Case(f"sparse vector {number}", _sparse(number, epsilon=1.0), pair, math.inf, claim=1.0)


AUDITORIUM: tuple[Case, ...] = (
    *(
        Case(f"mean, {words}", Mean(1.0, count, scale), ([1.0], [1.0, 0.0]), math.inf, claim=1.0)
        for words, count, scale in (
            ("its number of records told", False, False),
            ("number noisy in the mean alone", True, False),
            ("number noisy in the noise alone", False, True),
        )
    ),
    _auditorium(3, ([0.0] * 4 + [1.0], [1.0] * 4 + [0.0])),
    _auditorium(4, ([1.0] * 10, _ten(2.0, 0.0))),
    _auditorium(5, (_ten(2.0, 0.0), [1.0] * 10)),
    _auditorium(6, (_ten(1.0, 0.0), _ten(0.0, 1.0))),
)
