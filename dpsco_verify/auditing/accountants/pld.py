"""Bounds on δ(ε) of an event by dp-accounting's privacy loss distributions, an optional extra.

The steps' losses come from :mod:`~dpsco_verify.auditing.accountants.grids`; dp-accounting composes them. The bounds
hold in exact arithmetic. What the doubles may add is allowed for: with the roundoff u, a convolution of k factors by
transforms of length N has a summed error of at most about ``k u log₂(N) √N ‖masses‖₂``, of which eight times is taken,
and a grid's masses are good to 1e-14 in sum.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.accountants.events import Step
from dpsco_verify.auditing.accountants.grids import (
    LossMasses,
    from_above,
    from_below,
    largest_loss,
)
from dpsco_verify.auditing.accountants.pairs import directions
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError

_UNIT = 2.0**-53
_TRUNCATED = 1e-15  # what dp-accounting may cut off a composition's tails, by default
_MASS_ERROR = 1e-14
_FEWEST_CELLS = 1 << 14
_MOST_CELLS = 1 << 18


def dp_accounting_pmf() -> Any:
    """Return dp-accounting's module of loss distributions, or say which extra has it."""
    try:
        from dp_accounting.pld import pld_pmf  # noqa: PLC0415  an optional extra
    except ImportError as error:
        raise InputError(
            f"dp-accounting cannot be imported ({error}); pip install 'dpsco-verify[accounting]'"
        ) from error
    return pld_pmf


def pld_bounds(
    steps: Sequence[Step], relation: Relation, epsilons: FloatArray, *, below: bool = True
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds on δ at each ε ≥ 0, the worst over the relation's directions.

    Without `below` the lower ones are 0; of noise that is narrow the upper ones alone can be computed.
    """
    ways = [directions(step, relation) for step in steps]
    counts = [step.count for step in steps]
    lower, upper = np.zeros(epsilons.shape), np.zeros(epsilons.shape)
    for way in zip(*ways, strict=True):
        tops = [max(largest_loss(direction), 1e-12) for direction in way]
        interval = max(max(tops) / _MOST_CELLS, min(tops) / _FEWEST_CELLS)
        above = [from_above(direction, interval=interval) for direction in way]
        value, error = _composed(above, counts, epsilons, pessimistic=True)
        upper = np.maximum(upper, value + error)
        for which in range(max(len(direction.attained) for direction in way) if below else 0):
            pairs = [direction.attained[min(which, len(direction.attained) - 1)] for direction in way]
            grids = [from_below(pair, interval=interval) for pair in pairs]
            value, error = _composed(grids, counts, epsilons, pessimistic=False)
            lower = np.maximum(lower, value - error)
    return lower, np.minimum(upper, 1.0)


def _composed(
    losses: Sequence[LossMasses], counts: Sequence[int], epsilons: FloatArray, *, pessimistic: bool
) -> tuple[FloatArray, float]:
    """Return δ at each ε of the steps composed, and the allowance for rounding."""
    pmf = dp_accounting_pmf()
    total: Any = None
    error = 0.0
    if not all(loss.masses.any() for loss in losses):
        # All losses of a step are beyond the grid.
        return np.full(epsilons.shape, 1.0 if pessimistic else 0.0), 0.0
    for loss, count in zip(losses, counts, strict=True):
        one = pmf.create_pmf(
            dict(zip(range(loss.lowest, loss.lowest + loss.masses.size), loss.masses.tolist(), strict=True)),
            loss.interval,
            loss.infinite,
            pessimistic_estimate=pessimistic,
        )
        many = one.self_compose(count) if count > 1 else one
        error += count * _MASS_ERROR + _transform_error(count, max(one.size, many.size), loss.masses)
        if total is None:
            total = many
        else:
            total = pmf.compose_pmfs(total, many)
            error += _transform_error(2, total.size, np.ones(1))
        error += _TRUNCATED
    # One order at a time: for several at once dp-accounting loops over the grid in Python.
    return np.array([float(total.get_delta_for_epsilon(float(epsilon))) for epsilon in epsilons]), error


def _transform_error(count: int, length: int, masses: FloatArray) -> float:
    if count == 1:
        return 0.0
    norm = float(np.sqrt(np.square(masses).sum()))
    return 8.0 * count * _UNIT * math.log2(length + 2) * math.sqrt(length) * norm
