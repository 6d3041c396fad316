"""Witnesses about ``gradient-queries``, as the independent checker evaluates them."""

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
from dpsco_verify.papers.arora2020.stopping_mean.certificates import Stop, points_at_stop


class GradientQueries(Witness, frozen=True, kw_only=True):
    """The number of queries, ``⌊n/2⌋ + 1``, ``⌈n/2⌉`` or n by the reading, is below ``constant · n`` for all n ≥ 2.

    At n = 2 and n = 3 it is counted; from 4 on ``⌊n/2⌋ + 1 ≤ n/2 + 1 ≤ (3/4)n``, and
    ``⌈n/2⌉ ≤ n/2 + 1/2 ≤ (5/8)n``.
    """

    readings: ClassVar[dict[str, tuple[Stop, Fraction]]] = {
        "loop": (Stop.MORE_THAN_HALF, Fraction(1001, 1000)),
        "text": (Stop.HALF, Fraction(2003, 3000)),
        "all-points": (Stop.ALL, Fraction(1001, 1000)),
    }
    """When each stops, and the constant that is reported of it."""
    claim_id: ClassVar[str] = "gradient-queries"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 2 and every run"
    argument: ClassVar[str] = ""
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        stop, reported = self.readings[reading]
        require(
            holds=constant <= reported, reason=f"constant={constant} is above {reported}, which is reported"
        )
        beyond = {
            Stop.MORE_THAN_HALF: Fraction(3, 4),
            Stop.HALF: Fraction(5, 8),
            Stop.ALL: Fraction(1),
        }[stop]
        most = max(beyond, *(Fraction(points_at_stop(stop, n), n) for n in (2, 3)))
        return ball(constant), ball(most), f"{constant} > sup of queries/n over n >= 2, reading {reading}"
