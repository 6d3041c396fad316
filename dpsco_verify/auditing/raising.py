r"""Exceptions as outputs: a run that raises has an outcome too, and to raise on one data set alone is a leak.

The outcome is the exception's type, and not its message, which may hold the data. A function that returns one output a
call is called run by run, and each has its outcome. A mechanism of many runs a call says of an exception only that one
of them raised. What the others were is drawn again, and exactly:

    *Let a call of n independent runs raise if and only if at least one of them would, and let sets of n runs be drawn
    one by one until one holds an exception. Calls that return, taken as they are, and such sets in place of calls that
    raise have together the law of n independent runs.*

*Proof.* Let A be the event that at least one of n independent runs raises. A call that returns has the law of the runs
given not A. Sets drawn one by one have the law of the runs, so that the first of them in A has their law given A. A
call raises with probability P(A), independently of the sets. The mixture is ``P(not A) P(· | not A) + P(A) P(· | A)``,
the law of n independent runs. □

Runs drawn anew without the condition would not do: with them exceptions would become rarer than they are, on the data
set on which more calls raise the more so. A set takes n calls and P(A) of all calls need 1/P(A) sets on average, n
calls for each call of the batch whatever P(A) is. Where so many sets hold no exception that the calls and the single
runs contradict each other, or nearly so, there is no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpsco_verify.auditing.outputs import Outputs, encode, in_order, join
from dpsco_verify.auditing.plain import Raised

MOST_SINGLE_RUNS = 200_000
"""So many single runs without an exception, and there is no verdict."""

Run = Callable[[], Any]
"""Draws one run; returns what a call of size 1 returned, or a :class:`Raised`."""


def runs_given_an_exception(run: Run, size: int) -> list[Any] | None:
    """Return `size` single runs of which at least one raised; None if too many sets of them hold no exception."""
    drawn = 0
    while drawn < MOST_SINGLE_RUNS:
        runs = [run() for _ in range(size)]
        drawn += size
        if any(isinstance(one, Raised) for one in runs):
            return runs
    return None


def encoded(runs: Sequence[Any]) -> Outputs:
    """Return single runs as outputs, each coded as a call of many codes it.

    Raises
    ------
    InputError
        If a run returned something else than one output.
    """
    raised = np.array([isinstance(one, Raised) for one in runs])
    outcomes = encode([one for one in runs if isinstance(one, Raised)], int(raised.sum()))
    returned = [one for one in runs if not isinstance(one, Raised)]
    if not returned:
        return outcomes
    order = np.argsort(np.concatenate([np.flatnonzero(~raised), np.flatnonzero(raised)]))
    return in_order(join(_together(returned), outcomes), order)


def _together(returned: list[Any]) -> Outputs:
    first = returned[0]
    if type(first) is np.ndarray and first.ndim and all(_alike(one, first) for one in returned):
        return encode(np.concatenate(returned), len(returned))
    if all(isinstance(one, list | tuple) and len(one) == 1 for one in returned):
        return encode([one[0] for one in returned], len(returned))
    found = encode(first, 1)
    for one in returned[1:]:
        found = join(found, encode(one, 1))
    return found


def _alike(one: Any, first: Any) -> bool:
    return type(one) is np.ndarray and one.dtype == first.dtype and one.shape == (1, *first.shape[1:])


def skipping_exceptions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of outputs and perhaps more that is not asked about runs that raised, where it is NaN."""

    def values(raw: Any, *more: Any) -> Any:
        if not isinstance(raw, list) or not any(isinstance(one, Raised) for one in raw):
            return function(raw, *more)
        rows = [i for i, one in enumerate(raw) if not isinstance(one, Raised)]
        found = np.full(len(raw), np.nan)
        if rows:
            kept = [raw[i] for i in rows]
            numeric = all(isinstance(one, np.ndarray | np.generic) for one in kept)
            found[rows] = function(np.array(kept) if numeric else kept, *more)
        return found

    return values
