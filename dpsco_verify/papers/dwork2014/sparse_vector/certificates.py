"""Witnesses about the sparse vector technique, as the independent checker evaluates them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb
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
from dpsco_verify.papers.dwork2014.composition.certificates import advanced_room

MAX_QUERIES = 10**6
NEAR_ONE = Fraction(999, 1000)
"""The least part of what is stated that is shown not to do in its place."""


def _mass(r: int, k: int, end: flint.arb) -> flint.arb:
    """Return ``∫_0^end v^r (1 − v)^k dv``."""
    value = flint.arb(0)
    for i in range(r + 1):
        value += (-1) ** i * comb(r, i) * (1 - (1 - end) ** (k + i + 1)) / (k + i + 1)
    return value


def stops(
    threshold: Fraction, query: Fraction, moved: int, epsilon: Fraction, k: int
) -> tuple[flint.arb, flint.arb]:
    """Bound the probabilities of k answers ⊥ and then ⊤ on D from below and on D' from above.

    The threshold has noise ρ ~ Lap(threshold/ε) and each query Lap(query/ε), ``r = query/threshold`` whole. On D the
    first k queries are at the threshold and the last is ``moved − 1`` above it; on D' the first are 1 above it and
    the last is at it. With F the distribution function of a query's noise, D: ``E F(ρ)^k (1 − F(ρ − moved + 1))``,
    from ``ρ > moved − 1``, where ``v = e^{−ρε/query}/2 = 1 − F(ρ)``; D': ``E F(ρ − 1)^k (1 − F(ρ))``, from ρ > 1 with
    ``v = 1 − F(ρ − 1)``, and at most ``2^{−k}`` from the rest. Their ratio tends to ``e^{ε/threshold + moved
    ε/query}``.
    """
    r = query / threshold
    whole = r.denominator == 1 and 1 <= r <= 8
    require(holds=whole, reason=f"query/threshold={r} is not a whole number up to 8")
    n, half = int(r), ball(Fraction(1, 2))
    density = ball(r / 2) * 2**n
    lead = ball((moved - 1) * epsilon / query).exp()
    on_d = density * lead * _mass(n, k, half / lead)
    fall = ball(-epsilon / threshold - epsilon / query).exp()
    return on_d, density * fall * _mass(n, k, half) + half**k


def _require_places(epsilon: Fraction, k: int) -> None:
    require(holds=0 < epsilon <= 100, reason=f"epsilon={epsilon} is outside (0, 100]")
    require(holds=k <= MAX_QUERIES, reason=f"queries={k} is above {MAX_QUERIES}")


class ThresholdScales(Witness, frozen=True, kw_only=True):
    """AboveThreshold with Lap(threshold/ε) and Lap(query/ε) is ε-DP for all streams; with `below` of both it is not.

    The reading gives the two scales, and by how much a query can move against another (1 if all move one way). The
    source's change of variables costs ``e^{ε/threshold}`` and ``e^{moved ε/query}``: ``1/threshold + moved/query = 1``.
    """

    readings: ClassVar[dict[str, tuple[int, int, int]]] = {"printed": (2, 4, 2), "monotone": (2, 2, 1)}
    claim_id: ClassVar[str] = "above-threshold"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every stream and ε"
    argument: ClassVar[str] = (
        "a change of variables in the noise of the threshold and of the query; computed is one instance"
    )
    threshold: Rational
    query: Rational
    below: Rational
    epsilon: Rational
    queries: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        threshold, query, below, epsilon = (
            rational(k, getattr(self, k)) for k in ("threshold", "query", "below", "epsilon")
        )
        stated, of_queries, moved = self.readings[reading]
        require(holds=threshold == stated, reason=f"threshold={threshold} is not the statement's {stated}")
        require(holds=query == of_queries, reason=f"query={query} is not the statement's {of_queries}")
        require(holds=NEAR_ONE <= below < 1, reason=f"below={below} is outside [{NEAR_ONE}, 1)")
        _require_places(epsilon, self.queries)
        on_d, on_other = stops(below * threshold, below * query, moved, epsilon, self.queries)
        words = f"P(E|D) > exp(epsilon) P(E|D') at epsilon = {epsilon}, {self.queries} times no, with {below} of both"
        return on_d, ball(epsilon).exp() * on_other, words


class ThresholdViolation(Witness, frozen=True, kw_only=True):
    """``P(E|D) > e^ε P(E|D')`` for AboveThreshold with noise Lap(2/ε) on the threshold and on any queries alike."""

    readings: ClassVar[dict[str, tuple[int, int, int]]] = {"half-query-noise": (2, 2, 2)}
    claim_id: ClassVar[str] = "above-threshold"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    epsilon: Rational
    queries: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon = rational("epsilon", self.epsilon)
        threshold, query, moved = self.readings[reading]
        _require_places(epsilon, self.queries)
        on_d, on_other = stops(Fraction(threshold), Fraction(query), moved, epsilon, self.queries)
        words = f"P(E|D) > exp(epsilon) P(E|D') at epsilon = {epsilon}, E: {self.queries} times no, then yes"
        return on_d, ball(epsilon).exp() * on_other, words


def misjudged(x: flint.arb) -> flint.arb:
    """Return ``P(ν − ρ > x/ε)`` for ν ~ Lap(4/ε), ρ ~ Lap(2/ε) and x ≥ 0: ``(2/3)e^{−x/4} − (1/6)e^{−x/2}``."""
    return 2 * (-x / 4).exp() / 3 - (-x / 2).exp() / 6


class ThresholdAccuracyFactor(Witness, frozen=True, kw_only=True):
    """AboveThreshold is (α, β)-accurate, ``α = factor (ln k + ln(2/β))/ε``, for all k and β ≤ 1, for factor ≥ 4.

    It errs only if ``ν_i − ρ ≥ α`` for one of the first k − 1 queries, or ``ρ − ν_k ≥ α`` or ``ν_k − ρ ≥ α`` for the
    last, whichever its value allows: at most ``k (2/3)(β/2k)^{factor/4} ≤ β (2/3) 2^{−factor/4}`` (:func:`misjudged`).
    """

    readings: ClassVar[dict[str, int]] = {"printed": 8}
    claim_id: ClassVar[str] = "above-threshold-accuracy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every k and β <= 1"
    argument: ClassVar[str] = "the union bound over the queries"
    factor: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, stated = rational("factor", self.factor), self.readings[reading]
        require(holds=4 <= factor <= stated, reason=f"factor={factor} is outside [4, {stated}]")
        words = f"1 > P(error)/beta for all k and beta: the bound (2/3) 2^(-{factor}/4)"
        return flint.arb(1), 2 * (-ball(factor / 4) * ball(2).log()).exp() / 3, words


class SparsePureScale(Witness, frozen=True, kw_only=True):
    """Sparse with δ = 0, ``σ = factor c/ε``, factor = 2, is ε-DP for all c; with `below` of it, it is not.

    Each of the c rounds is AboveThreshold at ε/c with noise σ and 2σ, which suffices. Where every round sees the
    queries of :func:`stops`, the ratio of the c rounds' probabilities is that of one to the power c.
    """

    readings: ClassVar[dict[str, int]] = {"pure": 2}
    claim_id: ClassVar[str] = "sparse-vector"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every c and ε"
    argument: ClassVar[str] = (
        "each round is AboveThreshold at ε/c, and pure privacy composes; computed is one instance"
    )
    factor: Rational
    below: Rational
    epsilon: Rational
    rounds: Count
    queries: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, below, epsilon = (rational(k, getattr(self, k)) for k in ("factor", "below", "epsilon"))
        stated = self.readings[reading]
        require(holds=factor == stated, reason=f"factor={factor} is not the statement's {stated}")
        require(holds=NEAR_ONE <= below < 1, reason=f"below={below} is outside [{NEAR_ONE}, 1)")
        _require_places(epsilon, self.queries)
        require(holds=self.rounds <= 10**6, reason=f"rounds={self.rounds} is above 10^6")
        each = epsilon / self.rounds
        on_d, on_other = stops(below * factor, 2 * below * factor, 2, each, self.queries)
        words = f"P(E|D) > exp(epsilon) P(E|D'), one of {self.rounds} rounds, at epsilon = {epsilon}, {below} of sigma"
        return on_d, ball(each).exp() * on_other, words


class SparseViolation(Witness, frozen=True, kw_only=True):
    """``P(E|D) − e^ε P(E|D') > δ`` for Sparse with ``σ = √(32 c ln(1/δ))/ε``.

    Each of the c rounds begins with a query that is `offset` above the threshold on D, and 1 less on D'. If the
    answer is ⊥, queries at the threshold follow until one is answered ⊤. E says that at least `agree` first answers
    are ⊤.
    """

    readings: ClassVar[dict[str, int]] = {"approximate": 0}
    claim_id: ClassVar[str] = "sparse-vector"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    rounds: Count
    agree: Count
    offset: Rational
    epsilon: Rational
    delta: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        offset, epsilon, delta = (rational(k, getattr(self, k)) for k in ("offset", "epsilon", "delta"))
        c = self.rounds
        require(holds=0 <= offset <= 1, reason=f"offset={offset} is outside [0, 1]")
        require(holds=0 < epsilon <= 10**6, reason=f"epsilon={epsilon} is outside (0, 10^6]")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        require(holds=self.agree <= c <= 10_000, reason="agree <= rounds <= 10^4 does not hold")
        each = ball(epsilon) / (-8 * c * ball(delta).log()).sqrt()
        on_d, on_other = 1 - misjudged(ball(offset) * each), misjudged(ball(1 - offset) * each)
        left = _at_least(c, self.agree, on_d) - ball(epsilon).exp() * _at_least(c, self.agree, on_other)
        words = f"P(E|D) - exp(epsilon) P(E|D') > delta at c = {c}, epsilon = {epsilon}, delta = {delta}"
        return left, ball(delta), words


def _at_least(n: int, first: int, p: flint.arb) -> flint.arb:
    """Return the probability of at least `first` successes in n."""
    term = flint.arb(flint.fmpz.bin_uiui(n, first)) * p**first * (1 - p) ** (n - first)
    odds, value = p / (1 - p), flint.arb(0)
    for i in range(first, n + 1):
        value += term
        term *= odds * (n - i) / (i + 1)
    return value


class SparseRange(Witness, frozen=True, kw_only=True):
    """Sparse and NumericSparse are (ε, δ)-DP for all c, ``ε ≤ epsilon_max`` and ``0 < δ ≤ delta_max``.

    Sparse is c AboveThresholds at ``ε/√(8c ln(1/δ)) = ε/(2√(2c ln(1/δ)))``, which compose to (ε, δ) by the advanced
    bound (:func:`~dpsco_verify.papers.dwork2014.composition.certificates.advanced_room`). NumericSparse is Sparse at
    (ε_1, δ/2) and c releases at ``ε_2/√(32c ln(2/δ)) = (ε_2/2)/(2√(2c ln(2/δ)))``, which compose to (ε_2/2, δ/2);
    with the missing factor ε, ``ε_1 + ε_2/2 = ε``. There is more room at a smaller ε. The reading has the least ends
    of both ranges and the part of δ that is used at once.
    """

    readings: ClassVar[dict[str, tuple[Fraction, Fraction, Fraction]]] = {
        "bounded": (Fraction(1), Fraction(7, 10), Fraction(1)),
        "numeric-with-epsilon": (Fraction(1), Fraction(1), Fraction(1, 2)),
    }
    claim_id: ClassVar[str] = "sparse-vector"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[Mapping[str, str]] = {
        "bounded": "every c, ε <= 1 and δ <= 7/10",
        "numeric-with-epsilon": "every c, ε <= 1 and δ < 1",
    }
    argument: ClassVar[str] = "AboveThreshold is private, and the advanced composition theorem"
    epsilon_max: Rational
    delta_max: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta = rational("epsilon_max", self.epsilon_max), rational("delta_max", self.delta_max)
        least, least_delta, part = self.readings[reading]
        require(holds=least <= epsilon <= 100, reason=f"epsilon_max={epsilon} is outside [{least}, 100]")
        require(
            holds=least_delta <= delta < 1 / part,
            reason=f"delta_max={delta} is outside [{least_delta}, {1 / part})",
        )
        left, right = advanced_room(epsilon, part * delta)
        words = (
            f"4 ln(1/d)/e > (exp(x) - 1)/x at x = e/(2 sqrt(2 ln(1/d))), e = {epsilon}, d = {part * delta}"
        )
        return left, right, words


class NumericSparseViolation(Witness, frozen=True, kw_only=True):
    """``P(E|D) − e^ε P(E|D') > δ`` for NumericSparse with the printed ``ε_2 = 2/(√512 + 1)``, whatever ε is.

    The first query is f on D and f − 1 on D', so far above the threshold that it is released, up to a probability as
    small as one likes, with noise ``Lap(√(32 c ln(2/δ))/ε_2)``. E says that the released value is above f.
    """

    readings: ClassVar[dict[str, int]] = {"numeric": 0}
    claim_id: ClassVar[str] = "sparse-vector"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    rounds: Count
    epsilon: Rational
    delta: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        epsilon, delta = rational("epsilon", self.epsilon), rational("delta", self.delta)
        require(holds=0 < epsilon <= 1, reason=f"epsilon={epsilon} is outside (0, 1]")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        loss = 2 / (ball(512).sqrt() + 1) / (32 * self.rounds * ball(2 / delta).log()).sqrt()
        words = f"P(E|D) - exp(epsilon) P(E|D') > delta at c = {self.rounds}, epsilon = {epsilon}, delta = {delta}"
        return (1 - (ball(epsilon) - loss).exp()) / 2, ball(delta), words
