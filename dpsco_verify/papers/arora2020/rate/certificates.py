"""Witnesses about ``rate``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpsco_verify.evidence.checker import (
    Rational,
    Shows,
    Sides,
    Witness,
    rational,
    require,
)
from dpsco_verify.papers.arora2020.risk.certificates import constants_suffice


class RateConstant(Witness, frozen=True, kw_only=True):
    """The risk is below ``C (LD/√n + LD√(d log(1/δ))/(εn))`` for every start: ``RiskConstants`` with C for both."""

    readings: ClassVar[dict[str, tuple[str, Fraction]]] = {"upper": ("norm-arbitrary", Fraction(188, 5))}
    """The reading of ``risk`` that it follows from, and the C that it claims."""
    claim_id: ClassVar[str] = "rate"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 16, ε > 0, 0 < δ < 1, d, W and w₁"
    argument: ClassVar[str] = "the regret analysis, by which the risk is at most c(n) D(L + σ√d)/√n"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        of_risk, claimed = self.readings[reading]
        constant = rational("constant", self.constant)
        require(
            holds=constant <= claimed,
            reason=f"constant={constant} is above {claimed}, weaker than the statement",
        )
        left, right, words = constants_suffice(constant, constant, of_risk)
        return left, right, f"{words}, so C = {self.constant} bounds the rate"
