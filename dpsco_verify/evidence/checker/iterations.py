"""Witnesses about how long Algorithm 1 runs, what it queries, and what it returns."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker.arithmetic import Count, Rational, ball, rational, require
from dpsco_verify.evidence.checker.elementary import Proof, Sides


def points_at_stop(reading: str, n: int) -> int:
    """Return the number of distinct points at the stop of a reading."""
    rule = reading.removesuffix("-counter")
    return {"text": (n + 1) // 2, "all-points": n}.get(rule, n // 2 + 1)


class StoppingMeanConstant(Proof, frozen=True, kw_only=True):
    """``E[τ] < constant · n`` for every n ≥ 16, where ``E[τ]/n = H_n − H_{n−m}`` (+ 1/n if τ is the counter).

    Among even n and among odd n each such ratio falls as n grows by 2 (with n = 2k or 2k + 1 the differences are sums
    like ``1/(2k+1) + 1/(2k+2) − 1/k < 0``), but for ``text`` with n even, where ``H_{2k} − H_k`` rises to ln 2. So the
    supremum is the largest of the values at 16 and 17 and ln 2.
    """

    readings: ClassVar[dict[str, int]] = {"loop": 0, "loop-counter": 1, "text": 0, "text-counter": 1}
    claim_id: ClassVar[str] = "stopping-mean"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant, most = rational("constant", self.constant), flint.arb(2).log()
        for n in (16, 17):
            drawn = sum((Fraction(1, n - k) for k in range(points_at_stop(reading, n))), Fraction(0))
            most = most.max(ball(drawn + Fraction(self.readings[reading], n)))
        return ball(constant), most, f"{constant} > sup of E[tau]/n over n >= 16, reading {reading}"


class StoppingMeanUnbounded(Proof, frozen=True, kw_only=True):
    """``E[τ]/n = H_n ≥ 1 + k/2 > constant`` at ``n = 2^k``, as ``H_{2^k} − H_{2^{k−1}} ≥ 1/2``.

    With ``k = 2 · constant`` the left side is ``constant + 1``, whatever the constant: so there is none.
    """

    readings: ClassVar[dict[str, int]] = {"all-points": 0, "all-points-counter": 1}
    claim_id: ClassVar[str] = "stopping-mean"
    constant: Count
    doublings: Count

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        require(holds=self.doublings == 2 * self.constant, reason=f"doublings must be 2*{self.constant}")
        words = f"E[tau] > {self.constant} n at n = 2^{self.doublings}"
        return ball(1 + Fraction(self.doublings, 2)), flint.arb(self.constant), words


class TailIntegralExponent(Proof, frozen=True, kw_only=True):
    """``P(τ ≥ t) ≤ e^{−rate·t} < 2e^{−t/16}`` for all n ≥ 16 and t ≥ 2n, by Janson (2018), Theorem 2.1.

    In the worst case (loop, τ the counter) the event is ``T_m ≥ s``, ``s = t − 1 ≥ (31/16)n``, ``p ≥ 1/2`` and
    ``μ ≤ an`` with ``a = ln(16/7)``; so its exponent is at least ``(s − an − an ln(s/an))/2``. Minus ``rate · (s + 1)``
    this grows in s where ``(1 − a/h)/2 > rate`` with ``h = 31/16``; so t = 2n decides, and there divided by n:
    ``(h − a − a ln(h/a))/2 > 2 rate``.
    """

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "tail-integral"
    rate: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        rate, a, h = rational("rate", self.rate), ball(Fraction(16, 7)).log(), ball(Fraction(31, 16))
        require(holds=rate >= Fraction(1, 16), reason=f"rate={rate} is below 1/16, weaker than the statement")
        require(holds=bool((1 - a / h) / 2 > ball(rate)), reason="the exponent does not outgrow the rate")
        words = f"decay exponent at t = 2n, over n, > 2 * {rate}, for all n >= 16 and so for all t >= 2n"
        return (h - a - a * (h / a).log()) / 2, ball(2 * rate), words


class TailIntegralViolation(Proof, frozen=True, kw_only=True):
    """``P(T_n ≥ t) > 2e^{−t/16}`` with t ≥ 2n, if τ is the first time at which all n points have been seen."""

    readings: ClassVar[dict[str, int]] = {"all-points": 0}
    claim_id: ClassVar[str] = "tail-integral"
    n: Count
    t: Count

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, t = self.n, self.t
        require(holds=16 <= n <= 400, reason=f"n={n} is outside 16..400")
        require(holds=2 * n <= t <= 10_000, reason=f"t={t} is outside 2n..10000")
        # P(T_n > t - 1), by inclusion and exclusion over the points that are missing
        late = sum((-1) ** (k + 1) * math.comb(n, k) * (n - k) ** (t - 1) for k in range(1, n + 1))
        words = f"P(T_{n} >= {t}) > 2 exp(-{t}/16)"
        return ball(Fraction(late, n ** (t - 1))), 2 * ball(Fraction(-t, 16)).exp(), words


class McDiarmidGap(Proof, frozen=True, kw_only=True):
    """``e^{−x} + x/√32 > 1/2``: McDiarmid's inequality with ``δ = 2e^{−T/16}``, T = xn, does not reach n/2.

    The derivation needs ``n − n e^{−T/n} − √(log(2/δ) T/2) ≥ n/2``; at T = xn, divided by n, this is
    ``1 − e^{−x} − x/√32 ≥ 1/2``, the same for every n.
    """

    readings: ClassVar[dict[str, int]] = {"derivation": 0}
    claim_id: ClassVar[str] = "tail-integral"
    horizon: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        x = rational("horizon", self.horizon)
        require(holds=x >= 2, reason=f"horizon={x} is below 2, where the derivation is not used")
        words = f"exp(-x) + x/sqrt(32) > 1/2 at x = T/n = {x}"
        return (-ball(x)).exp() + ball(x) / flint.arb(32).sqrt(), ball(Fraction(1, 2)), words


class GradientQueries(Proof, frozen=True, kw_only=True):
    """The number of queries, ``⌊n/2⌋ + 1``, ``⌈n/2⌉`` or n by the reading, is below ``constant · n`` for all n ≥ 2.

    Over n it falls with n among even n and among odd n, so n = 2 and n = 3 decide.
    """

    readings: ClassVar[dict[str, int]] = {"loop": 0, "text": 0, "all-points": 0}
    claim_id: ClassVar[str] = "gradient-queries"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        constant = rational("constant", self.constant)
        most = max(Fraction(points_at_stop(reading, n), n) for n in (2, 3))
        return ball(constant), ball(most), f"{constant} > sup of queries/n over n >= 2, reading {reading}"


class OutputDefined(Proof, frozen=True, kw_only=True):
    """A run of T iterations holds the iterates ``w_1 … w_{T+1}``, and the last fresh draw is at time T: T + 1 > T.

    A time enters the average when its pass through the loop runs, so it is at most T, whatever is drawn; the draws
    here are replayed, must end when the loop does, and their last fresh time must be T.
    """

    readings: ClassVar[dict[str, int]] = {"corrected": 0}
    claim_id: ClassVar[str] = "output"
    n: Count
    draws: tuple[Count, ...]

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        seen: set[int] = set()
        last = 0
        for time, y in enumerate(self.draws, start=1):
            require(holds=y <= self.n, reason=f"draw {y} is above n={self.n}")
            require(holds=2 * len(seen) <= self.n, reason=f"the loop has ended before draw {time}")
            last = last if y in seen else time
            seen.add(y)
        require(holds=2 * len(seen) > self.n, reason="the loop has not ended")
        words = f"iterates > largest time averaged, draws {self.draws} of n = {self.n}"
        return flint.arb(len(self.draws) + 1), flint.arb(last), words


class FreshSumViolation(Proof, frozen=True, kw_only=True):
    """With f constant, ``n E[F(ŵ)] = n · level`` exceeds ``E[Σ f] = |F_τ| · level``, where ``|F_τ| = ⌊n/2⌋ + 1``."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "fresh-sum"
    n: Count
    level: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, level = self.n, rational("level", self.level)
        words = f"n E[F] > E[sum of f over fresh times] for f = {level}, n = {n}"
        return ball(n * level), ball(points_at_stop("loop", n) * level), words


class FreshSumInstance(Proof, frozen=True, kw_only=True):
    """``E[Σ f(w_t, x_{Y_t})] > |F_τ| E[F(ŵ)]`` for ``f = (w − x)²/2``, x = ±1 fair, W = [−1, 1], w₁ = 0, no noise.

    For every f: a fresh point is independent of w_t, so ``E[Σ f] = E[Σ F(w_t)]``, and by convexity
    ``Σ F(w_t) ≥ |F_τ| F(ŵ)``. The instance is evaluated by enumeration of the data: at the k-th fresh draw
    ``w ← w − step · (w − x)``, and the other draws do nothing.
    """

    readings: ClassVar[dict[str, int]] = {"corrected": 0}
    claim_id: ClassVar[str] = "fresh-sum"
    n: Count
    step: Rational

    def sides(self, _reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        n, step, m = self.n, rational("step", self.step), points_at_stop("loop", self.n)
        require(holds=2 <= n <= 20, reason=f"n={n} is outside 2..20")
        require(holds=0 < step <= 1, reason=f"step={step} is outside (0, 1]")
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
