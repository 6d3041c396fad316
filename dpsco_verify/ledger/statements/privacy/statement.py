"""Theorem 5.3, the privacy part (label ``thm:main_result``): the whole transcript of Algorithm 1.

The bounds that decide are those of :mod:`dpsco_verify.privacy.transcript`: one use of the differing point (Balle and
Wang 2018; Balle, Barthe and Gaboardi 2018) and shuffling (Feldman, McMillan and Talwar 2021) from above.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dpsco_verify.evidence import (
    Quantity,
    Sharpness,
    Verdict,
)
from dpsco_verify.evidence.checker import Certificate, PrivacyRange, Rejected, issue
from dpsco_verify.execution import Outcome, WorkUnit
from dpsco_verify.ledger.statement import Conclusion, Context, Reading
from dpsco_verify.ledger.statements import transcript_cells as cells_of
from dpsco_verify.ledger.statements.privacy import claim
from dpsco_verify.ledger.statements.privacy.errata import DISCREPANCIES
from dpsco_verify.ledger.statements.privacy.proof import proof_steps
from dpsco_verify.ledger.statements.transcript_cells import Cell, Slack

_GUARANTEE = "(4ε(√log(1/δ') + 2), δ + δ' + 2e^{−n/16})-DP"

_N_MAX = 10**20
_SPLIT = 4
"""Where one use of the point and shuffling take over from the total variation, in ``log(1/(δ + δ'))``."""

_SLACK_WHERE = "at the largest ε and δ = δ' = 10⁻⁶ and 10⁻¹²"

_READINGS = (
    Reading(
        id="literal",
        text="Replace-one neighbours; the whole transcript of iterates, hence the output too; the loop as written, and "
        "with it the rule of the text, which uses no more points; 0 < δ, δ' < 1, without which σ and ε have no "
        "meaning (the text says δ, δ' > 0).",
        statement=f"for n ≥ 16 and 0 < ε ≤ 1/(2√n), with σ = 8L√log(1/δ)/(√n ε), the transcript is {_GUARANTEE}",
        method="Upper and lower bounds on the privacy curve of the whole transcript, in ball arithmetic at each grid "
        "point: n from 16 to 10⁸, ε from a thousandth of the largest, δ from 10⁻¹² to 0.999 and δ' from 10⁻¹² to 0.9.",
    ),
    Reading(
        id="bounded-n",
        text="The same for 16 ≤ n ≤ 10²⁰, all real ε, δ and δ' of the theorem.",
        statement=f"for 16 ≤ n ≤ 10²⁰ and 0 < ε ≤ 1/(2√n), with σ = 8L√log(1/δ)/(√n ε), the transcript is {_GUARANTEE}",
        method="A closed-form argument in three regions of λ = log(1/(δ + δ')) and n: the total variation, one use of "
        "the point, and shuffling, each monotone but for one function of λ, covered by cells in ball arithmetic; the "
        "grid of the literal reading must agree.",
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
    discrepancies = DISCREPANCIES

    def units(self, reading: Reading, context: Context) -> Sequence[WorkUnit]:
        """Return for each n a unit for the grid and one for the slack; every second n, without slack, for a range."""
        if reading.id == "bounded-n":
            return [
                WorkUnit(
                    name=f"{self.id}/{reading.id}/grid/n={n}",
                    function=cells_of.decide_places,
                    arguments={"claim": claim.printed, "places": claim.places(n)},
                    cost=0.2,
                )
                for n in claim.sizes(context.profile)[::2]
            ]
        units = []
        for n in claim.sizes(context.profile):
            for part, function, places, cost in (
                ("grid", cells_of.decide_places, claim.places(n), 0.2),
                ("slack", cells_of.slack_at, claim.slack_places(n), 0.2),
            ):
                units.append(
                    WorkUnit(
                        name=f"{self.id}/{reading.id}/{part}/n={n}",
                        function=function,
                        arguments={"claim": claim.printed, "places": places},
                        cost=cost,
                    )
                )
        return units

    def conclude(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:
        """Decide by the grid."""
        if reading.id == "bounded-n":
            return self._bounded(reading, context, outcomes)
        prefix = f"{self.id}/{reading.id}"
        sizes = claim.sizes(context.profile)
        cells: list[Cell] = [c for n in sizes for c in outcomes[f"{prefix}/grid/n={n}"].value]
        slacks: list[Slack] = [s for n in sizes for s in outcomes[f"{prefix}/slack/n={n}"].value]
        verdict, summary = cells_of.verdict_of(cells)
        sigmas = [s.sigma for s in slacks]
        evidence = cells_of.counts(cells) | dict(cells_of.largest(slacks))
        evidence["smallest constant still proven in place of 8"] = Quantity(
            value=None if None in sigmas else float(claim.NOISE) * max(s for s in sigmas if s is not None),
            note="at every place of the table of slack",
        )
        return Conclusion(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            tables=(cells_of.slack_table(slacks, scale_name="√n ε"),),
            plots=(cells_of.slack_plot(slacks[::2]),),
            proof_steps=proof_steps(),
            sharpness=(
                cells_of.sharpness(
                    slacks, constant="8 in σ", claimed=float(claim.NOISE), on="σ", where=_SLACK_WHERE
                ),
                cells_of.sharpness(
                    slacks, constant="4 in 4ε(√log(1/δ') + 2)", claimed=4.0, on="ε", where=_SLACK_WHERE
                ),
            ),
        )

    def _bounded(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:
        """Decide by the closed form, with which the grid must agree."""
        sizes = claim.sizes(context.profile)[::2]
        cells: list[Cell] = [c for n in sizes for c in outcomes[f"{self.id}/{reading.id}/grid/n={n}"].value]
        verdict, summary = cells_of.verdict_of(cells)
        certificate = None
        if verdict is Verdict.HOLDS_ON_GRID:
            certificate = _range_certificate(self.id, reading.id, _N_MAX)
            verdict, summary = (
                Verdict.CERTIFIED,
                f"holds for all 16 ≤ n ≤ {_N_MAX:.0e} and all ε, δ and δ' in range",
            )
        else:
            verdict, summary = Verdict.INCONCLUSIVE, f"the closed form and the grid disagree: {summary}"
        powers = [k for k in range(8, 41) if _proves(self.id, reading.id, 10**k)]
        evidence = cells_of.counts(cells)
        evidence["largest power of ten that the argument reaches"] = Quantity(
            value=max(powers) if powers else None,
            note="its n: the shuffling theorem pays n δ₀ for n approximate randomizers, which grows without limit",
        )
        return Conclusion(
            verdict=verdict,
            summary=summary,
            evidence=evidence,
            proof_steps=proof_steps(),
            sharpness=(
                Sharpness(
                    constant="10²⁰, the largest n",
                    claimed=float(_N_MAX),
                    holds_with=10.0 ** max(powers) if powers else None,
                    needed=None,
                    larger_is_stronger=True,
                    how="the largest power of ten up to 10⁴⁰ that the argument reaches",
                ),
            ),
            certificate=certificate,
        )


def _range_certificate(claim_id: str, reading: str, n_max: int) -> Certificate:
    return issue(claim_id, reading, PrivacyRange(n_max=str(n_max), split=str(_SPLIT)))


def _proves(claim_id: str, reading: str, n_max: int) -> bool:
    try:
        _range_certificate(claim_id, reading, n_max)
    except Rejected:
        return False
    return True
