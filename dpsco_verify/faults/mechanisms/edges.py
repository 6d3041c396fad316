"""Sums and medians that go wrong at the edge of what data sets may be: NaN, overflow, order, one record too few.

Each has the fault, or is as it should be, by its own parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray

_BOUND = 100
_LARGEST_BYTE = 127


@dataclass(frozen=True, kw_only=True)
class ClampedSum:
    """The sum of records clamped to [0, 1] plus Laplace noise of scale 1; comparisons let NaN through the clamp."""

    nan_passes: bool

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        values = dataset if self.nan_passes else np.nan_to_num(dataset)
        return np.asarray(np.minimum(np.maximum(values, 0.0), 1.0).sum() + rng.laplace(size=size))


@dataclass(frozen=True, kw_only=True)
class SumOfBytes:
    """The sum of whole numbers clamped to [0, 100] plus Laplace noise of scale 100, in a byte or in 64 bits."""

    dtype: str

    def __call__(self, dataset: NDArray[np.int8], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        total = np.clip(dataset, 0, _BOUND).sum(dtype=np.dtype(self.dtype))
        return float(total) + rng.laplace(scale=_BOUND, size=size)


@dataclass(frozen=True, kw_only=True)
class SaturatingSum:
    """A sum in a byte that stops at the largest, record after record, plus Laplace noise of scale 100.

    A record moves what the byte holds by at most 100. Exactly summed, the order of the records is nothing; where the
    byte saturates it moves the sum by up to 200.
    """

    saturates: bool

    def __call__(self, dataset: NDArray[np.int64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        total = 0
        for value in np.clip(dataset, -_BOUND, _BOUND).tolist():
            total += value
            if self.saturates:
                total = min(max(total, -_LARGEST_BYTE), _LARGEST_BYTE)
        return total + rng.laplace(scale=_BOUND, size=size)


@dataclass(frozen=True, kw_only=True)
class UserCount:
    """The number of rows plus Laplace noise of scale 1, with all rows of a user counted or the first alone.

    A data set has a row (user, value) for each record.
    """

    rows_of_a_user: int | None

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy counts, shape (size,)."""
        _, counts = np.unique(dataset[:, 0], return_counts=True)
        kept = counts if self.rows_of_a_user is None else np.minimum(counts, self.rows_of_a_user)
        return np.asarray(kept.sum() + rng.laplace(size=size))


@dataclass(frozen=True, kw_only=True)
class LargestRecord:
    """The largest record, clamped to [0, 1], plus Laplace noise of scale 1; without records there is none."""

    of_none: float | None

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy maxima, shape (size,).

        Raises
        ------
        ValueError
            Of an empty data set where `of_none` does not say what its largest record is.
        """
        values = np.clip(dataset, 0.0, 1.0)
        largest = values.max() if self.of_none is None else values.max(initial=self.of_none)
        return float(largest) + rng.laplace(size=size)


@dataclass(frozen=True, kw_only=True)
class PrivateMedian:
    """The exponential mechanism for the median of records in [0, 1], among the gaps between them, for ε = 1.

    The gap that holds the median may be empty, and its weight 0; where all other weights underflow there is no
    probability left. In logarithms there is.
    """

    in_logarithms: bool

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return medians, shape (size,).

        Raises
        ------
        ValueError
            Where the probabilities are 0/0.
        """
        ends = np.concatenate([[0.0], np.sort(np.clip(dataset, 0.0, 1.0)), [1.0]])
        widths, n = np.diff(ends), dataset.size
        scores = -np.abs(np.arange(n + 1) - 0.5 * n)  # a record moves them by a half
        if self.in_logarithms:
            with np.errstate(divide="ignore"):
                scores = scores + np.log(widths)
            weights = np.exp(scores - scores.max())
        else:
            weights = widths * np.exp(scores)
        with np.errstate(invalid="ignore"):
            gaps = rng.choice(n + 1, size=size, p=weights / weights.sum())
        return np.asarray(ends[gaps] + rng.random(size) * widths[gaps])


@dataclass(frozen=True, kw_only=True)
class BoundedValue:
    """A value in [0, 1] with Laplace noise of scale 1, brought into [0, `upper`] by drawing anew or by clipping."""

    upper: float
    drawn_anew: bool

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy values, shape (size,)."""
        value = float(np.clip(dataset[0], 0.0, 1.0))
        noisy = value + rng.laplace(size=size)
        while self.drawn_anew and (outside := (noisy < 0.0) | (noisy > self.upper)).any():
            noisy[outside] = value + rng.laplace(size=int(outside.sum()))
        return np.clip(noisy, 0.0, self.upper)
