"""The queries that selection mechanisms ask: how many records have each of k attributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray

Attributes = NDArray[np.int64]
"""A data set of n records with k attributes each: zeros and ones, shape (n, k)."""


def attribute_counts(dataset: Attributes) -> FloatArray:
    """Return the k counts; replacing a record moves each by at most 1, up or down, and all may move at once."""
    return np.asarray(dataset.sum(axis=0), dtype=np.float64)
