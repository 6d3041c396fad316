"""Witnesses about ``single-step``, as the independent checker evaluates them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Between,
    Count,
    EventNull,
    OneOf,
    Parameters,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
    require_terms,
    upper_tail,
)

STEP = "the step on S and S' is (ε, δ)-DP"
"""The null hypothesis about the implementation's step on a pair of data sets."""

_GRADIENTS = OneOf("-1", "0", "1")


def _implies(parameters: Parameters, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether (ε, δ) is no smaller than ``((m/n)(e^ε̃ − 1), (m/n)δ)``, at some precision."""
    n, m, inner, outer = (parameters[k] for k in ("n", "m", "ε̃", "δ of the lemma"))
    if not (
        isinstance(n, int) and isinstance(m, int) and isinstance(inner, float) and isinstance(outer, float)
    ):
        return False
    share = Fraction(m, n)
    return (
        m <= n
        and bool(ball(epsilon) >= ball(share) * ball(Fraction(inner)).expm1())
        and (delta >= share * Fraction(outer))
    )


def _null(
    *, batches: Between, pair: OneOf, factor: float = 1.0, largest: tuple[float, float] = (1e6, 1.0)
) -> EventNull:
    """Return what the audits of a step may reject: batches, the second gradient, σ, and the largest ε̃ and δ."""
    return EventNull(
        name=STEP,
        parameters={
            "n": Between(low=2, high=10**12),
            "m": batches,
            "fresh": Between(low=1, high=10**12),
            "g": OneOf("1"),
            "g'": pair,
            "h": _GRADIENTS,
            "σ over the lemma's": OneOf(factor),
            "ε̃": Between(low=1e-12, high=largest[0]),
            "δ of the lemma": Between(low=1e-300, high=largest[1]),
        },
        implies=_implies,
    )


_SINGLE, _MINI, _ANY = Between(low=1, high=1), Between(low=2, high=10**12), Between(low=1, high=10**12)
NULLS = {
    "replace-one": _null(batches=_SINGLE, pair=OneOf("-1")),
    "zero-out": _null(batches=_SINGLE, pair=OneOf("0")),
    "replace-one-minibatch": _null(batches=_MINI, pair=OneOf("-1")),
    "zero-out-minibatch": _null(batches=_MINI, pair=OneOf("0")),
    "corrected": _null(batches=_ANY, pair=OneOf("-1", "0"), factor=2.0, largest=(1.256, 0.81)),
}
"""What the audits of the implementation's step may reject, by reading."""


def hypergeometric(population: int, marked: int, size: int) -> Iterator[tuple[int, flint.arb]]:
    """Yield each k with its probability, in balls: k of `size` draws without replacement are among the `marked`.

    The sizes of the draw and of the marked part can be exchanged; the first weight is a product of the smaller one's
    number of factors, so nothing of the size of the population is computed.
    """
    few, many = min(marked, size), max(marked, size)
    first = max(0, few + many - population)
    weight = flint.arb(1)
    if first == 0:
        for i in range(few):
            weight *= ball(Fraction(population - many - i, population - i))
    else:
        for i in range(population - many):
            weight *= ball(Fraction(few - i, population - i))
    for k in range(first, few + 1):
        yield k, weight
        if k < few:
            weight *= ball(Fraction((few - k) * (many - k), (k + 1) * (population - many - few + k + 1)))


class SingleStepViolation(Witness, frozen=True, kw_only=True):
    """``P(E|S) − e^ε P(E|S') > (m/n)δ`` for one step, with ``ε = (m/n)(e^ε̃ − 1)`` and ``σ = √(3 log(1/δ))/ε̃`` (L = 1).

    S and S' differ at one fresh point, whose gradient is g in S and g' in S'; the other fresh points have gradient
    h and the rest has been seen. E is the half-line ``{g + ξ > threshold}``, that is ``{w⁺ < w − η threshold}``.
    """

    readings: ClassVar[dict[str, int]] = {
        "replace-one": 0,
        "zero-out": 0,
        "replace-one-minibatch": 0,
        "zero-out-minibatch": 0,
    }
    claim_id: ClassVar[str] = "single-step"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    n: Count
    m: Count
    fresh: Count
    g: Rational
    g_prime: Rational
    h: Rational
    epsilon_tilde: Rational
    delta: Rational
    threshold: Rational

    def _probability(self, gradient: Fraction, sigma: flint.arb) -> flint.arb:
        n, m, others = self.n, self.m, self.fresh - 1
        h, threshold = Fraction(self.h), Fraction(self.threshold)
        total = flint.arb(0)
        for drawn in (True, False):
            size = m - 1 if drawn else m
            share = Fraction(m, n) if drawn else 1 - Fraction(m, n)
            if share == 0:
                continue
            for k, weight in hypergeometric(n - 1, others, size):
                without = h if k else Fraction(0)
                mean = (gradient + k * h) / (1 + k) if drawn else without
                total += ball(share) * weight * upper_tail(ball(threshold - mean) / sigma)
        return total

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        values = {
            name: rational(name, getattr(self, name))
            for name in ("g", "g_prime", "h", "epsilon_tilde", "delta", "threshold")
        }
        g, g_prime, eps, delta = (values[k] for k in ("g", "g_prime", "epsilon_tilde", "delta"))
        n, m = self.n, self.m
        for name in ("g", "g_prime", "h"):
            require(holds=abs(values[name]) <= 1, reason=f"{name}={values[name]} is longer than L = 1")
        require(holds=g != g_prime, reason="g equals g_prime: the data sets are not neighbours that differ")
        if reading.startswith("zero-out"):
            require(holds=0 in (g, g_prime), reason="neither g nor g_prime is 0: not a zero-out pair")
        require(
            holds=(m > 1) == reading.endswith("minibatch"), reason=f"m={m} does not fit reading {reading!r}"
        )
        require(
            holds=m <= n and self.fresh <= n, reason=f"m={m} and fresh={self.fresh} must be at most n={n}"
        )
        require_terms(4 * min(m + 1, self.fresh), "the mixture over the batch")
        require(
            holds=self.fresh > 1 or values["h"] == 0,
            reason=f"h={self.h} is the gradient of other fresh points, and there are none; it should be 0",
        )
        require(holds=eps > 0, reason=f"epsilon_tilde={eps} is not positive")
        require(holds=0 < delta < 1, reason=f"delta={delta} is outside (0, 1)")
        p = ball(Fraction(m, n))
        epsilon = p * ball(eps).expm1()
        sigma = (-3 * ball(delta).log()).sqrt() / ball(eps)
        left = self._probability(g, sigma) - epsilon.exp() * self._probability(g_prime, sigma)
        words = f"P(E|S) - exp(epsilon) P(E|S') > (m/n) delta for n = {n}, m = {m}"
        return left, p * ball(delta), words


class SingleStepRepair(Witness, frozen=True, kw_only=True):
    """With ``σ = 2√(3 log(1/δ))/ε̃`` (L = 1), ``δ_G(ε̃; 2/σ) < δ`` for all 0 < ε̃ ≤ epsilon_max, 0 < δ ≤ delta_max.

    With ``ℓ = log(1/δ)`` and ``z = √(3ℓ) − ε̃/(2√(3ℓ)) ≥ 0``: ``δ_G ≤ Q(z) ≤ ½e^{−z²/2} ≤ ½ δ^{3/2} e^{ε̃/2}``,
    which is below δ iff ``δ^{1/2} e^{ε̃/2} < 2``. Both conditions are hardest at the corner, where ``z ≥ 0``
    means ``6ℓ ≥ ε̃``. Then the lemma's divergence, ``(m/n) δ_G(ε̂; 2/σ)`` with ``ε̂ ≥ ε̃``, is below ``(m/n) δ``.
    """

    readings: ClassVar[dict[str, tuple[Fraction, Fraction]]] = {
        "corrected": (Fraction(157, 125), Fraction(81, 100))
    }
    """The largest ε̃ and δ that it claims."""
    claim_id: ClassVar[str] = "single-step"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n and m, replace-one, 0 < ε̃ <= 1.256, 0 < δ <= 0.81"
    argument: ClassVar[str] = (
        "advanced joint convexity, by which (m/n) δ_G is the worst case, and the Gaussian tail bound"
    )
    epsilon_max: Rational
    delta_max: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        eps = rational("epsilon_max", self.epsilon_max)
        delta = rational("delta_max", self.delta_max)
        largest, largest_delta = self.readings[reading]
        require(holds=eps >= largest, reason=f"epsilon_max={eps} is below {largest}, the end of the reading")
        require(holds=largest_delta <= delta < 1, reason=f"delta_max={delta} is outside [{largest_delta}, 1)")
        require(
            holds=bool(-6 * ball(delta).log() > ball(eps)),
            reason="6 log(1/delta_max) is not above epsilon_max, where the tail bound needs z >= 0",
        )
        words = "2 > sqrt(delta_max) exp(epsilon_max/2)"
        return flint.arb(2), ball(delta).sqrt() * (ball(eps) / 2).exp(), words
