"""Witnesses about ``rate``, as the independent checker evaluates them."""

from __future__ import annotations

from typing import ClassVar

from dpsco_verify.evidence.checker import Rational, Sides, Witness
from dpsco_verify.papers.arora2020.risk.certificates import RiskConstants


class RateConstant(Witness, frozen=True, kw_only=True):
    """The risk is below ``C (LD/√n + LD√(d log(1/δ))/(εn))`` for every start: ``RiskConstants`` with C for both."""

    readings: ClassVar[dict[str, str]] = {"upper": "norm-arbitrary"}
    claim_id: ClassVar[str] = "rate"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        left, right, words = RiskConstants(first=self.constant, second=self.constant).sides(
            self.readings[reading]
        )
        return left, right, f"{words}, so C = {self.constant} bounds the rate"
