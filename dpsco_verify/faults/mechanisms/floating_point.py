"""Laplace noise on doubles: as it is usually written, and on a fixed grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.mechanisms.additive import discrete_laplace


@dataclass(frozen=True, kw_only=True)
class NaiveLaplace:
    """``x + Laplace(scale)`` in doubles, for the sum x of the records.

    The sum is rounded to the spacing of the doubles there, so which doubles can come out depends on x (Mironov 2012).
    """

    scale: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        return np.asarray(dataset.sum() + rng.laplace(scale=self.scale, size=size))


@dataclass(frozen=True, kw_only=True)
class GridLaplace:
    """The sum rounded to the grid of multiples of ``2^−bits``, plus discrete Laplace noise on that grid.

    All outputs are multiples of ``2^−bits``, whatever the data. Rounding may add a step to the sensitivity of 1, and
    the noise pays for it: ``P(z) ∝ exp(−ε|z|/(1 + 2^−bits))``, with equality in the claim for sums that lie
    ``1 + 2^−bits`` apart after rounding.
    """

    epsilon: float
    bits: int

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums, shape (size,)."""
        steps = 2**self.bits
        rounded = int(np.rint(dataset.sum() * steps))
        noise = discrete_laplace((steps + 1) / self.epsilon, (size,), rng)
        # Whole numbers below 2^53 over a power of two: exact.
        return (rounded + noise) / float(steps)
