"""One step of DP-SGD: the noisy mean of a batch of gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.mechanisms.additive import clipped


@dataclass(frozen=True, kw_only=True)
class GradientStep:
    """The mean of the gradients of a batch, clipped, plus Gaussian noise of standard deviation ``z·clip/n``.

    A zeroed gradient moves the mean by at most clip/n where each gradient is clipped (Abadi et al. 2016), but by as
    much as clip where only their mean is: the noise is then too small by the factor n.
    """

    clip: float
    noise_multiplier: float
    per_example: bool

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy means of the gradients, shape (n, d), as (size, d)."""
        n, dimension = dataset.shape
        if self.per_example:
            mean = clipped(dataset, self.clip).mean(axis=0)
        else:
            mean = clipped(dataset.mean(axis=0, keepdims=True), self.clip)[0]
        noise = rng.normal(scale=self.noise_multiplier * self.clip / n, size=(size, dimension))
        return np.asarray(mean + noise)
