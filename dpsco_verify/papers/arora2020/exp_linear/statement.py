"""The inequality ``e^x − 1 ≤ 2x`` for 0 ≤ x ≤ 1.256, from the proof of Theorem 5.1 (``thm:dp_guarantee``)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity, Sharpness, Stance, Verdict
from dpsco_verify.ledger import Context, Decision, Handle, OneUnit, Reading, Units
from dpsco_verify.papers.arora2020.exp_linear.certificates import ExpLinear
from dpsco_verify.privacy.balls import ball, decide, enclose

_CELLS = {Profile.QUICK: 256, Profile.STANDARD: 1024, Profile.DEEP: 4096}


@dataclass(frozen=True, kw_only=True)
class Range:
    """What was computed about ``e^x − 1 ≤ factor · x`` on [0, end].

    Attributes
    ----------
    end_holds
        Whether the strict inequality is proven at the end; by concavity of the difference this proves the whole range.
    cells, cells_proven
        The independent route: the range cut into cells, and on how many of them the inequality is proven.
    ratio
        An enclosure of ``(e^end − 1)/end``, the smallest factor for which the range holds.
    last
        An enclosure of the largest x to which the inequality reaches.
    """

    end_holds: bool
    cells: int
    cells_proven: int
    ratio: tuple[float, float]
    last: tuple[Fraction, Fraction]


def examine(*, factor: Fraction, end: Fraction, cells: int) -> Range:
    """Examine ``e^x − 1 ≤ factor · x`` on [0, end], in ball arithmetic, by concavity and cell by cell."""
    proven = sum(
        _proven(factor, Fraction(k, cells) * end, Fraction(k + 1, cells) * end) for k in range(cells)
    )
    return Range(
        end_holds=_below(factor, end),
        cells=cells,
        cells_proven=proven,
        ratio=enclose(lambda: ball(end).expm1() / ball(end), relative=1e-15),
        last=last_point(factor),
    )


def _below(factor: Fraction, x: Fraction) -> bool:
    return decide(lambda: ball(factor * x), lambda: ball(x).expm1()) is True


def _proven(factor: Fraction, low: Fraction, high: Fraction) -> bool:
    """Prove ``e^x − 1 ≤ factor · x`` on [low, high] without concavity.

    The mean value form: the inequality at `low`, and over the cell the change is at most
    ``(high − low) · max(0, e^high − factor)``. At 0 both sides are 0.
    """
    width = ball(high - low)
    at_low = ball(factor * low) - ball(low).expm1()
    worst_slope = ball(high).exp() - ball(factor)
    if low == 0:
        return bool(worst_slope <= 0)
    if worst_slope <= 0:
        return bool(at_low >= 0)
    return bool(at_low - width * worst_slope > 0)


def last_point(factor: Fraction) -> tuple[Fraction, Fraction]:
    """Enclose the positive root of ``e^x − 1 = factor · x`` (factor > 1) between rationals 2⁻⁵⁰ apart, by bisection."""
    low, high = Fraction(1, 1024), Fraction(1)
    while _below(factor, high):
        low, high = high, 2 * high
    while high - low > Fraction(1, 2**50):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(factor, middle) else (low, middle)
    return low, high


class ExpLinearStatement(OneUnit[None, Range]):
    """``exp-linear``: ``e^x − 1 ≤ 2x`` for 0 ≤ x ≤ 1.256."""

    id = "exp-linear"
    title = "The exponential stays below a line up to 1.256"
    reference = "Proof of Theorem 5.1"
    label = "thm:dp_guarantee"
    text = "For ε̃ ≤ 1.256, e^ε̃ − 1 ≤ 2ε̃"
    factor = Fraction(2)
    end = Fraction(157, 125)
    readings = (
        Reading(
            id="literal",
            stance=Stance.PRINTED,
            parameters=None,
            text="as it is written, for ε̃ from 0",
            statement="e^x − 1 ≤ 2x for 0 ≤ x ≤ 1.256",
            method="2x − e^x + 1 is concave and 0 at 0, so its sign at the end decides, in ball arithmetic; beside it "
            "the range cell by cell in mean value form; the end of the range by bisection between rationals",
        ),
    )
    witness_kinds = (ExpLinear,)

    def plan(self, reading: Reading[None], context: Context, units: Units) -> Handle[Range]:
        """Plan the one unit."""
        return units.add(
            "range",
            examine,
            {"factor": self.factor, "end": self.end, "cells": _CELLS[context.profile]},
            cost=0.1,
        )

    def decide(self, reading: Reading[None], found: Range) -> Decision:
        """Certify if the end of the range holds."""
        low, high = found.last
        evidence = {
            "largest x with e^x − 1 ≤ 2x": Quantity(
                value=float(low), note=f"enclosed between {float(low):.15f} and {float(high):.15f}"
            ),
            "smallest factor for the range": Quantity(
                value=found.ratio[1], note="(e^x − 1)/x at x = 1.256, rounded up; the statement has 2"
            ),
            "cells proven in mean value form": Quantity(
                value=found.cells_proven,
                unit=f"of {found.cells}",
                note="an independent route that does not use concavity",
            ),
        }
        if not found.end_holds:
            return Decision(
                verdict=Verdict.REFUTED,
                summary=f"false at x = {float(self.end):g}; it holds up to x = {float(low):.6f}",
                evidence=evidence,
            )
        return Decision(
            verdict=Verdict.CERTIFIED,
            summary=f"holds on the whole range; it would hold up to x = {float(low):.6f}",
            evidence=evidence,
            sharpness=(
                Sharpness(
                    constant="2 in e^x − 1 ≤ 2x",
                    claimed=float(self.factor),
                    holds_with=found.ratio[1],
                    needed=found.ratio[0],
                    at="the end of the range",
                    how="an enclosure of (e^x − 1)/x there",
                ),
                Sharpness(
                    constant="1.256, the end of the range",
                    claimed=float(self.end),
                    holds_with=float(low),
                    needed=float(high),
                    larger_is_stronger=True,
                    how="by bisection between rationals, in ball arithmetic",
                ),
            ),
            witness=ExpLinear(factor=str(self.factor), end=str(self.end)),
        )
