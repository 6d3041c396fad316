"""The auditor on the zoos of DP-Sniper, StatDP and DP-Auditorium, beside what those testers find.

The peers' figures are of their own programs on a machine with two cores: DP-Sniper with 10⁶ samples a data set at
confidence 0.9, StatDP with 1.3·10⁶ samples in all and DP-Auditorium with 10⁴, both at level 0.05; and what DP-Sniper
published, from 2·10⁸ samples. The pairs of data sets are those on which they are known to break, or to be tight.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.power_limit import Law, most_power, samples_for
from benchmarks.record import Row, row
from benchmarks.size import Size
from benchmarks.zoo_laws import LAWS
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
from dpsco_verify.auditing import AuditResult, AuditVerdict, audit, epsilon_lower_bound
from dpsco_verify.faults.mechanisms.sparse_vector import algorithm

GROUP = "zoos"
_E = 0.1


@dataclass(frozen=True)
class Case:
    """A mechanism, its pair and true ε; what DP-Sniper finds and in how many seconds, or what is claimed of it."""

    name: str
    mechanism: Any
    pair: tuple[Any, Any]
    true: float
    peer: float = 0.0
    peer_seconds: float = 0.0
    published: float = 0.0
    claim: float = 0.0


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
    Case("histogram", Noisy(1 / _S), (_five(2.0, 1.0), _ONES), _S, claim=_RIGHT),
    Case("histogram, scale inverted", Noisy(_S), (_five(2.0, 1.0), _ONES), 1 / _S, claim=_WRONG),
    Case(
        "sparse vector 1",
        _sparse(1, threshold=0.5, epsilon=_S),
        ([0.0] * 9 + [1.0], [1.0] * 9 + [0.0]),
        _S,
        claim=_RIGHT,
    ),
    Case("sparse vector 5", _stat(5), (_ten(2.0, 0.0), [1.0] * 10), math.inf, claim=_WRONG),
    Case("sparse vector 6", _stat(6), (_ten(1.0, 0.0), _ten(0.0, 1.0)), math.inf, claim=_WRONG),
    Case("sparse vector 4", _stat(4), ([1.0] * 10, _ten(2.0, 0.0)), 1.75 * _S, claim=_WRONG),
    Case("sparse vector 3", _stat(3), (_ten(0.0, 1.0), _ten(1.0, 0.0)), math.inf, claim=_WRONG),
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

_STAT_P_VALUE = 7e-38
"""StatDP's for the noisy maximum that is returned itself, from as many samples; the others' were not kept."""
_SMALL = 1e-6
_FEW, _MANY = 10_000, 1_000_000


def limits(size: Size) -> Iterator[Row]:
    """Yield how many outputs a data set any test needs to refute half of ε, and what it can do with ours."""
    for case, law in _finite()[:: size.of(1, 5)]:
        powers = [most_power(law, 0.5 * case.true, samples, _SMALL) for samples in (_FEW, _MANY)]
        needed = samples_for(law, 0.5 * case.true, _SMALL, power=0.5)
        note = "power at most " + ", ".join(
            f"{power:.2g} with {n:,}" for power, n in zip(powers, (_FEW, _MANY), strict=True)
        )
        yield row("zoo limits", f"any test, power ½: {case.name}", [float(needed)], unit="outputs", note=note)


def rows(size: Size) -> Iterator[Row]:
    """Yield our bounds beside DP-Sniper's, and how many of each zoo's faults are found."""
    many, few, seeds = size.of(_MANY, 2_000), size.of(_FEW, 1_000), range(size.of(3, 1))
    yield from _bounds(many, seeds)
    finite = [case for case, _ in _finite()]
    for samples in (few, many):
        powers = [most_power(law, 0.5 * case.true, samples, _SMALL) for case, law in _finite()]
        found = [
            [_audited(case, 0.5 * case.true, _SMALL, samples, seed) for case in finite] for seed in seeds
        ]
        name = f"half of ε refuted at α = 1e-6 by {samples:,} samples, of {len(finite)}"
        note = f"no test finds more than {sum(powers):.3g} on average"
        yield _count(name, finite, found, at_least=float(sum(power >= 0.5 for power in powers)), note=note)
    samples = size.of(650_000, 1_000)
    stat = [[_audited(case, case.claim, 0.05, samples, seed) for case in STAT] for seed in seeds]
    yield _count("StatDP's faults found, of 11", STAT, stat, at_least=11)
    [case] = (case for case in STAT if case.name == "maximum, Laplace")
    # A test ends when it is sure enough for its level, so that a p-value shows at a level of its size alone.
    tiny = [[_audited(case, case.claim, 100.0 * _STAT_P_VALUE, samples, seed)] for seed in seeds]
    note = f"p = {tiny[0][0].p_value:.1e}, StatDP {_STAT_P_VALUE:.0e}"
    yield _count(
        "its noisy maximum at a hundred times its p-value, of 1", [case], tiny, at_least=1, note=note
    )
    # Audits of so few outputs are quick, and three of the seven are found at about four in five seeds.
    more = range(size.of(24, 1))
    auditorium = [[_audited(case, case.claim, 0.05, few, seed) for case in AUDITORIUM] for seed in more]
    hits = sum(result.verdict is AuditVerdict.VIOLATED for of_seed in auditorium for result in of_seed)
    note = f"{hits / len(more):.3g} on average"
    yield _count("DP-Auditorium's faults found, of 7", AUDITORIUM, auditorium, at_least=7, note=note)


def _finite() -> list[tuple[Case, Law]]:
    return [(case, LAWS[case.name]()) for case in SNIPER if math.isfinite(case.true)]


def _bounds(samples: int, seeds: Sequence[int]) -> Iterator[Row]:
    lost = []
    for case in SNIPER:
        started = time.perf_counter()
        found = [
            epsilon_lower_bound(case.mechanism, case.pair, alpha=0.1, samples=samples, seed=seed)
            for seed in seeds
        ]
        seconds = (time.perf_counter() - started) / len(seeds)
        note = f"true {case.true:.3g}, published {case.published:.3g}; {seconds:.1f} s, DP-Sniper {case.peer_seconds} s"
        yield row(GROUP, f"lower bound: {case.name}", found, unit="1", at_least=case.peer, note=note)
        lost += [case.name] if sorted(found)[len(found) // 2] < case.peer else []
    note = f"below: {', '.join(lost)}" if lost else ""
    won = float(len(SNIPER) - len(lost))
    yield row(GROUP, "lower bounds at least DP-Sniper's, of 20", [won], unit="1", at_least=20.0, note=note)


def _audited(case: Case, claim: float, alpha: float, samples: int, seed: int) -> AuditResult:
    return audit(case.mechanism, *case.pair, epsilon=claim, alpha=alpha, samples=samples, seed=seed)


def _count(
    name: str,
    cases: Sequence[Case],
    results: Sequence[Sequence[AuditResult]],
    *,
    at_least: float,
    note: str = "",
) -> Row:
    """Return how many of the cases are found, for each seed, and which are missed by all of them."""
    found = [[result.verdict is AuditVerdict.VIOLATED for result in of_seed] for of_seed in results]
    missed = [case.name for k, case in enumerate(cases) if not any(of_seed[k] for of_seed in found)]
    note = "; ".join(part for part in (note, f"never found: {', '.join(missed)}" if missed else "") if part)
    counts = [float(sum(of_seed)) for of_seed in found]
    return row(GROUP, name, counts, unit="1", at_least=at_least, note=note)
