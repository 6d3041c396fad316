"""What the statements about the whole transcript share: decided points of a grid, their counts, and what follows."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import flint

from dpsco_verify.evidence import (
    Axis,
    Column,
    LinePlot,
    Quantity,
    Scale,
    Series,
    SeriesStyle,
    Sharpness,
    Table,
    Verdict,
)
from dpsco_verify.privacy.transcript import (
    PRECISION,
    Route,
    Status,
    Transcript,
    decide,
    largest_factor,
    proves,
    refutes,
    smallest_factor,
)


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """What is claimed of a transcript: (ε, δ), where the noise puts two gradients of opposite sign μ = 2L/σ apart."""

    transcript: Transcript
    epsilon: flint.arb
    delta: flint.arb
    mu: flint.arb


@dataclass(frozen=True, kw_only=True)
class Place:
    """A point of a grid. `draws` is τ, and None under the loop's rule; `scale` is ε̃, which is √n ε in Theorem 5.3."""

    n: int
    draws: int | None
    scale: Fraction
    delta: Fraction
    delta_prime: Fraction

    def __str__(self) -> str:
        """Return the point in words."""
        tau = "" if self.draws is None else f", τ = {self.draws}"
        return (
            f"n = {self.n}{tau}, ε̃ = {float(self.scale):g}, δ = {float(self.delta):g}, "
            f"δ' = {float(self.delta_prime):g}"
        )


_LEAST, _MOST = 1e-3, 100.0
"""The factors that are tried on ε and on σ."""

Claim = Callable[[Place], Claimed]
"""What a statement claims at a point; a function of a module's top level, so that it can travel."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A decided point."""

    place: Place
    status: Status
    route: Route


@dataclass(frozen=True, kw_only=True)
class Slack:
    """The smallest factors on the claimed ε and on σ with which the claim is still proven; None above 100.

    `epsilon_fails` and `sigma_fails` are the largest with which a lower bound refutes it; None if not even 0.001 does.
    """

    place: Place
    epsilon: float | None
    sigma: float | None
    epsilon_fails: float | None
    sigma_fails: float | None


def decide_places(*, claim: Claim, places: Sequence[Place]) -> list[Cell]:
    """Decide each point in ball arithmetic."""
    cells = []
    with flint.ctx.workprec(PRECISION):
        for place in places:
            c = claim(place)
            decision = decide(c.transcript, epsilon=c.epsilon, delta=c.delta, mu=c.mu)
            cells.append(Cell(place=place, status=decision.status, route=decision.route))
    return cells


def slack_at(*, claim: Claim, places: Sequence[Place]) -> list[Slack]:
    """Find how much smaller ε or σ could be at each point with the claim still proven."""
    found = []
    with flint.ctx.workprec(PRECISION):
        for place in places:
            c = claim(place)

            def with_epsilon(factor: Fraction, c: Claimed = c) -> bool:
                epsilon = c.epsilon * flint.fmpq(factor.numerator, factor.denominator)
                return proves(c.transcript, epsilon=epsilon, delta=c.delta, mu=c.mu) is not Route.NONE

            def with_sigma(factor: Fraction, c: Claimed = c) -> bool:
                mu = c.mu * flint.fmpq(factor.denominator, factor.numerator)
                return proves(c.transcript, epsilon=c.epsilon, delta=c.delta, mu=mu) is not Route.NONE

            def against_epsilon(factor: Fraction, c: Claimed = c) -> bool:
                epsilon = c.epsilon * flint.fmpq(factor.numerator, factor.denominator)
                return refutes(c.transcript, epsilon=epsilon, delta=c.delta, mu=c.mu) is not Route.NONE

            def against_sigma(factor: Fraction, c: Claimed = c) -> bool:
                mu = c.mu * flint.fmpq(factor.denominator, factor.numerator)
                return refutes(c.transcript, epsilon=c.epsilon, delta=c.delta, mu=mu) is not Route.NONE

            found.append(
                Slack(
                    place=place,
                    epsilon=smallest_factor(with_epsilon, low=_LEAST, high=_MOST),
                    sigma=smallest_factor(with_sigma, low=_LEAST, high=_MOST),
                    epsilon_fails=largest_factor(against_epsilon, low=_LEAST, high=_MOST),
                    sigma_fails=largest_factor(against_sigma, low=_LEAST, high=_MOST),
                )
            )
    return found


def verdict_of(cells: Sequence[Cell]) -> tuple[Verdict, str]:
    """Return the verdict of a grid: a failing point refutes, an open one leaves it undecided."""
    count = Counter(cell.status for cell in cells)
    if count[Status.FAILS]:
        worst = next(cell for cell in cells if cell.status is Status.FAILS)
        return (
            Verdict.REFUTED,
            f"false at {count[Status.FAILS]} of {len(cells)} grid points, as at {worst.place}",
        )
    if count[Status.OPEN]:
        return Verdict.INCONCLUSIVE, (
            f"holds at {count[Status.HOLDS]} of {len(cells)} grid points; the other {count[Status.OPEN]} lie between "
            "the bounds, where neither the claim nor its negation is proven"
        )
    return Verdict.HOLDS_ON_GRID, f"holds at all {len(cells)} grid points, in ball arithmetic"


def counts(cells: Sequence[Cell]) -> dict[str, Quantity]:
    """Return how many points hold, fail and are open, and which bounds decided."""
    unit = f"of {len(cells)}"
    status = Counter(cell.status for cell in cells)
    route = Counter(cell.route for cell in cells)
    return {
        "grid points at which it holds": Quantity(value=status[Status.HOLDS], unit=unit),
        "grid points at which it fails": Quantity(value=status[Status.FAILS], unit=unit),
        "grid points between the bounds": Quantity(value=status[Status.OPEN], unit=unit),
        "decided by one use of the point": Quantity(value=route[Route.ONE_USE], unit=unit),
        "decided by the shuffling theorem": Quantity(value=route[Route.SHUFFLING], unit=unit),
    }


def slack_table(slacks: Sequence[Slack], *, scale_name: str) -> Table:
    """Return the table of slack."""
    return Table(
        id="slack",
        title="The smallest factors on ε and σ still proven, and the largest refuted (0.001 to 100 tried; empty: none)",
        columns=(
            Column(name="n", unit="points"),
            Column(name="τ"),
            Column(name=scale_name),
            Column(name="δ"),
            Column(name="δ'"),
            Column(name="factor on ε"),
            Column(name="factor on σ"),
            Column(name="refuted up to this factor on ε"),
            Column(name="refuted up to this factor on σ"),
        ),
        rows=tuple(
            (
                s.place.n,
                s.place.draws,
                float(s.place.scale),
                float(s.place.delta),
                float(s.place.delta_prime),
                s.epsilon,
                s.sigma,
                s.epsilon_fails,
                s.sigma_fails,
            )
            for s in slacks
        ),
    )


def slack_plot(slacks: Sequence[Slack]) -> LinePlot:
    """Return the plot of the slack over n."""
    series = []
    for name, values in (
        ("on the claimed ε", [(s.place.n, s.epsilon) for s in slacks]),
        ("on σ", [(s.place.n, s.sigma) for s in slacks]),
    ):
        kept = sorted((float(n), v) for n, v in values if v is not None)
        series.append(
            Series(
                name=name, x=tuple(n for n, _ in kept), y=tuple(v for _, v in kept), style=SeriesStyle.LINE
            )
        )
    place = slacks[0].place
    return LinePlot(
        id="slack",
        title="How much smaller ε or σ could be with the guarantee still proven",
        caption=f"At δ = {float(place.delta):g}, δ' = {float(place.delta_prime):g} and the largest ε allowed. Below 1 "
        "the claim is proven with room to spare; what is not proven may still be true.",
        x_axis=Axis(label="n", scale=Scale.LOG),
        y_axis=Axis(label="smallest factor proven", scale=Scale.LOG),
        series=tuple(series),
    )


def sharpness(
    slacks: Sequence[Slack], *, constant: str, claimed: float, on: Literal["ε", "σ"], where: str
) -> Sharpness:
    """Return the sharpness of a constant in front of ε or of σ, over the places of the table of slack."""
    proven = [s.epsilon if on == "ε" else s.sigma for s in slacks]
    refuted = [s.epsilon_fails if on == "ε" else s.sigma_fails for s in slacks]
    fails = [claimed * f for f in refuted if f is not None]
    known = [claimed * f for f in proven if f is not None]
    return Sharpness(
        constant=constant,
        claimed=claimed,
        holds_with=max(known) if known and len(known) == len(proven) else None,
        needed=max(fails) if fails else None,
        how=f"at every place of the table of slack, {where}; proven by the upper bounds, needed by the lower ones",
    )


def largest(slacks: Sequence[Slack]) -> Mapping[str, Quantity]:
    """Return the evidence on the slack: the largest of the smallest factors."""
    evidence = {}
    for name, values in (
        ("ε", [(s.epsilon, s.place) for s in slacks]),
        ("σ", [(s.sigma, s.place) for s in slacks]),
    ):
        known = [(v, place) for v, place in values if v is not None]
        top = max(known, key=operator.itemgetter(0)) if known and len(known) == len(values) else None
        evidence[f"smallest factor on {name} still proven"] = Quantity(
            value=top[0] if top else None,
            note=f"the largest over the places of the table, at {top[1]}"
            if top
            else "at a place of the table not even 100 is proven",
        )
    return evidence
