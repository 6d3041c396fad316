"""Witnesses about ``fresh-sum``, as the independent checker evaluates them."""

from __future__ import annotations

import itertools
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
from dpsco_verify.papers.arora2020.stopping_mean.certificates import Stop, points_at_stop


class FreshSumViolation(Witness, frozen=True, kw_only=True):
    """With f constant, ``n E[F(ŵ)] = n · level`` exceeds ``E[Σ f] = |F_τ| · level``, where ``|F_τ| = ⌊n/2⌋ + 1``."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "fresh-sum"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    n: Count
    level: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, level = self.n, rational("level", self.level)
        require(holds=level > 0, reason=f"level={level} is not positive")
        words = f"n E[F] > E[sum of f over fresh times] for f = {level}, n = {n}"
        return ball(n * level), ball(points_at_stop(Stop.MORE_THAN_HALF, n) * level), words


class FreshSumInstance(Witness, frozen=True, kw_only=True):
    """``E[Σ f(w_t, x_{Y_t})] > |F_τ| E[F(ŵ)]`` for ``f = (w − x)²/2``, x = ±1 fair, W = [−1, 1], w₁ = 0, no noise.

    For every f: a fresh point is independent of w_t, so ``E[Σ f] = E[Σ F(w_t)]``, and by convexity
    ``Σ F(w_t) ≥ |F_τ| F(ŵ)``. The instance is evaluated by enumeration of the data: at the k-th fresh draw
    ``w ← w − step · (w − x)``, and the other draws do nothing.
    """

    readings: ClassVar[dict[str, int]] = {"corrected": 0}
    claim_id: ClassVar[str] = "fresh-sum"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every convex f and every n"
    argument: ClassVar[str] = "a fresh point is independent of w_t, and F is convex; computed is one instance"
    n: Count
    step: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, step, m = self.n, rational("step", self.step), points_at_stop(Stop.MORE_THAN_HALF, self.n)
        require(holds=10 <= n <= 12, reason=f"n={n} is outside 10..12")
        require(
            holds=0 < step <= 1 and step.denominator <= 1000,
            reason=f"step={step} is outside (0, 1], or has a denominator above 1000",
        )
        losses = risks = Fraction(0)
        for data in itertools.product((-1, 1), repeat=m):
            w = total = Fraction(0)
            for x in data:
                losses += (w - x) ** 2 / 2
                total += w
                w -= step * (w - x)
            risks += ((total / m) ** 2 + 1) / 2
        words = f"E[sum of f over fresh times] > |F| E[F(average)] for n = {n}, step {step}"
        return ball(losses / 2**m), ball(m * risks / 2**m), words
