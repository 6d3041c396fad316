"""Events on the line, chosen on one sample to be judged on another.

Under an (ε, δ) claim the event that shows a violation best is ``{x : p(x) > e^ε p'(x)}`` with p, p' the densities of
the output on the two data sets (Neyman and Pearson). :func:`select_event` estimates that ratio from samples, on
bins of equal pooled mass, next to all half-lines, and keeps the best of these three on a part of the sample that
had no say in building them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_finite_array, require_integer, require_non_negative

_FEWEST_IN_EVENT = 10
"""Outputs on the first data set that a candidate event must hold."""


@dataclass(frozen=True)
class Event:
    """A union of disjoint half-open intervals ``[low, high)``, in increasing order; ends may be infinite.

    Examples
    --------
    >>> event = Event(((0.0, 1.0), (2.0, np.inf)))
    >>> event.contains(np.array([0.5, 1.0, 3.0]))
    array([ True, False,  True])
    """

    intervals: tuple[tuple[float, float], ...]

    def contains(self, x: FloatArray) -> BoolArray:
        """Return whether each entry of `x` lies in the event, same shape."""
        if len(self.intervals) == 1:
            low, high = self.intervals[0]
            return np.asarray((x >= low) & (x < high))
        return np.asarray(np.searchsorted(self._edges, x, side="right") % 2 == 1)

    def count(self, ordered: FloatArray) -> int:
        """Return how many of the numbers, which stand in increasing order, lie in the event."""
        below = np.searchsorted(ordered, self._edges, side="left")
        return int((below[1::2] - below[::2]).sum())

    @property
    def _edges(self) -> FloatArray:
        return np.array([end for interval in self.intervals for end in interval])

    def __str__(self) -> str:
        """Return the event in interval notation."""
        if not self.intervals:
            return "∅"
        return " ∪ ".join(f"[{low:.6g}, {high:.6g})" for low, high in self.intervals)


def _gap(event: Event, first: FloatArray, second: FloatArray, factor: float) -> float:
    return float(event.contains(first).mean() - factor * event.contains(second).mean())


def best_half_line(first: FloatArray, second: FloatArray, *, epsilon: float, upper: bool) -> Event:
    """Return the half-line with the largest empirical ``P(E) − e^ε P'(E)``, ``[c, ∞)`` or ``[−∞, c)``.

    Only half-lines that hold some of the first sample are considered: an event that never occurs shows nothing.
    """
    factor = math.exp(epsilon)
    cuts = np.unique(np.concatenate([first, second, [math.inf]]))
    a, b = np.sort(first), np.sort(second)
    inside_a = np.searchsorted(a, cuts, side="left")
    inside_b = np.searchsorted(b, cuts, side="left")
    if upper:
        inside_a, inside_b = a.size - inside_a, b.size - inside_b
    gap = inside_a / a.size - factor * inside_b / b.size
    gap[inside_a < min(_FEWEST_IN_EVENT, a.size)] = -math.inf
    cut = float(cuts[int(np.argmax(gap))])
    return Event(((cut, math.inf),)) if upper else Event(((-math.inf, cut),))


def likelihood_ratio_event(first: FloatArray, second: FloatArray, *, epsilon: float, bins: int) -> Event:
    """Return the union of the bins whose estimated likelihood ratio exceeds e^ε.

    The bins hold equal parts of the pooled sample; counts get half an observation more, which draws ratios of
    sparsely filled bins towards 1.
    """
    bins = require_integer("bins", bins, minimum=2)
    inner = np.unique(np.quantile(np.concatenate([first, second]), np.arange(1, bins) / bins))
    edges = np.concatenate([[-math.inf], inner, [math.inf]])
    count_a = np.bincount(np.searchsorted(inner, first, side="right"), minlength=inner.size + 1) + 0.5
    count_b = np.bincount(np.searchsorted(inner, second, side="right"), minlength=inner.size + 1) + 0.5
    above = np.log(count_a / first.size) - np.log(count_b / second.size) > epsilon
    intervals: list[tuple[float, float]] = []
    for k in np.flatnonzero(above):
        low, high = float(edges[k]), float(edges[k + 1])
        if intervals and intervals[-1][1] == low:
            intervals[-1] = (intervals[-1][0], high)
        else:
            intervals.append((low, high))
    return Event(tuple(intervals))


def select_event(first: FloatArray, second: FloatArray, *, epsilon: float, bins: int = 64) -> Event:
    """Return the event that looks best against ``P(E) ≤ e^ε P'(E) + δ``.

    Parameters
    ----------
    first, second
        Outputs on the two data sets, each of shape (N,), N at least 4. Two thirds build the candidates, one third
        chooses among them; the choice must be confirmed on fresh samples.
    epsilon
        The claimed ε.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> event = select_event(rng.integers(0, 3, 900) + 0.0, rng.integers(1, 4, 900) + 0.0, epsilon=1.0)
    >>> event.contains(np.arange(4.0))
    array([ True, False, False, False])
    """
    first = require_finite_array("first", first, shape=(None,))
    second = require_finite_array("second", second, shape=(None,))
    epsilon = require_non_negative("epsilon", epsilon)
    if min(first.size, second.size) < 4:
        raise InputError(
            f"first.size={first.size} and second.size={second.size} are too few; give at least 4 outputs"
        )
    cut_a, cut_b = 2 * first.size // 3, 2 * second.size // 3
    build = (first[:cut_a], second[:cut_b])
    candidates = [
        best_half_line(*build, epsilon=epsilon, upper=True),
        best_half_line(*build, epsilon=epsilon, upper=False),
        likelihood_ratio_event(*build, epsilon=epsilon, bins=bins),
    ]
    factor = math.exp(epsilon)
    rest = (first[cut_a:], second[cut_b:])
    possible = [e for e in candidates if e.contains(first).sum() >= min(_FEWEST_IN_EVENT, cut_a)]
    return max(possible, key=lambda event: _gap(event, *rest, factor))
