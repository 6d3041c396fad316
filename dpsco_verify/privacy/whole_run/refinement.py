"""The envelope with its variance cut to what an adversary's can be (proof: ``docs/whole-run.md``, section 5).

Let U be the envelope's potential, ``V = α²(e^{μ²} − 1)`` the largest variance of an adversary's W, and −b a low point
up to which mass is moved, so that ``m = U(−b) − b`` is the mean. A law is given by its potential at knots, linear
between, with slope −1 before the first knot and 0 after the last; its masses are the jumps of the slope.

* Ŵ has knots from −b to t, with the values of U, and then a top with the value 0. Its variance is at least V.
* W̃ has a foot x₀ with the value ``m − x₀`` and, a gap further, the points ``x₀ + h·j`` with the values of U. It is such
  that ``E e^{−κW̃} ≥ E e^{−κŴ}``.

Then ``E f(W) ≤ E f(W̃)`` for every adversary's W and every f of ``C_κ``, the ``x ↦ ∫ψ₁(κ(x − s)₊) dm(s)``, m ≥ 0,
``ψ₁(u) = e^{−u} − 1 + u``. The payoff ``(x − c)₊`` is below ``f(x) = (A/κ) ψ₁((κ(x − c) + β)₊)`` of this class, where
``A = 1/(1 − e^{−v})``, ``β = 1 − v/(e^v − 1)``, and touches it where ``κ(x − c) + β = v``, for any v > 0. Under a tail
like ``e^{−θx}`` f costs a factor of ``e^{βθ/κ} A/(1 + θ/κ)``: from e/2 as κ → 0 to 1 as κ → ∞, while what the variance
gains falls.

W̃ lives on the lattice, and its variance is cut whatever the lattice is. So a lattice will do that is coarse against W.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import flint
import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.privacy.balls import ball, upper_tail
from dpsco_verify.privacy.gaussian import log_gaussian_delta
from dpsco_verify.privacy.whole_run.law import UNIT, LatticeLaw, relative_error, split

KNOTS = 192
"""Cells of Ŵ between −b and t, whose ends are ``t + s − s((s + t + b)/s)^{1 − k/KNOTS}``, ``s = max(1, 1 − t)``."""
_LARGEST_ERROR = 1e-10
_PRECISION = 160


@dataclass(frozen=True, kw_only=True)
class Bend:
    """The κ of the class and the v at which the payoff's majorant touches it."""

    kappa: float
    touch: float

    @property
    def shift(self) -> float:
        """``β/κ``, how far below c the majorant starts."""
        return (1.0 - self.touch / math.expm1(self.touch)) / self.kappa

    @property
    def slope(self) -> float:
        """A, its slope far out."""
        return -1.0 / math.expm1(-self.touch)

    def payoff(self, d: FloatArray) -> FloatArray:
        """Return the majorant at ``c − shift + d``, d ≥ 0."""
        return self.slope / self.kappa * bent(self.kappa * d)

    def log_cost(self, theta: float) -> float:
        """Return the logarithm of what the majorant costs where the sum has a tail like ``e^{−θx}``."""
        return theta * self.shift + math.log(self.slope) - math.log1p(theta / self.kappa)


def bend(theta: float, ratio: float) -> Bend:
    """Return the bend with ``κ = ratio · θ``, touching where it costs least."""

    def slope(v: float) -> float:
        return v / -math.expm1(-v) - 1.0 - ratio

    return Bend(kappa=ratio * theta, touch=float(optimize.brentq(slope, 1e-9, ratio + 2.0)))


def bent(u: FloatArray) -> FloatArray:
    """Return ``e^{−u} − 1 + u`` to a relative 1e-14."""
    small = np.abs(u) < 0.02
    v = np.where(small, u, 0.0)
    series = v * v * (0.5 - v * (1 / 6 - v * (1 / 24 - v * (1 / 120 - v * (1 / 720 - v / 5040)))))
    return np.where(small, series, np.expm1(-np.where(small, 1.0, u)) + u)


@dataclass(frozen=True, kw_only=True)
class Narrow:
    """The choices that make Ŵ and W̃, beside the grid.

    Attributes
    ----------
    bend
        κ and the majorant.
    lowest, turn, top
        b, t and the top of Ŵ.
    foot
        x₀.
    """

    bend: Bend
    lowest: float
    turn: float
    top: float
    foot: float


class Envelope:
    """U and its slope at many points, in doubles, and at a few in balls."""

    def __init__(self, epsilon: float, mu: float) -> None:
        """Take ε ≥ 0 and μ > 0."""
        self.epsilon, self.mu, self.alpha = epsilon, mu, math.exp(epsilon)
        self.variance = self.alpha**2 * math.expm1(mu * mu)
        self._last = (math.nan, math.nan)

    def potential(self, points: ArrayLike) -> Potential:
        """Return U at these points in doubles."""
        t = np.asarray(points, dtype=np.float64)
        right = t >= 0.0
        order = np.log(np.where(right, self.alpha + t, (1.0 - t) / self.alpha))
        g = np.exp(log_gaussian_delta(np.abs(order), self.mu))
        line = 1.0 - self.alpha - t
        above = np.where(right, g, np.where(order >= 0.0, line + self.alpha * g, (1.0 - t) * g))
        beside = np.where(right | (order < 0.0), above - line, self.alpha * g)
        return Potential(knots=t, above=above, beside=beside)

    def beyond(self, points: ArrayLike) -> FloatArray:
        """Return ``P(W̄ > t) = −U'(t+)`` in doubles."""
        t = np.asarray(points, dtype=np.float64)
        y = np.where(t >= 0.0, self.alpha + t, (1.0 - t) / self.alpha)
        z = np.log(y) / self.mu + 0.5 * self.mu
        return np.asarray(special.ndtr(np.where(t >= 0.0, -z, z)), dtype=np.float64)

    def ball_potential(self, t: flint.arb) -> flint.arb:
        """Return ``U(t)``."""
        mu, alpha = ball(self.mu), ball(self.epsilon).exp()

        def curve(y: flint.arb) -> flint.arb:
            z = y.log() / mu - mu / 2
            return upper_tail(z) - y * upper_tail(z + mu)

        return curve(alpha + t) if t >= 0 else 1 - alpha - t + alpha * curve((1 - t) / alpha)

    def mean(self, lowest: float) -> float:
        """Return m, in doubles."""
        return self._raised(lowest) - math.expm1(self.epsilon)

    def foot(self, foot: float, lowest: float) -> Potential:
        """Return the point of W̃'s foot, at which the potential is ``m − foot``."""
        at, raised = np.array([foot]), self._raised(lowest)
        return Potential(knots=at, above=raised - math.expm1(self.epsilon) - at, beside=np.array([raised]))

    def _raised(self, lowest: float) -> float:
        """Return by how much the mean rises where mass below −lowest is moved up to it; the last answer is kept."""
        if self._last[0] != lowest:
            self._last = lowest, float(self.potential([-lowest]).beside[0])
        return self._last[1]


@dataclass(frozen=True, kw_only=True)
class Potential:
    """A law by its potential U at knots in increasing order: U, and ``U(t) − (1 − α − t)``, each to its digits."""

    knots: FloatArray
    above: FloatArray
    beside: FloatArray

    def then(self, other: Potential) -> Potential:
        """Return these knots and then those."""
        return Potential(
            knots=np.concatenate([self.knots, other.knots]),
            above=np.concatenate([self.above, other.above]),
            beside=np.concatenate([self.beside, other.beside]),
        )

    def where(self, some: NDArray[np.bool_]) -> Potential:
        """Return the knots that are chosen."""
        return Potential(knots=self.knots[some], above=self.above[some], beside=self.beside[some])

    def masses(self) -> FloatArray:
        """Return the jumps of the slope, which is −1 before the first knot and 0 after the last.

        Where both cells are below 0 they are differences of ``U(t) − (1 − α − t)``, which keeps the tail's accuracy.
        """
        width = np.diff(self.knots)
        falls = np.concatenate([[-1.0], np.diff(self.above) / width, [0.0]])
        rises = np.concatenate([[0.0], np.diff(self.beside) / width, [1.0]])
        ends = np.append(self.knots[1:], np.inf)  # of the cell after a knot
        return np.where(ends <= 0.0, np.diff(rises), np.diff(falls))


def narrowed(
    *, epsilon: float, mu: float, narrow: Narrow, step: float, below: int, above: int
) -> LatticeLaw | None:
    """Return an upper law of ``min(W̃, T)``; None where it cannot be shown to be one.

    Where both cells of a point are on one side of 0, its mass is that of :mod:`dpsco_verify.privacy.whole_run.law`,
    rounded up. As the cells do not begin at 1 or α, a Y at their ends is known to a relative 8u alone, and the share
    of a mass that an end takes to 8uY/h. The other points, four at most, and Ŵ are taken in balls. ``E ψ₁(κ(W̃ − m))``
    is a sum of positive terms, each known to twice that relative error and 32u, with the part beyond T at its mean.
    """
    law = Envelope(epsilon, mu)
    t = np.asarray(narrow.foot + step * (below + np.arange(above + 1)), dtype=np.float64)
    negative = int(np.sum(t < 0.0))
    ends = (law.alpha + t[-1], (1.0 + narrow.lowest) / law.alpha)
    furthest = max(mu + epsilon / mu, *(abs(math.log(y) / mu + 0.5 * mu) for y in ends))
    error = relative_error(epsilon, mu, furthest)
    error += 16.0 * UNIT * ((1.0 + furthest) / mu + (law.alpha + 1.0 + float(np.abs(t).max())) / step)
    if not (-narrow.lowest <= t[0] and negative + 1 < above and error < _LARGEST_ERROR):
        return None
    masses = _bulk(law, t, step, negative)
    with flint.ctx.workprec(_PRECISION):
        special_points = sorted({0, max(negative - 1, 0), negative})
        at_foot, known = _at(law, narrow, step, below, special_points)
        if not all(mass > 0 for mass in (at_foot, *known)):
            return None
        masses[special_points] = [float(mass.mid()) for mass in known]
        foot = float(at_foot.mid())
        centre = law.mean(narrow.lowest)
        places = np.append(narrow.foot, t)
        places[-1] += float(law.potential(t[-1:]).above[0]) / masses[-1] * (1.0 - 1e-9)
        moment = float(np.append(foot, masses) @ bent(narrow.bend.kappa * (places - centre)))
        wanted = _wanted(law, narrow, centre)
        if wanted is None or not ball(moment * (1.0 - 4.0 * error - 64.0 * UNIT)) > wanted:
            return None
    lattice = np.concatenate([[foot], np.zeros(below - 1), masses]) * (1.0 + error)
    return LatticeLaw(origin=narrow.foot, step=step, first=0, masses=lattice)


def _bulk(law: Envelope, t: FloatArray, step: float, negative: int) -> FloatArray:
    """Return the masses at equally spaced points, right where both cells are on one side of 0."""
    masses = np.zeros(len(t))
    start = float(t[negative])
    shift, cells = math.log(law.alpha + start), len(t) - 1 - negative
    masses[negative:] = split(shift, step / (law.alpha + start), cells, law.mu)
    if negative > 0:
        end = 1.0 - float(t[negative - 1])
        masses[negative - 1 :: -1] = split(math.log(end / law.alpha), step / end, negative - 1, law.mu)
    masses[-1] += float(law.beyond(t[-1:])[0])
    return masses


def _at(
    law: Envelope, narrow: Narrow, step: float, below: int, points: list[int]
) -> tuple[flint.arb, list[flint.arb]]:
    """Return the mass at the foot, and those at these of the points from where U is followed on."""
    foot, h, lowest = ball(narrow.foot), ball(step), ball(narrow.lowest)

    def slope(i: int) -> flint.arb:
        """Return the slope of the cell that ends in point i."""
        y = foot + (below + i) * h
        v = law.ball_potential(y)
        if i == 0:
            return (v - (law.ball_potential(-lowest) - lowest - foot)) / (y - foot)
        return (v - law.ball_potential(y - h)) / h

    return 1 + slope(0), [slope(i + 1) - slope(i) for i in points]


def _wanted(law: Envelope, narrow: Narrow, centre: float) -> flint.arb | None:
    """Return ``E ψ₁(κ(Ŵ − centre))``; None where the variance of Ŵ is below V."""
    low, turn, top = (ball(x) for x in (-narrow.lowest, narrow.turn, narrow.top))
    scale = flint.arb(1) if narrow.turn >= 0.0 else 1 - turn
    spread = ((turn - low) / scale).log1p() / KNOTS
    knots = [turn - scale * (spread * (KNOTS - k)).expm1() for k in range(KNOTS + 1)]
    values = [law.ball_potential(t) for t in knots]
    mean = values[0] - ball(narrow.lowest)
    knots, values = [*knots, top], [*values, flint.arb(0)]
    slopes = [(v - u) / (y - x) for x, y, u, v in zip(knots, knots[1:], values, values[1:], strict=False)]
    slopes = [flint.arb(-1), *slopes, flint.arb(0)]
    masses = [after - before for before, after in itertools.pairwise(slopes)]
    variance = sum((p * (x - mean) ** 2 for p, x in zip(masses, knots, strict=True)), flint.arb(0))
    mu, kappa = ball(law.mu), ball(narrow.bend.kappa)
    if not variance > (2 * ball(law.epsilon)).exp() * (mu * mu).expm1():
        return None
    tilted = sum(
        (p * (-kappa * (x - ball(centre))).exp() for p, x in zip(masses, knots, strict=True)), flint.arb(0)
    )
    return tilted - 1 + kappa * (mean - ball(centre))
