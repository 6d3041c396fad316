"""The definition of the dual norm in Section 2; it carries no label of its own."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.evidence import Consequence, Quantity, Stance, Table, Verdict, columns
from dpsco_verify.ledger import Context, Decision, Discrepancy, Handle, OneUnit, Reading, Units
from dpsco_verify.papers.arora2020.dual_norm.certificates import DualNormSign
from dpsco_verify.privacy.balls import ball

INFINITY = Fraction(0)
"""Stands for p = ∞, whose reciprocal is 0: exponents are kept as reciprocals here."""

RECIPROCALS = (Fraction(1), Fraction(2, 3), Fraction(1, 2), Fraction(1, 3), INFINITY)
"""``1/p`` of the norms examined: p = 1, 3/2, 2, 3, ∞."""

FUNCTIONALS = ((3, 4), (1, 0), (-2, 5), (1, 1, 1), (2, -3, 6), (0, -7, 1, 4))
"""The functionals h, by their coordinates."""


def lp_norm(x: Sequence[flint.arb], reciprocal: Fraction) -> flint.arb:
    """Return ``‖x‖_p`` in ball arithmetic, `reciprocal` being 1/p."""
    sizes = [abs(v) for v in x]
    if reciprocal == INFINITY:
        largest = sizes[0]
        for size in sizes[1:]:
            largest = largest.max(size)
        return largest
    powers = [size ** ball(1 / reciprocal) if size != 0 else flint.arb(0) for size in sizes]
    return sum(powers, flint.arb(0)) ** ball(reciprocal)


def vertices(dimension: int, reciprocal: Fraction) -> list[tuple[int, ...]]:
    """Return the vertices of the unit ball of p = 1 or p = ∞, at which a linear functional has its extremes."""
    if reciprocal == INFINITY:
        return list(itertools.product((-1, 1), repeat=dimension))
    units = [tuple(int(i == j) for j in range(dimension)) for i in range(dimension)]
    return [tuple(s * v for v in unit) for unit in units for s in (1, -1)]


@dataclass(frozen=True, kw_only=True)
class Extremes:
    """Of one functional over one unit ball: the least and the greatest value, and ``‖h‖_q`` with 1/p + 1/q = 1."""

    h: tuple[int, ...]
    p: float | None
    least: float
    greatest: float
    conjugate: float
    greatest_is_norm: bool
    least_is_norm: bool


def extremes() -> list[Extremes]:
    """Evaluate all of them, in exact arithmetic (p = 1, ∞: over the vertices) and ball arithmetic (in between).

    For 1 < p < ∞ Hölder's inequality gives ``h(w) ≤ ‖h‖_q`` on the ball, and ``w_i ∝ sign(h_i)|h_i|^{q−1}`` attains it.
    """
    found = []
    for h, reciprocal in itertools.product(FUNCTIONALS, RECIPROCALS):
        coordinates = [flint.arb(v) for v in h]
        norm = lp_norm(coordinates, 1 - reciprocal)
        if reciprocal in (Fraction(1), INFINITY):
            values = [sum(a * b for a, b in zip(h, w, strict=True)) for w in vertices(len(h), reciprocal)]
            greatest, least = flint.arb(max(values)), flint.arb(min(values))
        else:
            power = ball(1 / (1 - reciprocal) - 1)
            w = [(1 if v > 0 else -1) * flint.arb(abs(v)) ** power if v else flint.arb(0) for v in h]
            scale = lp_norm(w, reciprocal)
            greatest = sum((a * b / scale for a, b in zip(coordinates, w, strict=True)), flint.arb(0))
            least = -greatest
        found.append(
            Extremes(
                h=h,
                p=None if reciprocal == INFINITY else float(1 / reciprocal),
                least=float(least),
                greatest=float(greatest),
                conjugate=float(norm),
                greatest_is_norm=_agree(greatest, norm),
                least_is_norm=_agree(least, norm),
            )
        )
    return found


def _agree(a: flint.arb, b: flint.arb) -> bool:
    """Whether two balls overlap and both are narrower than 1e-12 of the value."""
    tight = ball(Fraction(1, 10**12)) * abs(b).lower()
    return bool(a.overlaps(b)) and bool(a.rad() <= tight) and bool(b.rad() <= tight)


_DISCREPANCIES = (
    Discrepancy(
        id="dual-norm-sign",
        title="The dual norm is defined by a minimum",
        lines=(89,),
        consequence=Consequence.NOTHING,
        text="The minimum of a linear functional over the unit ball is minus the dual norm, and negative.",
        repair="Write the maximum in place of the minimum.",
        shown_by=("dual-norm/literal",),
        rests_on=("dual-norm/corrected",),
    ),
)


class Extreme(enum.Enum):
    """Which extreme value over the unit ball a reading takes for the norm."""

    LEAST = "min"
    GREATEST = "max"


class DualNorm(OneUnit[Extreme, list[Extremes]]):
    """``dual-norm``: ``‖h‖_* = min_{‖w‖≤1} h(w)``."""

    id = "dual-norm"
    title = "The definition of the dual norm"
    reference = "Section 2"
    label = ""
    text = "The dual norm is ‖h‖_* = min_{‖w‖≤1} h(w)"
    readings = (
        Reading(
            id="literal",
            stance=Stance.PRINTED,
            parameters=Extreme.LEAST,
            text="as it is written, with the minimum",
            statement="‖h‖_* = min_{‖w‖≤1} h(w)",
            method="both sides on a list of functionals and lp balls, exactly where the ball has vertices and in ball "
            "arithmetic elsewhere; a counterexample in exact rationals",
        ),
        Reading(
            id="corrected",
            stance=Stance.REPAIR,
            parameters=Extreme.GREATEST,
            text="the maximum in the place of the minimum",
            statement="‖h‖_* = max_{‖w‖≤1} h(w), which is ‖h‖_q for ‖·‖ = ‖·‖_p and 1/p + 1/q = 1",
            method="as literal; attained by an explicit w, not exceeded by Hölder's inequality",
        ),
    )
    discrepancies = _DISCREPANCIES
    witness_kinds = (DualNormSign,)

    def plan(self, reading: Reading[Extreme], context: Context, units: Units) -> Handle[list[Extremes]]:
        """Plan the one unit."""
        return units.add("extremes", extremes, cost=0.05)

    def decide(self, reading: Reading[Extreme], found: list[Extremes]) -> Decision:
        """Refute the literal text if a minimum is not the norm."""
        greatest = reading.parameters is Extreme.GREATEST
        right = [row for row in found if (row.greatest_is_norm if greatest else row.least_is_norm)]
        evidence = {
            "cases in which it is the norm": Quantity(value=len(right), unit=f"of {len(found)}"),
        }
        table = _table(found)
        if len(right) == len(found):
            return Decision(
                verdict=Verdict.HOLDS_ON_GRID,
                summary=f"the extreme value is the conjugate norm in each of the {len(found)} cases",
                evidence=evidence,
                tables=(table,),
            )
        if greatest:
            return Decision(
                verdict=Verdict.INCONCLUSIVE,
                summary=f"the maximum is not proven to be the norm in {len(found) - len(right)} cases",
                evidence=evidence,
                tables=(table,),
            )
        negated = sum(row.greatest_is_norm and row.least == -row.greatest for row in found)
        evidence["cases in which it is minus the norm"] = Quantity(value=negated, unit=f"of {len(found)}")
        evidence["repair"] = Quantity(value="max for min", note="no constant of the paper depends on it")
        return Decision(
            verdict=Verdict.REFUTED,
            summary="the minimum is minus the norm, a negative number for every h other than 0",
            evidence=evidence,
            tables=(table,),
            counterexample="h = (3, 4), the Euclidean ball: at w = (−3/5, −4/5) h is −5, so the minimum is at most −5, "
            "and no norm is negative.",
            witness=DualNormSign(h=("3", "4"), w=("-3/5", "-4/5")),
        )


def _table(found: list[Extremes]) -> Table:
    return Table(
        id="extremes",
        title="Extreme values of h over the unit ball of ‖·‖_p",
        columns=columns("h", "p", "min", "max", "‖h‖_q"),
        rows=tuple((str(r.h), "∞" if r.p is None else r.p, r.least, r.greatest, r.conjugate) for r in found),
    )
