"""The mechanisms on which other testers of differential privacy are measured, written anew from what is published.

All take a vector of query answers for the data set and return one output a row. Sources: DP-Sniper (Bichsel, Steffen,
Bogunovic and Vechev 2021, Table 1), StatDP (Ding, Wang, Wang, Zhang and Kifer 2018), DP-Auditorium (Kong, Medina,
Ribero and Syed 2024).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.mechanisms.sparse_vector import SparseVector

Noise = Callable[[np.random.Generator, float, tuple[int, ...]], FloatArray]


def laplace(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> FloatArray:
    """Return Laplace noise."""
    return rng.laplace(scale=scale, size=shape)


def exponential(rng: np.random.Generator, scale: float, shape: tuple[int, ...]) -> FloatArray:
    """Return exponential noise."""
    return rng.exponential(scale=scale, size=shape)


@dataclass(frozen=True)
class Noisy:
    """Answers plus independent noise of one scale; `take` says what of them is returned."""

    scale: float
    noise: Noise = laplace
    take: Callable[[FloatArray], Any] = np.asarray

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` outputs."""
        values = np.asarray(answers, dtype=np.float64)
        return self.take(values + self.noise(rng, self.scale, (size, values.size)))


def place_of_largest(noisy: FloatArray) -> Any:
    """Return the places of the largest entries."""
    return noisy.argmax(axis=1)


def largest(noisy: FloatArray) -> Any:
    """Return the largest entries."""
    return noisy.max(axis=1)


def prefix_sums(noisy: FloatArray) -> Any:
    """Return the sums of the first entries, of all lengths."""
    return np.cumsum(noisy, axis=1)


@dataclass(frozen=True)
class TruncatedGeometric:
    """A count plus two-sided geometric noise of ratio e^ε, clamped to [0, n] (Balcer and Vadhan 2018, Section 4)."""

    epsilon: float
    n: int

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `size` counts."""
        p = -np.expm1(-self.epsilon)
        noise = rng.geometric(p, size=size) - rng.geometric(p, size=size)
        return np.clip(int(answers[0]) + noise, 0, self.n)


@dataclass(frozen=True)
class SparseVectorOf:
    """A variant of the sparse vector technique on answers; a number, where it answers by numbers, or a code."""

    variant: SparseVector

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the answers to all queries, shape (size, k)."""
        found = self.variant(np.asarray([answers]), size, rng)
        if not self.variant.numeric:
            return found
        # An unasked query is one after the last permitted number.
        asked = np.cumsum(~np.isnan(found), axis=1) - ~np.isnan(found) < (
            self.variant.cutoff or found.shape[1]
        )
        return np.where(np.isnan(found), np.where(asked, -1000.0, -2000.0), found)


@dataclass(frozen=True)
class SideBySide:
    """Mechanisms run on the same answers, independently."""

    parts: tuple[Callable[[Any, int, np.random.Generator], Any], ...]

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the outputs beside each other."""
        return np.concatenate(
            [np.asarray(part(answers, size, rng), dtype=np.float64) for part in self.parts], axis=1
        )


@dataclass(frozen=True)
class Repeated:
    """One value, noisy, `times` times."""

    times: int
    scale: float

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return `times` noisy values, shape (size, times)."""
        return answers[0] + rng.laplace(scale=self.scale, size=(size, self.times))


@dataclass(frozen=True)
class Rappor:
    """A Bloom filter's bits, each lost with probability f for a fair coin, then told by coins of bias p or q.

    Erlingsson, Pihur and Korolova (2014), Section 2; with p = 0 and q = 1 the first, permanent step alone. The answers
    are the places of the bits that are set.
    """

    bits: int
    f: float
    p: float = 0.0
    q: float = 1.0

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the reported bits, shape (size, bits)."""
        bits = np.zeros(self.bits, dtype=np.int64)
        bits[list(answers)] = 1
        lost = rng.random((size, self.bits)) < self.f
        kept = np.where(lost, rng.random((size, self.bits)) < 0.5, bits == 1)
        return (rng.random((size, self.bits)) < np.where(kept, self.q, self.p)).astype(np.int64)


@dataclass(frozen=True)
class NumericSparseVector:
    """The sparse vector technique with a fresh noisy answer to each query that is above (Dwork and Roth 2014)."""

    epsilon: float
    cutoff: int
    threshold: float

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> Any:
        """Return the answers; what is below and what is not asked is coded far off, shape (size, k)."""
        values = np.asarray(answers, dtype=np.float64)
        shape = (size, values.size)
        bound = self.threshold + rng.laplace(scale=3 / self.epsilon, size=(size, 1))
        above = values + rng.laplace(scale=6 * self.cutoff / self.epsilon, size=shape) >= bound
        told = values + rng.laplace(scale=3 * self.cutoff / self.epsilon, size=shape)
        asked = np.cumsum(above, axis=1) - above < self.cutoff
        return np.where(asked, np.where(above, told, -1000.0), -2000.0)


@dataclass(frozen=True)
class Mean:
    """A mean of values in [0, 1] for add-remove neighbours, with Laplace noise, that leaks the number of records.

    `noisy_count` and `noisy_scale` say whether the noisy number of records, which takes half of ε, divides the sum,
    and whether it sets the noise.
    """

    epsilon: float
    noisy_count: bool
    noisy_scale: bool

    def __call__(self, answers: Any, size: int, rng: np.random.Generator) -> NDArray[Any]:
        """Return `size` means."""
        data = np.asarray(answers, dtype=np.float64)
        epsilon = 0.5 * self.epsilon if self.noisy_count or self.noisy_scale else self.epsilon
        noisy = data.size + rng.laplace(scale=1 / epsilon, size=size)
        scale = np.maximum(1.0 / epsilon / (noisy if self.noisy_scale else data.size), 1e-12)
        return data.sum() / (noisy if self.noisy_count else data.size) + scale * rng.laplace(size=size)
