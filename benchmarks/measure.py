"""Measuring: times in turn, ratios, exponents.

What this process does alone is measured in its processor's time, which other programs on the machine hardly touch; what
waits, or is done elsewhere, by the clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.record import Row, row

Action = Callable[[], object]
Clock = Callable[[], float]

PROCESSOR: Clock = time.process_time
WALL: Clock = time.perf_counter


def seconds(action: Action, *, calls: int = 1, clock: Clock = PROCESSOR) -> float:
    """Return how long one of `calls` calls in a row takes."""
    started = clock()
    for _ in range(calls):
        action()
    return (clock() - started) / calls


def in_turn(
    first: Action, second: Action, *, rounds: int, calls: tuple[int, int] = (1, 1), clock: Clock = PROCESSOR
) -> list[tuple[float, float]]:
    """Return the seconds of both in each round; they are called once uncounted, then in alternating order."""
    first()
    second()
    pairs = []
    for number in range(rounds):
        if number % 2:
            b = seconds(second, calls=calls[1], clock=clock)
            a = seconds(first, calls=calls[0], clock=clock)
        else:
            a = seconds(first, calls=calls[0], clock=clock)
            b = seconds(second, calls=calls[1], clock=clock)
        pairs.append((a, b))
    return pairs


def faster(
    group: str,
    name: str,
    fast: Action,
    slow: Action,
    *,
    rounds: int,
    fast_points: int = 1,
    slow_points: int = 1,
    fast_calls: int = 1,
    at_least: float | None = None,
    note: str = "",
    clock: Clock = PROCESSOR,
) -> Row:
    """Return the row of the slow path's time a point over the fast one's."""
    pairs = in_turn(fast, slow, rounds=rounds, calls=(fast_calls, 1), clock=clock)
    ratios = [(b / slow_points) / (a / fast_points) for a, b in pairs]
    return row(group, name, ratios, unit="x", at_least=at_least, note=note)


def exponents(sizes: Sequence[float], times: Sequence[Sequence[float]]) -> list[float]:
    """Return for each round the slope of log time over log size by least squares; `times` by round, then size."""
    x = np.log(np.asarray(sizes, dtype=np.float64))
    x -= x.mean()
    return [float(x @ np.log(np.asarray(t, dtype=np.float64)) / (x @ x)) for t in times]


def growth(
    group: str,
    name: str,
    action: Callable[[int], object],
    sizes: Sequence[int],
    *,
    rounds: int,
    at_most: float | None = None,
    note: str = "",
) -> Row:
    """Return the row of the exponent with which the time of ``action(size)`` grows."""
    for size in sizes:
        action(size)
    times = [[seconds(lambda size=size: action(size)) for size in sizes] for _ in range(rounds)]  # type: ignore[misc]  # bound now
    span = f"from {min(sizes):g} to {max(sizes):g}"
    return row(
        group,
        name,
        exponents([float(s) for s in sizes], times),
        unit="1",
        at_most=at_most,
        note=f"exponent fitted {span}{'; ' if note else ''}{note}",
    )


def relative_difference(log_value: float, log_reference: float) -> float:
    """Return ``|value/reference − 1|`` from logarithms; infinite for a value of 0."""
    if log_value == -math.inf:
        return math.inf
    return abs(math.expm1(log_value - log_reference))
