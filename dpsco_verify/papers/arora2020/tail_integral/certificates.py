"""Witnesses about ``tail-integral``, as the independent checker evaluates them."""

from __future__ import annotations

import math
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


class TailIntegralExponent(Witness, frozen=True, kw_only=True):
    """``P(τ ≥ t) ≤ e^{−rate·t} < 2e^{−t/16}`` for all n ≥ 16 and t ≥ 2n, by Janson (2018), Theorem 2.1.

    In the worst case (loop, τ the counter) the event is ``T_m ≥ s``, ``s = t − 1 ≥ (31/16)n``, ``p ≥ 1/2`` and
    ``μ ≤ an`` with ``a = ln(16/7)``; so its exponent is at least ``(s − an − an ln(s/an))/2``. Minus ``rate · (s + 1)``
    this grows in s where ``(1 − a/h)/2 > rate`` with ``h = 31/16``; so t = 2n decides, and there divided by n:
    ``(h − a − a ln(h/a))/2 > 2 rate``.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "tail-integral"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 16 and t >= 2n"
    argument: ClassVar[str] = (
        "Janson's bound for sums of geometric variables (2018, Theorem 2.1), whose exponent grows faster than"
        " t/16"
    )
    rate: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        rate, a, h = rational("rate", self.rate), ball(Fraction(16, 7)).log(), ball(Fraction(31, 16))
        require(holds=rate >= Fraction(1, 16), reason=f"rate={rate} is below 1/16, weaker than the statement")
        require(holds=bool((1 - a / h) / 2 > ball(rate)), reason="the exponent does not outgrow the rate")
        words = f"decay exponent at t = 2n, over n, > 2 * {rate}, for all n >= 16 and so for all t >= 2n"
        return (h - a - a * (h / a).log()) / 2, ball(2 * rate), words


class TailIntegralViolation(Witness, frozen=True, kw_only=True):
    """``P(T_n ≥ t) > 2e^{−t/16}`` with t ≥ 2n, if τ is the first time at which all n points have been seen."""

    readings: ClassVar[dict[str, int]] = {"all-points": 0}
    claim_id: ClassVar[str] = "tail-integral"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    n: Count
    t: Count

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, t = self.n, self.t
        require(holds=16 <= n <= 400, reason=f"n={n} is outside 16..400")
        require(holds=2 * n <= t <= 10_000, reason=f"t={t} is outside 2n..10000")
        # P(T_n > t - 1), by inclusion and exclusion over the points that are missing
        late = sum((-1) ** (k + 1) * math.comb(n, k) * (n - k) ** (t - 1) for k in range(1, n + 1))
        words = f"P(T_{n} >= {t}) > 2 exp(-{t}/16)"
        return ball(Fraction(late, n ** (t - 1))), 2 * ball(Fraction(-t, 16)).exp(), words


class McDiarmidGap(Witness, frozen=True, kw_only=True):
    """``e^{−x} + x/√32 > 1/2``: McDiarmid's inequality with ``δ = 2e^{−T/16}``, T = xn, does not reach n/2.

    The derivation needs ``n − n e^{−T/n} − √(log(2/δ) T/2) ≥ n/2``; at T = xn, divided by n, this is
    ``1 − e^{−x} − x/√32 ≥ 1/2``, the same for every n.
    """

    readings: ClassVar[dict[str, int]] = {"derivation": 0}
    claim_id: ClassVar[str] = "tail-integral"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    horizon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        x = rational("horizon", self.horizon)
        require(holds=x >= 2, reason=f"horizon={x} is below 2, where the derivation is not used")
        words = f"exp(-x) + x/sqrt(32) > 1/2 at x = T/n = {x}"
        return (-ball(x)).exp() + ball(x) / flint.arb(32).sqrt(), ball(Fraction(1, 2)), words
