"""Draws are uniform: the k-th new point of a run is each of the n points with probability 1/n.

Exact binomial tests, one for each k and point, two-sided, their level split equally.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.explanation import first_uses
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR
from dpsco_verify.arrays import IntArray
from dpsco_verify.inference import binomial

_SIDES: tuple[Literal["less", "greater"], ...] = ("less", "greater")


def uniform_cells(orders: IntArray, n: int, *, alpha: float) -> Outcome:
    """Test that each entry of `orders`, shape (runs, positions), is uniform on ``0..n-1``; rows are independent."""
    runs, positions = orders.shape
    tests = 2 * n * positions
    level = alpha / tests
    counts = np.stack([np.bincount(column, minlength=n) for column in orders.T])
    # Of the tests on one side the most extreme count has the smallest p-value.
    cells = {"less": int(counts.argmin()), "greater": int(counts.argmax())}
    p_values = {
        side: binomial.p_value(
            int(counts.flat[cells[side]]), runs, null_probability=1.0 / n, alternative=side
        )
        for side in _SIDES
    }
    worst = min(_SIDES, key=lambda side: p_values[side])
    position, point = divmod(cells[worst], n)
    low, high = _detectable(runs, n, level)
    return Outcome(
        violated=p_values[worst] <= level,
        detail=(
            f"point {point} came at place {position + 1} in {int(counts[position, point])} of {runs} runs, where 1/{n} "
            f"of them is right; p = {min(1.0, p_values[worst] * tests):.3g}"
        ),
        detectable=f"a probability below {low:.3g} or above {high:.3g}",
        runs=runs,
    )


@cache
def _detectable(runs: int, n: int, level: float) -> tuple[float, float]:
    """Return the probabilities below and above 1/n from which on a test at this level finds them."""
    below, above = (
        binomial.minimum_detectable_violation(runs, null_probability=1.0 / n, alpha=level, alternative=side)
        for side in _SIDES
    )
    return max(0.0, 1.0 / n - below), 1.0 / n + above


def _judge(bench: Bench, alpha: float) -> Outcome:
    orders = [None if uses is None else first_uses(uses)[1] for uses in bench.uses(LINEAR, alpha=alpha / 2.0)]
    read = [order for order in orders if order is not None]
    places = min((len(order) for order in read), default=0)
    if len(read) < len(orders) or places == 0:
        return Outcome(
            violated=None,
            detail=f"{len(orders) - len(read)} of {len(orders)} runs could not be read",
            detectable="nothing",
            runs=len(orders),
        )
    return uniform_cells(np.array([order[:places] for order in read]), LINEAR.n, alpha=alpha / 2.0)


UNIFORM_DRAWS = Check(
    id="uniform-draws", null="the k-th new point of a run is uniform on all points", judge=_judge
)
