"""Gaussian differential privacy."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from dpsco_verify.privacy import balls
from dpsco_verify.privacy.claims.orders import gaussian_orders, spoken_of
from dpsco_verify.validation import require_non_negative


@dataclass(frozen=True)
class GaussianDP:
    """μ-GDP: no test tells M(D) from M(D') better than N(0, 1) from N(μ, 1).

    δ(ε) is the hockey-stick divergence of the two normal laws, ``Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)``, from its enclosure
    in ball arithmetic.

    Source: Dong, Roth and Su (2022), Definition 2.6 and Corollary 2.13.

    Examples
    --------
    >>> round(GaussianDP(1.0).delta(1.0), 4)
    0.1269
    """

    mu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", require_non_negative("mu", self.mu))

    def __str__(self) -> str:
        return f"{self.mu:g}-GDP"

    def delta(self, epsilon: float) -> float:
        """Return the smallest δ at the order `epsilon`, rounded up."""
        return _delta(self.mu, require_non_negative("epsilon", epsilon))

    def orders(self) -> tuple[float, ...]:
        """Return orders that follow the privacy loss, which is normal with mean μ²/2 and standard deviation μ."""
        return gaussian_orders(self.mu)

    def headline(self) -> tuple[float, float]:
        """Return (ε, 1e-6) with the smallest ε of four digits."""
        return spoken_of(self.delta)


@functools.lru_cache(maxsize=4096)
def _delta(mu: float, order: float) -> float:
    if mu == 0.0:
        return 0.0
    return min(1.0, balls.enclose(lambda: balls.gaussian_delta(balls.ball(order), balls.ball(mu)))[1])
