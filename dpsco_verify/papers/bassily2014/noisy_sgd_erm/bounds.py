"""The steps of noisy SGD for ERM with their noise, on grids: n² of them, or the (nε)²/√d of the paper's Section 6."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsco_verify.choices import Profile
from dpsco_verify.ledger.systems.calibration import Implemented, Place
from dpsco_verify.ledger.systems.grid import Point
from dpsco_verify.ledger.systems.sampled import SampledSteps, lower_delta, renyi_delta
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.transcript import largest_factor, smallest_factor
from dpsco_verify.related import ConditionError

NOISE = 32.0
"""The constant of σ²."""

_SIZES = {
    Profile.QUICK: (10, 10**5),
    Profile.STANDARD: (2, 10, 100, 1000, 10**4, 10**5),
    Profile.DEEP: (2, 3, 10, 30, 100, 300, 1000, 10**4, 10**5, 10**6),
}
_DELTAS = {
    Profile.QUICK: (1e-6,),
    Profile.STANDARD: (1e-3, 1e-6, 1e-9),
    Profile.DEEP: (0.1, 1e-3, 1e-6, 1e-9, 1e-12),
}
_DIMENSIONS = {
    Profile.QUICK: (1, 10**4),
    Profile.STANDARD: (1, 20, 100, 10**4),
    Profile.DEEP: (1, 5, 20, 100, 1000, 10**4),
}
_FEWEST_POINTS = 100
"""Of the grid of fewer steps; below, with d large, hardly a step is left."""


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """n, ε and δ; with a `dimension` ``T = ⌈(nε)²/√d⌉`` and the noise of T steps, else n² steps."""

    n: int
    epsilon: float
    delta: float
    dimension: int | None = None

    @property
    def iterates(self) -> int:
        """T; one step fewer is taken."""
        if self.dimension is None:
            return self.n * self.n
        return max(2, math.ceil((self.n * self.epsilon) ** 2 / math.sqrt(self.dimension)))

    @property
    def system(self) -> str:
        """The id of the system with these steps."""
        return "noisy-sgd-erm" if self.dimension is None else "noisy-sgd-erm-short-scaled"

    def __str__(self) -> str:
        dimension = "" if self.dimension is None else f"d = {self.dimension}, T = {self.iterates}, "
        return f"n = {self.n}, {dimension}ε = {self.epsilon:.4g}, δ = {self.delta:g}"


SHARP = Schedule(n=1000, epsilon=1.0, delta=1e-6)
"""Where it is searched how much less noise is enough."""


@dataclass(frozen=True, kw_only=True)
class GridBounds:
    """The grid, and the noise that is proven and refuted at one point, in units of the printed standard deviation."""

    points: tuple[Point, ...]
    implemented: tuple[Implemented, ...]
    sharp: Schedule
    proven: float | None
    failing: float | None


def printed_schedules(profile: Profile) -> tuple[Schedule, ...]:
    """Return the grid of n² steps, ε from 0.1 to the end of the source's range, ``2√log(1/δ)``."""
    return tuple(
        Schedule(n=n, epsilon=epsilon, delta=delta)
        for n in _SIZES[profile]
        for delta in _DELTAS[profile]
        for epsilon in (0.1, 1.0, 2.0 * math.sqrt(-math.log(delta)))
    )


def short_schedules(profile: Profile) -> tuple[Schedule, ...]:
    """Return the grid of (nε)²/√d steps at ε = 1, from 100 points on."""
    return tuple(
        Schedule(n=n, epsilon=1.0, delta=delta, dimension=d)
        for n in sorted({max(n, _FEWEST_POINTS) for n in _SIZES[profile]})
        for d in _DIMENSIONS[profile]
        for delta in _DELTAS[profile]
    )


def steps_of(place: Schedule) -> SampledSteps:
    """Return the steps with the noise ``σ² = 32L²T log(n/δ) log(1/δ)/ε²`` on n times a gradient."""
    logs = math.log(place.n / place.delta) * -math.log(place.delta)
    noise = math.sqrt(NOISE * place.iterates * logs) / (place.epsilon * place.n)
    return SampledSteps(n=place.n, batch=1, steps=place.iterates - 1, noise=noise)


def examine(*, places: tuple[Schedule, ...], sharp: Schedule) -> GridBounds:
    """Bound δ on the grid, and find how much less noise is proven and refuted at one place.

    The implementation's noise is compared wherever its conditions admit the place.
    """
    points, implemented = [], []
    for place in places:
        steps = steps_of(place)
        run_at = Place(place.n, place.dimension or 1, place.epsilon, place.delta)
        try:
            sigma = run_at.figures(place.system)["σ"]
        except ConditionError:
            pass
        else:
            implemented.append(Implemented(words=str(place), ratio=sigma / (place.n * steps.noise)))
        points.append(
            Point(
                words=str(place),
                claimed=place.delta,
                lower=max(0.0, lower_delta(steps, place.epsilon)[0]),
                upper=float(renyi_delta(steps, Fraction(place.epsilon)).upper()),
            )
        )
    printed, epsilon, delta = steps_of(sharp), sharp.epsilon, sharp.delta
    return GridBounds(
        points=tuple(points),
        implemented=tuple(implemented),
        sharp=sharp,
        proven=smallest_factor(
            lambda f: bool(renyi_delta(printed.scaled(float(f)), Fraction(epsilon)) <= ball(delta)),
            low=1e-2,
            high=1.0,
        ),
        failing=largest_factor(
            lambda f: lower_delta(printed.scaled(float(f)), epsilon)[0] > delta, low=1e-2, high=1.0
        ),
    )
