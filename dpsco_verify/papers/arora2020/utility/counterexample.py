"""Exact counterexamples to the utility theorem: families whose excess risk is bounded below in closed form.

The bounds are derived in :mod:`dpsco_verify.papers.arora2020.utility.certificates`, which evaluates them anew; here
they are only searched for the most convincing member, in doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.special import ndtr


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member of a family: its n, σ (and L), and the lower bound on its ratio to D(L + σ√d)/√n."""

    n: int
    sigma: Fraction
    lipschitz: Fraction
    ratio: float


def drift_ratio(n: int, sigma: float, distance_factor: float = 2.0) -> float:
    """Return the lower bound for the drift to a point κD away, d = 1, L = 1, over D(L + σ)/√n; κ = 2 across [−D, D].

    It is the excess risk itself for σ = 0.
    """
    m = n // 2 + 1
    eta = 1.0 / (math.sqrt(n) * (1.0 + sigma))
    k = np.arange(m)
    draws = np.cumsum(n / (n - k))
    reached = k * eta + (draws - 1.0) * eta * sigma / math.sqrt(2.0 * math.pi)
    return float(np.maximum(distance_factor - reached, 0.0).mean()) / ((1.0 + sigma) / math.sqrt(n))


def variance_ratio(n: int, lipschitz: float, sigma: float) -> float:
    """Return the lower bound for the drift under noise N(0, σI), W = [−D/2, D/2], over D(L + σ)/√n."""
    eta = 1.0 / (math.sqrt(n) * (lipschitz + sigma))
    q = float(ndtr(-(1.0 + eta * lipschitz) / (eta * math.sqrt(sigma))))
    return lipschitz * q * math.sqrt(n) / (lipschitz + sigma)


def search_drift() -> Member:
    """Return the best member with noise: n up to 10⁴, σ at least L/1000."""
    best = max(
        ((drift_ratio(n, float(s)), n, s) for n in _sizes() for s in (Fraction(1, 1000), Fraction(1, 100))),
        key=lambda found: found[0],
    )
    return Member(n=best[1], sigma=best[2], lipschitz=Fraction(1), ratio=best[0])


def silent_drift(distance_factor: float) -> Member:
    """Return the best member without noise, n from 2 to 10⁴."""
    best = max((drift_ratio(n, 0.0, distance_factor), n) for n in sorted({*range(2, 100), *_sizes()}))
    return Member(n=best[1], sigma=Fraction(0), lipschitz=Fraction(1), ratio=best[0])


def search_variance() -> Member:
    """Return the member with L = σ at n = 10⁴ and a σ of 10⁻⁸: the ratio grows with n, and as σ falls."""
    n, small = 10**4, Fraction(1, 10**8)
    return Member(n=n, sigma=small, lipschitz=small, ratio=variance_ratio(n, float(small), float(small)))


def _sizes() -> tuple[int, ...]:
    return tuple(sorted({round(10.0 ** (1.2 + 0.1 * k)) for k in range(29)} | {16, 10_000}))
