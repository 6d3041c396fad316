"""Witnesses about composition, as the independent checker evaluates them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Count,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)

NEAR_ONE = Fraction(999, 1000)
"""The least part of what is stated that is shown not to do in its place."""


def revealed(k: int, epsilon: flint.arb, total: flint.arb, first: int) -> flint.arb:
    """Return ``P(E|0) − e^total P(E|1)`` for k answers of ε-DP randomised response, E: at least `first` say 0.

    An answer tells the truth with probability ``e^ε/(1 + e^ε)``. For `first` the least i with ``(2i − k)ε > total``
    this is the exact δ at `total`, and of all k-fold adaptive compositions of ε-DP mechanisms none has a larger one
    (Kairouz, Oh and Viswanath 2015, Theorem 3.3). The terms are ``C(k, i) e^{iε}(1 − e^{total − (2i−k)ε})/(1 +
    e^ε)^k``.
    """
    odds = epsilon.exp()
    term = flint.arb(flint.fmpz.bin_uiui(k, first)) * odds**first / (1 + odds) ** k
    gap = (total - (2 * first - k) * epsilon).exp()
    shrink = 1 / (odds * odds)
    value = flint.arb(0)
    for i in range(first, k + 1):
        value += term * (1 - gap)
        term *= odds * (k - i) / (i + 1)
        gap *= shrink
    return value


def advanced_room(epsilon: Fraction, delta: Fraction) -> tuple[flint.arb, flint.arb]:
    """Return two sides, greater if the advanced bound is at most ε for every ``ε_0 = ε/(2√(2k ln(1/δ)))`` and k.

    The first term of ``√(2k ln(1/δ)) ε_0 + k ε_0 (e^{ε_0} − 1)`` is ε/2. The second over ε/2 is
    ``ε (e^x − 1)/(4x ln(1/δ))`` at ``x = ε_0``, which grows with ε and δ and is largest at k = 1.
    """
    log = -ball(delta).log()
    x = ball(epsilon) / (2 * (2 * log).sqrt())
    return 4 * log / ball(epsilon), x.expm1() / x


class BasicCompositionSums(Witness, frozen=True, kw_only=True):
    """(ε_i, δ_i)-DP mechanisms compose to (Σε_i, Σδ_i) for all k, ε_i and δ_i; a smaller factor on either sum fails.

    The loss of the composition is at most Σε_i but for an event of probability at most Σδ_i. Randomised response that
    also reveals the truth with probability δ attains it: without revealing, k equal answers have the ratio
    ``e^{kε}``, and the truth is revealed with probability ``1 − (1 − δ)^k``, whatever e^ε is, more than `below` kδ.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "basic-composition"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every k, ε_i and δ_i"
    argument: ClassVar[str] = (
        "the loss of a composition is at most Σε_i but for an event of probability Σδ_i; computed is one "
        "instance"
    )
    factor: Rational
    below: Rational
    mechanisms: Count
    delta: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, below, delta = (rational(k, getattr(self, k)) for k in ("factor", "below", "delta"))
        k = self.mechanisms
        require(holds=factor == 1, reason=f"factor={factor} is not the statement's 1")
        require(holds=NEAR_ONE <= below < 1, reason=f"below={below} is outside [{NEAR_ONE}, 1)")
        require(holds=2 <= k <= 10**6, reason=f"mechanisms={k} is outside [2, 10^6]")
        require(holds=delta > 0 and k * delta <= 1, reason=f"delta={delta} is outside (0, 1/{k}]")
        words = f"1 - (1 - delta)^k > {below} k delta at k = {k}, delta = {delta}; <= k delta always"
        return 1 - ball(1 - delta) ** k, ball(below * k * delta), words


class AdvancedCompositionConstants(Witness, frozen=True, kw_only=True):
    """``ε' = √(spread k ln(1/δ')) ε + drift k ε(e^ε − 1)`` with ``δ' + kδ`` holds for all k, ε, δ ≥ 0 and 0 < δ' ≤ 1.

    Of all k-fold adaptive compositions, randomised response that reveals the truth with probability δ has the largest δ
    (Kairouz, Oh and Viswanath 2015): ``1 − (1 − δ)^k(1 − δ_0) ≤ kδ + δ_0``. Without revealing, its loss is a sum of k
    independent ±ε of mean ``ε tanh(ε/2)``, and δ_0 at ε' at most the probability of a loss above ε': Hoeffding's
    inequality gives δ' for spread = 2, if ``drift (e^ε − 1) ≥ tanh(ε/2)``, so if ``drift (e^ε + 1) ≥ 1`` for all ε > 0.
    """

    readings: ClassVar[dict[str, int]] = {"bounded-delta-prime": 0}
    claim_id: ClassVar[str] = "advanced-composition"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every k, ε, δ >= 0 and 0 < δ' <= 1"
    argument: ClassVar[str] = (
        "randomised response is the worst mechanism (Kairouz, Oh and Viswanath 2015), and Hoeffding's "
        "inequality"
    )
    spread: Rational
    drift: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        spread, drift = rational("spread", self.spread), rational("drift", self.drift)
        require(holds=spread == 2, reason=f"spread={spread} is not the statement's 2")
        require(holds=0 < drift <= 1, reason=f"drift={drift} is outside (0, 1]")
        words = "drift (exp(e) - 1) > tanh(e/2) for all e > 0, as drift (exp(e) + 1) > 2 drift > 1"
        return ball(2 * drift), flint.arb(1), words


class CorollaryViolation(Witness, frozen=True, kw_only=True):
    """``P(E|0) − e^{ε'} P(E|1) > δ'`` for k answers of ``ε'/(2√(2k ln(1/δ')))``-DP randomised response, ε' < 1.

    E says that at least `agree` of the answers are 0.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "advanced-composition-corollary"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    mechanisms: Count
    agree: Count
    epsilon: Rational
    delta: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta, k = (
            rational("epsilon", self.epsilon),
            rational("delta", self.delta),
            self.mechanisms,
        )
        require(holds=0 < epsilon < 1, reason=f"epsilon={epsilon} is outside (0, 1)")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        require(holds=k <= 1000, reason=f"mechanisms={k} is above 1000")
        require(holds=self.agree <= k, reason=f"agree={self.agree} is above mechanisms={k}")
        each = ball(epsilon) / (2 * (-2 * k * ball(delta).log()).sqrt())
        words = f"P(E|0) - exp(epsilon') P(E|1) > delta' at k = {k}, epsilon' = {epsilon}, delta' = {delta}"
        return revealed(k, each, ball(epsilon), self.agree), ball(delta), words


class CorollaryRange(Witness, frozen=True, kw_only=True):
    """``ε = ε'/(2√(2k ln(1/δ')))`` gives (ε', kδ + δ') for all k, δ, 0 < ε' ≤ 1 and 0 < δ' ≤ delta_max.

    By the advanced composition theorem (:func:`advanced_room`).
    """

    readings: ClassVar[dict[str, Fraction]] = {"bounded-delta-prime": Fraction(7, 10)}
    claim_id: ClassVar[str] = "advanced-composition-corollary"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every k, δ, 0 < ε' <= 1 and 0 < δ' <= 7/10"
    argument: ClassVar[str] = "the advanced composition theorem, and in what its bound is monotone"
    delta_max: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        delta, stated = rational("delta_max", self.delta_max), self.readings[reading]
        require(holds=stated <= delta < 1, reason=f"delta_max={delta} is outside [{stated}, 1)")
        left, right = advanced_room(Fraction(1), delta)
        return (
            left,
            right,
            f"4 ln(1/delta') > (exp(x) - 1)/x at x = 1/(2 sqrt(2 ln(1/delta'))), delta' = {delta}",
        )


class ExampleComposition(Witness, frozen=True, kw_only=True):
    """10,000 mechanisms, each (1/`parts`)-DP, compose to ``(1, e^{−32})``-DP: the exact δ of the worst is below.

    The reading says which `parts` it speaks of: 801, or any number below 801 to show that 1/801 is not tight.
    """

    readings: ClassVar[dict[str, range]] = {"sufficient": range(801, 802), "tight": range(1, 801)}
    claim_id: ClassVar[str] = "composition-example"
    shows: ClassVar[Mapping[str, Shows]] = {"sufficient": Shows.CERTIFIES, "tight": Shows.REFUTES}
    over: ClassVar[str] = "every 10,000-fold adaptive composition"
    argument: ClassVar[str] = "randomised response is the worst mechanism (Kairouz, Oh and Viswanath 2015)"
    parts: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        allowed, k = self.readings[reading], 10_000
        require(
            holds=self.parts in allowed,
            reason=f"parts={self.parts} is outside [{allowed.start}, {allowed.stop - 1}]",
        )
        epsilon = ball(Fraction(1, self.parts))
        delta = revealed(k, epsilon, flint.arb(1), (k + self.parts) // 2 + 1)
        return (
            ball(-32).exp(),
            delta,
            f"exp(-32) > delta at 1 of {k} answers of 1/{self.parts}-DP randomised response",
        )
