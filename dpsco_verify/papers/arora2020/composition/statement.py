"""Theorem 5.1 (label ``thm:dp_guarantee``): the privacy of τ iterations, τ fixed.

The bounds that decide are those of :mod:`dpsco_verify.privacy.transcript`: from above one use of the differing point
(Balle and Wang 2018; Balle, Barthe and Gaboardi 2018) and the bound on a whole run (``docs/whole-run.md``), from
below the first increment and the sum of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.evidence import (
    Quantity,
    Sharpness,
    Stance,
    Verdict,
)
from dpsco_verify.evidence.checker import evaluate
from dpsco_verify.ledger import Context, Decision, Handle, Outcomes, Reading, Units
from dpsco_verify.papers.arora2020 import slack as slack_of
from dpsco_verify.papers.arora2020 import transcript_cells as cells_of
from dpsco_verify.papers.arora2020.composition import claim
from dpsco_verify.papers.arora2020.composition.certificates import CompositionViolation
from dpsco_verify.papers.arora2020.composition.errata import DISCREPANCIES
from dpsco_verify.papers.arora2020.composition.proof import drift_sharpness, proof_steps
from dpsco_verify.papers.arora2020.slack import GridWork, Slack
from dpsco_verify.papers.arora2020.transcript_cells import Cell, Place
from dpsco_verify.privacy.single_step import inner_epsilon_ball
from dpsco_verify.privacy.transcript import PRECISION, Route, Status

_GUARANTEE = "(2ε̃√(2τ log(1/δ'))/n + 4τε̃²/n², τδ/n + δ')-DP"
_METHOD = (
    "Upper and lower bounds on the privacy curve of the whole transcript, in ball arithmetic at each grid point "
    "(n from 16 to 10⁸, τ from 1 to 2n, δ and δ' down to 10⁻¹²): the claim holds where it is above an upper bound, "
    "fails where it is below a lower one, and is open between them."
)


@dataclass(frozen=True, kw_only=True)
class Deltas:
    """What a reading fixes: whether δ may be close to 1; it is at most 1/2 otherwise."""

    every: bool


@dataclass(frozen=True, kw_only=True)
class Work(GridWork):
    """The handles: by n the decided points, and the slack for δ at most 1/2.

    `ladder` and `ladder_slack` are those of the points with δ close to 1, for every δ.
    """

    ladder: Handle[list[Cell]] | None
    ladder_slack: Handle[list[Slack]] | None


_READINGS = (
    Reading(
        id="literal",
        stance=Stance.PRINTED,
        parameters=Deltas(every=True),
        text="σ as printed; replace-one neighbours; every 0 < ε̃ ≤ 1.256, 0 < δ < 1, 0 < δ' < 1 (at δ or δ' ≥ 1 the "
        "square root has no meaning).",
        statement=f"with σ = L√(3 log(1/δ))/ε̃, the transcript of τ iterations is {_GUARANTEE}",
        method=_METHOD,
    ),
    Reading(
        id="small-delta",
        stance=Stance.REPAIR,
        parameters=Deltas(every=False),
        text="The same for 0 < δ ≤ 1/2 alone, where a practitioner stands.",
        statement=f"with σ = L√(3 log(1/δ))/ε̃ and δ ≤ 1/2, the transcript of τ iterations is {_GUARANTEE}",
        method=_METHOD,
    ),
)


class Composition:
    """Theorem 5.1."""

    id = "composition"
    title = "A fixed number of iterations is private"
    reference = "Theorem 5.1"
    label = "thm:dp_guarantee"
    text = f"Let σ = L√(3 log(1/δ))/ε̃. For a fixed τ and ε̃ ≤ 1.256, M_τ(w₁, S) is {_GUARANTEE}, n = |S|"
    readings = _READINGS
    discrepancies = DISCREPANCIES
    witness_kinds = (CompositionViolation,)

    def plan(self, reading: Reading[Deltas], context: Context, units: Units) -> Work:
        """Plan for each n a unit for the grid, and the slack or the ladder near δ = 1."""
        every = reading.parameters.every
        work = Work(
            claim=claim.printed,
            ladder=units.add(
                "near-one",
                cells_of.decide_places,
                {
                    "claim": claim.printed,
                    "places": tuple(p for n in (16, 1000) for p in claim.near_one_places(n)),
                },
                cost=0.2,
            )
            if every
            else None,
            ladder_slack=units.add(
                "near-one-slack",
                slack_of.slack_at,
                {"claim": claim.printed, "places": claim.near_one_places(16)[-3:], "sharp_up_to": 0},
                cost=0.2,
            )
            if every
            else None,
        )
        for n in claim.sizes(context.profile):
            places = claim.places(context.profile, n, every_delta=every)
            work.plan_grid(units, n, places)
            if not every:
                work.plan_slack(units, n, claim.slack_places(n), context.profile)
        return work

    def conclude(
        self, reading: Reading[Deltas], context: Context, work: Work, outcomes: Outcomes
    ) -> Decision:
        """Decide by the grid; the witness is the first increment's half-line."""
        constant = claim.NOISE_SQUARED**0.5
        cells = work.cells(outcomes)
        slacks = work.slacks(outcomes)
        verdict, summary = cells_of.verdict_of(cells)
        evidence = cells_of.counts(cells)
        if slacks:
            evidence |= slack_of.largest(slacks)
            factors = [s.sigma.proven for s in slacks]
            evidence["smallest c proven in σ = cL√log(1/δ)/ε̃, τ = n, δ = δ' = 10⁻⁶, ε̃ = 1.256"] = Quantity(
                value=None if None in factors else constant * max(f for f in factors if f is not None),
                note=f"the theorem has {constant:.4g}; the largest over the grid's n",
            )
        witness: CompositionViolation | None = None
        counterexample: str | None = None
        if verdict is Verdict.REFUTED:
            failing = [
                c.place for c in cells if c.status is Status.FAILS and c.route is Route.FIRST_INCREMENT
            ]
            if failing:
                witness = _violation(failing[-1])
                counterexample = _words(failing[-1], witness, self.id, reading.id)
        if work.ladder is not None:
            broken = [c.place for c in outcomes[work.ladder] if c.status is Status.FAILS]
            evidence["smallest δ of a ladder at which it fails"] = Quantity(
                value=float(min(p.delta for p in broken)) if broken else None,
                note="steps of 0.01 from 0.5, τ = 1, ε̃ = 1.256, n = 16 and 1000",
            )
        near_one = None if work.ladder_slack is None else outcomes[work.ladder_slack]
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(slack_of.slack_table(slacks, scale_name="ε̃"),) if slacks else (),
            plots=(slack_of.slack_plot(slacks),) if slacks else (),
            counterexample=counterexample,
            proof_steps=proof_steps(),
            sharpness=(_noise_sharpness(slacks, near_one), drift_sharpness()),
            witness=witness,
        )


def _noise_sharpness(slacks: Sequence[Slack], near_one: Sequence[Slack] | None) -> Sharpness:
    """Return how small c may be in ``σ = cL√log(1/δ)/ε̃``."""
    constant = claim.NOISE_SQUARED**0.5
    if near_one is None:
        return slack_of.sharpness(
            slacks,
            constant="√3 in σ",
            claimed=constant,
            on="σ",
            where="τ = n, δ = δ' = 10⁻⁶ and the largest ε̃",
        )
    refuted = [constant * s.sigma.refuted for s in near_one if s.sigma.refuted is not None]
    return Sharpness(
        constant="√3 in σ",
        claimed=constant,
        holds_with=None,
        needed=max(refuted, default=None),
        at="n = 16, τ = 1, δ = 0.99 and the largest ε̃",
        how="what is needed by the first increment; as δ → 1 no c is enough, since σ vanishes",
    )


def _violation(place: Place) -> CompositionViolation:
    """Return the witness at a failing point: the half-line where the likelihood ratio passes e^ε."""
    with flint.ctx.workprec(PRECISION):
        claimed = claim.printed(place)
        order = inner_epsilon_ball(flint.arb(1) / place.n, claimed.epsilon)
        threshold = Fraction(float(2 * order / claimed.mu**2)).limit_denominator(1000)
    return CompositionViolation(
        n=place.n,
        tau=place.draws or 1,
        epsilon_tilde=str(place.scale),
        delta=str(place.delta),
        delta_prime=str(place.delta_prime),
        threshold=str(threshold),
    )


def _words(place: Place, witness: CompositionViolation, claim_id: str, reading: str) -> str:
    words, left, right = evaluate(witness, claim_id, reading)
    return (
        f"At {place}: all points but one have gradient −L, the differing one +L in S and −L in S'. E is the event "
        f"that the first increment, gradient plus noise, exceeds {float(Fraction(witness.threshold)):.4g} L. "
        f"{words}: {float(left):.6g} > {float(right):.6g}."
    )
