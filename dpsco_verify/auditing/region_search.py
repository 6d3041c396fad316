"""The search for the regions that look best at a claim's orders.

Half-lines are searched over all cuts, intervals over quantiles, and unions of cells in the order of their estimated
likelihood ratios, best first (Neyman and Pearson).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.auditing.event import Event
from dpsco_verify.auditing.features import Feature
from dpsco_verify.auditing.orders import Aims, Order, rating, remoteness
from dpsco_verify.auditing.outputs import Fingerprints, Outputs
from dpsco_verify.auditing.regions import AtomsRegion, Candidate, FeatureRegion, sorted_values

_CELLS = 64
_CELLS_OF_A_CURVE = 40
"""Each interval between cells is rated at each order, of which a curve has dozens."""
_CUTS_AT_EACH_END = 48
_CUTS_BETWEEN = 256
_FEWEST_AT_AN_ATOM = 4
_MOST_ATOMS = 256
_FEWEST_IN_AN_EVENT = 8
_NOISE = 1.0
"""Differences of the estimates below so many standard errors are noise."""


def _best(
    p: FloatArray,
    q: FloatArray,
    aims: Aims,
    n_p: int,
    n_q: int,
    *,
    middle: Callable[[FloatArray, int, float], int] | None = None,
) -> list[tuple[float, float, int, Order]]:
    """Return (z, remoteness, place, order) of the event that rates best, and of the least remote one.

    Where the orders are apart, of the event that rates best for each. The place is `middle(merits, best, noise)`
    of those around the best that are as good; in its absence in the order in which the events stand.
    """
    middle = middle or _middle
    z = rating(p, q, aims.orders, n_p, n_q)
    rare = p * n_p < min(_FEWEST_IN_AN_EVENT, n_p)
    found = []
    if aims.apart:
        for order, merits in zip(aims.orders, np.where(rare, -math.inf, z), strict=True):
            best = int(np.argmax(merits))
            if merits[best] > 0.0:
                found.append((float(merits[best]), math.inf, middle(merits, best, _NOISE), order))
        return found
    far, error = remoteness(p, q, aims.orders, n_p, n_q, reach=aims.reach)
    for merits, noise in ((z, np.ones_like(z)), (-far, error)):
        merit = np.where(rare, -math.inf, merits)
        row, column = (int(i) for i in np.unravel_index(int(np.argmax(merit)), merit.shape))
        if merit[row, column] > -math.inf:
            place = middle(merit[row], column, _NOISE * float(noise[row, column]))
            found.append((float(z[row, column]), float(far[row, column]), place, aims.orders[row]))
    return found


def _middle(merit: FloatArray, best: int, noise: float) -> int:
    """Return the middle of the run around the best place that is as good up to the noise."""
    worse = np.flatnonzero(merit < merit[best] - noise)
    before, after = worse[worse < best], worse[worse > best]
    low = int(before[-1]) + 1 if before.size else 0
    high = int(after[0]) - 1 if after.size else merit.size - 1
    return (low + high) // 2


def feature_candidates(
    feature: Feature,
    first: FloatArray,
    second: FloatArray,
    aims: Aims,
    *,
    built_from: float = 0.5,
    fitted: float = 0.5,
) -> list[Candidate]:
    """Return the best half-lines, intervals and unions of cells for a feature with these values, for both directions.

    Half-lines and intervals are chosen on all values, since they are too few to be fitted to noise by much, and are
    `fitted` to no more of the search's outputs than the feature is. Unions of cells are built from the first part of
    the values, `built_from`, alone.
    """
    all_of_it = _Values.of(first, second)
    found = _half_lines(feature, all_of_it, aims)
    best: dict[tuple[bool, Order], float] = {}
    for one in found:
        best[one.swapped, one.order] = max(one.rating, best.get((one.swapped, one.order), 0.0))
    # Of events that are as good up to the noise the simplest is the best.
    found += [
        one
        for one in _intervals(feature, all_of_it, aims)
        if one.rating > best.get((one.swapped, one.order), 0.0) + _NOISE
    ]
    if built_from < 1.0:
        part = _Values.of(first[: int(built_from * first.size)], second[: int(built_from * second.size)])
    else:
        part = all_of_it
    return [replace(one, fitted=fitted) for one in found] + _unions(feature, part, aims)


@dataclass(frozen=True)
class _Values:
    """A feature's values on both data sets, and all together, in increasing order without NaN; among how many outputs.

    They are sorted once for all that is sought among them.
    """

    a: FloatArray
    b: FloatArray
    pooled: FloatArray
    n_a: int
    n_b: int

    @classmethod
    def of(cls, first: FloatArray, second: FloatArray) -> _Values:
        a, b = sorted_values(first), sorted_values(second)
        return cls(a, b, np.sort(np.concatenate([a, b])), first.size, second.size)


def _half_lines(feature: Feature, values: _Values, aims: Aims) -> list[Candidate]:
    a, b, n_a, n_b = values.a, values.b, values.n_a, values.n_b
    pooled = _distinct(values.pooled)
    found: list[Candidate] = []
    if pooled.size == 0 or (pooled.size == 1 and a.size == n_a and b.size == n_b):
        return found
    cuts = _thinned(pooled)
    below_a, below_b = np.searchsorted(a, cuts) / n_a, np.searchsorted(b, cuts) / n_b
    above_a = a.size / n_a - below_a
    above_b = b.size / n_b - below_b
    for swapped in (False, True):
        sides = ((below_a, below_b), (above_a, above_b))
        n_p, n_q = (n_b, n_a) if swapped else (n_a, n_b)
        for k, (on_a, on_b) in enumerate(sides):
            p, q = (on_b, on_a) if swapped else (on_a, on_b)
            for z, far, best, order in _best(p, q, aims, n_p, n_q):
                cut = float(cuts[best])
                event = Event(((cut, math.inf),)) if k else Event(((-math.inf, cut),))
                found.append(Candidate(FeatureRegion(feature, event), swapped, order, z, far))
    return found


def _intervals(feature: Feature, values: _Values, aims: Aims) -> list[Candidate]:
    """Return the best intervals between quantiles: what a ratio that rises and falls again asks for."""
    most = _CELLS if len(aims.orders) == 1 else _CELLS_OF_A_CURVE
    cuts = _quantiles(values.pooled, most) if values.pooled.size else np.empty(0)
    found: list[Candidate] = []
    if cuts.size < 3:
        return found
    low, high = np.triu_indices(cuts.size, 1)

    def middle(merit: FloatArray, best: int, noise: float) -> int:
        """Return the interval between the medians of the ends of all that are as good and hold the best's middle."""
        centre = 0.5 * (low[best] + high[best])
        good = (merit >= merit[best] - noise) & (low <= centre) & (centre <= high)
        ends = int(np.median(low[good])), int(np.median(high[good]))
        return int(np.flatnonzero((low == ends[0]) & (high == ends[1]))[0])

    inside = []
    for ordered, size in ((values.a, values.n_a), (values.b, values.n_b)):
        below = np.searchsorted(ordered, cuts) / size
        inside.append(below[high] - below[low])
    for swapped in (False, True):
        p, q = reversed(inside) if swapped else inside
        n_p, n_q = (values.n_b, values.n_a) if swapped else (values.n_a, values.n_b)
        for z, far, best, order in _best(p, q, aims, n_p, n_q, middle=middle):
            event = Event(((float(cuts[low[best]]), float(cuts[high[best]])),))
            found.append(Candidate(FeatureRegion(feature, event), swapped, order, z, far, ends=2))
    return found


def _unions(feature: Feature, values: _Values, aims: Aims) -> list[Candidate]:
    a, b = values.a, values.b
    found: list[Candidate] = []
    if values.pooled.size == 0:
        return found
    cells = _distinct(values.pooled)
    if cells.size > _CELLS:
        cells = _quantiles(values.pooled)
    count_a = np.diff(np.searchsorted(a, cells), append=a.size).astype(np.float64)
    count_b = np.diff(np.searchsorted(b, cells), append=b.size).astype(np.float64)
    for swapped in (False, True):
        n_p, n_q = (values.n_b, values.n_a) if swapped else (values.n_a, values.n_b)
        p, q = (count_b, count_a) if swapped else (count_a, count_b)
        for z, far, chosen, order in best_unions(p, q, aims, n_p, n_q):
            region = FeatureRegion(feature, _union(cells, chosen))
            found.append(Candidate(region, swapped, order, z, far))
    return found


def _distinct(ordered: FloatArray) -> FloatArray:
    """Return what occurs among the values, which are in order; numpy's own search sorts or hashes them."""
    return np.asarray(ordered[np.append(True, ordered[1:] != ordered[:-1])]) if ordered.size else ordered


def atom_candidates(first: Outputs, second: Outputs, aims: Aims) -> list[Candidate]:
    """Return the best sets of exact outputs among those that occur several times, for both directions.

    What is not such an output is one further cell.
    """
    values, where, counts = np.unique(
        np.concatenate([first.fingerprints, second.fingerprints]), return_index=True, return_counts=True
    )
    kept = np.flatnonzero(counts >= _FEWEST_AT_AN_ATOM)
    if kept.size == 0:
        return []
    kept = kept[np.argsort(-counts[kept], kind="stable")[:_MOST_ATOMS]]
    kept = np.sort(kept)
    atoms = values[kept]
    found: list[Candidate] = []
    count_a, count_b = (_atom_counts(o.fingerprints, atoms) for o in (first, second))
    for swapped in (False, True):
        n_p, n_q = (second.size, first.size) if swapped else (first.size, second.size)
        p, q = (count_b, count_a) if swapped else (count_a, count_b)
        for z, far, chosen, order in best_unions(p, q, aims, n_p, n_q):
            negated = atoms.size in chosen
            members = np.setdiff1d(np.arange(atoms.size), chosen) if negated else np.sort(chosen)
            if members.size == 0:
                continue
            at = (int(where[kept[m]]) for m in members[:4])
            shown = tuple(first.shown(i) if i < first.size else second.shown(i - first.size) for i in at)
            shown += ("…",) * (members.size - len(shown))
            found.append(Candidate(AtomsRegion(atoms[members], shown, negated), swapped, order, z, far))
    return found


def _atom_counts(prints: Fingerprints, atoms: Fingerprints) -> FloatArray:
    place = np.minimum(np.searchsorted(atoms, prints), atoms.size - 1)
    hits = place[atoms[place] == prints]
    counts = np.bincount(hits, minlength=atoms.size)
    return np.append(counts, prints.size - hits.size).astype(np.float64)


def best_unions(
    count_p: FloatArray, count_q: FloatArray, aims: Aims, n_p: int, n_q: int
) -> list[tuple[float, float, IntArray, Order]]:
    """Return (z, remoteness, cells, order) of the best unions of cells, in the order of their likelihood ratios."""
    # Half an observation more draws the ratios of sparsely filled cells towards 1.
    ratio = np.log((count_p + 0.5) / (n_p + 0.5)) - np.log((count_q + 0.5) / (n_q + 0.5))
    descending = np.argsort(-ratio, kind="stable")
    p, q = np.cumsum(count_p[descending]) / n_p, np.cumsum(count_q[descending]) / n_q
    return [(z, far, descending[: best + 1], order) for z, far, best, order in _best(p, q, aims, n_p, n_q)]


def _thinned(values: FloatArray) -> FloatArray:
    """Return cuts that stand for all: those near both ends, and quantiles between."""
    if values.size <= 2 * _CUTS_AT_EACH_END + _CUTS_BETWEEN:
        return values
    between = np.linspace(0, values.size - 1, _CUTS_BETWEEN).astype(np.int64)
    ends = np.arange(_CUTS_AT_EACH_END)
    return np.asarray(values[np.unique(np.concatenate([ends, between, values.size - 1 - ends]))])


def _quantiles(ordered: FloatArray, cells: int = _CELLS) -> FloatArray:
    """Return the lower ends of cells that hold equal parts of the values; both are in increasing order."""
    return _distinct(ordered[(np.arange(cells) * ordered.size) // cells])


def _union(cells: FloatArray, chosen: IntArray) -> Event:
    ends = np.append(cells, math.inf)
    # The lowest cell reaches down to −∞: what lies below everything seen belongs to its nearest cell.
    ends[0] = -math.inf
    intervals: list[tuple[float, float]] = []
    for k in np.sort(chosen):
        low, high = float(ends[int(k)]), float(ends[int(k) + 1])
        if intervals and intervals[-1][1] == low:
            intervals[-1] = (intervals[-1][0], high)
        else:
            intervals.append((low, high))
    return Event(tuple(intervals))
