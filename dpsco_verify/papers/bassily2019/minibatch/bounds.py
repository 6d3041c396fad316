"""Bounds on δ for noisy mini-batch SGD with its printed numbers, and the grids (n, d, ε) on which they are taken."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsco_verify.choices import Profile
from dpsco_verify.evidence import Quantity
from dpsco_verify.ledger.systems.calibration import Implemented, Place
from dpsco_verify.ledger.systems.grid import Point
from dpsco_verify.ledger.systems.sampled import SampledSteps, lower_delta, upper_delta
from dpsco_verify.privacy.balls import ball
from dpsco_verify.privacy.single_step import replace_one_delta
from dpsco_verify.privacy.transcript import largest_factor, smallest_factor

NOISE = 8.0
"""The constant of σ²."""

DELTA = 1e-6
"""The δ of the readings that do not take the largest."""

Places = tuple[tuple[int, int, float], ...]
"""Of a grid: n, d and ε of each."""

ENOUGH = 25
"""The T from which the printed noise is enough, wherever it was examined."""

FEW = (
    (32, 1, 1.0),
    (80, 5, 1.0),
    (150, 20, 1.0),
    (100, 5, 1.0),
    (100, 1, 1.0),
    (1000, 1, 1.0),
    (1000, 100, 1.0),
)
"""The first three have T = 2, where the mean of the points before the steps, w₁ and w₂, tells the first step."""
ONE_STEP = ((25, 1, 1.0), (80, 10, 1.0), (700, 1000, 1.0))
"""They have T = 1, where the mean of the points after the steps is the first step."""


def _with_steps(least: int) -> Places:
    """Return the largest grid: where T is at least so much at δ = 1/n²."""
    return tuple(
        (n, d, epsilon)
        for n in (100, 200, 300, 1000, 3000, 8000, 10**4, 10**5, 3 * 10**5)
        for d in (1, 5, 20, 100)
        for epsilon in (0.2, 0.5, 1.0)
        if min(n / 8, (epsilon * n) ** 2 / (64 * d * math.log(n))) >= least
    )


TEN = {
    Profile.QUICK: ((200, 1, 1.0),),
    Profile.STANDARD: (
        (100, 1, 1.0),
        (200, 1, 1.0),
        (200, 1, 0.5),
        (500, 5, 1.0),
        (1000, 1, 1.0),
        (1000, 100, 1.0),
        (10**4, 20, 0.2),
    ),
    Profile.DEEP: _with_steps(10),
}
MANY = {
    Profile.QUICK: ((8000, 1, 1.0), (200, 1, 1.0)),
    Profile.STANDARD: (
        (8000, 1, 1.0),
        (200, 1, 1.0),
        (300, 1, 0.5),
        (500, 20, 1.0),
        (1000, 1, 1.0),
        (1000, 20, 1.0),
        (10**4, 1, 0.5),
        (10**4, 5, 1.0),
        (10**5, 1, 1.0),
        (10**5, 20, 0.2),
    ),
    Profile.DEEP: ((8000, 1, 1.0), *_with_steps(ENOUGH)),
}
LARGE = ((1000, 1, 5.0), (1000, 1, 2.0), (10**4, 1, 5.0))


@dataclass(frozen=True, kw_only=True)
class GridBounds:
    """The grid; where it fails, the worst parameters with the threshold; the noise proven and refuted at one point."""

    points: tuple[Point, ...]
    implemented: tuple[Implemented, ...]
    worst: tuple[int, int, float, float]
    proven: float
    failing: float | None


def printed(n: int, dimension: int, epsilon: float, delta: float) -> SampledSteps:
    """Return the steps with the printed T, m and σ."""
    logs = -math.log(delta)
    steps = math.floor(min(n / 8.0, (epsilon * n) ** 2 / (32.0 * dimension * logs)))
    batch = math.ceil(max(n * math.sqrt(epsilon / (4.0 * steps)), 1.0))
    return SampledSteps(n=n, batch=batch, steps=steps, noise=math.sqrt(NOISE * steps * logs) / (n * epsilon))


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What a reading is about.

    Attributes
    ----------
    system
        The system whose noise is compared with the printed one.
    places
        The grid of each profile.
    upper
        Whether the claim can hold, so that an upper bound is worth its time.
    sharp
        Whether it is searched, but in the quick profile, how much less noise is proven and refuted.
    output_tells
        The T for which the output tells the first step: the worst is sought there, and judged by that step alone.
    factor
        What the printed σ is multiplied by.
    largest
        Whether δ is 1/n², the largest for which the source claims, and not 10⁻⁶.
    """

    system: str
    places: Mapping[Profile, Places]
    upper: bool = False
    sharp: bool = False
    output_tells: int | None = None
    factor: float = 1.0
    largest: bool = False

    def at(self, n: int, dimension: int, epsilon: float) -> tuple[float, SampledSteps]:
        """Return δ and the steps at a place."""
        delta = 1.0 / (n * n) if self.largest else DELTA
        return delta, printed(n, dimension, epsilon, delta).scaled(self.factor)


def examine(*, scope: Scope, profile: Profile) -> GridBounds:
    """Bound δ at each place from below, and from above on demand; compare the implementation where ε ≤ 1."""
    points, implemented = [], []
    judged: list[tuple[float, tuple[int, int, float, float]]] = []
    places = scope.places[profile]
    for n, dimension, epsilon in places:
        delta, steps = scope.at(n, dimension, epsilon)
        told = steps.steps == scope.output_tells
        words = (
            f"{'the output' if told else 'all steps'}, n = {n}, d = {dimension}, ε = {epsilon:g}, T = "
            f"{steps.steps}, m = {steps.batch}{', δ = 1/n²' if scope.largest else ''}"
        )
        low, threshold = lower_delta(replace(steps, steps=1) if told else steps, epsilon)
        if told or scope.output_tells is None:
            judged.append((low, (n, dimension, epsilon, threshold)))
        if epsilon <= 1.0:
            figures = Place(n, dimension, epsilon, delta).figures(scope.system)
            # The noise on the sum of a step's gradients; the batch and the number of steps must be the printed ones.
            same = (figures["T"], figures["m"]) == (steps.steps, steps.batch)
            implemented.append(Implemented(words=words, ratio=figures["σ"] / steps.noise if same else 0.0))
        above = upper_delta(steps, epsilon) if scope.upper else None
        points.append(Point(words=words, claimed=delta, lower=max(0.0, low), upper=above))
    proven, failing = 1.0, None
    if scope.sharp and profile is not Profile.QUICK:
        (delta, steps), epsilon = scope.at(*places[0]), places[0][-1]
        enough = smallest_factor(
            lambda f: upper_delta(steps.scaled(float(f)), epsilon) <= delta, low=0.7, high=1.0
        )
        proven = enough or 1.0
        failing = too_little(steps, epsilon, delta, low=0.3, high=1.0)
    return GridBounds(
        points=tuple(points),
        implemented=tuple(implemented),
        worst=max(judged)[1],
        proven=proven,
        failing=failing,
    )


def too_little(steps: SampledSteps, epsilon: float, delta: float, *, low: float, high: float) -> float | None:
    """Return the largest factor on the noise in [low, high] that the lower bound refutes."""
    return largest_factor(
        lambda f: lower_delta(steps.scaled(float(f)), epsilon)[0] > delta, low=low, high=high
    )


def without_replacement(steps: SampledSteps, n: int, epsilon: float) -> dict[str, Quantity]:
    """Return the exact δ of the one step that the output tells, had its batch been drawn without replacement."""
    share, sigma = ball(Fraction(steps.batch, n)), ball(steps.batch * steps.noise)
    value = replace_one_delta(share, ball(epsilon), sigma)
    return {
        "the same without replacement": Quantity(
            value=float(value.lower()),
            note="at the same place; that points are drawn repeatedly is not what breaks it",
        )
    }
