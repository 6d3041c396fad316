"""Witnesses about ``kl-bound``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)


class KlConstant(Witness, frozen=True, kw_only=True):
    """``KL ≤ constant · ε(e^ε − 1)`` for every ε > 0 wherever ``|log(dP/dQ)| ≤ ε``.

    ``r ln r`` is convex, so under ``E_Q r = 1``, ``e^{−ε} ≤ r ≤ e^ε`` its mean is largest on the two ends: the
    largest KL is ``ε tanh(ε/2)``. ``(e^ε − 1)/tanh(ε/2) = e^ε + 1 > 2``, so ``2 · constant ≥ 1`` suffices.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "kl-bound"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every ε > 0 and all P, Q with |log(dP/dQ)| <= ε"
    argument: ClassVar[str] = "r ln r is convex, so the largest divergence is ε tanh(ε/2), and exp(ε) + 1 > 2"
    constant: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        require(holds=constant <= 1, reason=f"constant={constant} is above 1, weaker than the statement")
        words = (
            "constant * (exp(e) - 1) > tanh(e/2) for all e > 0, as constant * (exp(e) + 1) > 2 constant > 1"
        )
        return ball(2 * constant), flint.arb(1), words
