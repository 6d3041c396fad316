"""Normal numbers and orders, from the operating system's cryptographic generator, or from a seed in tests."""

from __future__ import annotations

import os
from typing import Any, Protocol

import numpy as np
from scipy import special
from sklearn.utils import check_random_state

from dpsco_verify.arrays import FloatArray, IntArray


class Source(Protocol):
    """Where noise and orders come from."""

    def normals(self, shape: tuple[int, ...]) -> FloatArray:
        """Return independent standard normal numbers."""
        ...

    def order(self, n: int) -> IntArray:
        """Return a uniformly random order of 0, …, n − 1."""
        ...


class SystemSource:
    """The operating system's generator (``os.urandom``), which no output lets anybody predict.

    A normal number is ``±Φ⁻¹(u)`` for a random sign and ``u = (k + ½)/2⁶⁴`` with k of 63 random bits: it reaches 9
    standard deviations. An order is that of random keys of 64 bits; keys that are not all different are drawn
    again, so the order is exactly uniform.
    """

    def normals(self, shape: tuple[int, ...]) -> FloatArray:
        """Return independent standard normal numbers."""
        words = _words(int(np.prod(shape)))
        lower = special.ndtri(((words >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64)
        signed: FloatArray = np.where(words & np.uint64(1), lower, -lower)
        return signed.reshape(shape)

    def order(self, n: int) -> IntArray:
        """Return a uniformly random order of 0, …, n − 1."""
        while True:
            keys = _words(n)
            order = np.argsort(keys)
            ranked = keys[order]
            if np.all(ranked[1:] != ranked[:-1]):
                return order.astype(np.int64, copy=False)


class SeededSource:
    """A generator that whoever knows the seed can run again, to take the noise off: for tests."""

    def __init__(self, random_state: Any) -> None:
        self._random = check_random_state(random_state)

    def normals(self, shape: tuple[int, ...]) -> FloatArray:
        """Return independent standard normal numbers."""
        return np.asarray(self._random.standard_normal(shape))

    def order(self, n: int) -> IntArray:
        """Return a uniformly random order of 0, …, n − 1."""
        return np.asarray(self._random.permutation(n), dtype=np.int64)


def _words(count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)
