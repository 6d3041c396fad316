"""How much smaller ε or σ of a claim about a transcript could be, from both sides.

From above by the bounds that decide (:mod:`dpsco_verify.privacy.transcript`, in balls), and by the sharp bound on a
whole run, in doubles with a bound on their rounding, where it is less. From below twice: for the transcript, whose
repeats are hidden, by its first increment and the sum of all; and with the pattern of repeats shown, by the instance
of ``docs/whole-run.md``, which comes nearest to the sharp bound.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Literal

import flint

from dpsco_verify.choices import Profile
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
)
from dpsco_verify.ledger import Handle, Outcomes, Units
from dpsco_verify.papers.arora2020.transcript_cells import Cell, Claim, Claimed, Place, decide_places
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import (
    PRECISION,
    Route,
    largest_factor,
    proves,
    refutes,
    smallest_factor,
    used_at_least,
    used_at_most,
)
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.functional_bounds import log_lower, log_sum, log_upper_coarse
from dpsco_verify.privacy.whole_run.plan import CHECKABLE

_LEAST, _MOST = 1e-3, 100.0
"""The factors that are tried on ε and on σ."""
_TOLERANCE = 2e-3
"""In logarithms, how near a factor by doubles is to the best that they show."""
_ROUGHLY, _CLOSELY = 1.05, 1.005
"""Up to which factor those in balls are bisected: the sharp bound goes on, or they are a few % off anyway."""
_RARE = Fraction(1, 1000)
"""The part of δ that a number of points above the usual may cost, and the probability of one below."""

On = Literal["ε", "σ"]

SHARP_UP_TO = {Profile.QUICK: 10**3, Profile.STANDARD: 10**6, Profile.DEEP: 10**6}
"""The largest n at which the sharp bounds are evaluated; they take a second a point at 10⁸."""


@dataclass(frozen=True, kw_only=True)
class Factors:
    """The factors on ε, or on σ, at a point; None where none from 0.001 to 100 is known.

    Attributes
    ----------
    proven
        The smallest with which the claim is proven.
    refuted
        The largest with which it is refuted of the transcript, in which repeats are hidden.
    shown
        The largest with which it is refuted where the pattern of repeats is shown; at least `refuted`. None also
        where n is too large for it to be looked for.
    """

    proven: float | None
    refuted: float | None
    shown: float | None


@dataclass(frozen=True, kw_only=True)
class Slack:
    """The factors on the claimed ε and on σ at a point."""

    place: Place
    epsilon: Factors
    sigma: Factors

    def on(self, which: On) -> Factors:
        """Return those on ε or on σ."""
        return self.epsilon if which == "ε" else self.sigma


def slack_at(*, claim: Claim, places: Sequence[Place], sharp_up_to: int) -> list[Slack]:
    """Find the factors at each point; by the sharp bound for n up to `sharp_up_to`."""
    found = []
    with flint.ctx.workprec(PRECISION):
        for place in places:
            c = claim(place)
            found.append(
                Slack(
                    place=place,
                    epsilon=_factors(c, "ε", sharp=place.n <= sharp_up_to),
                    sigma=_factors(c, "σ", sharp=place.n <= sharp_up_to),
                )
            )
    return found


@dataclass(frozen=True, kw_only=True)
class GridWork:
    """The handles of a claim on a grid: by n the decided points, and the slack at some of them."""

    claim: Claim
    grid: dict[int, Handle[list[Cell]]] = field(default_factory=dict)
    slack: dict[int, Handle[list[Slack]]] = field(default_factory=dict)

    def plan_grid(self, units: Units, n: int, places: Sequence[Place]) -> None:
        """Plan the decision of the points at n."""
        arguments = {"claim": self.claim, "places": places}
        self.grid[n] = units.add(f"grid/n={n}", decide_places, arguments, cost=1e-3 * len(places))

    def plan_slack(self, units: Units, n: int, places: Sequence[Place], profile: Profile) -> None:
        """Plan the search for the factors at n; the quick profile only where bounds are sharp."""
        if profile is not Profile.QUICK or n <= SHARP_UP_TO[profile]:
            arguments = {"claim": self.claim, "places": places, "sharp_up_to": SHARP_UP_TO[profile]}
            self.slack[n] = units.add(f"slack/n={n}", slack_at, arguments, cost=0.3)

    def cells(self, outcomes: Outcomes) -> list[Cell]:
        """Return the decided points."""
        return [cell for handle in self.grid.values() for cell in outcomes[handle]]

    def slacks(self, outcomes: Outcomes) -> list[Slack]:
        """Return the slack that was found."""
        return [slack for handle in self.slack.values() for slack in outcomes[handle]]


def _factors(c: Claimed, on: On, *, sharp: bool) -> Factors:
    def changed(factor: Fraction) -> dict[str, flint.arb]:
        if on == "ε":
            return {"epsilon": c.epsilon * ball(factor), "delta": c.delta, "mu": c.mu}
        return {"epsilon": c.epsilon, "delta": c.delta, "mu": c.mu / ball(factor)}

    @cache
    def holds(factor: Fraction) -> bool:
        return proves(c.transcript, **changed(factor)) is not Route.NONE

    def fails(factor: Fraction) -> bool:
        return refutes(c.transcript, **changed(factor)) is not Route.NONE

    refuted = largest_factor(fails, low=_LEAST, high=_MOST)
    proven = smallest_factor(
        holds,
        low=refuted or _LEAST,
        high=1.0 if (refuted or 0.0) < 1.0 and holds(Fraction(1)) else _MOST,
        within=_ROUGHLY if sharp else _CLOSELY,
    )
    if not sharp or proven is None:
        return Factors(proven=proven, refuted=refuted, shown=None)
    epsilon, mu, log_delta = float(c.epsilon), float(c.mu), float(c.delta.log())
    n, scale = c.transcript.n, 1.0 + 1e-14
    most = used_at_most(c.transcript, c.delta * ball(_RARE))
    least = used_at_least(c.transcript, ball(_RARE))

    def problem(log_factor: float, points: int, side: float) -> Sum:
        by = math.exp(log_factor) * side
        order, distance = (epsilon * by, mu / side) if on == "ε" else (epsilon * side, mu / by)
        return Sum(epsilon=order, mu=distance, n=n, points=points)

    def above(log_factor: float) -> float:
        rare = log_delta + math.log(_RARE) if most.rare else -math.inf
        return log_sum(log_upper_coarse(problem(log_factor, most.points, 1.0 / scale)), rare) - log_delta

    def below(log_factor: float) -> float:
        rare = math.log1p(-float(_RARE)) if least.rare else 0.0
        return log_lower(problem(log_factor, least.points, scale), CHECKABLE) + rare - log_delta

    start = math.log(proven)
    better = None if most.points == n else _crossing(above, start, step=0.08)
    if better is not None:
        proven = min(proven, math.exp(better[1]))
    best = _crossing(below, math.log(proven), step=0.02) if least.points < n else None
    shown = max(
        (f for f in (refuted, None if best is None else math.exp(best[0])) if f is not None), default=None
    )
    return Factors(proven=proven, refuted=refuted, shown=shown)


def _crossing(excess: Callable[[float], float], high: float, *, step: float) -> tuple[float, float] | None:
    """Return (low, high), close together, with excess above 0 at low and at most 0 at high; None where there are none.

    The falling function is nearly straight, so a chord is a good guess, and what is beside it brackets the root.
    """
    above = excess(high)
    if above > 0.0:
        return None
    low, below = high, above
    while below <= 0.0:
        high, above = low, below
        low, step = low - step, 3.0 * step
        if low < math.log(_LEAST):
            return None
        below = excess(low)
    while high - low > _TOLERANCE:
        guess = low + (high - low) * below / (below - above)
        inset = 0.3 * _TOLERANCE
        x = guess + inset if guess - low > high - guess else guess - inset
        x = min(max(x, low + inset), high - inset)
        value = excess(x)
        if value > 0.0:
            low, below = x, value
        else:
            high, above = x, value
    return low, high


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
            *(
                Column(name=f"{words} on {which}")
                for words in (
                    "proven factor",
                    "refuted factor, repeats hidden",
                    "refuted factor, pattern shown",
                )
                for which in ("ε", "σ")
            ),
        ),
        rows=tuple(
            (
                s.place.n,
                s.place.draws,
                float(s.place.scale),
                float(s.place.delta),
                float(s.place.delta_prime),
                s.epsilon.proven,
                s.sigma.proven,
                s.epsilon.refuted,
                s.sigma.refuted,
                s.epsilon.shown,
                s.sigma.shown,
            )
            for s in slacks
        ),
    )


def slack_plot(slacks: Sequence[Slack]) -> LinePlot:
    """Return the plot of the slack over n."""
    series = []
    for name, values in (
        ("on the claimed ε", [(s.place.n, s.epsilon.proven) for s in slacks]),
        ("on σ", [(s.place.n, s.sigma.proven) for s in slacks]),
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


def sharpness(slacks: Sequence[Slack], *, constant: str, claimed: float, on: On, where: str) -> Sharpness:
    """Return the sharpness of a constant in front of ε or of σ, over the places of the table of slack."""
    factors = [s.on(on) for s in slacks]
    known = [claimed * f.proven for f in factors if f.proven is not None]
    least, most = (end(s.place.n for s in slacks) for end in (min, max))
    found = [(_larger(f.refuted, f.shown), s.place.n) for s, f in zip(slacks, factors, strict=True)]
    fails, n = max(((claimed * f, n) for f, n in found if f is not None), default=(None, None))
    return Sharpness(
        constant=constant,
        claimed=claimed,
        holds_with=max(known) if known and len(known) == len(factors) else None,
        needed=fails,
        at=f"{where}, n = {n}",
        over=f"the table of slack: {where}, n from {least} to {most}",
        how="by the bound on a whole run, whatever is seen of it; needed with the pattern of repeats shown",
    )


def _larger(a: float | None, b: float | None) -> float | None:
    return max((f for f in (a, b) if f is not None), default=None)


def largest(slacks: Sequence[Slack]) -> Mapping[str, Quantity]:
    """Return the evidence on the slack: the largest of the smallest factors, and what is open between the views."""
    evidence = {}
    on: On
    for on in ("ε", "σ"):
        known = [(f, s.place) for s in slacks if (f := s.on(on).proven) is not None]
        top = max(known, key=operator.itemgetter(0)) if known and len(known) == len(slacks) else None
        evidence[f"smallest factor on {on} still proven"] = Quantity(
            value=top[0] if top else None,
            note=f"the largest over the places of the table, at {top[1]}"
            if top
            else "at a place of the table not even 100 is proven",
        )
    rows = [(s.sigma, s.place) for s in slacks if s.sigma.proven is not None and s.sigma.shown is not None]
    if rows:
        for name, ratios, note in (
            (
                "proven σ over refuted σ, pattern of repeats shown",
                [(f.proven / f.shown, place) for f, place in rows if f.proven and f.shown],
                "what the bound may give away if the pattern is seen",
            ),
            (
                "proven σ over refuted σ, repeats hidden",
                [(f.proven / f.refuted, place) for f, place in rows if f.proven and f.refuted],
                "what is open of the transcript; of the output alone nothing more is refuted here",
            ),
        ):
            if ratios:
                ratio, place = max(ratios, key=operator.itemgetter(0))
                evidence[name] = Quantity(value=ratio, note=f"{note}; the largest over the table, at {place}")
    return evidence
