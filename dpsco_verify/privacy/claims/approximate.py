"""Approximate differential privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpsco_verify.errors import InputError
from dpsco_verify.privacy.claims.claim import rounded_up
from dpsco_verify.validation import require_non_negative


@dataclass(frozen=True)
class ApproximateDP:
    """(ε, δ)-differential privacy: ``P(E|D) ≤ e^ε P(E|D') + δ`` for all events; ε = 0 bounds the total variation.

    At an order ``ε' < ε`` it implies

        δ(ε') = 1 − (1 − δ)(1 + e^ε')/(1 + e^ε) = ((e^ε − e^ε') + δ(1 + e^ε'))/(1 + e^ε),

    the corner of the region of pairs ``(P(E|D), P(E|D'))``. At larger orders it implies δ and nothing less: an event
    of probability δ under D and 0 under D' is allowed.

    Source: Kairouz, Oh and Viswanath (2015), Theorem 3.4.

    Examples
    --------
    >>> ApproximateDP(1.0, 1e-6).delta(1.0)
    1e-06
    """

    epsilon: float
    delta_at_epsilon: float

    def __init__(self, epsilon: float, delta: float) -> None:
        order, mass = require_non_negative("epsilon", epsilon), require_non_negative("delta", delta)
        if mass >= 1.0:
            raise InputError(
                f"delta={delta!r} is at least 1, which every mechanism satisfies; give a number in [0, 1)"
            )
        object.__setattr__(self, "epsilon", order)
        object.__setattr__(self, "delta_at_epsilon", mass)

    def __repr__(self) -> str:
        return f"ApproximateDP(epsilon={self.epsilon!r}, delta={self.delta_at_epsilon!r})"

    def __str__(self) -> str:
        return f"({self.epsilon:g}, {self.delta_at_epsilon:g})-DP"

    def delta(self, epsilon: float) -> float:
        """Return the smallest δ at the order `epsilon`, rounded up where it is computed."""
        order = require_non_negative("epsilon", epsilon)
        if order >= self.epsilon:
            return self.delta_at_epsilon
        shrunk = math.exp(-self.epsilon)
        gain = -math.expm1(order - self.epsilon)
        mass = self.delta_at_epsilon * (shrunk + math.exp(order - self.epsilon))
        return rounded_up((gain + mass) / (1.0 + shrunk))

    def orders(self) -> tuple[float, ...]:
        """Return (ε,).

        The pairs ``(P(E|D), P(E|D'))`` that the claim allows form a polygon. Its slanted edges have the slopes e^ε
        and e^{−ε}, each the other for the complement of E and the exchanged pair; the rest are the sides of the
        unit square. So a claim that is wrong at any order is wrong at this one.
        """
        return (self.epsilon,)

    def headline(self) -> tuple[float, float]:
        """Return (ε, δ)."""
        return self.epsilon, self.delta_at_epsilon
