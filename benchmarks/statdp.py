"""StatDP's test, by what is published of it, on the pairs and at the numbers of outputs that our audits have.

Ding, Wang, Wang, Zhang and Kifer (2018), Detecting violations of differential privacy, Sections 4 and 5. A first part
of the outputs chooses the event whose p-value is smallest, of those that are not too rare: each value of a categorical
output; of a number the ten half-lines below values at equal distances in the densest 70 % of the outputs; of two
outputs all products. Fresh outputs test it: of the c occurrences on the data set with more of them each is kept with
probability e^−ε, and the kept are compared with the others' by Fisher's exact test; the p-value is the average over 200
such draws.

Mechanisms return what StatDP's own do: the first entry of a histogram, the number of queries that lie below the
threshold, or how many answers differ from those that hide least. P-values are in logarithms, as many are below the
smallest double.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.faults.mechanisms.sparse_vector import ABOVE, BELOW

Columns = Sequence[NDArray[Any]]
View = Callable[[NDArray[Any]], Columns]

_DRAWS = 200
_COMMON = 0.001
"""An event is considered if both data sets together have it more often than e^ε times this part of the outputs."""
_CATEGORIES = 0.002
"""An output is categorical if it has fewer different values than this part of its number."""
_DENSEST = 0.7
_HALF_LINES = 10
_REACH = 14.0
"""Standard deviations after which a tail that begins is summed, as it falls by e^−18 at least in six."""


def as_it_is(outputs: NDArray[Any]) -> Columns:
    """Return the output itself."""
    return (outputs,)


def first_entry(outputs: NDArray[Any]) -> Columns:
    """Return the first entry."""
    return (outputs[:, 0],)


def answers_below(outputs: NDArray[Any]) -> Columns:
    """Return the number of answers "below"."""
    return (np.count_nonzero(outputs == BELOW, axis=1),)


def distance(outputs: NDArray[Any]) -> Columns:
    """Return how many answers differ from "above" in the first half and "below" in the other."""
    half = outputs.shape[1] // 2
    wanted = np.repeat([ABOVE, BELOW], [half, outputs.shape[1] - half])
    return (np.count_nonzero(outputs != wanted, axis=1),)


def answers_below_and_value(outputs: NDArray[Any]) -> Columns:
    """Return the number of answers "below", coded as -1000, and the one value that is told, or 0."""
    told = outputs > -1000.0  # values are far from the codes
    return np.count_nonzero(outputs == -1000.0, axis=1), np.where(told, outputs, 0.0).sum(axis=1)


def log_p_value(
    mechanism: Any, pair: tuple[Any, Any], view: View, epsilon: float, samples: int, rng: np.random.Generator
) -> float:
    """Return log p against the claim ε with `samples` outputs a data set, a sixth of which choose the event."""
    searched = samples // 6
    seen = [view(mechanism(data, searched, rng)) for data in pair]
    best, least = None, math.inf
    for event in _events(seen):
        counts = sorted((int(np.count_nonzero(event(columns))) for columns in seen), reverse=True)
        if sum(counts) > _COMMON * searched * math.exp(epsilon):
            kept = np.array([round(counts[0] * math.exp(-epsilon))])
            log_p = float(_log_tails(kept, counts[1], searched)[0])
            best, least = (event, log_p) if log_p < least else (best, least)
    if best is None:
        return 0.0
    fresh = samples - searched
    more, fewer = sorted(
        (int(np.count_nonzero(best(view(mechanism(data, fresh, rng))))) for data in pair), reverse=True
    )
    kept = rng.binomial(more, math.exp(-epsilon), size=_DRAWS)
    return float(logsumexp(_log_tails(kept, fewer, fresh)) - math.log(_DRAWS))


def _events(seen: Sequence[Columns]) -> list[Callable[[Columns], BoolArray]]:
    """Return the events of the search."""
    parts: list[list[Callable[[NDArray[Any]], BoolArray]]] = []
    for both in zip(*seen, strict=True):
        together = np.sort(np.concatenate(both))
        values = np.unique(together)
        if values.size < _CATEGORIES * both[0].size:
            parts.append([lambda x, v=v: x == v for v in values])  # type: ignore[misc]  # bound now
        else:
            width = int(_DENSEST * together.size)
            at = int(np.argmin(together[width:] - together[:-width]))
            ends = np.linspace(together[at], together[at + width], num=_HALF_LINES)
            parts.append([lambda x, end=end: x < end for end in ends])  # type: ignore[misc]  # bound now
    return [
        lambda columns, chosen=chosen: np.logical_and.reduce(  # type: ignore[misc]  # bound now
            [inside(x) for inside, x in zip(chosen, columns, strict=True)]
        )
        for chosen in itertools.product(*parts)
    ]


def _log_tails(kept: NDArray[np.int64], other: int, n: int) -> FloatArray:
    """Return ``log P(a ≥ kept)`` where a of ``kept + other`` occurrences are the first n's of 2n outputs, for each."""
    total = kept + other
    # The variance of the hypergeometric law with two equal halves.
    deviation = np.sqrt(0.25 * total * (2 * n - total) / max(2 * n - 1, 1)) + 1.0
    terms = np.arange(math.ceil(_REACH * float(deviation.max())))
    a = np.minimum(kept[:, np.newaxis] + terms, np.minimum(total, n)[:, np.newaxis])
    repeated = kept[:, np.newaxis] + terms > a
    logs = 2.0 * gammaln(n + 1.0) - gammaln(2.0 * n + 1.0) + _log_ways(total, n)[:, np.newaxis]
    logs = logs - gammaln(a + 1.0) - gammaln(n - a + 1.0)
    logs -= gammaln(total[:, np.newaxis] - a + 1.0) + gammaln(n - total[:, np.newaxis] + a + 1.0)
    found = logsumexp(np.where(repeated, -math.inf, logs), axis=1)
    # Where it begins far below the mean the tail is all of the law.
    return np.where(kept < total / 2.0 - 0.4 * _REACH * deviation, 0.0, np.minimum(found, 0.0))


def _log_ways(total: NDArray[np.int64], n: int) -> FloatArray:
    return np.asarray(gammaln(total + 1.0) + gammaln(2.0 * n - total + 1.0))
