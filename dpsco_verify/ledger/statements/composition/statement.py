"""Theorem 5.1 (label ``thm:dp_guarantee``): the privacy of τ iterations, τ fixed.

The bounds that decide are those of :mod:`dpsco_verify.privacy.transcript`: from above one use of the differing point
(Balle and Wang 2018; Balle, Barthe and Gaboardi 2018) and shuffling (Feldman, McMillan and Talwar 2021), from below
the first increment and the sum of all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import flint
from msgspec.structs import replace

from dpsco_verify.evidence import (
    Quantity,
    Sharpness,
    Verdict,
)
from dpsco_verify.evidence.checker import Certificate, CompositionViolation, issue
from dpsco_verify.execution import Outcome, WorkUnit
from dpsco_verify.ledger.statement import Conclusion, Context, Reading
from dpsco_verify.ledger.statements import transcript_cells as cells_of
from dpsco_verify.ledger.statements.composition import claim
from dpsco_verify.ledger.statements.composition.errata import DISCREPANCIES
from dpsco_verify.ledger.statements.composition.proof import drift_sharpness, proof_steps
from dpsco_verify.ledger.statements.transcript_cells import Cell, Place, Slack
from dpsco_verify.privacy.single_step import inner_epsilon_ball
from dpsco_verify.privacy.transcript import PRECISION, Route, Status

_GUARANTEE = "(2ε̃√(2τ log(1/δ'))/n + 4τε̃²/n², τδ/n + δ')-DP"
_METHOD = (
    "Upper and lower bounds on the privacy curve of the whole transcript, in ball arithmetic at each grid point "
    "(n from 16 to 10⁸, τ from 1 to 2n, δ and δ' down to 10⁻¹²): the claim holds where it is above an upper bound, "
    "fails where it is below a lower one, and is open between them."
)

_READINGS = (
    Reading(
        id="literal",
        text="σ as printed; replace-one neighbours; every 0 < ε̃ ≤ 1.256, 0 < δ < 1, 0 < δ' < 1 (at δ or δ' ≥ 1 the "
        "square root has no meaning).",
        statement=f"with σ = L√(3 log(1/δ))/ε̃, the transcript of τ iterations is {_GUARANTEE}",
        method=_METHOD,
    ),
    Reading(
        id="small-delta",
        text="The same for 0 < δ ≤ 1/2 alone, where a practitioner stands.",
        statement=f"with σ = L√(3 log(1/δ))/ε̃ and δ ≤ 1/2, the transcript of τ iterations is {_GUARANTEE}",
        method=_METHOD,
    ),
    Reading(
        id="corrected",
        text="The smallest whole constant with which every point of the grid is proven, 9 in place of √3, "
        "and δ ≤ 1/2.",
        statement=f"with σ = 9L√log(1/δ)/ε̃ and δ ≤ 1/2, the transcript of τ iterations is {_GUARANTEE}",
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

    def units(self, reading: Reading, context: Context) -> Sequence[WorkUnit]:
        """Return for each n a unit for the grid and one for the slack, and the ladder near δ = 1."""
        prefix = f"{self.id}/{reading.id}"
        claimed = claim.repaired if reading.id == "corrected" else claim.printed
        units = []
        for n in claim.sizes(context.profile):
            grid = claim.places(reading.id, context.profile, n)
            units.append(
                WorkUnit(
                    name=f"{prefix}/grid/n={n}",
                    function=cells_of.decide_places,
                    arguments={"claim": claimed, "places": grid},
                    cost=1e-2 * len(grid),
                )
            )
            if reading.id == "corrected":
                units.append(
                    WorkUnit(
                        name=f"{prefix}/one-less/n={n}",
                        function=cells_of.decide_places,
                        arguments={"claim": claim.one_less, "places": grid},
                        cost=1e-2 * len(grid),
                    )
                )
            units.append(
                WorkUnit(
                    name=f"{prefix}/slack/n={n}",
                    function=cells_of.slack_at,
                    arguments={"claim": claimed, "places": claim.slack_places(n)},
                    cost=0.1,
                )
            )
        if reading.id == "literal":
            units.append(
                WorkUnit(
                    name=f"{prefix}/near-one-slack",
                    function=cells_of.slack_at,
                    arguments={"claim": claimed, "places": claim.near_one_places(16)[-3:]},
                    cost=0.2,
                )
            )
            units.append(
                WorkUnit(
                    name=f"{prefix}/near-one",
                    function=cells_of.decide_places,
                    arguments={
                        "claim": claimed,
                        "places": tuple(p for n in (16, 1000) for p in claim.near_one_places(n)),
                    },
                    cost=0.2,
                )
            )
        return units

    def conclude(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:
        """Decide by the grid; the witness is the first increment's half-line."""
        prefix = f"{self.id}/{reading.id}"
        sizes = claim.sizes(context.profile)
        cells: list[Cell] = [c for n in sizes for c in outcomes[f"{prefix}/grid/n={n}"].value]
        slacks: list[Slack] = [s for n in sizes for s in outcomes[f"{prefix}/slack/n={n}"].value]
        verdict, summary = cells_of.verdict_of(cells)
        evidence = cells_of.counts(cells) | dict(cells_of.largest(slacks))
        certificate, words = None, None
        if verdict is Verdict.REFUTED:
            failing = [
                c.place for c in cells if c.status is Status.FAILS and c.route is Route.FIRST_INCREMENT
            ]
            if failing:
                certificate, words = _witness(self.id, reading.id, failing[-1])
        if reading.id == "literal":
            ladder: list[Cell] = outcomes[f"{prefix}/near-one"].value
            broken = [c.place for c in ladder if c.status is Status.FAILS]
            evidence["smallest δ of a ladder at which it fails"] = Quantity(
                value=float(min(p.delta for p in broken)) if broken else None,
                note="steps of 0.01 from 0.5, τ = 1, ε̃ = 1.256, n = 16 and 1000",
            )
        constant = claim.NOISE_SQUARED[reading.id] ** 0.5
        if reading.id == "corrected":
            less: list[Cell] = [c for n in sizes for c in outcomes[f"{prefix}/one-less/n={n}"].value]
            evidence["grid points proven with the next smaller whole constant"] = Quantity(
                value=sum(c.status is Status.HOLDS for c in less),
                unit=f"of {len(less)}",
                note=f"{constant - 1:g} in place of {constant:g}",
            )
        factors = [s.sigma for s in slacks]
        evidence["smallest c proven in σ = cL√log(1/δ)/ε̃, τ = n, δ = δ' = 10⁻⁶, ε̃ = 1.256"] = Quantity(
            value=None if None in factors else constant * max(f for f in factors if f is not None),
            note=f"this reading has {constant:.4g}; the largest over the grid's n",
        )
        noise = (flint.arb(claim.NOISE_SQUARED[reading.id]) / 3).sqrt()
        return Conclusion(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(cells_of.slack_table(slacks, scale_name="ε̃"),),
            plots=(cells_of.slack_plot(slacks),),
            counterexample=words,
            proof_steps=proof_steps(noise),
            sharpness=(
                _noise_sharpness(reading, constant, slacks, outcomes, verdict),
                drift_sharpness(),
            ),
            certificate=certificate,
        )


def _noise_sharpness(
    reading: Reading,
    constant: float,
    slacks: Sequence[Slack],
    outcomes: Mapping[str, Outcome],
    verdict: Verdict,
) -> Sharpness:
    """Return how small c may be in ``σ = cL√log(1/δ)/ε̃``."""
    at_table = cells_of.sharpness(
        slacks,
        constant=f"{'9' if reading.id == 'corrected' else '√3'} in σ",
        claimed=constant,
        on="σ",
        where="at τ = n, δ = δ' = 10⁻⁶ and the largest ε̃",
    )
    if reading.id == "corrected":
        how = f"on the grid; {at_table.how}"
        return replace(at_table, holds_with=constant if verdict is Verdict.HOLDS_ON_GRID else None, how=how)
    if reading.id == "literal":
        near_one: list[Slack] = outcomes[f"composition/{reading.id}/near-one-slack"].value
        refuted = [constant * s.sigma_fails for s in near_one if s.sigma_fails is not None]
        return replace(
            at_table,
            holds_with=None,
            needed=max([*refuted, *([] if at_table.needed is None else [at_table.needed])], default=None),
            how="what is needed at n = 16, τ = 1, δ = 0.99 and the largest ε̃ by the first increment; as δ → 1 no c is "
            "enough, since σ vanishes",
        )
    return at_table


def _witness(claim_id: str, reading: str, place: Place) -> tuple[Certificate, str]:
    """Return the certificate at a failing point: the half-line where the likelihood ratio passes e^ε."""
    with flint.ctx.workprec(PRECISION):
        claimed = claim.printed(place)
        order = inner_epsilon_ball(flint.arb(1) / place.n, claimed.epsilon)
        threshold = Fraction(float(2 * order / claimed.mu**2)).limit_denominator(1000)
    certificate = issue(
        claim_id,
        reading,
        CompositionViolation(
            n=place.n,
            tau=place.draws or 1,
            epsilon_tilde=str(place.scale),
            delta=str(place.delta),
            delta_prime=str(place.delta_prime),
            threshold=str(threshold),
        ),
    )
    words = (
        f"At {place}: all points but one have gradient −L, the differing one +L in S and −L in S'. E is the event "
        f"that the first increment, gradient plus noise, exceeds {float(threshold):.4g} L. "
        f"{certificate.inequality}: {float(certificate.left):.6g} > {float(certificate.right):.6g}."
    )
    return certificate, words
