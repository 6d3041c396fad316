"""The remark after Theorem 5.3 (label ``thm:main_result``): which parameters give (ε̄, δ̄)-differential privacy.

Its privacy is decided as Theorem 5.3's is, by the bounds of :mod:`dpsco_verify.privacy.transcript`, over the range that
the remark states; its steps are identities, checked exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import (
    Consequence,
    ProofStep,
    Quantity,
    Sharpness,
    Stance,
    Verdict,
)
from dpsco_verify.ledger import Context, Decision, Discrepancy, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020 import slack as slack_of
from dpsco_verify.papers.arora2020 import transcript_cells as cells_of
from dpsco_verify.papers.arora2020.privacy.claim import SCALE_MAX, separation
from dpsco_verify.papers.arora2020.slack import GridWork
from dpsco_verify.papers.arora2020.transcript_cells import Claimed, Place
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import loop_transcript

ORDER_FACTOR = Fraction(8)
"""The constant in ``ε = ε̄/(8√log(1/δ'))``."""

SMALLEST_N = 76
"""The first n with ``6e^{−n/16} ≤ 3e^{−4}``, n > 16(4 + ln 2): below, the range of δ̄ is empty."""

_SIZES = {
    Profile.QUICK: (76, 200, 500, 10**4, 10**6, 10**8),
    Profile.STANDARD: (76, 100, 200, 300, 500, 10**3, 10**4, 10**5, 10**6, 10**7, 10**8),
    Profile.DEEP: tuple(sorted({76, 77, 80} | {round(10.0 ** (1.9 + 0.05 * k)) for k in range(123)})),
}
_BARS = (
    *(Fraction(1, 10**k) for k in (12, 9, 6, 4, 3, 2)),
    Fraction(math.floor(3e12 * math.exp(-4)), 10**12),
)
_FRACTIONS = (Fraction(1), Fraction(1, 10), Fraction(1, 1000))


def claimed(place: Place) -> Claimed:
    """Return (ε̄, δ̄) at a point whose scale is √n ε and whose δ = δ' is δ̄/3."""
    scale = ball(place.scale)
    root = (-ball(place.delta_prime).log()).sqrt()
    return Claimed(
        transcript=loop_transcript(place.n),
        epsilon=ball(ORDER_FACTOR) * scale / flint.arb(place.n).sqrt() * root,
        delta=ball(3 * place.delta),
        mu=separation(scale, place.delta),
    )


def smallest_bar(n: int) -> Fraction:
    """Return ``6e^{−n/16}``, rounded up to at most 12 digits more than a double shows."""
    return Fraction(6.0 * math.exp(-n / 16)) * (1 + Fraction(1, 10**12))


def places(n: int, largest: Fraction) -> tuple[Place, ...]:
    """Return the grid at size n: δ̄ from the smallest that the remark allows (10⁻¹² at least) to 3e⁻⁴."""
    low = smallest_bar(n)
    bars = [bar for bar in _BARS if bar >= low]
    if low >= Fraction(1, 10**12):
        bars.append(low)
    return tuple(
        Place(n=n, draws=None, scale=largest * fraction, delta=bar / 3, delta_prime=bar / 3)
        for fraction in _FRACTIONS
        for bar in bars
    )


@dataclass(frozen=True, kw_only=True)
class SideCondition:
    """What a reading fixes: the largest √n ε, which is 1 in the remark and 1/2 in the theorem."""

    scale: Fraction


_READINGS = tuple(
    Reading(
        id=reading,
        stance=stance,
        parameters=SideCondition(scale=scale),
        text=text,
        statement=f"for 6e^{{−n/16}} ≤ δ̄ ≤ 3e^{{−4}} and ε̄/√log(3/δ̄) ≤ {condition}/√n, Algorithm 1 with δ = δ' = δ̄/3 "
        "and ε = ε̄/(8√log(1/δ')) is (ε̄, δ̄)-DP, with excess risk ≤ 5LD/√n + 160LD√d log(3/δ̄)/(ε̄n)",
        method="Upper and lower bounds on the privacy curve of the transcript in ball arithmetic at each grid point (n "
        "from 76, the first with such a δ̄, to 10⁸; δ̄ over its range down to 10⁻¹²); the steps, and the risk given "
        "that of Theorem 5.3, by exact identities.",
    )
    for reading, stance, scale, condition, text in (
        (
            "literal",
            Stance.PRINTED,
            Fraction(1),
            8,
            "The side condition as printed, ε ≤ 1/√n, which is twice what Theorem 5.3 allows.",
        ),
        ("corrected", Stance.REPAIR, SCALE_MAX, 4, "The side condition of Theorem 5.3, ε ≤ 1/(2√n)."),
    )
)


_DISCREPANCIES = (
    Discrepancy(
        id="side-condition",
        title="The remark allows twice the ε of the theorem",
        lines=(389,),
        consequence=Consequence.CONSTANT,
        text="The remark takes the side condition of the theorem to be ε ≤ 1/√n; the theorem has ε ≤ 1/(2√n).",
        repair="Write ε ≤ 1/(2√n), and 4/√n in place of 8/√n. On the grid the printed range is private enough as well, "
        "but not by the theorem.",
        shown_by=("translation#side-condition",),
        rests_on=("translation/literal", "translation/corrected"),
        constants=(("translation/literal", "8 in the side condition"),),
    ),
)


class Translation:
    """The remark after Theorem 5.3."""

    id = "translation"
    title = "Which parameters give (ε̄, δ̄)-differential privacy"
    reference = "Remark after Theorem 5.3"
    label = "thm:main_result"
    text = (
        "For 6e^{−n/16} ≤ δ̄ ≤ 3e^{−4} set δ = δ' = δ̄/3 and ε = ε̄/(8√log(1/δ')); with ε ≤ 1/√n this is (ε̄, δ̄)-DP and "
        "the risk is at most 5LD/√n + 160LD√d log(3/δ̄)/(ε̄n)"
    )
    readings = _READINGS
    discrepancies = _DISCREPANCIES
    witness_kinds = ()

    def plan(self, reading: Reading[SideCondition], context: Context, units: Units) -> GridWork:
        """Plan for each n a unit for the grid and one for the slack."""
        largest = reading.parameters.scale
        work = GridWork(claim=claimed)
        for n in _SIZES[context.profile]:
            grid = places(n, largest)
            at_top = [p for p in grid if p.scale == largest and p.delta == min(q.delta for q in grid)]
            work.plan_grid(units, n, grid)
            work.plan_slack(units, n, tuple(at_top[:1]), context.profile)
        return work

    def conclude(
        self, reading: Reading[SideCondition], context: Context, work: GridWork, outcomes: Outcomes
    ) -> Decision:
        """Decide by the grid and the exact steps that the statement itself needs."""
        scale = reading.parameters.scale
        cells = work.cells(outcomes)
        slacks = work.slacks(outcomes)
        verdict, summary = cells_of.verdict_of(cells)
        steps = proof_steps(scale)
        if verdict is Verdict.HOLDS_ON_GRID and steps[-1].verdict is not Verdict.CERTIFIED:
            verdict, summary = Verdict.INCONCLUSIVE, "the risk does not follow from Theorem 5.3's"
        evidence = cells_of.counts(cells) | dict(slack_of.largest(slacks))
        evidence["smallest n for which a δ̄ is in range"] = Quantity(value=_first_n(), unit="points")
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(slack_of.slack_table(slacks, scale_name="√n ε"),),
            proof_steps=steps,
            sharpness=(
                Sharpness(
                    constant=f"{float(ORDER_FACTOR * scale):g} in the side condition",
                    claimed=float(ORDER_FACTOR * scale),
                    holds_with=float(ORDER_FACTOR * scale) if verdict is Verdict.HOLDS_ON_GRID else None,
                    over="the grid of the reading",
                    needed=None,
                    larger_is_stronger=True,
                    how=f"point by point; Theorem 5.3 gives {float(ORDER_FACTOR * SCALE_MAX):g}",
                ),
                slack_of.sharpness(
                    slacks,
                    constant="8 in ε̄ = 8ε√log(1/δ')",
                    claimed=float(ORDER_FACTOR),
                    on="ε",
                    where="the largest ε and the smallest δ̄",
                ),
            ),
        )


def _first_n() -> int:
    """Return the smallest n with ``6e^{−n/16} ≤ 3e^{−4}``."""
    return next(n for n in range(1, 1000) if 6 * (-flint.arb(n) / 16).exp() <= 3 * (-flint.arb(4)).exp())


def proof_steps(scale: Fraction) -> tuple[ProofStep, ...]:
    """Return the verdict on each step, for the side condition ``√n ε ≤ scale``."""
    return (_order(), _delta(), _side_condition(scale), _risk())


def _order() -> ProofStep:
    """``4(x + 2) ≤ cx`` with ``x = √log(1/δ')``: for c > 4 iff ``x ≥ 8/(c − 4)``, which must be at most √4 = 2."""
    least = Fraction(8) / (ORDER_FACTOR - 4) if ORDER_FACTOR > 4 else None
    return ProofStep(
        id="order",
        statement="4ε(√log(1/δ') + 2) ≤ 8ε√log(1/δ') = ε̄ for δ̄ ≤ 3e^{−4}",
        verdict=Verdict.CERTIFIED if least is not None and least <= 2 else Verdict.REFUTED,
        evidence={
            "√log(1/δ') must be at least": Quantity(
                value=None if least is None else float(least),
                note="δ̄ = 3e^{−4} gives 2: the range is exactly this",
            )
        },
    )


def _delta() -> ProofStep:
    """``2δ̄/3 + 2e ≤ δ̄`` with ``e = e^{−n/16}``: iff ``δ̄ ≥ 2e/(1 − 2/3) = 6e``."""
    least = Fraction(2) / (1 - Fraction(2, 3))
    return ProofStep(
        id="delta",
        statement="δ + δ' + 2e^{−n/16} ≤ δ̄ for δ̄ ≥ 6e^{−n/16}",
        verdict=Verdict.CERTIFIED if least <= 6 else Verdict.REFUTED,
        evidence={"δ̄ must be at least": Quantity(value=float(least), unit="e^{−n/16}")},
    )


def _side_condition(scale: Fraction) -> ProofStep:
    """Compare with the ``√n ε ≤ 1/2`` of the theorem."""
    return ProofStep(
        id="side-condition",
        statement="the side condition on ε̄ puts ε where Theorem 5.3 allows it",
        verdict=Verdict.CERTIFIED if scale <= SCALE_MAX else Verdict.REFUTED,
        evidence={
            "largest ε̄√n/√log(3/δ̄)": Quantity(
                value=float(ORDER_FACTOR * scale),
                note=f"Theorem 5.3 allows {float(ORDER_FACTOR * SCALE_MAX):g}",
            )
        },
    )


def _risk() -> ProofStep:
    """``20√(dℓ)/(εn)`` with ``ε = ε̄/(8√ℓ)``, ℓ = log(3/δ̄), is ``20 · 8 √d ℓ/(ε̄n)``."""
    constant = 20 * ORDER_FACTOR
    return ProofStep(
        id="risk",
        statement="20LD√(d log(1/δ))/(εn) = 160LD√d log(3/δ̄)/(ε̄n)",
        verdict=Verdict.CERTIFIED if constant <= 160 else Verdict.REFUTED,
        evidence={
            "the constant": Quantity(
                value=float(constant), note="given Theorem 5.3's risk, which holds for every ε (see `risk`)"
            )
        },
    )
