"""Witnesses about ``privacy``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import (
    ByReading,
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)

_ARGUMENT = (
    "amplification by shuffling (Feldman, McMillan and Talwar 2021), one use of the point, and in what "
    "the bounds are monotone"
)


class PrivacyRange(Witness, frozen=True, kw_only=True):
    """Theorem 5.3's privacy for all 16 ≤ n ≤ n_max, all 0 < s = √n ε ≤ 1/2, and all δ and δ'; L = 1, λ₀ = split.

    If δ + δ' < 1 let ``λ = log(1/(δ + δ'))``; both logarithms of the theorem are above it, so it is enough that
    ``δ_T(ε') ≤ e^{−λ}`` for ``ε' = 4s(√λ + 2)/√n`` and ``μ = s/(4√λ)``. Let q = K/n, K = ⌊n/2⌋ + 1, so q ≤ 9/16.

    * λ ≤ λ₀: the total variation is at most ``q min(1, μ/√(2π))``; q is enough up to λ = 1/10, and from there
      ``(9/16)/(8√(2π)) ≤ √λ e^{−λ}``, whose right side has no minimum inside an interval.
    * λ ≥ λ₀, n ≤ 125(√λ + 2)²: one use of the point gives ``q Q(z) ≤ e^{−z²/2}``, and z is at least
      ``16√(λ/125) − 1/(16√λ)``, which is at least √(2λ) from λ₀ on if it is at λ₀.
    * λ ≥ λ₀, n ≥ 125(√λ + 2)²: shuffling with ``ε₀ = μt + μ²/2``, ``t² = 2(λ + log n_max)``, ``δ_s = e^{−λ}``. Then
      ``K δ₀ ≤ q n Q(t) ≤ (q/2)e^{−λ}``. The theorem's order has ``e^{ε_s} − 1 = share · a`` where the share is concave
      in ε₀ with slope ``(1 + a)/(2 + a)`` at 0, so ``s = 1/2`` is the worst, where ``ε₀`` falls in λ. It is needed that
      ``ε₀ (1 + a)/(2 + a) a ≤ ε'/q``; times ``√K/(√λ + 2)`` the right side is at least ``2/√q``, and on a cell
      [λ₁, λ₂] the left is bounded with ε₀ at λ₁ and ``√(λ + log 4)/(√λ + 2)``, which rises, at λ₂.

    The printed output averages ``w_j`` over j in F, the indices of the points drawn, so it is a function of the
    transcript and F. F does not depend on the data, and tells whether the differing point was drawn: then δ(ε) is q
    times that of the K shuffled points. The first two regions use no more; in the third ``ε_s`` itself is to be at
    most ε', that is
    ``ε₀ (1 + a)/(2 + a) a ≤ ε'``, whose right side is at least ``2√q ≥ √2`` after the same scaling.
    """

    readings: ClassVar[dict[str, int]] = {"bounded-n": 10**20, "printed-output": 10**6}
    """The n up to which it claims."""
    claim_id: ClassVar[str] = "privacy"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[ByReading] = {
        "bounded-n": "16 <= n <= 10^20 and every 0 < ε <= 1/(2 sqrt n), δ and δ'",
        "printed-output": "16 <= n <= 10^6 and every 0 < ε <= 1/(2 sqrt n), δ and δ'",
    }
    argument: ClassVar[ByReading] = {
        "bounded-n": _ARGUMENT,
        "printed-output": f"{_ARGUMENT}; the printed output is a function of the transcript and F",
    }
    n_max: Rational
    split: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n_max, split = rational("n_max", self.n_max), rational("split", self.split)
        require(
            holds=n_max.denominator == 1 and n_max >= self.readings[reading],
            reason=f"n_max={n_max} is no integer from {self.readings[reading]} on, up to which the reading claims",
        )
        require(holds=1 <= split <= 10**4, reason=f"split={split} is outside [1, 10000]")
        low, start = ball(Fraction(1, 10)), ball(split)
        require(holds=bool(ball(Fraction(9, 16)) < (-low).exp()), reason="9/16 is not below exp(-1/10)")
        variation = ball(Fraction(9, 16)) / (8 * (2 * flint.arb.pi()).sqrt())
        for end in (low, start):
            holds = bool(variation < end.sqrt() * (-end).exp())
            require(holds=holds, reason="the total variation does not suffice up to the split")
        z = 16 * (start / 125).sqrt() - 1 / (16 * start.sqrt())
        require(holds=bool(z > (2 * start).sqrt()), reason="one use does not suffice at the split")
        smallest_n = 125 * (start.sqrt() + 2) ** 2
        q = ball(Fraction(1, 2)) + 1 / smallest_n
        log_n = ball(n_max).log()

        def epsilon_0(lam: flint.arb) -> flint.arb:
            return (2 * (lam + log_n)).sqrt() / (8 * lam.sqrt()) + 1 / (128 * lam)

        order = 1 + 2 * (2 / flint.arb(125).sqrt()).expm1()
        price = (order + 1) * ball(Fraction(3, 4)) * q
        require(holds=bool(price + 1 < 1 / q), reason="the price of the Gaussian tails exceeds delta")
        root_k = (ball(Fraction(125, 2))).sqrt()
        condition = 16 * epsilon_0(start).exp() < ball(Fraction(125, 2))
        require(holds=bool(condition), reason="the condition of the shuffling theorem is not met")
        corners = [start * ball(Fraction(21, 20)) ** k for k in range(300)]
        # beyond the last corner the ratio is below 1, as 4√λ + 4 > log 4
        ratios = [(end + flint.arb(4).log()).sqrt() / (end.sqrt() + 2) for end in corners[1:]]
        values = []
        for lam, ratio in zip(corners, [*ratios, flint.arb(1)], strict=True):
            growth = epsilon_0(lam).exp()
            scaled = 8 * growth.sqrt() * ratio + 8 * growth / (root_k * (lam.sqrt() + 2) ** 2)
            a = scaled / root_k
            values.append(epsilon_0(lam) * (1 + a) / (2 + a) * scaled)
        known = reading == "printed-output"
        room, name = (flint.arb(2).sqrt(), "sqrt(2)") if known else (2 / q.sqrt(), "2/sqrt(q)")
        words = (
            f"{name} > sqrt(K) (exp(eps_s) - 1)/(sqrt(lambda) + 2) for lambda >= {split}, 16 <= n <= {n_max}"
        )
        return room, max(values, key=float), words
