"""Witnesses about ``dual-norm``, as the independent checker evaluates them."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpsco_verify.evidence.checker import (
    Rational,
    Shows,
    Sides,
    Witness,
    ball,
    rational,
    require,
)

MOST_COORDINATES = 100


class DualNormSign(Witness, frozen=True, kw_only=True):
    """``‖h‖_* ≥ h(−w) > h(w) ≥ min_{‖v‖₂≤1} h(v)``: the minimum is no norm of h."""

    readings: ClassVar[dict[str, int]] = {"literal": 0}
    claim_id: ClassVar[str] = "dual-norm"
    shows: ClassVar[Shows] = Shows.REFUTES
    argument: ClassVar[str] = ""
    h: tuple[Rational, ...]
    w: tuple[Rational, ...]

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words."""
        h, w = ([rational(k, x) for x in getattr(self, k)] for k in ("h", "w"))
        require(holds=len(h) <= MOST_COORDINATES, reason=f"h has more than {MOST_COORDINATES} coordinates")
        require(holds=len(h) == len(w), reason=f"h has {len(h)} coordinates and w {len(w)}")
        require(holds=sum(x * x for x in w) <= 1, reason="w lies outside the unit ball")
        value = sum((a * b for a, b in zip(h, w, strict=True)), Fraction(0))
        return ball(-value), ball(value), "h(-w) > h(w) >= min of h over the Euclidean unit ball"
