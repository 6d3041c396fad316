"""Where to compute: tilt, window and grid for the sum of a run's steps.

Every choice made here leaves the bounds true; a poor one makes them loose. So plain approximations do: the law
of one step is a few thousand points, equally spaced in z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.narrowing import best_kept, placed
from dpsco_verify.privacy.whole_run.refinement import Envelope, Narrow

_POINTS = 800
_LEAST_SIZE = 2**12
MARGIN = 6.0
"""How far, in standard deviations of the sum, the last point of a step's law is to pass the threshold."""
_SMALLEST, _STEEPEST = -690.0, 650.0
"""Logarithms near the least double, which no density is to fall below, and near the largest, for the tilt."""
_ORDINARY = -25.0
_LOST = 1e-4
"""The relative part of δ that may come from moving the lowest values of a step up, about."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A tilt θ, a grid of `size` points `step` apart, and where one step's law is on it.

    The envelope has `below` cells below 0 and `above` cells above. Narrowed, it has a foot, and from `below` cells
    further on `above` cells.
    """

    theta: float
    step: float
    size: int
    below: int
    above: int
    reach: int
    narrow: Narrow | None = None

    @property
    def last(self) -> float:
        """T, the last point of a step's law."""
        if self.narrow is None:
            return self.above * self.step
        return self.narrow.foot + (self.below + self.above) * self.step


@dataclass(frozen=True, kw_only=True)
class Grid:
    """How fine a grid may be, and how wide.

    Attributes
    ----------
    spreading
        The part of δ that the grid may add, about; more where δ is far below 1e-6, for the same part of σ.
    largest
        The most points, whatever they add.
    cells
        The most cells of one step's law.
    aliasing
        Minus the logarithm of the probability, after the tilt, that the sum leaves the window.
    reach
        How far above the threshold the window reaches, in units of 1/θ.
    """

    spreading: float
    largest: int
    cells: int
    aliasing: float
    reach: float


FINE = Grid(spreading=0.004, largest=2**21, cells=2**21, aliasing=20.0, reach=20.0)
CHECKABLE = Grid(spreading=0.02, largest=2**15, cells=2**13, aliasing=12.0, reach=14.0)
"""What the independent checker convolves in balls within a second."""


def plan_envelope(problem: Sum, log_part: float, grid: Grid = FINE) -> Plan | None:
    """Choose for the envelope; None where the threshold is out of the sum's reach.

    `log_part` is the logarithm of what may be lost beyond the last point of a step's law. That point need not pass
    the threshold by much: what is beyond it then counts in full.
    """
    return _plan(problem, *envelope_points(problem.epsilon, problem.mu), log_part, grid)


def plan_attained(problem: Sum, log_part: float, grid: Grid = FINE) -> Plan | None:
    """Choose for the attained law."""
    return _plan(problem, *_attained_points(problem.epsilon, problem.mu), log_part, grid)


def _spread(problem: Sum, values: FloatArray, weights: FloatArray) -> float:
    """Return the standard deviation of the sum."""
    values = np.maximum(values, -values.max())
    return math.sqrt(problem.steps * float(weights @ (values - float(weights @ values)) ** 2))


@dataclass(frozen=True, kw_only=True)
class _Window:
    """A tilt, how wide the grid has to be under it, the last point of a step's law, and that law, about."""

    theta: float
    width: float
    highest: float
    values: FloatArray
    weights: FloatArray


def _window(
    problem: Sum, values: FloatArray, weights: FloatArray, log_part: float, grid: Grid, shift: float = 0.0
) -> _Window | None:
    highest = negligible_beyond(problem, log_part)
    for _ in range(2):
        spread = _spread(problem, np.minimum(values, highest), weights)
        highest = min(highest, problem.distance + MARGIN * spread)
    m, c = problem.steps, problem.threshold - shift
    values = np.clip(values, -100.0 * highest, highest)
    log_weights = np.log(weights)

    def cumulant(theta: float) -> float:
        tilted = log_weights + theta * values
        top = float(tilted.max())
        return top + math.log(float(np.exp(tilted - top).sum()))

    def mean(theta: float) -> float:
        tilted = log_weights + theta * values
        p = np.exp(tilted - tilted.max())
        return float(p @ values / p.sum())

    centre = float(weights @ values)
    spread = _spread(problem, values, weights)
    middle = max(c, m * centre + 2.0 * spread)
    steepest = _STEEPEST / highest
    if not (spread > 0.0 and middle < m * highest and m * mean(0.0) < middle < m * mean(steepest)):
        return None
    theta = float(
        optimize.brentq(lambda theta: m * mean(theta) - middle, 0.0, steepest, rtol=1e-6, disp=False)
    )
    if theta <= 0.0:
        return None
    base = cumulant(theta)
    down, up = c - m * float(values.min()), m * float(values.max()) - c
    for factor in np.geomspace(0.02, 50.0, 30):
        rate = float(theta * factor)
        down = min(down, (grid.aliasing + m * (cumulant(theta - rate) - base)) / rate + c)
        up = min(up, (grid.aliasing + m * (cumulant(theta + rate) - base)) / rate - c)
    width = max(down + grid.reach / theta, up)
    return _Window(theta=theta, width=width, highest=highest, values=values, weights=weights)


def _plan(problem: Sum, values: FloatArray, weights: FloatArray, log_part: float, grid: Grid) -> Plan | None:
    log_part = max(log_part, _SMALLEST)
    window = _window(problem, values, weights, log_part, grid)
    if window is None:
        return None
    theta, values = window.theta, window.values
    size, spreading = _LEAST_SIZE, 2.0 * _spreading(grid, log_part)
    while (
        size < grid.largest
        and theta**2 * problem.steps * _added(values, weights, window.width / size) > spreading
    ):
        size *= 2
    lowest = min(grid.reach / theta, _lowest(values, weights, _LOST / (theta * problem.steps)))
    step = _short(max(window.width / size, (lowest + window.highest) / (grid.cells - 2)))
    below, above = max(math.ceil(lowest / step), 1), math.ceil(window.highest / step)
    if below + above > size:
        return None
    return Plan(
        theta=theta, step=step, size=size, below=below, above=above, reach=_reach(grid, theta, step, size)
    )


def _spreading(grid: Grid, log_part: float) -> float:
    return grid.spreading * max(1.0, log_part / _ORDINARY)


def _reach(grid: Grid, theta: float, step: float, size: int) -> int:
    return min(math.ceil(grid.reach / theta / step), size)


def plan_narrow(problem: Sum, plan: Plan, log_part: float, grid: Grid = CHECKABLE) -> Plan | None:
    """Choose for the narrowed envelope; None where that gains nothing on the `plan` for the envelope."""
    log_part = max(log_part, _SMALLEST)
    law = Envelope(problem.epsilon, problem.mu)
    kept = best_kept(
        law, theta=plan.theta, steps=problem.steps, lowest=plan.below * plan.step, highest=plan.last
    )
    if kept is None:
        return None
    masses, shift = kept.law.masses(), kept.narrow.bend.shift
    some = masses > 0.0
    window = _window(problem, kept.law.knots[some], masses[some], log_part, grid, shift)
    if window is None:
        return None
    theta, size, best = window.theta, _LEAST_SIZE, math.inf
    chosen: Plan | None = None
    while size <= grid.largest:
        step = _short(window.width / size)
        law_of_step = placed(law, kept, step, window.highest)
        if law_of_step is not None and law_of_step.below + law_of_step.above < min(size, grid.cells):
            value = problem.steps * law_of_step.log_mean(theta, step)
            if value > best - _spreading(grid, log_part):
                break
            best = value
            chosen = Plan(
                theta=theta,
                step=step,
                size=size,
                below=law_of_step.below,
                above=law_of_step.above,
                reach=_reach(grid, theta, step, size),
                narrow=law_of_step.narrow,
            )
        elif chosen is not None:
            break
        size *= 2
    return chosen


def _lowest(values: FloatArray, weights: FloatArray, shift: float) -> float:
    """Return T such that moving what is below −T up to it moves the mean by less than about `shift`."""
    low, high = 0.0, float(-values.min())
    for _ in range(40):
        middle = 0.5 * (low + high) if high < 4.0 * low else math.sqrt(max(low, 1e-6 * high) * high)
        if float(weights @ np.maximum(-middle - values, 0.0)) > shift:
            low = middle
        else:
            high = middle
    return high


def _added(values: FloatArray, weights: FloatArray, step: float) -> float:
    """Return about the variance that the split to a grid adds to a step."""
    return float(weights @ np.minimum(step * step / 6.0, step * np.abs(values)))


def _short(step: float) -> float:
    """Return a double not below `step` with 24 bits, so that multiples of it are exact."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2.0**24) / 2.0**24, exponent)


def negligible_beyond(problem: Sum, log_part: float, *, tolerance: float = 1e-6) -> float:
    """Return a T beyond which ``log((K/n) E(W − T)₊)`` is about `log_part`."""
    share = math.log(problem.steps / problem.scale)
    alpha = math.exp(problem.epsilon)

    def excess(log_order: float) -> float:
        return share + float(log_gaussian_delta(log_order, problem.mu)) - log_part

    low, high = problem.epsilon, problem.epsilon + problem.mu
    while excess(high) > 0.0:
        low, high = high, high + 2.0 * (high - problem.epsilon)
    root = float(optimize.brentq(excess, low, high, rtol=tolerance)) if excess(low) > 0.0 else high
    return math.exp(root) - alpha


def envelope_points(epsilon: float, mu: float) -> tuple[FloatArray, FloatArray]:
    """Return values and weights that resemble the envelope's law."""
    alpha = math.exp(epsilon)
    low, high = -epsilon / mu + 0.5 * mu, epsilon / mu + 0.5 * mu
    ups, up_weights = _normal(high)
    downs, down_weights = _normal(low)
    y_up, y_down = np.exp(mu * ups - 0.5 * mu * mu), np.exp(mu * downs - 0.5 * mu * mu)
    atom = max(float(special.ndtr(low) - special.ndtr(-high)), 1e-300)
    values = np.concatenate([np.maximum(y_up - alpha, 0.0), np.minimum(1.0 - alpha * y_down, 0.0), [0.0]])
    return values, np.concatenate([up_weights, down_weights, [atom]])


def _attained_points(epsilon: float, mu: float) -> tuple[FloatArray, FloatArray]:
    """Return values and weights that resemble the law of ``Y − e^ε``."""
    z, weights = _normal(-12.0)
    return np.exp(mu * z - 0.5 * mu * mu) - math.exp(epsilon), weights


def _normal(start: float) -> tuple[FloatArray, FloatArray]:
    """Return points above `start` and their standard normal weights."""
    stop = max(start + 3.0, 38.0)
    edges = np.linspace(start, stop, _POINTS + 1)
    z = 0.5 * (edges[1:] + edges[:-1])
    return z, np.exp(-0.5 * z * z) * ((edges[1] - edges[0]) / math.sqrt(2.0 * math.pi)) + 1e-320
