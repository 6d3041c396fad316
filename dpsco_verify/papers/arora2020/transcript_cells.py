"""What the statements about the whole transcript share: decided points of a grid, their counts, and what follows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from dpsco_verify.evidence import Quantity, Verdict
from dpsco_verify.privacy.transcript import PRECISION, Route, Status, Transcript, decide


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


Claim = Callable[[Place], Claimed]
"""What a statement claims at a point; a function of a module's top level, so that it can travel."""


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A decided point."""

    place: Place
    status: Status
    route: Route


def decide_places(*, claim: Claim, places: Sequence[Place]) -> list[Cell]:
    """Decide each point in ball arithmetic."""
    cells = []
    with flint.ctx.workprec(PRECISION):
        for place in places:
            c = claim(place)
            decision = decide(c.transcript, epsilon=c.epsilon, delta=c.delta, mu=c.mu)
            cells.append(Cell(place=place, status=decision.status, route=decision.route))
    return cells


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
        "decided by the bound on the whole run": Quantity(value=route[Route.WHOLE_RUN], unit=unit),
    }
