"""Units of work through the executor seam: two local processes beside one."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor

from benchmarks.measure import WALL, seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.execution import WorkUnit, execute, make_executor
from dpsco_verify.papers.arora2020.stopping_tail.law import exact_tails

GROUP = "workers"


def rows(size: Size) -> Iterator[Row]:
    """Yield the speed-up of two processes, which have been started, the exponent of time in workers, and what is ours.

    How much two processes gain is the machine's matter too: where others use its cores, a pool of the standard library
    gains as little. So that one is measured in the same rounds.
    """
    units = _units(size)
    spawn = multiprocessing.get_context("spawn")
    with (
        make_executor(1) as one,
        make_executor(2) as two,
        ProcessPoolExecutor(2, mp_context=spawn) as pool,
    ):
        measured = [
            (seconds(lambda: execute(units, one), clock=WALL), _in_turn(units, two, pool, number))
            for number in range(2 * size.rounds + 1)
        ][1:]
    gains = [alone / ours for alone, (ours, _) in measured]
    note = (
        f"{len(units)} units of {measured[0][0] / len(units):.2g} s; needs two cores that nothing else uses"
    )
    yield row(GROUP, "one process over two", gains, unit="x", at_least=1.8, note=note)
    yield row(
        GROUP,
        "one process over two of the standard library's pool",
        [alone / theirs for alone, (_, theirs) in measured],
        unit="x",
        note="what this machine allows now",
    )
    yield row(
        GROUP,
        "that pool's time over ours",
        [theirs / ours for _, (ours, theirs) in measured],
        unit="x",
        at_least=0.9,
        note="two processes each, the same units",
    )
    yield row(
        GROUP,
        "growth of time in workers",
        [-math.log2(gain) for gain in gains],
        unit="1",
        at_most=-math.log2(1.8),
        note="exponent between one and two; −1 is all there is to gain",
    )


def _in_turn(
    units: list[WorkUnit], two: Executor, pool: ProcessPoolExecutor, number: int
) -> tuple[float, float]:
    """Return the seconds of our two processes and of the pool's, in alternating order."""

    def theirs() -> None:
        for future in [pool.submit(unit.function, **unit.arguments) for unit in units]:
            future.result()

    actions = [lambda: execute(units, two), theirs]
    if number % 2:
        second = seconds(actions[1], clock=WALL)
        return seconds(actions[0], clock=WALL), second
    first = seconds(actions[0], clock=WALL)
    return first, seconds(actions[1], clock=WALL)


def _units(size: Size) -> list[WorkUnit]:
    """Return units that are as good as equal: exact stopping tails of the same sizes."""
    return [
        WorkUnit(
            name=f"benchmark/{number}",
            function=exact_tails,
            arguments={
                "rule": StoppingRule.LOOP,
                "counter": False,
                "sizes": tuple(range(300, 300 + size.of(16, 1))),
            },
        )
        for number in range(size.of(8, 2))
    ]
