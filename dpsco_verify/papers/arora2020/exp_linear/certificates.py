"""Witnesses about ``exp-linear``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpsco_verify.evidence.checker import (
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)

MOST_PIECES = 20_000


class ExpLinear(Witness, frozen=True, kw_only=True):
    """``e^x − 1 ≤ factor · x`` on [0, end], piece by piece from the end down.

    On [a, b], a > 0, ``(e^b − 1)/a`` bounds the quotient, and on [0, b] the mean value theorem's e^b. Each piece is as
    long as the bound at its end allows, so the pieces end once e^b is below the factor.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "exp-linear"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "0 <= x <= 1.256"
    argument: ClassVar[str] = ""
    factor: Rational
    end: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, end = rational("factor", self.factor), rational("end", self.end)
        require(holds=end <= 2, reason=f"end={end} is above 2, where the inequality is false")
        require(holds=factor <= 2, reason=f"factor={factor} is above 2, weaker than the statement")
        require(holds=end >= Fraction(157, 125), reason=f"end={end} is short of 157/125")
        upper, pieces = ball(end), 0
        while not upper.exp() < ball(factor):
            lower = (upper.expm1() / ball(factor)).upper()
            pieces += 1
            require(
                holds=bool(lower < upper) and pieces <= MOST_PIECES,
                reason=f"{factor} x is not seen to be above exp(x) - 1 below {upper.str(6, radius=False)}",
            )
            upper = (lower + upper) / 2
        return (
            ball(factor * end),
            ball(end).expm1(),
            f"{factor} x > exp(x) - 1 at x = {end}, and so on (0, {end}]",
        )
