"""Witnesses about the exponential mechanism, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

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

NEAR_TWO = Fraction(1999, 1000)
LEAST_OF_UTILITY = Fraction(199, 100)
"""The least factors that are shown not to do in place of 2, by theorem."""


class ExponentialFactor(Witness, frozen=True, kw_only=True):
    """Weights ``exp(εu/(factor Δu))``, factor = 2, give ε-DP for every finite range; `below` < 2 in its place does not.

    The ratio of two weights and that of the two normalisers are each at most ``e^{ε/2}``. One of `size` outputs has
    utility Δu under x and 0 under y, the others 0 and Δu: its probabilities are ``e^a/(e^a + size − 1)`` and
    ``1/(1 + (size − 1)e^a)``, ``a = ε/below``.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 2}
    claim_id: ClassVar[str] = "exponential-mechanism"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every finite range and ε"
    argument: ClassVar[str] = (
        "both ratios, of weights and of normalisers, are at most e^(ε/factor); computed is one instance"
    )
    factor: Rational
    below: Rational
    epsilon: Rational
    size: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, below, epsilon = (rational(k, getattr(self, k)) for k in ("factor", "below", "epsilon"))
        stated = self.readings[reading]
        require(holds=factor == stated, reason=f"factor={factor} is not the statement's {stated}")
        require(holds=NEAR_TWO <= below < factor, reason=f"below={below} is outside [{NEAR_TWO}, {factor})")
        require(holds=0 < epsilon <= 100, reason=f"epsilon={epsilon} is outside (0, 100]")
        require(holds=self.size >= 2, reason=f"size={self.size} is below 2")
        weight, others = ball(epsilon / below).exp(), self.size - 1
        words = f"P(r|x) > exp(epsilon) P(r|y) at epsilon = {epsilon}, {self.size} outputs, factor {below}"
        return weight / (weight + others), ball(epsilon).exp() / (1 + others * weight), words


class ExponentialUtilityFactor(Witness, frozen=True, kw_only=True):
    """``P(u ≤ OPT − (factor Δu/ε)(ln(|R|/|R_OPT|) + t)) ≤ e^{−t}`` with factor = 2, always; with `below` < 2 it is not.

    With ``q = exp(−(factor/2)(ln(N/M) + t))`` the probability is at most ``(N − M)q/(M + (N − M)q)``, and this if all
    other utilities lie at the bound; for factor = 2 it is below ``Nq/M = e^{−t}``. Corollary 3.12 has M = 1 in place of
    ``M ≥ 1``, which is weaker.
    """

    readings: ClassVar[dict[str, int]] = {"printed": 0}
    claim_id: ClassVar[str] = "exponential-utility"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every range, ε and t > 0"
    argument: ClassVar[str] = (
        "the weights of the outputs at or below the bound are at most those computed; computed is one "
        "instance"
    )
    factor: Rational
    below: Rational
    size: Count
    optimal: Count
    excess: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        factor, below, t = (rational(k, getattr(self, k)) for k in ("factor", "below", "excess"))
        require(holds=factor == 2, reason=f"factor={factor} is not the statement's 2")
        least = LEAST_OF_UTILITY
        require(holds=least <= below < factor, reason=f"below={below} is outside [{least}, {factor})")
        require(
            holds=self.optimal < self.size, reason=f"optimal={self.optimal} is not below size={self.size}"
        )
        require(holds=0 < t <= 10**6, reason=f"excess={t} is outside (0, 10^6]")
        N, M = self.size, self.optimal
        q = (ball(-below / 2) * (ball(Fraction(N, M)).log() + ball(t))).exp()
        words = f"P(u <= bound) > exp(-t) for {N} outputs, {M} best, t = {t}, with {below} in place of 2"
        return (N - M) * q / (M + (N - M) * q), ball(-t).exp(), words
