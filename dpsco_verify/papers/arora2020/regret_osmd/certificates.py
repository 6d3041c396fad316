"""Witnesses about ``regret-osmd``, as the independent checker evaluates them."""

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


class OsmdLiteralViolation(Witness, frozen=True, kw_only=True):
    """One step of mirror descent whose regret exceeds the bound with ``∇f_t`` inside D_Φ*.

    Φ is the negative entropy, ``Φ* = Σ exp(y_i − 1)``, W the simplex of R², w₁ = argmin Φ = (½, ½), f₁ = f̃₁ = ⟨g, ·⟩
    with g = (−G, 0), u = (1, 0). The regret is G/2; ``D_Φ(u‖w₁) = ln 2``; the literal term is
    ``D_Φ*(g − ηg‖g) = e^{−G−1}(e^{ηG} − 1 − ηG)``.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "regret-osmd"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    slope: Rational
    step_size: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        slope, eta = rational("slope", self.slope), rational("step_size", self.step_size)
        require(holds=slope > 0 and eta > 0, reason="slope and step_size must be positive")
        gain = ball(eta * slope)
        term = ball(-slope - 1).exp() * (gain.exp() - 1 - gain)
        words = f"regret > (D(u||w1) + D*(g - eta g||g))/eta after one step, G = {slope}, eta = {eta}"
        return ball(slope / 2), (flint.arb(2).log() + term) / ball(eta), words
