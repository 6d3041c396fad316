"""Lemma 5.2 (``lem:amp_subsamp``): privacy amplification for one iteration of Algorithm 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

from dpsco_verify.evidence import (
    Verdict,
)
from dpsco_verify.evidence.checker import Certificate, SingleStepRepair, SingleStepViolation, issue
from dpsco_verify.execution import Outcome, WorkUnit
from dpsco_verify.inference.bets import bet_fractions, depth_for_range
from dpsco_verify.ledger.e_values import event_e_value
from dpsco_verify.ledger.evidence_certificates import event_certificate
from dpsco_verify.ledger.statement import Conclusion, Context, Reading
from dpsco_verify.ledger.statements.single_step import present
from dpsco_verify.ledger.statements.single_step.empirical import Seen, audit_point
from dpsco_verify.ledger.statements.single_step.errata import DISCREPANCIES
from dpsco_verify.ledger.statements.single_step.exact import (
    Adjacency,
    Cell,
    Status,
    claimed_epsilon,
    map_panel,
    sigma_ball,
    sufficient_factor,
)
from dpsco_verify.ledger.statements.single_step.proof import DELTA_MAX, EPSILON_MAX, proof_steps
from dpsco_verify.ledger.statements.single_step.readings import LEMMA, READINGS
from dpsco_verify.ledger.statements.single_step.work import WORK, points
from dpsco_verify.store import EValue, null_name


def _adjacency(reading: Reading) -> Adjacency:
    return Adjacency.ZERO_OUT if reading.id.startswith("zero-out") else Adjacency.REPLACE_ONE


def _factor(reading: Reading) -> Fraction:
    return Fraction(2 if reading.id == "corrected" else 1)


class SingleStep:
    """``single-step``: one iteration is ``((m/n)(e^ε̃ − 1), (m/n)δ)``-DP."""

    id = "single-step"
    title = "One iteration is private, amplified by subsampling"
    reference = "Lemma 5.2"
    label = "lem:amp_subsamp"
    text = f"Let σ = L√(3 log(1/δ))/ε̃. For any w, F and any i, {LEMMA.split(' with', maxsplit=1)[0]}"
    readings = READINGS

    def _panels(self, reading: Reading, context: Context) -> tuple[tuple[int, int], ...]:
        work = WORK[context.profile]
        if reading.id == "corrected":
            return (*work.panels[:2], *work.minibatch_panels[:1])
        return work.minibatch_panels if reading.id.endswith("minibatch") else work.panels

    discrepancies = DISCREPANCIES

    def units(self, reading: Reading, context: Context) -> Sequence[WorkUnit]:
        """Return a unit for each panel of the map, for each smallest σ, and for each audited point."""
        work = WORK[context.profile]
        adjacency, factor = _adjacency(reading), _factor(reading)
        prefix = f"{self.id}/{reading.id}"
        units = []
        for n, m in self._panels(reading, context):
            units.append(
                WorkUnit(
                    name=f"{prefix}/map/n={n},m={m}",
                    function=map_panel,
                    arguments={
                        "adjacency": adjacency,
                        "n": n,
                        "m": m,
                        "epsilons": work.epsilons,
                        "deltas": work.deltas,
                        "factor": factor,
                    },
                    cost=len(work.epsilons) * len(work.deltas) * (2e-2 if m > 1 else 5e-3),
                )
            )
            units.extend(
                WorkUnit(
                    name=f"{prefix}/sigma/n={n},m={m},eps={eps},delta={delta}",
                    function=sufficient_factor,
                    arguments={
                        "adjacency": adjacency,
                        "n": n,
                        "m": m,
                        "epsilon_tilde": eps,
                        "delta": delta,
                    },
                    cost=0.05,
                )
                for eps, delta in present.SIGMA_PLACES
            )
        audited = points(reading.id, context.profile, factor=float(factor))
        names = [str(k) for k in range(len(audited))]
        levels = context.levels(names, over_runs=names)
        for k, point in enumerate(audited):
            name = f"{prefix}/audit/{k}"
            units.append(
                WorkUnit(
                    name=name,
                    function=audit_point,
                    arguments={
                        "point": point,
                        "alpha": levels[str(k)],
                        "seed": context.seed,
                        "name": name,
                    },
                    cost=point.cap * 1e-6,
                )
            )
        return units

    def conclude(self, reading: Reading, context: Context, outcomes: Mapping[str, Outcome]) -> Conclusion:
        """Decide: a point where the exact divergence exceeds the claim refutes; samples must tell the same story."""
        prefix = f"{self.id}/{reading.id}"
        work = WORK[context.profile]
        panels = self._panels(reading, context)
        maps: dict[tuple[int, int], list[list[Cell]]] = {
            (n, m): outcomes[f"{prefix}/map/n={n},m={m}"].value for n, m in panels
        }
        sigmas = [
            (n, m, eps, delta, outcomes[f"{prefix}/sigma/n={n},m={m},eps={eps},delta={delta}"].value)
            for n, m in panels
            for eps, delta in present.SIGMA_PLACES
        ]
        seen: list[Seen] = [
            outcomes[f"{prefix}/audit/{k}"].value
            for k in range(len(points(reading.id, context.profile, factor=1.0)))
        ]
        cells = [cell for panel in maps.values() for row in panel for cell in row]
        failing = [cell for cell in cells if cell.status is Status.FAILS]
        if reading.id == "corrected":
            inside = [c for c in failing if c.epsilon_tilde <= EPSILON_MAX and c.delta <= DELTA_MAX]
            verdict, summary, certificate = self._repaired(reading, inside)
            words = None
        else:
            verdict, summary, certificate, words = self._literal(reading, cells, failing)
        verdict, summary, certificate = self._with_samples(reading, verdict, summary, certificate, seen)
        return Conclusion(
            verdict=verdict,
            summary=summary,
            evidence=present.evidence(cells, failing, seen),
            tables=(present.sigma_table(sigmas, exact=panels[0][1] == 1), present.audit_table(seen)),
            plots=(present.map_plot(reading.id, maps, work.epsilons, work.deltas),),
            counterexample=words,
            proof_steps=proof_steps(_adjacency(reading), _factor(reading)),
            sharpness=(present.sharpness(_factor(reading), sigmas, verdict),),
            certificate=certificate,
            spent={str(k): context.spent(s.alpha) for k, s in enumerate(seen)},
            e_values=dict(_e_value(s) for s in seen),
        )

    def _literal(
        self, reading: Reading, cells: list[Cell], failing: list[Cell]
    ) -> tuple[Verdict, str, Certificate | None, str | None]:
        if not failing:
            undecided = sum(cell.status is Status.OPEN for cell in cells)
            if undecided:
                return (
                    Verdict.INCONCLUSIVE,
                    f"{undecided} of {len(cells)} grid points lie between the bounds",
                    None,
                    None,
                )
            return Verdict.HOLDS_ON_GRID, f"holds at all {len(cells)} grid points", None, None
        # The witness: among the points that Theorem 5.1 would use, at a δ that can be read, the largest excess.
        usual = [c for c in failing if c.epsilon_tilde <= EPSILON_MAX and c.delta >= Fraction(1, 10**6)]
        cell = max(usual or failing, key=lambda c: (c.ratio, c.n))
        witness = cell.witness
        if witness is None:
            return Verdict.INCONCLUSIVE, "a failing point has no witness", None, None
        epsilon = float(claimed_epsilon(Fraction(cell.m, cell.n), cell.epsilon_tilde))
        sigma = float(sigma_ball(cell.epsilon_tilde, cell.delta, Fraction(1)))
        threshold = witness.best_threshold(epsilon, sigma)
        certificate = issue(
            self.id,
            reading.id,
            SingleStepViolation(
                n=cell.n,
                m=cell.m,
                fresh=witness.fresh,
                g=str(witness.g),
                g_prime=str(witness.g_prime),
                h=str(witness.h),
                epsilon_tilde=str(cell.epsilon_tilde),
                delta=str(cell.delta),
                threshold=str(threshold),
            ),
        )
        summary = (
            f"false at {len(failing)} of {len(cells)} grid points; at n = {cell.n}, m = {cell.m}, "
            f"ε̃ = {float(cell.epsilon_tilde):g}, δ = {float(cell.delta):g} the true δ is "
            f"{cell.ratio:.4g} times the claimed (m/n)δ"
        )
        words = present.counterexample_words(cell, witness, threshold, epsilon, sigma)
        return Verdict.REFUTED, summary, certificate, words

    def _repaired(self, reading: Reading, inside: list[Cell]) -> tuple[Verdict, str, Certificate | None]:
        if inside:
            return (
                Verdict.INCONCLUSIVE,
                f"the closed form and the map disagree at {len(inside)} grid points inside the region",
                None,
            )
        certificate = issue(
            self.id,
            reading.id,
            SingleStepRepair(epsilon_max=str(EPSILON_MAX), delta_max=str(DELTA_MAX)),
        )
        return (
            Verdict.CERTIFIED,
            (
                "with twice the noise the lemma holds for replace-one neighbours and every m ≤ n, for all 0 < ε̃ ≤ "
                f"{float(EPSILON_MAX):g} and 0 < δ ≤ {float(DELTA_MAX):g}"
            ),
            certificate,
        )

    def _with_samples(
        self,
        reading: Reading,
        verdict: Verdict,
        summary: str,
        certificate: Certificate | None,
        seen: list[Seen],
    ) -> tuple[Verdict, str, Certificate | None]:
        """Let the samples speak: they can refute what the formula allows, and unmask code that is not the formula's."""
        for s in seen:
            if s.result.refuted and verdict is not Verdict.REFUTED:
                counts = s.result.counts
                low = -math.exp(s.point.epsilon) - s.point.claimed_delta
                fractions = bet_fractions(depth=depth_for_range(low, 1.0 - s.point.claimed_delta))
                return (
                    Verdict.REFUTED,
                    (
                        f"the implementation's step violates the claim at n = {s.point.pair.n}, ε̃ = "
                        f"{s.point.epsilon_tilde:g}, δ = {s.point.delta:g}, which the formula does not"
                    ),
                    event_certificate(
                        self.id,
                        reading.id,
                        epsilon=s.point.epsilon,
                        delta=s.point.claimed_delta,
                        alpha=s.alpha * (1 + 1e-9),
                        fractions=list(fractions),
                        counts=(counts.n11, counts.n10, counts.n01, counts.n00),
                    ),
                )
        silent = [s for s in seen if not s.agrees]
        if silent:
            s = silent[0]
            return (
                Verdict.INCONCLUSIVE,
                (
                    f"the implementation's step does not show the exact gap of {s.exact_gap:.4g} at n = "
                    f"{s.point.pair.n}, ε̃ = {s.point.epsilon_tilde:g}, δ = {s.point.delta:g}, although {s.point.cap} "
                    "samples were sure to: it is not the step of the formula"
                ),
                None,
            )
        return verdict, summary, certificate


def _e_value(s: Seen) -> tuple[str, EValue]:
    """Return the evidence that the implementation's step is not as private as claimed on a pair of data sets.

    The run chose the event by a search of its own. The null hypothesis speaks of all events, so it is the same in every
    run.
    """
    pair = s.point.pair
    name = null_name(
        "the step on S and S' is (ε, δ)-DP",
        {
            "n": pair.n,
            "m": pair.m,
            "fresh": pair.fresh,
            "g": str(pair.g),
            "g'": str(pair.g_prime),
            "h": str(pair.h),
            "σ over the lemma's": s.point.factor,
            "ε̃": s.point.epsilon_tilde,
            "δ of the lemma": s.point.delta,
        },
    )
    return name, event_e_value(
        s.result.counts,
        decision=s.result.decision,
        epsilon=s.point.epsilon,
        delta=s.point.claimed_delta,
        alpha=s.alpha,
    )
