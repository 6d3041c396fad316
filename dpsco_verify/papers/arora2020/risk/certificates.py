"""Witnesses about ``risk``, as the independent checker evaluates them."""

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
    require_steps,
)

KAPPA = {"diameter": 1, "norm-argmin": 1, "norm-arbitrary": 2}
"""The largest ``‖u − w₁‖/D`` by reading."""
CLAIMED = Fraction(5), Fraction(20)
"""The two constants of the theorem."""


def constants_suffice(first: Fraction, second: Fraction, reading: str) -> Sides:
    """Return the sides of ``min(first, second/8) > κ² + ln 2``, which is at least c(n) for all n ≥ 3."""
    square = KAPPA[reading] ** 2
    limit = square + flint.arb(2).log()
    require(holds=bool(flint.arb(2).log() <= limit / 2), reason="-ln(1 - 1/2) exceeds (kappa^2 + ln 2)/2")
    words = f"min({first}, {second}/8) > {square} + ln 2 >= c(n) for all n >= 3, reading {reading}"
    return ball(min(first, second / 8)), limit, words


class RiskConstants(Witness, frozen=True, kw_only=True):
    """With ``σ√d = 8L√(d log(1/δ))/(√n ε)``, the risk is below ``first·LD/√n + second·LD√(d log(1/δ))/(εn)`` for n ≥ 3.

    The risk is at most ``c(n) D(L + σ√d)/√n``, which has the coefficients c(n) and 8c(n); and ``c(n) ≤ κ² + ln 2`` for
    n ≥ 3 (see ``UtilityConstant``, whose condition at x = 1/2 is checked here as well).
    """

    readings: ClassVar[dict[str, tuple[Fraction, Fraction]]] = dict.fromkeys(KAPPA, CLAIMED)
    """The constants that each claims."""
    claim_id: ClassVar[str] = "risk"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 16, ε > 0, 0 < δ < 1, d and W"
    argument: ClassVar[str] = (
        "the regret analysis, by which the risk is at most c(n) D(L + σ√d)/√n, and c(n) <= κ² + ln 2"
    )
    first: Rational
    second: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        first, second = rational("first", self.first), rational("second", self.second)
        for name, value, claimed in zip(
            ("first", "second"), (first, second), self.readings[reading], strict=True
        ):
            require(
                holds=value <= claimed, reason=f"{name}={value} is above {claimed}, weaker than the statement"
            )
        return constants_suffice(first, second, reading)


class RiskDriftViolation(Witness, frozen=True, kw_only=True):
    """``E[F(ŵ)] − F* > 5LD/√n + 20LD√log(1/δ)/(εn)``, ``W = [−D, D]``, ``f = −Lw``, ``w₁ = −D`` (D = L = d = 1).

    `scale` is ``√n ε``, so ``σ = 8√log(1/δ)/scale``; ``η = 1/(√n(1 + σ))``. Reflected at −1 alone, the walk is at
    ``y_t + max_{j≤t}(−1 − y_j)⁺``, y the free walk, and that is above w_t. As the drift is up, the maximum is at
    most that of the noise alone, whose mean is at most ``E|N_t| = ησ√(2t/π)`` (Lévy). So before the fresh draw number
    k (from 0) ``E[w] ≤ −1 + kη + ησ√(2(E T_{k+1} − 1)/π)`` (Jensen), with ``E T_k = Σ_{j<k} n/(n−j)``; and also
    ``E[w] ≤ 1``. The output averages these over ``m = ⌊n/2⌋ + 1`` fresh draws, and ``F* = −1``.
    """

    readings: ClassVar[dict[str, int]] = {"norm-arbitrary": 0}
    claim_id: ClassVar[str] = "risk"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "the reflected walk is above the projected one, and Lévy's inequality bounds the mean of its maximum"
    )
    n: Count
    scale: Rational
    delta: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, scale, delta = self.n, rational("scale", self.scale), rational("delta", self.delta)
        require(holds=n >= 16, reason=f"n={n} is below 16")
        require(holds=0 < scale <= Fraction(1, 2), reason=f"scale={scale} is outside (0, 1/2]")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        root_log = (-ball(delta).log()).sqrt()
        sigma = 8 * root_log / ball(scale)
        eta = 1 / (flint.arb(n).sqrt() * (1 + sigma))
        spread = eta * sigma * (2 / flint.arb.pi()).sqrt()
        m = n // 2 + 1
        length = (2 / eta).upper().ceil().unique_fmpz()
        require(holds=length is not None, reason="the length of the sum is not known")
        require_steps(10 * (min(m, int(length or m))), "the sum over fresh draws")
        total, after_first, points = flint.arb(0), flint.arb(0), flint.arb(n)
        for k in range(m):
            if k:
                after_first += points / (n - k)
            gap = 2 - k * eta - spread * after_first.sqrt()
            if not gap > 0:
                break  # the gaps fall, and what is left out is not negative
            total += gap
        bound = (5 + 20 * root_log / ball(scale)) / flint.arb(n).sqrt()
        return (
            total / m,
            bound,
            f"excess risk > 5 L D/sqrt(n) + 20 L D sqrt(log(1/delta))/(epsilon n), n = {n}",
        )
