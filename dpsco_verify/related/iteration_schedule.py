"""Batches for privacy by iteration, and the phases of halving step sizes."""

from __future__ import annotations

import functools
import math
from itertools import pairwise

import numpy as np

from dpsco_verify.arrays import FloatArray, IntArray


@functools.lru_cache(maxsize=256)
def constant_batches(n: int, dimension: int, kappa: float) -> IntArray:
    """Return ``B_t = ⌈2√d/(κ√(T − t + 1))⌉`` for t = 1, …, T with T as large as n points allow; read-only.

    T ≥ 1 needs ``n ≥ ⌈2√d/κ⌉``; otherwise the array is empty.
    """
    # In reverse time the batch of position s = T − t + 1 does not depend on T, and is at least 1.
    backwards = np.ceil(2.0 * math.sqrt(dimension) / (kappa * np.sqrt(np.arange(1.0, n + 1.0)))).astype(
        np.int64
    )
    steps = int(np.searchsorted(np.cumsum(backwards), n, side="right"))
    batches: IntArray = backwards[:steps][::-1].copy()
    batches.setflags(write=False)
    return batches


@functools.lru_cache(maxsize=256)
def halving_phases(steps: int) -> tuple[int, ...]:
    """Return the lengths ``ℓ_0, …, ℓ_k`` of the phases of ``m = steps + 1`` iterates; the last is 1, the iterate m.

    Phase i holds the iterates ``m − ⌈m/2^i⌉ < t ≤ m − ⌈m/2^{i+1}⌉``, and k is the least i with ``m/2^i ≤ 1``.
    Source: Jain, Nagaraj and Netrapalli (2019), Section 3.
    """
    m = steps + 1
    k = (m - 1).bit_length()
    left = [-(-m >> i) for i in range(k + 1)]  # ⌈m/2^i⌉
    return (*(a - b for a, b in pairwise(left)), 1)


def halving_steps(phases: tuple[int, ...]) -> FloatArray:
    """Return ``√m η_t/C = 2^{−i}`` over √m, shape (T,): one step from each iterate but the last."""
    factors = np.repeat(0.5 ** np.arange(len(phases)), phases)[:-1]
    steps: FloatArray = factors / math.sqrt(sum(phases))
    return steps


def halving_risk(phases: tuple[int, ...]) -> tuple[float, float]:
    """Return (a, b) with ``E F(x_m) − F* ≤ a D²/C + b G²C``."""
    root = math.sqrt(sum(phases))
    eta = [2.0**-i / root for i in range(len(phases))]
    noise = 0.5 * eta[0]
    for i in range(len(phases) - 1):
        here, after = phases[i] * eta[i] ** 2, phases[i + 1] * eta[i + 1] ** 2
        noise += (here + after) / (2.0 * phases[i + 1] * eta[i + 1])
    return 1.0 / (2.0 * eta[0] * phases[0]), noise


@functools.lru_cache(maxsize=256)
def halving_batches(n: int, dimension: int, kappa: float) -> IntArray:
    """Return ``B_t = ⌈2√d η_t/(κ√(Σ_{s≥t} η_s²))⌉`` for as many halving steps as n points allow; read-only.

    Found by bisection on T: the total rises with T but for rounding, and is checked at what is returned.
    """
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _batches(middle, dimension, kappa).sum() <= n else (low, middle)
    batches = _batches(low, dimension, kappa)
    batches.setflags(write=False)
    return batches


def _batches(steps: int, dimension: int, kappa: float) -> IntArray:
    eta = halving_steps(halving_phases(steps))
    rest = np.sqrt(np.cumsum(eta[::-1] ** 2)[::-1])
    batches: IntArray = np.ceil(2.0 * math.sqrt(dimension) * eta / (kappa * rest)).astype(np.int64)
    return batches
