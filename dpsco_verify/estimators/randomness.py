"""Rounded normal numbers and orders, from the operating system's cryptographic generator, or from a seed in tests.

**Rounded normal numbers are exact.** The system's bits are those of a uniform u in (0, ½) and of a sign; with 64 of
them u is known up to 2⁻⁶⁴. If ``s Φ⁻¹(u)`` is near no half-integer, near being more than all errors of doubles, its
rounding is that of every u that is still possible. Otherwise, and beyond six standard deviations, ball arithmetic
decides, with as many more bits of u as it asks for. So the result is ``⌊s N(0, 1)⌉`` in law, provided that the
doubles' Φ⁻¹ errs by at most 2⁻³⁶(1 + |Φ⁻¹(u)|); it errs by less than 2⁻⁴⁵ of that (the tests compare it).
"""

from __future__ import annotations

import os
from typing import Any, Protocol

import flint
import numpy as np
from scipy import special

from dpsco_verify.arrays import FloatArray, IntArray

_MARGIN, _FAR = 2.0**-35, -6.0
"""What doubles are trusted with, in units of 1 + |Φ⁻¹(u)|, for u from here on.

There an uncertainty of 2⁻⁶⁵ in u is one of at most 2⁻³⁷ in Φ⁻¹(u).
"""


class Source(Protocol):
    """Where noise and orders come from."""

    def rounded_normals(self, shape: tuple[int, ...], deviation: float) -> FloatArray:
        """Return independent normal numbers of this standard deviation, rounded to whole ones."""
        ...

    def order(self, n: int) -> IntArray:
        """Return a uniformly random order of 0, …, n − 1."""
        ...


class SystemSource:
    """The operating system's generator (``os.urandom``), which no output lets anybody predict.

    Rounded normal numbers have their exact law, as the module says. An order is that of random keys of 64 bits; keys
    that are not all different are drawn again, so the order is exactly uniform.
    """

    def rounded_normals(self, shape: tuple[int, ...], deviation: float) -> FloatArray:
        """Return independent normal numbers of this standard deviation, rounded to whole ones."""
        words = _words(int(np.prod(shape)))
        halves = words >> np.uint64(1)
        z = special.ndtri((halves.astype(np.float64) + 0.5) * 2.0**-64)
        x = deviation * z
        found = np.rint(x)
        safe = np.abs(x - found) < 0.5 - _MARGIN * deviation * (1.0 - z)
        for i in np.flatnonzero(~safe | (z < _FAR)):
            found[i] = _decided(int(halves[i]), deviation)
        signed: FloatArray = np.where(words & np.uint64(1), found, -found)
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
        if not isinstance(random_state, np.random.RandomState):
            from sklearn.utils import check_random_state  # noqa: PLC0415  half a second, and few need it

            random_state = check_random_state(random_state)
        self._random = random_state

    def rounded_normals(self, shape: tuple[int, ...], deviation: float) -> FloatArray:
        """Return independent normal numbers of this standard deviation, rounded to whole ones."""
        return np.rint(deviation * np.asarray(self._random.standard_normal(shape)))

    def order(self, n: int) -> IntArray:
        """Return a uniformly random order of 0, …, n − 1."""
        return np.asarray(self._random.permutation(n), dtype=np.int64)


def _words(count: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.frombuffer(os.urandom(8 * count), dtype=np.uint64)


def _decided(bits: int, deviation: float) -> float:
    """Return ``⌊s Φ⁻¹(u)⌉`` for the u in (0, ½) whose binary digits after the point are `bits`, 64, and random ones."""
    digits = 64
    while True:
        with flint.ctx.workprec(digits + 64):
            # erfc is taken of a ball around the middle of what is still possible, doubled
            doubled = flint.arb((2 * bits + 1, -digits), (1, -digits))
            x = -(flint.arb(deviation) * flint.arb(2).sqrt() * doubled.erfcinv())
            whole = (x + flint.arb(0.5)).floor().unique_fmpz()
        if whole is not None:
            return float(int(whole))
        bits = bits << 64 | int.from_bytes(os.urandom(8), "little")
        digits += 64
