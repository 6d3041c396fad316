"""Rényi differential privacy."""

from __future__ import annotations

from dataclasses import dataclass

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims.orders import SMALLEST_ORDER, spoken_of, spread_orders
from dpsco_verify.privacy.claims.renyi_bound import SMALLEST_DIVERGENCE, renyi_delta
from dpsco_verify.privacy.claims.renyi_region import corner
from dpsco_verify.validation import require_finite, require_non_negative


@dataclass(frozen=True)
class RenyiDP:
    """(α, ε)-Rényi differential privacy: ``D_α(M(D) ‖ M(D')) ≤ ε``, and the same for (D', D).

    α is at least 1, which stands for the Kullback-Leibler divergence. The conversion loses nothing: δ(e) is the
    maximum of ``p − e^e q`` over all (p, q) with ``D_α(Ber(p)‖Ber(q)) ≤ ε`` and ``D_α(Ber(q)‖Ber(p)) ≤ ε``, and a
    mechanism that releases one such bit satisfies the claim.

    Source: Mironov (2017), Definition 4; Asoodeh, Liao, Calmon, Kosut and Sankar (2021), Section III.

    Examples
    --------
    >>> round(RenyiDP(2.0, 1.0).delta(1.0), 3)
    0.221
    """

    alpha: float
    epsilon: float

    def __post_init__(self) -> None:
        alpha = require_finite("alpha", self.alpha)
        if alpha < 1.0:
            raise InputError(f"alpha={self.alpha!r} is below 1; give a finite number of at least 1")
        object.__setattr__(self, "alpha", alpha)
        object.__setattr__(self, "epsilon", require_non_negative("epsilon", self.epsilon))

    def __str__(self) -> str:
        return f"({self.alpha:g}, {self.epsilon:g})-RDP"

    def delta(self, epsilon: float) -> float:
        """Return the smallest δ at the order `epsilon`, rounded up."""
        return renyi_delta(self.alpha, self.epsilon, require_non_negative("epsilon", epsilon))

    def orders(self) -> tuple[float, ...]:
        """Return orders from 0 to where δ is 1e-9, and the one that the corner of the allowed region ends at.

        For large α, where the claim is nearly ε-DP, nearly all that it says is said there.
        """
        spread = spread_orders(self.delta)
        if self.epsilon < SMALLEST_DIVERGENCE:
            return spread
        _, s = corner(self.alpha, self.epsilon)
        return tuple(sorted({*spread, s})) if s > SMALLEST_ORDER else spread

    def headline(self) -> tuple[float, float]:
        """Return (ε, 1e-6) with the smallest ε of four digits."""
        return spoken_of(self.delta)
