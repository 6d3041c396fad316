"""Several releases in one: running sums, bits of a hashed value, layers of a gradient; a Gaussian at a large ε."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class RunningSums:
    """The running sums of entries in [−1, 1], each of which has Gaussian noise of its own."""

    sigma: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return running sums for a data set of shape (n, k), shape (size, k)."""
        entries = np.clip(dataset, -1.0, 1.0).sum(axis=0)
        return np.asarray(
            np.cumsum(entries + rng.normal(scale=self.sigma, size=(size, entries.size)), axis=1)
        )


@dataclass(frozen=True, kw_only=True)
class HashedBits:
    """A value's bits, each told by randomised response with ``log(P(as it is)/P(flipped)) = epsilon_a_bit``."""

    epsilon_a_bit: float

    def __call__(self, dataset: NDArray[np.int64], size: int, rng: np.random.Generator) -> IntArray:
        """Return noisy bits for a data set of one value, shape (1, k); the result has shape (size, k)."""
        flipped = rng.random((size, dataset.shape[1])) < 1.0 / (1.0 + math.exp(self.epsilon_a_bit))
        return np.asarray(dataset[0] ^ flipped)


@dataclass(frozen=True, kw_only=True)
class Layers:
    """Two layers of a gradient, summed and with Gaussian noise: each its own, or one draw for both."""

    sigma: float
    one_draw: bool

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy sums for a data set of shape (n, 2w), each row of norm at most 1, shape (size, 2w)."""
        total = dataset.sum(axis=0)
        if not self.one_draw:
            return np.asarray(total + rng.normal(scale=self.sigma, size=(size, total.size)))
        noise = rng.normal(scale=self.sigma, size=(size, total.size // 2))
        return np.asarray(total + np.concatenate([noise, noise], axis=1))


@dataclass(frozen=True, kw_only=True)
class GaussianValue:
    """A value in [0, 1] with Gaussian noise, and the density of that."""

    sigma: float

    def __call__(self, dataset: NDArray[np.float64], size: int, rng: np.random.Generator) -> FloatArray:
        """Return noisy values, shape (size,)."""
        return np.asarray(np.clip(dataset[0], 0.0, 1.0) + rng.normal(scale=self.sigma, size=size))

    def log_density(self, outputs: FloatArray, dataset: NDArray[np.float64]) -> FloatArray:
        """Return the log density of each output up to a constant, shape (size,)."""
        return np.asarray(-0.5 * ((outputs - np.clip(dataset[0], 0.0, 1.0)) / self.sigma) ** 2)


def textbook_sigma(epsilon: float, delta: float) -> float:
    """Return ``sqrt(2 log(1.25/δ))/ε``, which is proven for ε ≤ 1 alone (Dwork and Roth 2014, Theorem A.1)."""
    return math.sqrt(2.0 * math.log(1.25 / delta)) / epsilon
