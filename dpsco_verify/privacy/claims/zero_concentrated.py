"""Zero-concentrated differential privacy."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from dpsco_verify.privacy.claims.orders import gaussian_orders, spoken_of
from dpsco_verify.privacy.claims.renyi_bound import SMALLEST_DIVERGENCE, renyi_delta
from dpsco_verify.privacy.claims.renyi_region import binding_alpha
from dpsco_verify.validation import require_non_negative


@dataclass(frozen=True)
class ZeroConcentratedDP:
    """ρ-zCDP: ``D_α(M(D) ‖ M(D')) ≤ ρα`` for all α > 1, and the same for (D', D).

    Each α implies the δ of :class:`~dpsco_verify.privacy.claims.renyi.RenyiDP`, and so does the limit α = 1; δ is their
    minimum, so it is valid. It is lossless wherever the pair of bits that attains it for the best α satisfies the
    claim for all other α too; it does throughout the range of the tests.

    Source: Bun and Steinke (2016), Definition 1.1; the conversion as for Rényi differential privacy.

    Examples
    --------
    >>> round(ZeroConcentratedDP(0.5).delta(1.0), 3)
    0.215
    """

    rho: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "rho", require_non_negative("rho", self.rho))

    def __str__(self) -> str:
        return f"{self.rho:g}-zCDP"

    def delta(self, epsilon: float) -> float:
        """Return the smallest δ at the order `epsilon`, rounded up."""
        return _delta(self.rho, require_non_negative("epsilon", epsilon))

    def orders(self) -> tuple[float, ...]:
        """Return the orders of a Gaussian mechanism of the same ρ."""
        return gaussian_orders(math.sqrt(2.0 * self.rho))

    def headline(self) -> tuple[float, float]:
        """Return (ε, 1e-6) with the smallest ε of four digits."""
        return spoken_of(self.delta)


@functools.lru_cache(maxsize=4096)
def _delta(rho: float, order: float) -> float:
    if rho == 0.0:
        return 0.0
    rho = max(rho, SMALLEST_DIVERGENCE)
    alpha = binding_alpha(rho, order)
    return renyi_delta(alpha, rho * alpha, order, rho=rho)
