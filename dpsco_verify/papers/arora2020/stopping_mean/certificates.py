"""Witnesses about ``stopping-mean``, as the independent checker evaluates them."""

from __future__ import annotations

import enum
from fractions import Fraction
from typing import ClassVar

import flint

from dpsco_verify.evidence.checker import Count, Rational, Sides, Witness, ball, rational, require


class Stop(enum.Enum):
    """When a run ends: once more than half of the points have been seen, at least half, or all of them."""

    MORE_THAN_HALF = enum.auto()
    HALF = enum.auto()
    ALL = enum.auto()


def points_at_stop(stop: Stop, n: int) -> int:
    """Return the number of distinct points that have been seen at the stop."""
    match stop:
        case Stop.MORE_THAN_HALF:
            return n // 2 + 1
        case Stop.HALF:
            return (n + 1) // 2
        case Stop.ALL:
            return n


class StoppingMeanConstant(Witness, frozen=True, kw_only=True):
    """``E[τ] < constant · n`` for every n ≥ 16, where ``E[τ]/n = H_n − H_{n−m}`` (+ 1/n if τ is the counter).

    Among even n and among odd n each such ratio falls as n grows by 2 (with n = 2k or 2k + 1 the differences are sums
    like ``1/(2k+1) + 1/(2k+2) − 1/k < 0``), but for ``text`` with n even, where ``H_{2k} − H_k`` rises to ln 2. So the
    supremum is the largest of the values at 16 and 17 and ln 2. A reading fixes the stop, and what τ counts beyond the
    iterations.
    """

    readings: ClassVar[dict[str, tuple[Stop, int]]] = {
        "loop": (Stop.MORE_THAN_HALF, 0),
        "loop-counter": (Stop.MORE_THAN_HALF, 1),
        "text": (Stop.HALF, 0),
        "text-counter": (Stop.HALF, 1),
    }
    claim_id: ClassVar[str] = "stopping-mean"
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        stop, beyond = self.readings[reading]
        constant, most = rational("constant", self.constant), flint.arb(2).log()
        for n in (16, 17):
            drawn = sum((Fraction(1, n - k) for k in range(points_at_stop(stop, n))), Fraction(0))
            most = most.max(ball(drawn + Fraction(beyond, n)))
        return ball(constant), most, f"{constant} > sup of E[tau]/n over n >= 16, reading {reading}"


class StoppingMeanUnbounded(Witness, frozen=True, kw_only=True):
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
