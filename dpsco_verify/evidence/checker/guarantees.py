"""Witnesses against guarantees of the user's own: observations of a mean, and how many exceed a threshold."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar, Literal

import flint

from dpsco_verify.evidence.checker.arithmetic import (
    Count,
    Rational,
    Rejected,
    ball,
    rational,
    require,
    require_steps,
    shown,
)
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.statistical import (
    Evidence,
    MeanEvidence,
    checked_level,
    mean_words,
    one_over,
)
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


class OwnUnboundedMean(Evidence, frozen=True, kw_only=True):
    """Observations whose e-value against ``mean ≤ bound`` reaches ``1/alpha``, of a variable that is not bounded.

    Of it `scale` bounds the standard deviation, or makes it sub-Gaussian, as `spread` says. With ``y = λ(x − bound)``
    in units of the scale, the e-process is the average over `bets` λ of ``Π e^{φ(y)}/(1 + λ²/2)``, where ``e^{φ(y)}``
    is ``1 + y + y²/2`` for y ≥ 0 and ``1/(1 − y + y²/2)`` below (Catoni 2012); or of ``Π e^{y − λ²/2}``. It grows with
    each observation, which may therefore be rounded down.
    """

    argument: ClassVar[str] = f"{_ARGUMENT}; that the scale is as stated"
    spread: Literal["standard deviation", "sub-Gaussian scale"]
    scale: Rational
    bound: Rational
    bets: tuple[Rational, ...]
    observations: tuple[Rational, ...]

    def require_admitted(self, null: Null) -> None:
        """Refuse a paper's claim: this kind speaks of none."""
        raise Rejected(f"this kind speaks of observations of the user's own, and not of {null.name!r}")

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return the e-value and 1/alpha."""
        alpha, scale, bound = (
            checked_level(self.alpha),
            rational("scale", self.scale),
            rational("bound", self.bound),
        )
        require(holds=scale > 0, reason=f"scale={shown(scale)} is not positive")
        require(holds=bool(self.bets), reason="there are no bets")
        seen = Counter(self.observations)
        require_steps((len(self.bets) + 10) * len(seen), "the e-value")
        payoffs = [
            (ball((rational("observation", text) - bound) / scale), count) for text, count in seen.items()
        ]
        total = sum((payoff * count for payoff, count in payoffs), flint.arb(0))
        number = len(self.observations)
        wealth = flint.arb(0)
        for text in self.bets:
            bet = rational("bets", text)
            require(holds=bet > 0, reason=f"bet={shown(bet)} is not positive")
            stake, price = ball(bet), ball(bet * bet / 2)
            if self.spread == "sub-Gaussian scale":
                wealth += (stake * total - number * price).exp()
                continue
            product = flint.arb(1)
            for payoff, count in payoffs:
                y = abs(stake * payoff)
                # The influence is odd, and both formulas agree at 0, so a payoff's sign need not be certain there.
                factor = (1 + y + y * y / 2) ** count
                product = product * factor if payoff > 0 else product / factor
            wealth += product / (1 + price) ** number
        words = f"e-value > 1/alpha against {mean_words(bound, alpha, self.null_hypothesis)}"
        return wealth / len(self.bets), one_over(alpha), words


OWN_GUARANTEES = (OwnMean, OwnTail, OwnUnboundedMean)
