"""The drift from the far end of W with much noise: its excess risk from below, and where the bound says anything.

The bound is derived in :mod:`dpsco_verify.papers.arora2020.risk.certificates`, which evaluates it anew; here it is only
searched for the smallest δ, in doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

SCALE = Fraction(1, 2)
"""√n ε: the largest that the theorem allows, where its bound is smallest."""

MAX_STEPS = 60_000
"""Fresh steps that a certificate may take to reach the far end."""


@dataclass(frozen=True, kw_only=True)
class Drift:
    """An instance: n, δ, and the lower bound on its excess risk over the theorem's bound (L = D = d = 1)."""

    n: int
    delta: Fraction
    ratio: float


def drift_ratio(
    n: int, delta: float, *, first: float, second: float, distance_factor: float = 2.0
) -> tuple[float, int]:
    """Return the lower bound on the excess risk over ``first/√n + second √log(1/δ)/(εn)``, and the steps it sums.

    The start is κD away from the minimiser; κ = 2 across [−D, D].
    """
    m = n // 2 + 1
    root_log = math.sqrt(-math.log(delta))
    sigma = 8.0 * root_log / float(SCALE)
    eta = 1.0 / (math.sqrt(n) * (1.0 + sigma))
    k = np.arange(min(m, math.ceil(distance_factor / eta)))
    draws = np.cumsum(n / (n - k))
    gaps = distance_factor - k * eta - eta * sigma * np.sqrt(2.0 * (draws - 1.0) / math.pi)
    positive = gaps > 0
    excess = float(gaps[positive].sum()) / m
    bound = (first + second * root_log / float(SCALE)) / math.sqrt(n)
    return excess / bound, int(positive.sum())


def search_drift(*, first: float, second: float) -> Drift | None:
    """Return the instance with the smallest δ of a ladder whose ratio is at least 1.01, or else the largest ratio."""
    best: Drift | None = None
    for delta in (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        for n in (10**8, 10**7, 10**6, 10**5, 10**4, 10**3):
            ratio, steps = drift_ratio(n, float(delta), first=first, second=second)
            if steps > MAX_STEPS:
                continue
            if best is None or ratio > best.ratio:
                best = Drift(n=n, delta=delta, ratio=ratio)
        if best is not None and best.ratio >= 1.01:
            return best
    return best


def needed_second(*, first: float, distance_factor: float) -> tuple[float, int, float] | None:
    """Return the largest second constant that the drift needs beside `first`, with its n and δ; None if none does."""
    found = []
    for delta in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.9):
        noise = math.sqrt(-math.log(delta)) / float(SCALE)
        for n in (10**k for k in range(2, 7)):
            ratio, _ = drift_ratio(n, delta, first=first, second=0.0, distance_factor=distance_factor)
            found.append(((ratio - 1.0) * first / noise, n, delta))
    best = max(found)
    return best if best[0] > 0 else None


def smallest_useful_n(*, first: float, second: float, dimension: int, delta: float) -> int:
    """Return the first n ≥ 16 with ``first/√n + second √(d log(1/δ))/(εn) < 1`` at the largest ε, (a + b/s)² < n."""
    edge = first + second * math.sqrt(-dimension * math.log(delta)) / float(SCALE)
    return max(16, math.floor(edge * edge) + 1)
