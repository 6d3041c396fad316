"""Tables, the figure and the sharpness of the bound."""

from __future__ import annotations

import math

from dpsco_verify.algorithm.stopping_law import mean_iterations
from dpsco_verify.evidence import Axis, LinePlot, Scale, Series, SeriesStyle, Sharpness, Table, columns
from dpsco_verify.ledger import Reading
from dpsco_verify.papers.arora2020.stopping_tail.law import Simulation, Tail, claimed_tail, points_at_stop
from dpsco_verify.papers.arora2020.stopping_tail.readings import StoppingTime


def sharpness(tails: list[Tail], exponent: float | None) -> Sharpness:
    """Return how small c may be in ``2e^{−n/c}``; the exact tail at n needs ``c ≥ n/log(2/P)``."""
    needed, n = max(
        (tail.n / -math.log(tail.probability * (1.0 - tail.relative_error) / 2.0), tail.n) for tail in tails
    )
    how = f"what is needed by the exact tails for n = {tails[0].n} to {tails[-1].n}"
    return Sharpness(
        constant="16 in e^{−n/16}",
        claimed=16.0,
        holds_with=None if exponent is None else 1.0 / exponent,
        needed=needed,
        at=f"n = {n}",
        how=f"{how}; no c is enough for this rule, under which the tail tends to 1"
        if exponent is None
        else f"by Janson's bound for all n ≥ 16, without the factor 2; {how}",
    )


def tail_table(time: StoppingTime, tails: list[Tail]) -> Table:
    """Return the exact tails at some n."""
    shown = [
        tail for tail in tails if tail.n in (16, 17, 20, 24, 32, 48, 64, 96, 128, 192, 256, 384, 400, 512)
    ]
    return Table(
        id="exact-tail",
        title="Exact tail against the bound",
        columns=columns(
            ("n", "points"),
            "distinct points at the stop",
            ("E[τ]", "iterations"),
            "P(τ > 2n)",
            "2 exp(−n/16)",
            "ratio",
        ),
        rows=tuple(
            (
                tail.n,
                tail.points,
                float(mean_iterations(tail.n, points_at_stop(time.rule, tail.n)) + int(time.counter)),
                tail.probability,
                claimed_tail(tail.n),
                tail.ratio,
            )
            for tail in shown
        ),
    )


def simulation_table(simulations: list[Simulation]) -> Table:
    """Return what the runs of the implementation showed."""
    return Table(
        id="simulation",
        title="Stopping times of the implementation",
        columns=columns(
            ("n", "points"),
            "runs",
            "distance from the exact law",
            "rejected from",
            "detectable distance (power 0.9)",
            "runs with τ > 2n",
            "claimed bound on P(τ > 2n)",
            "detectable excess over it (power 0.9)",
        ),
        rows=tuple(
            (s.n, s.runs, s.distance, s.threshold, s.detectable_distance, s.late, s.claimed, s.tail_mdv)
            for s in simulations
        ),
    )


def plot(reading: Reading[StoppingTime], tails: list[Tail], exponent: float | None) -> LinePlot:
    """Return the exact tail, the claimed bound, and the one proven for all n where there is one."""
    x = tuple(float(tail.n) for tail in tails)
    series = [
        Series(name="exact P(τ > 2n)", x=x, y=tuple(tail.probability for tail in tails)),
        Series(
            name="the statement, 2 exp(−n/16)",
            x=x,
            y=tuple(claimed_tail(tail.n) for tail in tails),
            style=SeriesStyle.BOUND,
        ),
    ]
    if exponent is not None:
        series.append(
            Series(
                name=f"proven for all n, exp(−{exponent:.3f} n)",
                x=x,
                y=tuple(math.exp(-exponent * tail.n) for tail in tails),
            )
        )
    return LinePlot(
        id="tail",
        title=f"Probability of more than 2n iterations, reading {reading.id}",
        caption="The exact tail of the stopping time, the statement's bound, and the bound proven for every n "
        "where there is one. The statement holds where the exact curve lies below the dashed one.",
        x_axis=Axis(label="n (points)"),
        y_axis=Axis(label="probability", scale=Scale.LOG),
        series=tuple(series),
    )
