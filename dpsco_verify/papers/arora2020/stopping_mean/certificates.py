"""Witnesses about ``stopping-mean``, as the independent checker evaluates them."""

from __future__ import annotations

import enum
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


LARGEST = 256
"""The n up to which means are evaluated one by one."""


class StoppingMeanConstant(Witness, frozen=True, kw_only=True):
    """``E[τ] < constant · n`` for every n ≥ 16, where ``E[τ]/n = H_n − H_{n−m}`` (+ 1/n if τ is the counter).

    Up to 256 each is evaluated. Beyond, ``n − m ≥ n/2 − 1`` (``loop``) or ``n/2 − 1/2`` (``text``), and
    ``H_n − H_{n−m} ≤ ln(n/(n − m))``, an integral, which falls with n; so the value of this bound at 256 is added. A
    reading fixes the stop, and what τ counts beyond the iterations.
    """

    readings: ClassVar[dict[str, tuple[Stop, int, Fraction]]] = {
        "loop": (Stop.MORE_THAN_HALF, 0, Fraction(788, 1000)),
        "loop-counter": (Stop.MORE_THAN_HALF, 1, Fraction(851, 1000)),
        "text": (Stop.HALF, 0, Fraction(722, 1000)),
        "text-counter": (Stop.HALF, 1, Fraction(781, 1000)),
    }
    """The stop, what is counted beyond, and the constant that is reported."""
    claim_id: ClassVar[str] = "stopping-mean"
    shows: ClassVar[Shows] = Shows.CERTIFIES
    over: ClassVar[str] = "every n >= 16"
    argument: ClassVar[str] = ""
    constant: Rational

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        stop, beyond, reported = self.readings[reading]
        constant = rational("constant", self.constant)
        require(
            holds=constant <= reported, reason=f"constant={constant} is above {reported}, which is reported"
        )
        short = 2 if stop is Stop.MORE_THAN_HALF else 1
        most = (2 / (1 - ball(Fraction(short, LARGEST)))).log() + ball(Fraction(beyond, LARGEST))
        harmonic = [flint.arb(0)]
        for n in range(1, LARGEST + 1):
            harmonic.append(harmonic[-1] + 1 / flint.arb(n))
        for n in range(16, LARGEST + 1):
            drawn = harmonic[n] - harmonic[n - points_at_stop(stop, n)]
            most = most.max(drawn + ball(Fraction(beyond, n)))
        return ball(constant), most, f"{constant} > sup of E[tau]/n over n >= 16, reading {reading}"


class StoppingMeanUnbounded(Witness, frozen=True, kw_only=True):
    """``E[τ]/n = H_n ≥ 1 + k/2 > constant`` at ``n = 2^k``, as ``H_{2^k} − H_{2^{k−1}} ≥ 1/2``.

    With ``k = 2 · constant`` the left side is ``constant + 1``, whatever the constant: so there is none.
    """

    readings: ClassVar[dict[str, int]] = {"all-points": 1000, "all-points-counter": 1000}
    """The least constant that an instance has to exceed."""
    claim_id: ClassVar[str] = "stopping-mean"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = "the same holds for every constant C at n = 2^(2C); computed is one"
    constant: Count
    doublings: Count

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        least = self.readings[reading]
        require(holds=self.constant >= least, reason=f"constant={self.constant} is below {least}")
        require(holds=self.doublings == 2 * self.constant, reason=f"doublings must be 2*{self.constant}")
        words = f"E[tau] > {self.constant} n at n = 2^{self.doublings}"
        return ball(1 + Fraction(self.doublings, 2)), flint.arb(self.constant), words
