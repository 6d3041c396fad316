"""Tables, the map and the counterexample in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from dpsco_verify.evidence import Axis, MapPanel, MapPlot, Quantity, Scale, Sharpness, Table, Verdict, columns
from dpsco_verify.ledger import Reading
from dpsco_verify.papers.arora2020.single_step.empirical import Seen
from dpsco_verify.papers.arora2020.single_step.exact import Cell, Status
from dpsco_verify.papers.arora2020.single_step.proof import DELTA_MAX, EPSILON_MAX
from dpsco_verify.papers.arora2020.single_step.readings import Lemma
from dpsco_verify.papers.arora2020.single_step.work import Work
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.single_step import NeighbouringStep

SIGMA_PLACES = (
    *(
        (Fraction(eps), Fraction(delta))
        for eps in ("1/10", "1", "157/125")
        for delta in ("1/1000", "1/1000000", "1/1000000000000")
    ),
    (Fraction(157, 125), Fraction(1, 10**30)),
    (Fraction(10), Fraction(1, 2)),
)
"""The (ε̃, δ) at which the smallest sufficient σ is reported: the usual ones, and two that need more."""

RARE = (10**6, 1)
"""n and m with sampling so rare that what is needed is within 0.1 % of its limit for large n."""


def sigma_table(rows: list[tuple[int, int, Fraction, Fraction, float]], *, exact: bool) -> Table:
    """Return the table of the smallest σ that would make the lemma's conclusion hold."""
    word = "smallest" if exact else "sufficient"
    return Table(
        id="sigma",
        title=f"The {word} σ for the lemma's conclusion, as a multiple of L√(3 log(1/δ))/ε̃",
        columns=columns(("n", "points"), ("m", "points"), "ε̃", "δ", f"{word} σ over the lemma's"),
        rows=tuple((n, m, float(eps), float(delta), factor) for n, m, eps, delta, factor in rows),
    )


def audit_table(seen: list[Seen]) -> Table:
    """Return the table of what the auditor saw."""
    return Table(
        id="samples",
        title="The implementation's own step, audited from samples",
        columns=columns(
            "n",
            "m",
            "ε̃",
            "δ",
            "event for w⁺ (η = 1, w = 0)",
            "samples a data set",
            "P̂(E|S)",
            "P̂(E|S')",
            "claimed bound on P(E|S) at P̂(E|S')",
            "exact gap of the best half-line",
            "MDV (power 0.9)",
            "refuted from samples",
        ),
        rows=tuple(
            (
                s.point.pair.n,
                s.point.pair.m,
                s.point.epsilon_tilde,
                s.point.delta,
                str(s.result.event),
                s.result.decision.samples,
                s.result.frequency,
                s.result.frequency_neighbour,
                math.exp(s.point.epsilon) * s.result.frequency_neighbour + s.point.claimed_delta,
                s.exact_gap,
                s.result.mdv if math.isfinite(s.result.mdv) else None,
                s.result.refuted,
            )
            for s in seen
        ),
    )


def map_plot(
    reading: Reading[Lemma], maps: Mapping[tuple[int, int], list[list[Cell]]], work: Work
) -> MapPlot:
    """Return the map of the true δ over the claimed one."""
    noise = (
        "with twice the lemma's noise" if reading.parameters.noise_factor == 2 else "with the lemma's noise"
    )
    return MapPlot(
        id="map",
        title=f"Where the single step is as private as claimed, reading {reading.id}",
        caption=f"The worst-case δ of one step {noise} over the claimed (m/n)δ: above 1 the claim fails, below it "
        "holds. Blank where upper and lower bound leave it open. Ratios below 1e-12 are shown as 1e-12.",
        x_axis=Axis(label="ε̃", scale=Scale.LOG),
        y_axis=Axis(label="δ", scale=Scale.LOG),
        value_label="true δ / claimed δ",
        level=1.0,
        panels=tuple(
            MapPanel(
                title=f"n = {n}, m = {m}",
                x=tuple(float(e) for e in work.epsilons),
                y=tuple(float(d) for d in work.deltas),
                values=tuple(
                    tuple(None if cell.status is Status.OPEN else cell.ratio for cell in row) for row in cells
                ),
            )
            for (n, m), cells in maps.items()
        ),
    )


def counterexample_words(
    cell: Cell, pair: NeighbouringStep, threshold: Fraction, epsilon: float, sigma: float
) -> str:
    """Return the counterexample as a reader would want it: n, F, the two data sets, the event, both probabilities."""
    noise = ball(sigma)
    here = float(pair.probability(pair.g, threshold, noise))
    there = float(pair.probability(pair.g_prime, threshold, noise))
    allowed = math.exp(epsilon) * there + float(cell.delta) * cell.m / cell.n
    if pair.fresh == pair.n:
        seen, others = "F = ∅, nothing seen yet", "every other point"
    else:
        seen = f"F holds all but {pair.fresh} of the points, the differing one not among F"
        others = "every other point outside F" if pair.fresh > 1 else "no other point outside F"
    with_others = f"{others} with gradient {_multiple(pair.h)}" if pair.fresh > 1 else others
    reach = 2.0 * abs(float(threshold)) + 1.0
    return (
        f"n = {cell.n}, m = {cell.m}, one dimension, linear losses f(w, z) = −wz with |z| ≤ L, ε̃ = "
        f"{float(cell.epsilon_tilde):g}, δ = {float(cell.delta):g}, so σ = {sigma:.6g} L and the claim is "
        f"({epsilon:.6g}, {float(cell.delta) * cell.m / cell.n:.6g})-DP. {seen}. S and S' differ in one point, with "
        f"gradient {_multiple(pair.g)} in S and {_multiple(pair.g_prime)} in S'; {with_others}. W = [−B, B] with "
        f"B = {reach:.4g} ηL and w = 0. Event E: w⁺ < −{float(threshold):.6g} ηL. P(E|S) = {here:.10g}, "
        f"P(E|S') = {there:.10g}, and the claim allows P(E|S) ≤ {allowed:.10g}."
    )


def _multiple(x: Fraction) -> str:
    return {Fraction(1): "+L", Fraction(-1): "−L", Fraction(0): "0"}.get(x, f"{float(x):g} L")


def sharpness(
    factor: Fraction, sigmas: list[tuple[int, int, Fraction, Fraction, float]], verdict: Verdict
) -> Sharpness:
    """Return how small σ may be, as a multiple of the lemma's; the reading has `factor` of it."""
    certified = verdict is Verdict.CERTIFIED
    inside = [s for s in sigmas if not certified or (s[2] <= EPSILON_MAX and s[3] <= DELTA_MAX)]
    exact = max((row for row in inside if row[1] == 1), key=lambda row: row[4], default=None)
    how = (
        "by the Gaussian tail bound"
        if certified
        else "no factor is enough: as δ → 1 the noise vanishes, while what is claimed stays below m/n"
    )
    if exact is not None:
        how += "; what is needed at the one place, exactly"
    return Sharpness(
        constant=f"{float(factor):g} on σ",
        claimed=float(factor),
        holds_with=float(factor) if certified else None,
        # bisection leaves a relative error of 1e-9 above the exact factor
        needed=None if exact is None else exact[4] * (1.0 - 2e-9),
        at=None if exact is None else f"n = {exact[0]}, ε̃ = {float(exact[2]):g}, δ = {float(exact[3]):g}",
        how=how,
    )


def evidence(cells: list[Cell], failing: list[Cell], seen: list[Seen]) -> dict[str, Quantity]:
    """Return the counts over the map and over the audited points."""
    region = [c for c in cells if c.epsilon_tilde <= EPSILON_MAX and c.delta <= DELTA_MAX]
    found = {
        "grid points at which it fails": Quantity(value=len(failing), unit=f"of {len(cells)}"),
        "grid points undecided": Quantity(
            value=sum(c.status is Status.OPEN for c in cells), note="between the bounds; none for m = 1"
        ),
        "of the failing ones, with ε̃ ≤ 1.256 and δ ≤ 0.81": Quantity(
            value=sum(c.status is Status.FAILS for c in region), unit=f"of {len(region)}"
        ),
    }
    if region:
        worst = max(region, key=lambda c: c.ratio)
        found["largest true δ over the claimed one, with ε̃ ≤ 1.256 and δ ≤ 0.81"] = Quantity(
            value=worst.ratio,
            note=f"at n = {worst.n}, m = {worst.m}, ε̃ = {float(worst.epsilon_tilde):g}, "
            f"δ = {float(worst.delta):g}",
        )
    found["audited points refuted from samples"] = Quantity(
        value=sum(s.result.refuted for s in seen), unit=f"of {len(seen)}"
    )
    found["audited points whose gap was within reach"] = Quantity(
        value=sum(s.within_reach for s in seen),
        unit=f"of {len(seen)}",
        note="reach: found within the cap but for probability 1e-9; the others state their MDV",
    )
    return found
