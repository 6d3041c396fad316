"""The constant of the regret: from above by the careful proof, from below by instances in closed form.

In units of ``D(L + σ√d)√n``. Above, from the inequality in :mod:`dpsco_verify.papers.arora2020.utility.constants`:
``c(n) = (κ² + H_n − H_{n−m})/2``, whatever L, σ and d are. Below, the families of
:mod:`dpsco_verify.papers.arora2020.regret.certificates`, which evaluates them anew; here they are searched for their
best member.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsco_verify.algorithm.stopping_law import mean_iterations
from dpsco_verify.papers.arora2020.utility.counterexample import variance_ratio


@dataclass(frozen=True, kw_only=True)
class Member:
    """A member of a family and its regret over ``D(L + σ)√n``."""

    n: int
    lipschitz: Fraction
    sigma: Fraction
    ratio: float


def proven_constant(n: int, distance_factor: float) -> Fraction:
    """Return ``(κ² + E[T]/n)/2``: the constant at n, for all L, σ and d."""
    return (Fraction(distance_factor) ** 2 + mean_iterations(n, n // 2 + 1) / n) / 2


def drift_regret(n: int, distance_factor: float, sigma: float) -> float:
    """Return the lower bound for the drift along a segment of length κD, d = 1, L = 1; exact for σ = 0."""
    eta = 1.0 / (math.sqrt(n) * (1.0 + sigma))
    k = np.arange(n // 2 + 1)
    draws = np.cumsum(n / (n - k))
    gaps = distance_factor - k * eta - (draws - 1.0) * eta * sigma / math.sqrt(2.0 * math.pi)
    return float(np.maximum(gaps, 0.0).sum()) / ((1.0 + sigma) * math.sqrt(n))


def best_drift(distance_factor: float, *, sigma: Fraction, smallest_n: int = 2) -> Member:
    """Return the best member with n up to 10⁴."""
    sizes = (n for n in _SIZES if n >= smallest_n)
    ratio, n = max((drift_regret(n, distance_factor, float(sigma)), n) for n in sizes)
    return Member(n=n, lipschitz=Fraction(1), sigma=sigma, ratio=ratio)


def best_variance() -> Member:
    """Return the best member under noise ``N(0, σI)`` with n up to 10⁴; the ratio grows like √n/4 or more."""
    members = [
        Member(n=n, lipschitz=factor * sigma, sigma=sigma, ratio=_variance_regret(n, factor * sigma, sigma))
        for n in _SIZES
        for sigma in (Fraction(1, 10**k) for k in (4, 6, 8, 10))
        for factor in (1, 10)
    ]
    return max(members, key=lambda member: member.ratio)


def _variance_regret(n: int, lipschitz: Fraction, sigma: Fraction) -> float:
    return variance_ratio(n, float(lipschitz), float(sigma)) * (n // 2 + 1) / n


_SIZES = tuple(range(2, 65)) + tuple(round(10 ** (0.1 * k)) for k in range(19, 41))
