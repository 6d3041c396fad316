"""Witnesses about ``randomised-response``, as the independent checker evaluates them."""

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


class RandomisedResponseRatio(Witness, frozen=True, kw_only=True):
    """The largest ratio of answers' probabilities is 3, so the loss is ln 3, and larger than `below` < ln 3.

    A first coin says with probability `lie` not to answer truthfully; a second then says Yes with probability `yes`.
    """

    readings: ClassVar[dict[str, Fraction]] = {"printed": Fraction(549, 500)}
    """What the privacy loss has at least to exceed."""

    claim_id: ClassVar[str] = "randomised-response"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "both answers and both truths"
    argument: ClassVar[str] = ""
    lie: Rational
    yes: Rational
    below: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        lie, yes, below = (rational(k, getattr(self, k)) for k in ("lie", "yes", "below"))
        require(holds=0 < lie < 1 and 0 < yes < 1, reason="lie and yes must be in (0, 1)")
        least = self.readings[reading]
        require(holds=below >= least, reason=f"below={below} is less than {least}, which is near ln 3")
        of_yes, of_no = (1 - lie + lie * yes, lie * yes), (lie * (1 - yes), 1 - lie + lie * (1 - yes))
        worst = max(max(a / b, b / a) for a, b in (of_yes, of_no))
        require(holds=worst == 3, reason=f"the largest ratio is {worst}, not 3")
        words = f"the largest ratio of probabilities of an answer, {worst} = exp(ln 3), > exp({below})"
        return ball(worst), ball(below).exp(), words
