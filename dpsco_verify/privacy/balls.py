"""Rigorous evaluation in ball arithmetic (Arb): enclosures that contain the true value.

A comparison of two balls is true only if it holds for all points of both, so ``a < b`` proves the inequality.
Functions here take and return ``flint.arb``; :func:`decide` raises the precision until a comparison is decided.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import flint

from dpsco_verify.errors import InputError

MAX_PRECISION = 4096
"""Bits at which an undecided comparison is given up."""


def ball(value: float | Fraction) -> flint.arb:
    """Return the enclosure of a rational or of a double, which is taken as the dyadic rational that it is."""
    fraction = value if isinstance(value, Fraction) else Fraction(value)
    return flint.arb(flint.fmpq(fraction.numerator, fraction.denominator))


def upper_tail(z: flint.arb) -> flint.arb:
    """Return ``Q(z) = P(Z > z)`` of a standard normal Z."""
    return (z / flint.arb(2).sqrt()).erfc() / 2


def gaussian_delta(epsilon: flint.arb, mu: flint.arb) -> flint.arb:
    """Return ``δ_G(ε; μ) = Q(ε/μ − μ/2) − e^ε Q(ε/μ + μ/2)`` for μ > 0 (Balle and Wang 2018, Theorem 8)."""
    ratio = epsilon / mu
    return upper_tail(ratio - mu / 2) - epsilon.exp() * upper_tail(ratio + mu / 2)


def decide(left: Callable[[], flint.arb], right: Callable[[], flint.arb]) -> bool | None:
    """Decide ``left > right`` rigorously: True, False, or None if it stays undecided at the highest precision.

    The two sides are evaluated anew at each precision, so they must build their balls when called.
    """
    precision = 64
    while precision <= MAX_PRECISION:
        with flint.ctx.workprec(precision):
            a, b = left(), right()
            if a > b:
                return True
            if a <= b:
                return False
        precision *= 2
    return None


def enclose(function: Callable[[], flint.arb], *, relative: float = 1e-12) -> tuple[float, float]:
    """Return doubles (low, high) that enclose `function()`, as tight as `relative` where 4096 bits suffice."""
    precision = 64
    while True:
        with flint.ctx.workprec(precision):
            value = function()
            if not value.is_finite():
                tight = False
            else:
                tight = bool(value.rad() <= ball(relative) * abs(value).lower()) or bool(value == 0)
            if tight or precision >= MAX_PRECISION:
                if not value.is_finite():
                    raise InputError(
                        "the enclosure is not finite at 4096 bits; the expression has no finite value"
                    )
                return _float_below(value.lower()), _float_above(value.upper())
        precision *= 2


def _float_below(x: flint.arb) -> float:
    number = float(x)
    while not ball(number) <= x:
        number = math.nextafter(number, -math.inf)
    return number


def _float_above(x: flint.arb) -> float:
    number = float(x)
    while not ball(number) >= x:
        number = math.nextafter(number, math.inf)
    return number
