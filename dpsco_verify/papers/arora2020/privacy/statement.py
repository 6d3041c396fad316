"""Theorem 5.3, the privacy part (label ``thm:main_result``): the whole transcript of Algorithm 1.

The bounds that decide are those of :mod:`dpsco_verify.privacy.transcript`: one use of the differing point (Balle and
Wang 2018; Balle, Barthe and Gaboardi 2018) and the bound on a whole run (``docs/whole-run.md``) from above.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from dpsco_verify.evidence import (
    Consequence,
    Quantity,
    Sharpness,
    Stance,
    Verdict,
)
from dpsco_verify.evidence.checker import Rejected, evaluate
from dpsco_verify.ledger import Context, Decision, Discrepancy, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020 import slack as slack_of
from dpsco_verify.papers.arora2020 import transcript_cells as cells_of
from dpsco_verify.papers.arora2020.privacy import claim
from dpsco_verify.papers.arora2020.privacy.certificates import PrivacyRange
from dpsco_verify.papers.arora2020.privacy.proof import proof_steps
from dpsco_verify.papers.arora2020.slack import GridWork
from dpsco_verify.papers.arora2020.transcript_cells import Cell

_GUARANTEE = "(4ε(√log(1/δ') + 2), δ + δ' + 2e^{−n/16})-DP"

_SPLIT = 4
"""Where one use of the point and shuffling take over from the total variation, in ``log(1/(δ + δ'))``."""


@dataclass(frozen=True, kw_only=True)
class Range:
    """What a reading fixes: the largest n, which is ``10^power``, or None for every n from 16 on."""

    power: int | None


_SLACK_WHERE = "the largest ε, δ = δ' = 10⁻⁶ and 10⁻¹²"

_READINGS = (
    Reading(
        id="literal",
        stance=Stance.PRINTED,
        parameters=Range(power=None),
        text="Replace-one neighbours; the whole transcript of iterates with the pattern of repeats, hence the "
        "corrected output too; the printed one, an average over indices of data, is no function of it, and has a "
        "reading of its own; the loop as written, and "
        "with it the rule of the text, which uses no more points; 0 < δ, δ' < 1, without which σ and ε have no "
        "meaning (the text says δ, δ' > 0).",
        statement=f"for n ≥ 16 and 0 < ε ≤ 1/(2√n), with σ = 8L√log(1/δ)/(√n ε), the transcript is {_GUARANTEE}",
        method="Upper and lower bounds on the privacy curve of the whole transcript, in ball arithmetic at each grid "
        "point: n from 16 to 10⁸, ε from a thousandth of the largest, δ from 10⁻¹² to 0.999 and δ' from 10⁻¹² to 0.9.",
    ),
    Reading(
        id="bounded-n",
        stance=Stance.REPAIR,
        parameters=Range(power=20),
        text="The same for 16 ≤ n ≤ 10²⁰, all real ε, δ and δ' of the theorem.",
        statement=f"for 16 ≤ n ≤ 10²⁰ and 0 < ε ≤ 1/(2√n), with σ = 8L√log(1/δ)/(√n ε), the transcript is {_GUARANTEE}",
        method="A closed-form argument in three regions of λ = log(1/(δ + δ')) and n: the total variation, one use of "
        "the point, and shuffling, each monotone but for one function of λ, covered by cells in ball arithmetic; the "
        "grid of the literal reading must agree.",
    ),
    Reading(
        id="printed-output",
        stance=Stance.REPAIR,
        parameters=Range(power=6),
        text="The output as printed, the average of w_j over the indices j of the points drawn, with a mark where "
        "there is no w_j; for 16 ≤ n ≤ 10⁶. It is a function of the transcript and of F, which tells whether the "
        "differing point was drawn. Beyond 10⁶ nothing is known of it here.",
        statement=f"for 16 ≤ n ≤ 10⁶ and 0 < ε ≤ 1/(2√n), with σ = 8L√log(1/δ)/(√n ε), transcript and F are "
        f"{_GUARANTEE}",
        method="As for bounded-n, with no amplification by what is not drawn: given F that is known.",
    ),
)


_DISCREPANCIES = (
    Discrepancy(
        id="twice-delta",
        title="The composition theorem gives 2δ where the main theorem has δ",
        lines=(379, 385),
        consequence=Consequence.NOTHING,
        text=(
            "At τ = 2n the composition theorem pays δ for each of the two passes, so its second parameter is "
            "2δ + δ'; the main theorem has δ + δ'."
        ),
        repair=(
            "By the proof of the paper, write 2δ. The statement with δ holds all the same, by one use of a "
            "point and by the bound on a whole run."
        ),
        shown_by=("privacy#delta",),
        rests_on=("privacy/literal", "privacy/bounded-n"),
        constants=(("privacy/literal", "8 in σ"),),
    ),
    Discrepancy(
        id="negative-probability",
        title="A probability is printed with a minus sign",
        lines=(385,),
        consequence=Consequence.NOTHING,
        text="The event of a late stop is said to have probability −2e^{−n/16}.",
        repair="Write: at most 2e^{−n/16}.",
        shown_by=("privacy#tail",),
        rests_on=("stopping-tail/loop",),
    ),
)


class Privacy:
    """Theorem 5.3, the privacy part."""

    id = "privacy"
    title = "Algorithm 1 is private"
    reference = "Theorem 5.3"
    label = "thm:main_result"
    text = f"Let n ≥ 16, ε ≤ 1/(2√n), σ = 8L√log(1/δ)/(√n ε). Algorithm 1 is {_GUARANTEE} for any δ' > 0"
    readings = _READINGS
    discrepancies = _DISCREPANCIES
    witness_kinds = (PrivacyRange,)

    def plan(self, reading: Reading[Range], context: Context, units: Units) -> GridWork:
        """Plan for each n a unit for the grid and one for the slack; every second n, without slack, for a range."""
        work = GridWork(claim=claim.printed)
        every = reading.parameters.power is None
        for n in claim.sizes(context.profile)[:: 1 if every else 2]:
            work.plan_grid(units, n, claim.places(n))
            if every:
                work.plan_slack(units, n, claim.slack_places(n), context.profile)
        return work

    def conclude(
        self, reading: Reading[Range], context: Context, work: GridWork, outcomes: Outcomes
    ) -> Decision:
        """Decide by the grid."""
        cells = work.cells(outcomes)
        if reading.parameters.power is not None:
            return self._bounded(reading.id, reading.parameters.power, cells)
        slacks = work.slacks(outcomes)
        verdict, summary = cells_of.verdict_of(cells)
        sigmas = [s.sigma.proven for s in slacks]
        evidence = cells_of.counts(cells) | dict(slack_of.largest(slacks))
        evidence["smallest constant still proven in place of 8"] = Quantity(
            value=None if None in sigmas else float(claim.NOISE) * max(s for s in sigmas if s is not None),
            note="at every place of the table of slack",
        )
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(slack_of.slack_table(slacks, scale_name="√n ε"),),
            plots=(slack_of.slack_plot(slacks[::2]),),
            proof_steps=proof_steps(),
            sharpness=(
                slack_of.sharpness(
                    slacks, constant="8 in σ", claimed=float(claim.NOISE), on="σ", where=_SLACK_WHERE
                ),
                slack_of.sharpness(
                    slacks, constant="4 in 4ε(√log(1/δ') + 2)", claimed=4.0, on="ε", where=_SLACK_WHERE
                ),
            ),
        )

    def _bounded(self, reading: str, power: int, cells: list[Cell]) -> Decision:
        """Decide by the closed form, with which the grid must agree."""
        n_max = 10**power
        verdict, summary = cells_of.verdict_of(cells)
        witness = None
        if verdict is Verdict.HOLDS_ON_GRID:
            witness = _range_witness(n_max)
            verdict, summary = (
                Verdict.CERTIFIED,
                f"holds for all 16 ≤ n ≤ {n_max:.0e} and all ε, δ and δ' in range",
            )
        else:
            verdict, summary = Verdict.INCONCLUSIVE, f"the closed form and the grid disagree: {summary}"
        # The checker accepts no less than what the reading claims.
        powers = list(itertools.takewhile(lambda k: _proves(self.id, reading, 10**k), range(power, 41)))
        evidence = cells_of.counts(cells)
        evidence["largest power of ten that the argument reaches"] = Quantity(
            value=max(powers) if powers else None,
            note="its n: the shuffling theorem pays n δ₀ for n approximate randomizers, which grows without limit",
        )
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            proof_steps=proof_steps(),
            sharpness=(
                Sharpness(
                    constant=f"{'10²⁰' if power == 20 else '10⁶'}, the largest n",
                    claimed=float(n_max),
                    holds_with=10.0 ** max(powers) if powers else None,
                    needed=None,
                    larger_is_stronger=True,
                    how="the largest power of ten up to 10⁴⁰ that the argument reaches",
                ),
            ),
            witness=witness,
        )


def _range_witness(n_max: int) -> PrivacyRange:
    return PrivacyRange(n_max=str(n_max), split=str(_SPLIT))


def _proves(claim_id: str, reading: str, n_max: int) -> bool:
    try:
        evaluate(_range_witness(n_max), claim_id, reading)
    except Rejected:
        return False
    return True
