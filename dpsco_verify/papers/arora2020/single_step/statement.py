"""Lemma 5.2 (``lem:amp_subsamp``): privacy amplification for one iteration of Algorithm 1."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.evidence import Verdict
from dpsco_verify.evidence.checker import Witness
from dpsco_verify.inference.witnesses import event_evidence
from dpsco_verify.ledger import Context, Decision, Handle, Outcomes, Reading, Units
from dpsco_verify.ledger.e_values import event_e_value
from dpsco_verify.papers.arora2020.single_step import present
from dpsco_verify.papers.arora2020.single_step.certificates import (
    STEP,
    SingleStepRepair,
    SingleStepViolation,
)
from dpsco_verify.papers.arora2020.single_step.empirical import Point, Seen, audit_point
from dpsco_verify.papers.arora2020.single_step.exact import (
    Cell,
    Status,
    claimed_epsilon,
    map_panel,
    sigma_ball,
    sufficient_factor,
)
from dpsco_verify.papers.arora2020.single_step.proof import DELTA_MAX, EPSILON_MAX, proof_steps
from dpsco_verify.papers.arora2020.single_step.readings import DISCREPANCIES, LEMMA, READINGS, Lemma
from dpsco_verify.papers.arora2020.single_step.work import WORK, Batches, panels, points
from dpsco_verify.store import EValue, null_name

Panel = tuple[int, int]
"""n and m."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """The handles: a map for each panel, the least σ at each panel and place of the table, and the audits."""

    maps: dict[Panel, Handle[list[list[Cell]]]]
    sigmas: dict[tuple[Panel, tuple[Fraction, Fraction]], Handle[float]]
    audits: list[Handle[Seen]]


class SingleStep:
    """``single-step``: one iteration is ``((m/n)(e^ε̃ − 1), (m/n)δ)``-DP."""

    id = "single-step"
    title = "One iteration is private, amplified by subsampling"
    reference = "Lemma 5.2"
    label = "lem:amp_subsamp"
    text = f"Let σ = L√(3 log(1/δ))/ε̃. For any w, F and any i, {LEMMA.split(' with', maxsplit=1)[0]}"
    readings = READINGS

    discrepancies = DISCREPANCIES
    witness_kinds = (SingleStepViolation, SingleStepRepair)

    def plan(self, reading: Reading[Lemma], context: Context, units: Units) -> Work:
        """Plan a unit for each panel of the map, for each smallest σ, and for each audited point."""
        lemma, work = reading.parameters, WORK[context.profile]
        maps: dict[Panel, Handle[list[list[Cell]]]] = {}
        sigmas: dict[tuple[Panel, tuple[Fraction, Fraction]], Handle[float]] = {}
        for n, m in panels(lemma.batches, context.profile):
            maps[n, m] = units.add(
                f"map/n={n},m={m}",
                map_panel,
                {
                    "adjacency": lemma.adjacency,
                    "n": n,
                    "m": m,
                    "epsilons": work.epsilons,
                    "deltas": work.deltas,
                    "factor": lemma.noise_factor,
                },
                cost=len(work.epsilons) * len(work.deltas) * (2e-2 if m > 1 else 5e-3),
            )
        # What is needed grows with n, to its limit for sampling that is rare; for m = 1 it costs next to nothing.
        rare = () if lemma.batches is Batches.MINI else (present.RARE,)
        for (n, m), (eps, delta) in itertools.product(dict.fromkeys((*maps, *rare)), present.SIGMA_PLACES):
            sigmas[(n, m), (eps, delta)] = units.add(
                f"sigma/n={n},m={m},eps={eps},delta={delta}",
                sufficient_factor,
                {"adjacency": lemma.adjacency, "n": n, "m": m, "epsilon_tilde": eps, "delta": delta},
                cost=0.05,
            )
        audited = points(lemma.places, context.profile, factor=float(lemma.noise_factor))
        names = [str(k) for k in range(len(audited))]
        levels = context.levels(names, accumulated=names)
        audits = [
            units.add(
                f"audit/{k}",
                audit_point,
                {"point": point, "alpha": levels[k]},
                cost=point.cap * 1e-6,
                random=True,
            )
            for k, point in zip(names, audited, strict=True)
        ]
        return Work(maps=maps, sigmas=sigmas, audits=audits)

    def conclude(self, reading: Reading[Lemma], context: Context, work: Work, outcomes: Outcomes) -> Decision:
        """Decide: a point where the exact divergence exceeds the claim refutes; samples must tell the same story."""
        lemma = reading.parameters
        maps = {panel: outcomes[handle] for panel, handle in work.maps.items()}
        sigmas = [
            (n, m, eps, delta, outcomes[handle]) for ((n, m), (eps, delta)), handle in work.sigmas.items()
        ]
        seen = [outcomes[handle] for handle in work.audits]
        cells = [cell for panel in maps.values() for row in panel for cell in row]
        failing = [cell for cell in cells if cell.status is Status.FAILS]
        if lemma.repaired:
            inside = [c for c in failing if c.epsilon_tilde <= EPSILON_MAX and c.delta <= DELTA_MAX]
            verdict, summary, witness = _repaired(inside)
            words = None
        else:
            verdict, summary, witness, words = _literal(cells, failing)
        verdict, summary, witness = _with_samples(verdict, summary, witness, seen)
        return Decision(
            verdict=verdict,
            summary=summary,
            evidence=present.evidence(cells, failing, seen),
            tables=(present.sigma_table(sigmas, exact=next(iter(maps))[1] == 1), present.audit_table(seen)),
            plots=(present.map_plot(reading, maps, WORK[context.profile]),),
            counterexample=words,
            proof_steps=proof_steps(lemma.adjacency, lemma.noise_factor),
            sharpness=(present.sharpness(lemma.noise_factor, sigmas, verdict),),
            witness=witness,
            spent={str(k): context.spent(s.alpha) for k, s in enumerate(seen)},
            e_values=dict(_e_value(s) for s in seen),
        )


def _literal(cells: list[Cell], failing: list[Cell]) -> tuple[Verdict, str, Witness | None, str | None]:
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
    pair = cell.witness
    if pair is None:
        return Verdict.INCONCLUSIVE, "a failing point has no witness", None, None
    epsilon = float(claimed_epsilon(Fraction(cell.m, cell.n), cell.epsilon_tilde))
    sigma = float(sigma_ball(cell.epsilon_tilde, cell.delta, Fraction(1)))
    threshold = pair.best_threshold(epsilon, sigma)
    witness = SingleStepViolation(
        n=cell.n,
        m=cell.m,
        fresh=pair.fresh,
        g=str(pair.g),
        g_prime=str(pair.g_prime),
        h=str(pair.h),
        epsilon_tilde=str(cell.epsilon_tilde),
        delta=str(cell.delta),
        threshold=str(threshold),
    )
    summary = (
        f"false at {len(failing)} of {len(cells)} grid points; at n = {cell.n}, m = {cell.m}, "
        f"ε̃ = {float(cell.epsilon_tilde):g}, δ = {float(cell.delta):g} the true δ is "
        f"{cell.ratio:.4g} times the claimed (m/n)δ"
    )
    words = present.counterexample_words(cell, pair, threshold, epsilon, sigma)
    return Verdict.REFUTED, summary, witness, words


def _repaired(inside: list[Cell]) -> tuple[Verdict, str, Witness | None]:
    if inside:
        return (
            Verdict.INCONCLUSIVE,
            f"the closed form and the map disagree at {len(inside)} grid points inside the region",
            None,
        )
    return (
        Verdict.CERTIFIED,
        (
            "with twice the noise the lemma holds for replace-one neighbours and every m ≤ n, for all 0 < ε̃ ≤ "
            f"{float(EPSILON_MAX):g} and 0 < δ ≤ {float(DELTA_MAX):g}"
        ),
        SingleStepRepair(epsilon_max=str(EPSILON_MAX), delta_max=str(DELTA_MAX)),
    )


def _with_samples(
    verdict: Verdict, summary: str, witness: Witness | None, seen: list[Seen]
) -> tuple[Verdict, str, Witness | None]:
    """Let the samples speak: they can refute what the formula allows, and unmask code that is not the formula's."""
    for s in seen:
        if s.result.refuted and verdict is not Verdict.REFUTED:
            counts = s.result.counts
            return (
                Verdict.REFUTED,
                (
                    f"the implementation's step violates the claim at n = {s.point.pair.n}, ε̃ = "
                    f"{s.point.epsilon_tilde:g}, δ = {s.point.delta:g}, which the formula does not"
                ),
                event_evidence(
                    (counts.n11, counts.n10, counts.n01, counts.n00),
                    null_hypothesis=_null_name(s.point),
                    epsilon=s.point.epsilon,
                    delta=s.point.claimed_delta,
                    alpha=s.alpha,
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
    return verdict, summary, witness


def _null_name(point: Point) -> str:
    pair = point.pair
    return null_name(
        STEP,
        {
            "n": pair.n,
            "m": pair.m,
            "fresh": pair.fresh,
            "g": str(pair.g),
            "g'": str(pair.g_prime),
            "h": str(pair.h),
            "σ over the lemma's": point.factor,
            "ε̃": point.epsilon_tilde,
            "δ of the lemma": point.delta,
        },
    )


def _e_value(s: Seen) -> tuple[str, EValue]:
    """Return the evidence that the implementation's step is not as private as claimed on a pair of data sets.

    The run chose the event by a search of its own. The null hypothesis speaks of all events, so it is the same in every
    run.
    """
    return _null_name(s.point), event_e_value(
        s.result.counts,
        decision=s.result.decision,
        epsilon=s.point.epsilon,
        delta=s.point.claimed_delta,
        alpha=s.alpha,
    )
