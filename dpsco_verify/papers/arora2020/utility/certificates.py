"""Witnesses about ``utility``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    Between,
    Count,
    MeanNull,
    OneOf,
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

CLAIMED = Fraction(5, 2)
"""The constant of the theorem."""

EXCESS = "E[F(ŵ)] − F(w*) ≤ c D(L + σ√d)/√n"
"""The null hypothesis about the implementation's excess risk on one instance, in units of ``D(L + σ√d)/√n``."""

INSTANCES = (
    "drift",
    "off-centre",
    "weak-drift",
    "median",
    "signs-4",
    "signs-64",
    "breast-cancer-hinge",
    "breast-cancer-logistic",
    "diabetes-absolute",
    "engel-median",
)
"""The names of the instances; those that a search finds are called ``segment, P(+1) = …``."""


def _null(*, norms: bool, start: str, noise: str = "covariance-sigma-squared") -> MeanNull:
    return MeanNull(
        name=EXCESS,
        parameters={
            "c": OneOf(float(CLAIMED)),
            "instance": OneOf(*INSTANCES, pattern=r"segment, P\(\+1\) = [0-9.e+-]{1,12}"),
            "n": Between(low=2, high=10**6),
            "σ/L": Between(low=0.0, high=1e9),
            "noise": OneOf(noise),
            "D bounds norms": OneOf(norms),
            "w₁": OneOf(start),
        },
        bound=lambda _: ball(CLAIMED),
    )


def nulls() -> dict[str, MeanNull]:
    """Return what measured excess risks may reject, by reading; an excess over the minimum is never negative."""
    return {
        "diameter": _null(norms=False, start="far"),
        "norm-argmin": _null(norms=True, start="argmin"),
        "norm-arbitrary": _null(norms=True, start="far"),
        "diameter-variance-sigma": _null(norms=False, start="far", noise="covariance-sigma"),
    }


class UtilityConstant(Witness, frozen=True, kw_only=True):
    """The proven constant ``c(n) = (n/2m)(κ² + H_n − H_{n−m})``, m = ⌊n/2⌋ + 1, is below `constant` for all n ≥ 2.

    ``‖u − w₁‖ ≤ κD``: κ = 1 for a diameter and for w₁ = argmin, 2 for any start under a norm bound. At n = 2 directly.
    For n ≥ 3, with x = 2/n (n even) or 1/n (n odd), x ≤ 1/2: ``n/2m = 1/(1 + x)`` and
    ``H_n − H_{n−m} ≤ ln 2 − ln(1 − x)``, so ``c(n) ≤ κ² + ln 2`` iff ``−ln(1 − x) ≤ (κ² + ln 2)x``; the left side is
    convex and equal at 0, so x = 1/2 decides.
    """

    readings: ClassVar[dict[str, int]] = {"diameter": 1, "norm-argmin": 1, "norm-arbitrary": 2}
    claim_id: ClassVar[str] = "utility"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 2, D, L, σ and d"
    argument: ClassVar[str] = (
        "the regret analysis and Jensen's inequality, by which the risk is at most c(n) D(L + σ√d)/√n, and "
        "c(n) <= κ² + ln 2 for n >= 3"
    )
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        require(
            holds=constant <= CLAIMED,
            reason=f"constant={constant} is above {CLAIMED}, weaker than the statement",
        )
        square = self.readings[reading] ** 2
        limit = square + flint.arb(2).log()
        at_two = Fraction(1, 2) * (square + Fraction(3, 2))
        require(holds=bool(ball(2).log() <= limit / 2), reason="-ln(1 - 1/2) exceeds (kappa^2 + ln 2)/2")
        require(holds=bool(ball(at_two) < limit), reason="c(2) exceeds kappa^2 + ln 2")
        return (
            ball(constant),
            limit,
            f"{constant} > {square} + ln 2 >= c(n) for all n >= 2, reading {reading}",
        )


class UtilityDriftViolation(Witness, frozen=True, kw_only=True):
    """``E[F(ŵ)] − F* > (5/2) D(L + σ)/√n`` on ``W = [−D, D]``, ``f = −Lw``, ``w₁ = −D`` (D = L = 1, d = 1).

    With ``η = 1/(√n(1 + σ))``: before the fresh draw number k (from 0),
    ``E[w] ≤ −1 + kη + (E T_{k+1} − 1) ησ/√(2π)``, because ``E[P(x + N)] ≤ x + E[N⁺]`` for x in W, and also
    ``E[w] ≤ 1``; ``E T_k = Σ_{j<k} n/(n−j)``. The output averages these over ``m = ⌊n/2⌋ + 1`` fresh draws,
    and ``F* = −1``.
    """

    readings: ClassVar[dict[str, int]] = {"norm-arbitrary": 0}
    claim_id: ClassVar[str] = "utility"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "the mean of a projected step is at most that of the free one plus the mean of the noise's positive "
        "part"
    )
    n: Count
    sigma: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, sigma = self.n, rational("sigma", self.sigma)
        require(holds=n >= 2, reason=f"n={n} is below 2")
        require_steps(10 * (n // 2 + 1), "the sum over fresh draws")
        require(holds=sigma >= 0, reason=f"sigma={sigma} is negative")
        m = n // 2 + 1
        root = flint.arb(n).sqrt()
        eta = 1 / (root * ball(1 + sigma))
        push = eta * ball(sigma) / (2 * flint.arb.pi()).sqrt()
        total, draws = flint.arb(0), flint.arb(0)
        for k in range(m):
            draws += flint.arb(n) / (n - k)
            reached = -1 + k * eta + (draws - 1) * push
            gap = 1 - reached
            total += gap if gap > 0 else flint.arb(0)
        bound = ball(CLAIMED) * ball(1 + sigma) / root
        return total / m, bound, f"excess risk > (5/2) D (L + sigma)/sqrt(n) for n = {n}, d = 1"


class UtilityVarianceViolation(Witness, frozen=True, kw_only=True):
    """The same bound fails when the noise is ``N(0, σI)``: ``W = [−D/2, D/2]``, ``f = −Lw``, ``w₁ = 0`` (D = 1, d = 1).

    With ``s = √σ`` and ``η = 1/(√n(L + σ))``, from any point of W an iteration ends at the wrong end −1/2 with
    probability at least ``q = Q((1 + ηL)/(ηs)) ≤ 1/2`` and never beyond 1/2, so ``E[w_t] ≤ 1/2 − q`` for every t,
    and the excess risk is at least ``Lq``.
    """

    readings: ClassVar[dict[str, int]] = {"diameter-variance-sigma": 0}
    claim_id: ClassVar[str] = "utility"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = (
        "from any point of W a step ends at the wrong end with at least the probability computed"
    )
    n: Count
    lipschitz: Rational
    sigma: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n = self.n
        L, sigma = rational("lipschitz", self.lipschitz), rational("sigma", self.sigma)
        require(holds=n >= 2, reason=f"n={n} is below 2")
        require(holds=L > 0 and sigma > 0, reason="lipschitz and sigma must be positive")
        root = flint.arb(n).sqrt()
        eta = 1 / (root * ball(L + sigma))
        q = upper_tail((1 + eta * ball(L)) / (eta * ball(sigma).sqrt()))
        bound = ball(CLAIMED) * ball(L + sigma) / root
        return ball(L) * q, bound, f"excess risk > (5/2) D (L + sigma)/sqrt(n) for n = {n}, d = 1"
