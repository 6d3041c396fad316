"""Selection of one of k attributes by its count, and randomised response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray, IntArray

Attributes = NDArray[np.int64]
"""A data set of n records with k attributes each: zeros and ones, shape (n, k)."""


def attribute_counts(dataset: Attributes) -> FloatArray:
    """Return the k counts; replacing a record moves each by at most 1, up or down, and all may move at once."""
    return np.asarray(dataset.sum(axis=0), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class NoisyMax:
    """Report noisy max: the place of the largest of the counts plus Laplace noise of scale 2/ε.

    The place alone is ε-private (Dwork and Roth 2014, Section 3.3). With the noisy value beside it, all k counts show
    at once, and ε is multiplied by k/2.
    """

    epsilon: float
    with_value: bool

    def __call__(self, dataset: Attributes, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return places, counted from 0, shape (size,); or places and values, shape (size, 2)."""
        counts = attribute_counts(dataset)
        noisy = counts + rng.laplace(scale=2.0 / self.epsilon, size=(size, counts.size))
        place = noisy.argmax(axis=1)
        if not self.with_value:
            return np.asarray(place)
        return np.stack([place.astype(np.float64), noisy.max(axis=1)], axis=1)


@dataclass(frozen=True, kw_only=True)
class ExponentialMechanism:
    """The place i with probability proportional to ``exp(ε c_i/2)`` (McSherry and Talwar 2007)."""

    epsilon: float

    def __call__(self, dataset: Attributes, size: int, rng: np.random.Generator) -> IntArray:
        """Return places, counted from 0, shape (size,)."""
        counts = attribute_counts(dataset)
        weights = np.exp(0.5 * self.epsilon * (counts - counts.max()))
        return rng.choice(counts.size, size=size, p=weights / weights.sum())


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip:
    """The first place, in a random order, whose coin of probability ``exp(ε (c_i − max c)/2)`` shows heads.

    McKenna and Sheldon (2020), Algorithm 1. The place of the maximum always does, so one is found.
    """

    epsilon: float

    def __call__(self, dataset: Attributes, size: int, rng: np.random.Generator) -> IntArray:
        """Return places, counted from 0, shape (size,)."""
        counts = attribute_counts(dataset)
        heads = np.exp(0.5 * self.epsilon * (counts - counts.max()))
        order = rng.permuted(np.tile(np.arange(counts.size), (size, 1)), axis=1)
        accepted = rng.random((size, counts.size)) < heads[order]
        return np.asarray(order[np.arange(size), accepted.argmax(axis=1)])


@dataclass(frozen=True, kw_only=True)
class RandomisedResponse:
    """Each record's bit, kept with probability ``e^ε/(1 + e^ε)`` and turned otherwise (Warner 1965)."""

    epsilon: float

    def __call__(self, dataset: NDArray[np.int64], size: int, rng: np.random.Generator) -> IntArray:
        """Return all answers of n records, shape (size, n)."""
        turned = rng.random((size, dataset.size)) < 1.0 / (1.0 + np.exp(self.epsilon))
        return np.where(turned, 1 - dataset, dataset)
