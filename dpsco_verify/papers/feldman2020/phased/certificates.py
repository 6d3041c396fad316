"""Witnesses about ``phased``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

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


class PhasedSgdNoise(Witness, frozen=True, kw_only=True):
    """``σ_i = 4Lη_i/κ`` is above ``2Lη_i/κ``, which gives (α, ακ²/2)-RDP for all α, n, L, η ≤ 2/β.

    Steps with η ≤ 2/β move no two points apart, so replacing a point moves each later iterate by at most 2Lη, and their
    average as well. With ``f = −Lwz`` and the first of `points` replaced, the average of the iterates at which
    gradients were taken moves by ``2Lη(1 − 1/points)``, more than `below` Lη.
    """

    readings: ClassVar[dict[str, Fraction]] = {"printed": Fraction(199, 100)}
    """The least sensitivity over Lη that an instance has to exceed."""
    claim_id: ClassVar[str] = "phased-sgd-privacy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n, L, κ and η <= 2/β"
    argument: ClassVar[str] = (
        "steps with η <= 2/β move no two points apart, so neighbours' averages are at most 2Lη apart; "
        "computed is one instance"
    )
    points: Count
    below: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        below, least = rational("below", self.below), self.readings[reading]
        moved = 2 * (1 - Fraction(1, self.points))
        require(holds=least <= below < moved, reason=f"below={below} is outside [{least}, {moved})")
        words = (
            f"4 > 2 >= sensitivity/(L eta), which exceeds {below} for a pass over {self.points} points of a "
            "linear loss"
        )
        return ball(4), ball(2), words


class PhasedErmNoise(Witness, frozen=True, kw_only=True):
    """``σ_i = 4Lη_i/κ`` is above ``3Lη_i/κ``, which gives (α, ακ²/2)-RDP for all α, n and L.

    The objective ``(1/n)Σf + ‖w − w₀‖²/(ηn)`` is λ-strongly convex, ``λ = 2/(ηn)``: neighbours' minimisers are at most
    ``2L/(nλ)`` apart, and a point within ``L²η/n`` of the minimum is at most ``√(2(L²η/n)/λ)`` from the minimiser.
    Together ``Lη + 2Lη``, whatever n, L, η; linear losses and solvers that err apart reach it.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "phased-erm-privacy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n, L, κ and η"
    argument: ClassVar[str] = (
        "neighbours' minimisers are at most 2L/(nλ) apart by strong convexity; computed is one instance"
    )
    n: Count
    lipschitz: Rational
    step_size: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        L, eta = rational("lipschitz", self.lipschitz), rational("step_size", self.step_size)
        require(holds=L > 0 and eta > 0, reason="lipschitz and step_size must be positive")
        convexity = 2 / (eta * self.n)
        apart, square = 2 * L / (self.n * convexity), 2 * (L * L * eta / self.n) / convexity
        require(holds=square == (L * eta) ** 2, reason="the solver's distance is not L eta")
        total = apart + 2 * L * eta
        words = f"4 L eta > sensitivity with a solver, 3 L eta, at n = {self.n}, L = {L}, eta = {eta}, and so for all"
        return ball(4 * L * eta), ball(total), words
