"""Pure differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_verify.privacy.claims.claim import rounded_up
from dpsco_verify.validation import require_non_negative


@dataclass(frozen=True)
class PureDP:
    """ε-differential privacy: ``P(E|D) ≤ e^ε P(E|D')`` for all events.

    At an order ``ε' < ε`` it implies ``δ(ε') = (e^ε − e^ε')/(1 + e^ε)``, attained by randomised response; at
    larger orders ``δ = 0``.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.4, with δ = 0.

    Examples
    --------
    >>> claim = PureDP(1.0)
    >>> print(claim.delta(1.0), round(claim.delta(0.0), 4))  # (e − 1)/(e + 1) at 0
    0.0 0.4621
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_non_negative("epsilon", self.epsilon))

    def __str__(self) -> str:
        return f"{self.epsilon:g}-DP"

    def delta(self, epsilon: float) -> float:
        """Return the smallest δ at the order `epsilon`, rounded up."""
        order = require_non_negative("epsilon", epsilon)
        if order >= self.epsilon:
            return 0.0
        return rounded_up(-math.expm1(order - self.epsilon) / (1.0 + math.exp(-self.epsilon)))

    def orders(self) -> tuple[float, ...]:
        """Return (ε,).

        The pairs ``(P(E|D), P(E|D'))`` that the claim allows form a parallelogram whose edges have the slopes e^ε
        and e^{−ε}, each the other for the complement of E and the exchanged pair. What no other order could
        show unless this one is violated needs no other order.
        """
        return (self.epsilon,)

    def headline(self) -> tuple[float, float]:
        """Return (ε, 0)."""
        return self.epsilon, 0.0
