"""A sum of squares whose noise is scaled by a sensitivity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray


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
