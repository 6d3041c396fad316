"""Witnesses against guarantees of the user's own: observations of a mean, and how many exceed a threshold."""

from __future__ import annotations

from typing import ClassVar

import flint

from dpsco_verify.evidence.checker.arithmetic import Count, Rational, Rejected, ball, rational, require, shown
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.statistical import Evidence, MeanEvidence, checked_level
from dpsco_verify.evidence.checker.witness import Sides

_ARGUMENT = "that these observations were drawn, and of what"


class OwnMean(MeanEvidence, frozen=True, kw_only=True):
    """The same of observations of the user's own: its claim is ``own:NAME``."""

    argument: ClassVar[str] = _ARGUMENT

    def require_admitted(self, null: Null) -> None:
        """Refuse a paper's claim: this kind speaks of none."""
        raise Rejected(f"this kind speaks of observations of the user's own, and not of {null.name!r}")


class OwnTail(Evidence, frozen=True, kw_only=True):
    """Of `samples` independent observations `above` exceed a threshold, as one does with at most this `probability`.

    So many do with probability ``P(Bin(n, p) ≥ k) = I_p(k, n − k + 1)`` at most, which is below `alpha`.
    """

    argument: ClassVar[str] = _ARGUMENT
    probability: Rational
    above: Count
    samples: Count

    def require_admitted(self, null: Null) -> None:
        """Refuse a paper's claim: this kind speaks of none."""
        raise Rejected(f"this kind speaks of observations of the user's own, and not of {null.name!r}")

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return alpha and the binomial tail."""
        alpha, probability = checked_level(self.alpha), rational("probability", self.probability)
        require(holds=0 <= probability < 1, reason="probability is outside [0, 1)")
        require(holds=0 < self.above <= self.samples <= 10**8, reason="above is outside [1, samples]")
        tail = flint.arb(0)
        if probability:
            tail = ball(probability).beta_lower(self.above, self.samples - self.above + 1, regularized=True)
        words = (
            f"alpha = {shown(alpha)} > P(at least {self.above} of {self.samples}) at probability = "
            f"{shown(probability)} ({self.null_hypothesis})"
        )
        return ball(alpha), tail, words


OWN_GUARANTEES = (OwnMean, OwnTail)
