"""The tail of the stopping time: exact at n = 10⁴, certified at any n."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from benchmarks.measure import faster, growth, seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.algorithm.stopping_law import (
    janson_exponent,
    log_survival,
    log_tail_bound,
    log_tail_enclosure,
    survival,
    tail_exact,
)

GROUP = "stopping time"


def rows(size: Size) -> Iterator[Row]:
    """Yield times, errors and the sharpness of the bound, all for ``P(T > 2n)`` with m = n/2 + 1."""
    yield from _exact(size)
    yield from _certified(size)
    yield from _against_rationals(size)


def _points(n: int) -> int:
    return n // 2 + 1


def _exact(size: Size) -> Iterator[Row]:
    n = size.of(10_000, 200)
    m, t = _points(n), 2 * n
    yield row(
        GROUP,
        f"exact tail in balls, n = {n}",
        [seconds(lambda: log_tail_enclosure(n, m, t)) for _ in range(size.rounds)],
        unit="s",
        at_most=1.0,
    )
    yield row(
        GROUP,
        f"whole law in doubles, n = {n}",
        [seconds(lambda: log_survival(n, m, t)) for _ in range(size.rounds)],
        unit="s",
        at_most=1.0,
        note=f"all t up to {t}",
    )
    low, high = log_tail_enclosure(n, m, t)
    apart = max(abs(float(log_survival(n, m, t)[t]) - end) for end in (low, high))
    yield row(
        GROUP,
        "whole law against balls: relative error of the tail",
        [math.expm1(apart)],
        unit="1",
        at_most=1e-9,
        note=f"log P = {low:.6f}",
    )
    yield growth(
        GROUP,
        "growth of the exact tail's time in n",
        lambda n: log_tail_enclosure(n, _points(n), 2 * n),
        [size.of(2_500, 50), size.of(5_000, 100), n],
        rounds=size.rounds,
        at_most=2.0,
    )


def _certified(size: Size) -> Iterator[Row]:
    largest = 10**12

    def bound(n: int) -> float:
        return log_tail_bound(n, _points(n), 2 * n)

    calls = size.of(50, 1)
    for n in (10**4, 10**8, largest):
        bound(n)
        yield row(
            GROUP,
            f"certified bound, n = {n:.0e}",
            [1e3 * seconds(lambda n=n: bound(n), calls=calls) for _ in range(size.rounds)],  # type: ignore[misc]  # bound now
            unit="ms",
            at_most=1.0,
        )
    yield growth(
        GROUP,
        "growth of the certified bound's time in n",
        lambda n: [bound(n) for _ in range(calls)],
        [10**4, 10**8, largest],
        rounds=size.rounds,
        at_most=0.1,
    )
    n = size.of(10_000, 200)
    m = _points(n)
    true = -log_tail_enclosure(n, m, 2 * n)[0] / n
    mean = math.log(n / (n - m))  # per point, and a little more than it is
    janson = janson_exponent(fewest_left=1 - (m - 1) / n, mean_per_point=mean, horizon_per_point=2.0)
    yield row(
        GROUP,
        f"certified bound: exponent over the true one, n = {n}",
        [-bound(n) / n / true],
        unit="x",
        at_least=0.95,
        note=f"the true one is {true:.4f}; Janson's bound has {janson / true:.3f} of it",
    )


def _against_rationals(size: Size) -> Iterator[Row]:
    n = size.of(300, 30)
    m, t = _points(n), 2 * n
    exact = tail_exact(n, m, t)
    error = abs(Fraction(float(survival(n, m, t)[t])) / exact - 1)
    yield row(
        GROUP,
        f"whole law against rationals: relative error, n = {n}",
        [float(error)],
        unit="1",
        at_most=1e-9,
    )
    yield faster(
        GROUP,
        f"rational recursion over the exact tail in balls, n = {n}",
        lambda: log_tail_enclosure(n, m, t),
        lambda: tail_exact(n, m, t),
        rounds=size.rounds,
        fast_calls=size.of(20, 1),
    )
