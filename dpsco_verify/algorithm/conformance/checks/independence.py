"""What the three checks of independence share: correlation, by an exact test, and noise that comes twice, exactly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpsco_verify.algorithm.conformance.finding import ROUNDING, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_correlation, lag_test
from dpsco_verify.arrays import FloatArray, IntArray


def repeated_rows(rows: FloatArray) -> IntArray:
    """Return the pairs of rows that are equal but for rounding, shape (pairs, 2), neighbours in lexicographic order.

    Two independent normal vectors are that close with probability below ``ROUNDING^d``. Rounding that separates equal
    rows in the order may hide a pair, never invent one.
    """
    order = np.lexsort(np.round(rows, 4).T[::-1])
    ordered = rows[order]
    near = np.all(np.abs(np.diff(ordered, axis=0)) <= ROUNDING * (1.0 + np.abs(ordered[1:])), axis=-1)
    return np.stack([order[:-1][near], order[1:][near]], axis=-1)


def judge_independence(
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    *,
    twice: int,
    between: str,
    alpha: float,
    runs: int,
    same: Callable[[int], str],
) -> Outcome:
    """Judge neighbours by :func:`lag_test`; `twice` counts what is equal, and `same` says so."""
    first = np.concatenate([a.ravel() for a, _ in pairs])
    second = np.concatenate([b.ravel() for _, b in pairs])
    decision = lag_test(first, second, alpha=alpha)
    return Outcome(
        violated=decision.rejected or twice > 0,
        detail=f"{same(twice)}; the correlation of {between} has z = {decision.z:.3g}, p = {decision.p_value:.3g}",
        detectable=(
            "noise that comes twice, or a correlation of "
            f"{detectable_correlation(first.size, alpha=alpha):.3g} between {between}"
        ),
        runs=runs,
    )
