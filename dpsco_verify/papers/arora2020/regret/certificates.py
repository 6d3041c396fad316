"""Witnesses about ``regret``, as the independent checker evaluates them."""

from __future__ import annotations

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
    require_steps,
    upper_tail,
)

CLAIMED = 2
"""The constant of the corollary."""


class RegretConstant(Witness, frozen=True, kw_only=True):
    """The careful constant ``c(n) = (κ² + H_n − H_{n−m})/2``, m = ⌊n/2⌋ + 1, is below `constant` for all n ≥ 2.

    The regret is at most ``‖u − w₁‖²/(2η) + (η/2)(mL² + dσ² E[T]) ≤ c(n) D(L + σ√d)√n``, with ``‖u − w₁‖ ≤ κD``: κ = 1
    for a diameter and for w₁ = argmin, 2 for any start under a norm bound. ``H_2 − H_0 = 3/2``; for n ≥ 3, with x = 2/n
    (n even) or 1/n (n odd), ``H_n − H_{n−m} ≤ ln 2 − ln(1 − x) ≤ 2 ln 2 < 3/2`` as x ≤ 1/2. So c(2) is the largest.
    """

    readings: ClassVar[dict[str, int]] = {"diameter": 1, "norm-argmin": 1, "norm-arbitrary": 2}
    claim_id: ClassVar[str] = "regret"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 2, D, L, σ and d"
    argument: ClassVar[str] = (
        "the analysis of mirror descent, by which the regret is at most c(n) D(L + σ√d)√n, and H_n − H_{n−m} "
        "<= 2 ln 2 for n >= 3"
    )
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant, square = rational("constant", self.constant), self.readings[reading] ** 2
        require(
            holds=constant <= CLAIMED,
            reason=f"constant={constant} is above {CLAIMED}, weaker than the statement",
        )
        require(holds=bool(2 * flint.arb(2).log() < ball(Fraction(3, 2))), reason="2 ln 2 exceeds 3/2")
        words = f"{constant} > ({square} + 3/2)/2 >= c(n) for all n >= 2, reading {reading}"
        return ball(constant), ball((square + Fraction(3, 2)) / 2), words


class RegretDriftViolation(Witness, frozen=True, kw_only=True):
    """The regret exceeds ``constant · D(L + σ)√n`` for ``f = −Lw`` on a segment of length κD (D = L = 1, d = 1).

    w₁ and u are its ends: of [−D/2, D/2] for a diameter, [0, D] for w₁ = argmin, [−D, D] for any start. With
    ``η = 1/(√n(1 + σ))``, before the fresh draw number k (from 0), ``E[u − w] ≥ κ − kη − (E T_{k+1} − 1)ησ/√(2π)``,
    because ``E[P(x + N)] ≤ x + E[N⁺]`` for x in W, and ``E[u − w] ≥ 0``; ``E T_k = Σ_{j<k} n/(n−j)``. Noise-only steps
    have f_t = 0.
    """

    readings: ClassVar[dict[str, int]] = {"diameter": 1, "norm-argmin": 1, "norm-arbitrary": 2}
    claim_id: ClassVar[str] = "regret"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "the mean of a projected step is at most that of the free one plus the mean of the noise's positive "
        "part"
    )
    n: Count
    sigma: Rational
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, sigma, constant = self.n, rational("sigma", self.sigma), rational("constant", self.constant)
        require(holds=constant >= CLAIMED, reason=f"constant={constant} is below the claim's {CLAIMED}")
        require(holds=n >= 2, reason=f"n={n} is below 2")
        require_steps(10 * (n // 2 + 1), "the sum over fresh draws")
        require(holds=sigma >= 0, reason=f"sigma={sigma} is negative")
        root = flint.arb(n).sqrt()
        eta = 1 / (root * ball(1 + sigma))
        push = eta * ball(sigma) / (2 * flint.arb.pi()).sqrt()
        total, draws = flint.arb(0), flint.arb(0)
        for k in range(n // 2 + 1):
            draws += flint.arb(n) / (n - k)
            gap = self.readings[reading] - k * eta - (draws - 1) * push
            total += gap if gap > 0 else flint.arb(0)
        words = f"regret > {constant} D (L + sigma) sqrt(n) for n = {n}, sigma = {sigma} L, d = 1, reading {reading}"
        return total, ball(constant * (1 + sigma)) * root, words


class RegretVarianceViolation(Witness, frozen=True, kw_only=True):
    """The same when the noise is ``N(0, σI)``: ``W = [−D/2, D/2]``, ``f = −Lw``, ``w₁ = 0``, u = D/2 (D = 1, d = 1).

    With ``s = √σ`` and ``η = 1/(√n(L + σ))``, from any point of W an iteration ends at the wrong end −1/2 with
    probability at least ``q = Q((1 + ηL)/(ηs)) ≤ 1/2`` and never beyond 1/2, so ``E[u − w_t] ≥ q`` for every t, and the
    m = ⌊n/2⌋ + 1 fresh draws, whose times the noise does not influence, give a regret of at least mLq.
    """

    readings: ClassVar[dict[str, int]] = {"diameter-variance-sigma": 0}
    claim_id: ClassVar[str] = "regret"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "from any point of W a step ends at the wrong end with at least the probability computed"
    )
    n: Count
    lipschitz: Rational
    sigma: Rational
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, constant = self.n, rational("constant", self.constant)
        L, sigma = rational("lipschitz", self.lipschitz), rational("sigma", self.sigma)
        require(holds=constant >= CLAIMED, reason=f"constant={constant} is below the claim's {CLAIMED}")
        require(holds=n >= 2, reason=f"n={n} is below 2")
        require(holds=L > 0 and sigma > 0, reason="lipschitz and sigma must be positive")
        root = flint.arb(n).sqrt()
        eta = 1 / (root * ball(L + sigma))
        q = upper_tail((1 + eta * ball(L)) / (eta * ball(sigma).sqrt()))
        words = f"regret > {constant} D (L + sigma) sqrt(n) for n = {n}, L = {L}, sigma = {sigma}, d = 1"
        return (n // 2 + 1) * ball(L) * q, ball(constant * (L + sigma)) * root, words
