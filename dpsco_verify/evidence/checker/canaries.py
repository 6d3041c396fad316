"""Witnesses that are scores of canaries, as counts: right guesses of one run, or scores beyond a threshold of many."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import (
    Cell,
    Count,
    Rational,
    Rejected,
    ball,
    rational,
    require,
    require_steps,
)
from dpsco_verify.evidence.checker.nulls import Null
from dpsco_verify.evidence.checker.statistical import Evidence, checked_level, event_factor
from dpsco_verify.evidence.checker.witness import Sides

Line = tuple[flint.arb, flint.arb]

_MOST_ORDERS = 100


class Order(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is claimed at one order: ``P ≤ e^ε P' + δ`` for all events, neighbours in both orders."""

    epsilon: Rational
    delta: Rational

    def line(self) -> Line:
        """Return ``e^ε`` and δ."""
        epsilon, delta = rational("epsilon", self.epsilon), rational("delta", self.delta)
        return event_factor(epsilon, delta), ball(delta)


class CanaryEvidence(Evidence, frozen=True, kw_only=True):
    """Counts that have probability below `alpha` under what is claimed at the `orders`, of a run of the user's own."""

    argument: ClassVar[str] = (
        "that each canary was in by a fair coin of its own, that these counts were seen, and of which training"
    )
    orders: Annotated[tuple[Order, ...], msgspec.Meta(min_length=1, max_length=_MOST_ORDERS)]

    def require_admitted(self, null: Null) -> None:
        """Refuse a paper's claim: this kind speaks of none."""
        raise Rejected(f"this kind speaks of training of the user's own, and not of {null.name!r}")

    @property
    def claimed(self) -> str:
        """The null hypothesis with the number of orders, in words."""
        return f"{self.null_hypothesis}; orders used: {len(self.orders)}"


class RightGuesses(CanaryEvidence, frozen=True, kw_only=True):
    """`correct` of `guesses` guesses about the canaries of one run were right.

    With ``P_k = P(K ≥ k)``, ``T_k = Σ_{i>k} P_i`` and F the minimum of the lines ``e^ε x + δ`` and
    ``1 − e^−ε (1 − δ − x)``, every mechanism that keeps the claim has
    ``(k P_k + T_k)/m ≤ F(((N − k + 1) P_{k−1} − P_k − T_k)/m)``. From ``P_c = alpha`` a P_0 above 1 follows.
    `canaries` is m, halved where guesses are all "in" or all "out".
    """

    correct: Count
    guesses: Count
    canaries: Rational

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return the least P_0 and 1."""
        alpha, canaries = checked_level(self.alpha), rational("canaries", self.canaries)
        require(holds=self.correct <= self.guesses <= 2 * canaries, reason="there are too few canaries")
        lines = [order.line() for order in self.orders]
        m, one = ball(canaries), flint.arb(1)
        tail, above, steps = ball(alpha), flint.arb(0), 0
        for k in range(self.correct, 0, -1):
            steps += 4 * len(lines)
            require_steps(steps, "the recursion")
            wrong = _least_wrong(lines, (k * tail + above) / m)
            above += tail
            least = (m * wrong + above) / (self.guesses - k + 1)
            if not least > tail:
                break
            tail = least
            if tail > one:
                break
        words = (
            f"P(K >= 0) > 1 if P(K >= {self.correct}) = alpha = {float(alpha):.6g}, of {self.guesses} guesses about "
            f"canaries in one run ({self.claimed})"
        )
        return tail, one, words


class ScoresBeyond(CanaryEvidence, frozen=True, kw_only=True):
    """Of `others` independent scores of one group `hits` lie beyond a threshold, as `beyond` of `size` of the other do.

    The threshold is the score of rank ``beyond + 1`` of its own group. With a rate of its own group of at least `rate`
    so few have probability below the first tail; with a smaller one the other group's rate is at most F(rate), and so
    many hits have probability below the second.
    """

    hits: Count
    others: Count
    beyond: Cell
    size: Count
    rate: Rational

    def sides(self, reading: str) -> Sides:  # noqa: ARG002  the null hypothesis says what is judged
        """Return alpha and the sum of both tails."""
        alpha, rate = checked_level(self.alpha), rational("rate", self.rate)
        require(holds=0 < rate < 1, reason="rate is outside (0, 1)")
        require(holds=self.beyond < self.size and self.hits <= self.others, reason="there are too few scores")
        require(holds=max(self.size, self.others) <= 10**7, reason="there are too many scores")
        q, one = ball(rate), flint.arb(1)
        most = _most([order.line() for order in self.orders], q)
        require(holds=bool(most < one), reason="the claim allows every rate")
        few = (one - q).beta_lower(self.size - self.beyond, self.beyond + 1, regularized=True)
        many = most.beta_lower(self.hits, self.others - self.hits + 1, regularized=True)
        words = (
            f"alpha = {float(alpha):.6g} > P(at most {self.beyond} of {self.size}) + P(at least {self.hits} of "
            f"{self.others}) beyond a threshold ({self.claimed})"
        )
        return ball(alpha), few + many, words


def _least_wrong(lines: list[Line], r: flint.arb) -> flint.arb:
    """Return a lower bound on the inverse of F at r."""
    found = flint.arb(0)
    for slope, delta in lines:
        for value in ((r - delta) / slope, 1 - delta - slope * (1 - r)):
            found = max(found, value)
    return found


def _most(lines: list[Line], q: flint.arb) -> flint.arb:
    """Return an upper bound on F at q."""
    found = flint.arb(1)
    for slope, delta in lines:
        for value in (slope * q + delta, 1 - (1 - delta - q) / slope):
            found = min(found, value)
    return found


def order(epsilon: float, delta: float) -> Order:
    """Return an order of doubles: ε as it is."""
    return Order(epsilon=str(Fraction(epsilon)), delta=str(Fraction(delta)))
