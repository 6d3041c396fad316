"""Witnesses that are observations: an e-value against a null hypothesis that the statement admits, computed anew."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker.arithmetic import (
    Cell,
    Line,
    Rational,
    Rejected,
    ball,
    rational,
    require,
    require_steps,
    require_terms,
    shown,
)
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.witness import Shows, Sides, Witness


class Evidence(Witness, frozen=True, kw_only=True):
    """Observations whose e-value against `null_hypothesis` reaches ``1/alpha`` (Ville's inequality).

    It refutes any reading that admits this null hypothesis, at a level of at most the reading's share of the error
    budget. The checker cannot see that the observations were drawn.
    """

    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "that these observations were drawn, of the mechanism that the null hypothesis names"
    )
    null_hypothesis: Line
    alpha: Rational

    @property
    def drawn(self) -> tuple[tuple[str, str], ...]:
        """The profile and the seed of each run, where there are several."""
        return ()

    def require_admitted(self, null: Null) -> None:
        """Raise :class:`Rejected` unless the evidence rejects what `null` says, or more."""
        raise Rejected(
            f"null_hypothesis={self.null_hypothesis!r} is against none that is admitted: {null.name}"
        )


class MeanEvidence(Evidence, frozen=True, kw_only=True):
    """Observations of at least `low` whose e-value against ``mean ≤ bound`` reaches ``1/alpha`` (Ville's inequality).

    The e-process is the average over `bets` λ of ``Π(1 + λ(x − bound))``, with ``0 < λ < 1/(bound − low)``, in the
    order of the observations; the certificate ends where it first passes ``1/alpha``. It grows with each observation,
    which may therefore be rounded down.
    """

    low: Rational
    bound: Rational
    bets: tuple[Rational, ...]
    observations: tuple[Rational, ...]

    def require_admitted(self, null: Null) -> None:
        """Refuse a smaller bound than the claim's, and a larger lower end."""
        null.require_mean(self.null_hypothesis, bound=self.bound, lows=(self.low,))

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return the two sides and the inequality in words."""
        low, bound = rational("low", self.low), rational("bound", self.bound)
        alpha = checked_level(self.alpha)
        seen = Counter(self.observations)
        wealth = mean_wealth(
            low=low, bound=bound, bets=self.bets, values=list(seen), counts=list(seen.values())
        )
        words = f"e-value > 1/alpha against {mean_words(bound, alpha, self.null_hypothesis)}"
        return wealth, one_over(alpha), words


class EventEvidence(Evidence, frozen=True, kw_only=True):
    """Counts of an event under two data sets whose e-value against ``P − e^ε P' ≤ δ`` reaches ``1/alpha``.

    A pair of runs pays ``x = 1{E|S} − e^ε 1{E|S'} − δ``. The e-process is the average over `bets` λ of
    ``Π(1 + λx)``, ``0 < λ < 1/(e^ε + δ)``, and depends on the counts alone.
    """

    epsilon: Rational
    delta: Rational
    bets: tuple[Rational, ...]
    both: Cell
    first_only: Cell
    second_only: Cell
    neither: Cell

    def require_admitted(self, null: Null) -> None:
        """Refuse an (ε, δ) that the claim does not imply."""
        null.require_event(self.null_hypothesis, epsilon=self.epsilon, delta=self.delta)

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return the two sides and the inequality in words."""
        alpha, delta = checked_level(self.alpha), rational("delta", self.delta)
        epsilon = rational("epsilon", self.epsilon)
        wealth = event_wealth(
            factor=event_factor(epsilon, delta),
            delta=delta,
            bets=self.bets,
            counts=(self.both, self.first_only, self.second_only, self.neither),
        )
        words = f"e-value > 1/alpha against {event_words(epsilon, delta, alpha, self.null_hypothesis)}"
        return wealth, one_over(alpha), words


class OwnMechanismEvidence(EventEvidence, frozen=True, kw_only=True):
    """The same of a mechanism of the user's own, whose guarantee is no paper's claim: its claim is ``own:NAME``."""

    argument: ClassVar[str] = "that these counts were drawn, and of which mechanism"

    def require_admitted(self, null: Null) -> None:
        """Refuse a paper's claim: this kind speaks of none."""
        raise Rejected(f"this kind speaks of a mechanism of the user's own, and not of {null.name!r}")


def mean_words(bound: Fraction, alpha: Fraction, null_hypothesis: str) -> str:
    """Return a hypothesis about a mean in words, with its level."""
    return f"mean <= {shown(bound)} at alpha = {shown(alpha)} ({null_hypothesis})"


def event_words(epsilon: Fraction, delta: Fraction, alpha: Fraction, null_hypothesis: str) -> str:
    """Return a hypothesis about events in words, with its level."""
    return (
        f"P - exp(epsilon) P' <= delta at epsilon = {shown(epsilon)}, delta = {shown(delta)}, "
        f"alpha = {shown(alpha)} ({null_hypothesis})"
    )


def checked_level(text: str) -> Fraction:
    """Return the level alpha, which is in (0, 1)."""
    alpha = rational("alpha", text)
    require(holds=0 < alpha < 1, reason=f"alpha={shown(alpha)} is outside (0, 1)")
    return alpha


def one_over(alpha: Fraction) -> flint.arb:
    """Return ``1/alpha``."""
    return 1 / ball(alpha)


def mean_wealth(
    *,
    low: Fraction,
    bound: Fraction,
    bets: Sequence[str],
    values: Sequence[str],
    counts: Sequence[int],
) -> flint.arb:
    """Return the average over the bets λ of ``Π(1 + λ(x − bound))``, each value x as often as it was seen."""
    require(holds=low < bound, reason=f"bound={shown(bound)} is not above low={shown(low)}")
    require(holds=bool(bets), reason="there are no bets")
    require_steps(len(bets) * len(values), "the e-value")
    stakes = [rational("bets", bet) for bet in bets]
    for bet in stakes:
        require(holds=bet > 0 and bet * (bound - low) < 1, reason=f"bet={shown(bet)} is not admissible")
    require_steps(10 * len(values), "reading the observations")
    payoffs = []
    for text in values:
        x = rational("observation", text)
        require(holds=low <= x, reason=f"observation={shown(x)} is below low={shown(low)}")
        payoffs.append(ball(x - bound))
    wealth = flint.arb(0)
    for bet in stakes:
        product, stake = flint.arb(1), ball(bet)
        for payoff, count in zip(payoffs, counts, strict=True):
            factor = 1 + stake * payoff
            product *= factor if count == 1 else factor**count
        wealth += product
    return wealth / len(bets)


def event_factor(epsilon: Fraction, delta: Fraction) -> flint.arb:
    """Return ``e^ε`` of a claim (ε, δ)."""
    require(holds=epsilon >= 0, reason=f"epsilon={shown(epsilon)} is negative")
    require(holds=0 <= delta < 1, reason=f"delta={shown(delta)} is outside [0, 1)")
    return ball(epsilon).exp()


def event_wealth(
    *, factor: flint.arb, delta: Fraction, bets: Sequence[str], counts: tuple[int, int, int, int]
) -> flint.arb:
    """Return the average over the bets λ of ``Π(1 + λx)``, for counts of (both, first only, second only, neither)."""
    require(holds=bool(bets), reason="there are no bets")
    require_terms(4 * len(bets), "the e-value")
    wealth = flint.arb(0)
    for bet in [rational("bets", bet) for bet in bets]:
        require(
            holds=bet > 0 and bool(ball(bet) * (factor + ball(delta)) < 1),
            reason=f"bet={shown(bet)} is not admissible",
        )
        log_wealth = flint.arb(0)
        for count, (first, second) in zip(counts, ((1, 1), (1, 0), (0, 1), (0, 0)), strict=True):
            payoff = first - factor * second - ball(delta)
            log_wealth += count * (1 + ball(bet) * payoff).log()
        wealth += log_wealth.exp()
    return wealth / len(bets)
