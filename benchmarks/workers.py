"""Units of work through the executor seam: two local processes beside one."""

from __future__ import annotations

import math
from collections.abc import Iterator

from benchmarks.measure import WALL, in_turn
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.algorithm import StoppingRule
from dpsco_verify.execution import WorkUnit, execute, make_executor
from dpsco_verify.ledger.statements.stopping_tail.law import exact_tails

GROUP = "workers"


def rows(size: Size) -> Iterator[Row]:
    """Yield the speed-up of two processes, which have been started, and the exponent of time in workers."""
    units = _units(size)
    with make_executor(1) as one, make_executor(2) as two:
        pairs = in_turn(
            lambda: execute(units, one), lambda: execute(units, two), rounds=size.rounds, clock=WALL
        )
    gains = [a / b for a, b in pairs]
    note = f"{len(units)} units of {pairs[0][0] / len(units):.2g} s; needs two cores that nothing else uses"
    yield row(GROUP, "one process over two", gains, unit="x", at_least=1.8, note=note)
    yield row(
        GROUP,
        "growth of time in workers",
        [-math.log2(gain) for gain in gains],
        unit="1",
        at_most=-math.log2(1.8),
        note="exponent between one and two; −1 is all there is to gain",
    )


def _units(size: Size) -> list[WorkUnit]:
    """Return units that are as good as equal: exact stopping tails of the same sizes."""
    return [
        WorkUnit(
            name=f"benchmark/{number}",
            function=exact_tails,
            arguments={
                "rule": StoppingRule.LOOP,
                "counter": False,
                "sizes": tuple(range(300, 300 + size.of(32, 1))),
            },
        )
        for number in range(size.of(8, 2))
    ]
