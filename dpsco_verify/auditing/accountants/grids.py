"""A step's privacy loss on a grid ``h·ℤ``: from above for a direction, from below for a pair.

**From above** (Connect the Dots; Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022). The outcomes whose loss lies
between two neighbours of the grid have masses P and Q; put at the two so that both masses stay, they are at least as
far apart, at every order. Of the losses above 0 only the direction's forward pair is used, of those below 0 only its
backward pair, reversed; what is left of the mass stands at 0. So the grid's law is at least as bad as both directions'
worst cases at all orders, whether or not data sets attain both at once, and composes as such. Losses beyond the
grid become infinite.

**From below.** Grouping outcomes is post-processing. Each group's loss ``log(P/Q)`` is rounded down to the grid; the
groups end half way between its points, moved up by what makes nearly every group's loss a point's or slightly more, so
that the rounding costs the second order of h and not the first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.auditing.accountants.curves import threshold
from dpsco_verify.auditing.accountants.events import Noise
from dpsco_verify.auditing.accountants.pairs import Direction, Pair

LARGEST_LOSS = 600.0
"""Losses above are taken for infinite: the exponentials of larger ones would leave the doubles."""

_REACH = 9.0  # standard deviations: 1e-19 of the mass lies beyond
_DENSE = 1 << 16
_SHIFTS = (0.0, 1e-3, 1e-2, 0.1, 0.5)  # of h
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class LossMasses:
    """Masses of P on ``interval·(lowest, lowest + 1, …)``, and at infinity; what is missing has loss −∞."""

    interval: float
    lowest: int
    masses: FloatArray
    infinite: float


def largest_loss(direction: Direction) -> float:
    """Return the loss that is exceeded with probability below 1e-18 in either direction, at most LARGEST_LOSS."""
    return min(max(_top(direction.forward), _top(direction.backward)), LARGEST_LOSS)


def _top(pair: Pair) -> float:
    far = max(pair.x, pair.y, pair.h) + (_REACH * pair.scale if pair.noise is Noise.GAUSSIAN else 0.0)
    return float(pair.log_ratio(np.array([far]))[0])


def from_above(direction: Direction, *, interval: float) -> LossMasses:
    """Return masses that dominate the direction's losses at every order."""
    h = interval
    cells = int(largest_loss(direction) / h) + 1
    levels = np.arange(cells + 1, dtype=np.float64)
    forward_p, forward_q = _cells(direction.forward, levels * h)
    backward_p, backward_q = _cells(direction.backward, levels * h)
    masses = np.zeros(2 * cells + 1)
    zero = cells
    at = levels[:-1] * h
    inner_p, inner_q = forward_p[:-1], forward_q[:-1]
    up = np.clip((inner_p - inner_q * np.exp(at)) / -np.expm1(-h), 0.0, inner_p)
    masses[zero + 1 :] += up
    masses[zero : zero + cells] += inner_p - up
    inner_p, inner_q = backward_p[:-1], backward_q[:-1]
    down = np.clip((inner_p * np.exp(-at) - inner_q) / np.expm1(h), 0.0, inner_q)
    masses[:zero] += down[::-1]
    masses[1 : zero + 1] += (inner_q - down)[::-1]
    masses[0] += backward_q[-1]
    masses[zero] += max(0.0, 1.0 - forward_p.sum() - backward_q.sum())
    return LossMasses(interval=h, lowest=-cells, masses=masses, infinite=float(forward_p[-1]))


def _cells(pair: Pair, levels: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return P and Q of the outcomes with a loss between neighbouring levels, and last of those above all."""
    return pair.masses(np.append(threshold(pair, levels), np.inf))


def from_below(pair: Pair, *, interval: float) -> LossMasses:
    """Return masses of a post-processing of the pair, with losses rounded down to the grid."""
    points, loss = _table(pair)
    candidates = [
        _grouped(pair, _ends(points, loss, interval, shift * interval), interval) for shift in _SHIFTS
    ]
    return max(candidates, key=_mean)


def _mean(found: LossMasses) -> float:
    return float(found.masses @ np.arange(found.lowest, found.lowest + found.masses.size, dtype=np.float64))


def _grouped(pair: Pair, ends: FloatArray, h: float) -> LossMasses:
    p, q = pair.masses(ends)
    use = (p > 0.0) & (q > 0.0)
    loss = np.log(p[use]) - np.log(q[use])
    index: IntArray = np.floor(np.clip(loss, -LARGEST_LOSS, LARGEST_LOSS) / h - _ROUNDING).astype(np.int64)
    lowest = int(index.min())
    masses = np.bincount(index - lowest, weights=p[use]).astype(np.float64)
    return LossMasses(interval=h, lowest=lowest, masses=masses, infinite=0.0)


def _table(pair: Pair) -> tuple[FloatArray, FloatArray]:
    """Return points along the line, the means among them, and the losses there."""
    centres = (pair.x, pair.y, pair.h)
    reach = (_REACH if pair.noise is Noise.GAUSSIAN else 40.0) * pair.scale
    even = np.linspace(min(centres) - reach, max(centres) + reach, _DENSE)
    points = np.unique(np.concatenate([even, np.array(centres, dtype=np.float64)]))
    return points, pair.log_ratio(points)


def _ends(points: FloatArray, loss: FloatArray, h: float, shift: float) -> FloatArray:
    """Return where the loss passes the levels ``(k + 1/2)h + shift``, interpolated in the table."""
    level = np.floor((loss - shift) / h - 0.5)
    before = np.flatnonzero(np.diff(level) != 0)
    ends = []
    for i, steps in _passages(level, before):
        target = (np.maximum(level[i], level[i + 1]) - steps + 0.5) * h + shift
        share = (target - loss[i]) / (loss[i + 1] - loss[i])
        ends.append(points[i] + np.clip(share, 0.0, 1.0) * (points[i + 1] - points[i]))
    inner = np.unique(np.concatenate(ends)) if ends else np.empty(0)
    return np.concatenate([[-np.inf], inner, [np.inf]])


def _passages(level: FloatArray, before: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return, for each rank, the places where more levels than that are passed, and the rank."""
    passed = np.abs(level[before + 1] - level[before]).astype(np.int64)
    return [
        (before[passed > rank], np.full(int((passed > rank).sum()), rank))
        for rank in range(int(passed.max(initial=0)))
    ]
