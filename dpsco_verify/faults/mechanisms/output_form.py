"""Mechanisms whose numbers are private but whose form is not: a length or a NaN gives the data away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray


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
