"""Witnesses about ``gradient-queries``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpsco_verify.evidence.checker import Rational, Sides, Witness, ball, rational
from dpsco_verify.papers.arora2020.stopping_mean.certificates import Stop, points_at_stop


class GradientQueries(Witness, frozen=True, kw_only=True):
    """The number of queries, ``⌊n/2⌋ + 1``, ``⌈n/2⌉`` or n by the reading, is below ``constant · n`` for all n ≥ 2.

    Over n it falls with n among even n and among odd n, so n = 2 and n = 3 decide.
    """

    readings: ClassVar[dict[str, Stop]] = {
        "loop": Stop.MORE_THAN_HALF,
        "text": Stop.HALF,
        "all-points": Stop.ALL,
    }
    claim_id: ClassVar[str] = "gradient-queries"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        stop = self.readings[reading]
        most = max(Fraction(points_at_stop(stop, n), n) for n in (2, 3))
        return ball(constant), ball(most), f"{constant} > sup of queries/n over n >= 2, reading {reading}"
