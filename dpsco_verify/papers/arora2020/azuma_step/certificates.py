"""Witnesses about ``azuma-step``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Count,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)


class AzumaMismatch(Witness, frozen=True, kw_only=True):
    """``δ' > exp(−2ε₀²τ log(1/δ')/(2τε₀²ε₁²))`` with ``ε₁ = e^ε₀ − 1``: the two are not equal."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "azuma-step"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    epsilon_0: Rational
    delta_prime: Rational
    tau: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        eps, delta = rational("epsilon_0", self.epsilon_0), rational("delta_prime", self.delta_prime)
        require(holds=eps > 0, reason=f"epsilon_0={eps} is not positive")
        require(holds=0 < delta < 1, reason=f"delta_prime={delta} is outside (0, 1)")
        square = ball(2 * eps**2 * self.tau)
        exponent = square * ball(delta).log() / (square * ball(eps).expm1() ** 2)
        words = f"delta' > exp(-2 e0^2 tau log(1/delta')/(2 tau e0^2 e1^2)) for tau = {self.tau}"
        return ball(delta), exponent.exp(), words


class AzumaRepair(Witness, frozen=True, kw_only=True):
    """``P(Σc > s + τε₀ε₁) < δ'`` with ``s = ε₀√(root · τ log(1/δ'))`` and ``root = 2``, for every τ, ε₀ > 0, δ' < 1.

    Each c lies in ``[−ε₀, ε₀]``, so by Azuma and Hoeffding ``P(Σ(c − E c) > s) ≤ exp(−2s²/(τ(2ε₀)²))``, which is
    ``δ'^{root/2}``. And ``E c ≤ ε₀ tanh(ε₀/2) = ε₀ε₁/(e^ε₀ + 1) ≤ (1/2)ε₀ε₁``, strictly less than ``ε₀ε₁``.
    """

    readings: ClassVar[dict[str, int]] = {"corrected": 0}
    claim_id: ClassVar[str] = "azuma-step"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every ε₀ > 0, τ and 0 < δ' < 1"
    argument: ClassVar[str] = (
        "Azuma's and Hoeffding's inequality for terms in [−ε₀, ε₀], whose means are at most ε₀ tanh(ε₀/2)"
    )
    root: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        root = rational("root", self.root)
        require(holds=2 * root / 2**2 == 1, reason=f"the exponent is {root / 2} log(delta'), not log(delta')")
        return flint.arb(1), ball(Fraction(1, 2)), "exponent = log(delta'), and e0 e1 > (1/2) e0 e1 >= E[c]"
