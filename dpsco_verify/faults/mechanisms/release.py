"""Releases whose threshold, sensitivity or form is wrong: a length or a NaN gives the data away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.mechanisms.additive import discrete_laplace

Release = tuple[tuple[str, int], ...]


@dataclass(frozen=True, kw_only=True)
class ThresholdRelease:
    """The keys that occur in the data, each with its noisy count, if that is at least `threshold`.

    The noise is discrete Laplace. A key that one record alone holds gives that record away whenever it is released: δ
    is at least ``P(1 + Z ≥ threshold) = e^{−(threshold − 1)/scale}/(1 + e^{−1/scale})``. Whoever writes `threshold` in
    place of ``threshold − 1`` there claims a δ that is too small by the factor ``e^{1/scale}``.
    """

    scale: float
    threshold: int

    def __call__(self, dataset: list[str], size: int, rng: np.random.Generator) -> list[Release]:
        """Return `size` releases, each a tuple of (key, noisy count)."""
        keys = sorted(set(dataset))
        counts = np.array([dataset.count(key) for key in keys], dtype=np.int64)
        noisy = counts + discrete_laplace(self.scale, (size, len(keys)), rng)
        return [
            tuple((key, count) for key, count in zip(keys, row, strict=True) if count >= self.threshold)
            for row in noisy.tolist()
        ]


@dataclass(frozen=True, kw_only=True)
class SumOfSquares:
    """Σx² of data clipped to [lower, upper], with Laplace noise for replacing a record.

    The sensitivity is ``|last² − first²|`` for the two `ends`, which should be those of the clipping interval (with a
    lower one of at least 0).
    """

    lower: float
    upper: float
    ends: tuple[float, float]
    epsilon: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        first, last = self.ends
        sensitivity = abs(last**2 - first**2)
        total = np.square(np.clip(dataset, self.lower, self.upper)).sum()
        return np.asarray(total + rng.laplace(scale=sensitivity / self.epsilon, size=size))


@dataclass(frozen=True, kw_only=True)
class NoisyRecords:
    """Each record, clipped to [0, 1], plus Laplace noise: as many numbers as there are records."""

    epsilon: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy records, shape (size, n)."""
        return np.clip(dataset, 0.0, 1.0) + rng.laplace(scale=1.0 / self.epsilon, size=(size, dataset.size))


@dataclass(frozen=True, kw_only=True)
class SelectedMean:
    """The mean of the values of the selected records, clipped to [0, 1], plus Laplace noise of scale 1/ε.

    A data set has a row (selected: 0 or 1, value) for each record. No mean moves by more than 1 when a record comes or
    goes, but where none is selected the answer is NaN.
    """

    epsilon: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy means, shape (size,)."""
        values = dataset[dataset[:, 0] == 1.0, 1]
        mean = np.clip(values, 0.0, 1.0).mean() if values.size else np.nan
        return mean + rng.laplace(scale=1.0 / self.epsilon, size=size)
