"""Special values of records, at which mechanisms go wrong, and StatDP's patterns of neighbouring answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.validation import require_integer, require_positive

try:
    from hypothesis import strategies as st
    from hypothesis.strategies import SearchStrategy
except ImportError as error:
    raise ImportError(
        "dpsco_verify.strategies needs Hypothesis; install it with: pip install dpsco-verify[strategies]"
    ) from error


def special_values(dtype: np.dtype[Any], thresholds: Sequence[float] = ()) -> list[Any]:
    """Return the values of a dtype at which mechanisms go wrong; of other dtypes than numbers none.

    Of floats NaN, the infinities, both zeros, ±1, the largest, and the smallest above 0; of whole numbers the smallest
    and the largest, 0 and ±1. Of both each threshold and its two neighbours in the dtype.
    """
    if dtype.kind == "f":
        info = np.finfo(dtype)
        plain = [0.0, 1.0, -1.0, np.nan, np.inf, -np.inf, -0.0, info.max, info.min, info.smallest_subnormal]
        at = [np.asarray(t, dtype=dtype) for t in thresholds]
        near = [v for t in at for v in (t, *(np.nextafter(t, dtype.type(end)) for end in (-np.inf, np.inf)))]
        return [dtype.type(value) for value in (*plain, *near)]
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        wanted = [
            0,
            1,
            -1,
            limits.max,
            limits.min,
            *(int(t) + step for t in thresholds for step in (0, -1, 1)),
        ]
        return [dtype.type(value) for value in dict.fromkeys(wanted) if limits.min <= value <= limits.max]
    return []


def neighbouring_answers(
    queries: int, *, sensitivity: float = 1.0
) -> SearchStrategy[tuple[FloatArray, FloatArray]]:
    """Draw answers of `queries` counting queries on two neighbouring data sets: each differs by `sensitivity` at most.

    Half of them are the patterns of Ding, Wang, Wang, Zhang and Kifer (2018, StatDP): one above or below, one against
    the rest, half against half, all, and two halves that change places.
    """
    k = require_integer("queries", queries, minimum=1)
    step = require_positive("sensitivity", sensitivity)
    base, half = np.ones(k), np.arange(k) < (k + 1) // 2
    first = np.eye(1, k)[0] > 0
    changes = [
        first.astype(float),
        -first.astype(float),
        np.where(first, 1.0, -1.0),
        np.where(first, -1.0, 1.0),
        np.where(half, -1.0, 1.0),
        np.ones(k),
    ]
    patterns: list[tuple[FloatArray, FloatArray]] = [
        (step * base, step * (base + change)) for change in changes
    ]
    patterns.append((step * half.astype(float), step * (~half).astype(float)))
    patterns += [(other, one) for one, other in patterns]
    count = st.integers(-3, 3)
    drawn = st.lists(st.tuples(count, st.sampled_from([1.0, 0.0, -1.0])), min_size=k, max_size=k).map(
        lambda rows: (
            step * np.array([value for value, _ in rows], dtype=float),
            step * np.array([value + change for value, change in rows], dtype=float),
        )
    )
    # Copies: what a test does to a pair stays its own.
    copied = st.sampled_from(patterns).map(lambda pair: (pair[0].copy(), pair[1].copy()))
    return st.one_of(copied, drawn.filter(lambda pair: bool(np.any(pair[0] != pair[1]))))
