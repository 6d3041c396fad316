"""Witnesses about ``exp-linear``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpsco_verify.evidence.checker import Rational, Sides, Witness, ball, rational, require


class ExpLinear(Witness, frozen=True, kw_only=True):
    """``e^x − 1 ≤ factor · x`` on [0, end]: ``factor · x − e^x + 1`` is concave, 0 at 0, and positive at the end."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "exp-linear"
    factor: Rational
    end: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, end = rational("factor", self.factor), rational("end", self.end)
        require(holds=factor <= 2, reason=f"factor={factor} is above 2, weaker than the statement")
        require(holds=end >= Fraction(157, 125), reason=f"end={end} is short of 157/125")
        return (
            ball(factor * end),
            ball(end).expm1(),
            f"{factor} x > exp(x) - 1 at x = {end}, and so on (0, {end}]",
        )
