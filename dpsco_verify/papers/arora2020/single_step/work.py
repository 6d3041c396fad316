"""How much of ``single-step`` each profile does, and at which points."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.choices import Profile
from dpsco_verify.papers.arora2020.single_step.empirical import Point
from dpsco_verify.privacy.single_step import NeighbouringStep


def _logarithmic(low_exponent: Fraction, high_exponent: Fraction, count: int) -> tuple[Fraction, ...]:
    """Return `count` numbers from 10^low to 10^high, evenly spaced in the logarithm, to three digits."""
    numbers = []
    for k in range(count):
        exponent = low_exponent + (high_exponent - low_exponent) * Fraction(k, count - 1)
        numbers.append(Fraction(f"{10.0 ** float(exponent):.2e}"))
    return tuple(numbers)


@dataclass(frozen=True, kw_only=True)
class Work:
    """The grid of the map, its panels (n, m), and the largest number of samples of the auditor."""

    epsilons: tuple[Fraction, ...]
    deltas: tuple[Fraction, ...]
    panels: tuple[tuple[int, int], ...]
    minibatch_panels: tuple[tuple[int, int], ...]
    cap: int


def _grid(columns: int, rows: int) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    return (
        _logarithmic(Fraction(-2), Fraction(1), columns),
        (*_logarithmic(Fraction(-12), Fraction(-1), rows), Fraction(1, 2), Fraction(9, 10)),
    )


_QUICK, _STANDARD, _DEEP = _grid(10, 10), _grid(25, 23), _grid(61, 56)

WORK = {
    Profile.QUICK: Work(
        epsilons=_QUICK[0],
        deltas=_QUICK[1],
        panels=((2, 1), (1000, 1)),
        minibatch_panels=((16, 2), (1000, 10)),
        cap=500_000,
    ),
    Profile.STANDARD: Work(
        epsilons=_STANDARD[0],
        deltas=_STANDARD[1],
        panels=((2, 1), (16, 1), (1000, 1), (10**6, 1)),
        minibatch_panels=((16, 2), (16, 4), (1000, 10), (10**5, 10)),
        cap=2_000_000,
    ),
    Profile.DEEP: Work(
        epsilons=_DEEP[0],
        deltas=_DEEP[1],
        panels=((2, 1), (4, 1), (16, 1), (100, 1), (1000, 1), (10**6, 1), (10**8, 1)),
        minibatch_panels=((16, 2), (16, 4), (64, 8), (1000, 10), (10**5, 10), (10**6, 16)),
        cap=20_000_000,
    ),
}


class Batches(enum.Enum):
    """Which batches a reading speaks of."""

    SINGLE = "m = 1"
    MINI = "m > 1"
    ANY = "any m"


def panels(batches: Batches, profile: Profile) -> tuple[tuple[int, int], ...]:
    """Return the panels (n, m) of the map."""
    work = WORK[profile]
    match batches:
        case Batches.SINGLE:
            return work.panels
        case Batches.MINI:
            return work.minibatch_panels
        case Batches.ANY:
            return (*work.panels[:2], *work.minibatch_panels[:1])


Place = tuple[NeighbouringStep, float, float]
"""Two steps to tell apart, ε̃ and δ."""


def place(
    n: int, m: int, fresh: int, gradients: tuple[int, int, int], epsilon_tilde: float, delta: float
) -> Place:
    """Return the place with these gradients g, g' and h."""
    g, g_prime, h = (Fraction(x) for x in gradients)
    return (NeighbouringStep(n=n, m=m, fresh=fresh, g=g, g_prime=g_prime, h=h), epsilon_tilde, delta)


def points(places: Sequence[Place], profile: Profile, *, factor: float) -> tuple[Point, ...]:
    """Return the points at which the step is audited."""
    cap = WORK[profile].cap
    return tuple(
        Point(pair=pair, epsilon_tilde=eps, delta=delta, cap=cap, factor=factor)
        for pair, eps, delta in places
    )
