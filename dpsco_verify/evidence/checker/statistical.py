"""Witnesses that are observations: an e-value against a claim, computed anew."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Rational, ball, rational, require
from dpsco_verify.evidence.checker.witness import Sides, Witness


class MeanEvidence(Witness, frozen=True, kw_only=True):
    """Observations of at least `low` whose e-value against ``mean ≤ bound`` reaches ``1/alpha`` (Ville's inequality).

    The e-process is the average over `bets` λ of ``Π(1 + λ(x − bound))``, with ``0 < λ < 1/(bound − low)``, in the
    order of the observations; the certificate ends where it first passes ``1/alpha``.
    """

    low: Rational
    bound: Rational
    alpha: Rational
    bets: tuple[Rational, ...]
    observations: tuple[Rational, ...]

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  any claim can be judged
        """Return the two sides and the inequality in words."""
        low, bound = rational("low", self.low), rational("bound", self.bound)
        alpha = checked_level(self.alpha)
        values = [rational("observations", x) for x in self.observations]
        wealth = mean_wealth(
            low=low,
            bound=bound,
            bets=[rational("bets", bet) for bet in self.bets],
            values=values,
            counts=[1] * len(values),
        )
        words = "e-value > 1/alpha against mean <= bound"
        return wealth, one_over(alpha), words


class EventEvidence(Witness, frozen=True, kw_only=True):
    """Counts of an event under two data sets whose e-value against ``P − e^ε P' ≤ δ`` reaches ``1/alpha``.

    A pair of runs pays ``x = 1{E|S} − e^ε 1{E|S'} − δ``. The e-process is the average over `bets` λ of
    ``Π(1 + λx)``, ``0 < λ < 1/(e^ε + δ)``, and depends on the counts alone.
    """

    epsilon: Rational
    delta: Rational
    alpha: Rational
    bets: tuple[Rational, ...]
    both: Annotated[int, msgspec.Meta(ge=0)]
    first_only: Annotated[int, msgspec.Meta(ge=0)]
    second_only: Annotated[int, msgspec.Meta(ge=0)]
    neither: Annotated[int, msgspec.Meta(ge=0)]

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  any claim can be judged
        """Return the two sides and the inequality in words."""
        alpha, delta = checked_level(self.alpha), rational("delta", self.delta)
        wealth = event_wealth(
            factor=event_factor(rational("epsilon", self.epsilon), delta),
            delta=delta,
            bets=[rational("bets", bet) for bet in self.bets],
            counts=(self.both, self.first_only, self.second_only, self.neither),
        )
        words = "e-value > 1/alpha against P - exp(epsilon) P' <= delta"
        return wealth, one_over(alpha), words


def checked_level(text: str) -> Fraction:
    """Return the level alpha, which is in (0, 1)."""
    alpha = rational("alpha", text)
    require(holds=0 < alpha < 1, reason=f"alpha={alpha} is outside (0, 1)")
    return alpha


def one_over(alpha: Fraction) -> flint.arb:
    """Return ``1/alpha``."""
    return 1 / ball(alpha)


def mean_wealth(
    *,
    low: Fraction,
    bound: Fraction,
    bets: Sequence[Fraction],
    values: Sequence[Fraction],
    counts: Sequence[int],
) -> flint.arb:
    """Return the average over the bets λ of ``Π(1 + λ(x − bound))``, each value x as often as it was seen."""
    require(holds=low < bound, reason=f"bound={bound} is not above low={low}")
    require(holds=bool(bets), reason="there are no bets")
    for bet in bets:
        require(holds=bet > 0 and bet * (bound - low) < 1, reason=f"bet={bet} is not admissible")
    for x in values:
        require(holds=low <= x, reason=f"observation={x} is below low={low}")
    wealth = flint.arb(0)
    for bet in bets:
        product = flint.arb(1)
        for x, count in zip(values, counts, strict=True):
            product *= ball(1 + bet * (x - bound)) ** count
        wealth += product
    return wealth / len(bets)


def event_factor(epsilon: Fraction, delta: Fraction) -> flint.arb:
    """Return ``e^ε`` of a claim (ε, δ)."""
    require(holds=epsilon >= 0, reason=f"epsilon={epsilon} is negative")
    require(holds=0 <= delta < 1, reason=f"delta={delta} is outside [0, 1)")
    return ball(epsilon).exp()


def event_wealth(
    *, factor: flint.arb, delta: Fraction, bets: Sequence[Fraction], counts: tuple[int, int, int, int]
) -> flint.arb:
    """Return the average over the bets λ of ``Π(1 + λx)``, for counts of (both, first only, second only, neither)."""
    require(holds=bool(bets), reason="there are no bets")
    wealth = flint.arb(0)
    for bet in bets:
        require(
            holds=bet > 0 and bool(ball(bet) * (factor + ball(delta)) < 1),
            reason=f"bet={bet} is not admissible",
        )
        log_wealth = flint.arb(0)
        for count, (first, second) in zip(counts, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True):
            payoff = first - factor * second - ball(delta)
            log_wealth += count * (1 + ball(bet) * payoff).log()
        wealth += log_wealth.exp()
    return wealth / len(bets)
