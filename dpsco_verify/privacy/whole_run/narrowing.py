"""The choices that make the narrowed envelope: about the best ones, found in doubles.

:func:`dpsco_verify.privacy.whole_run.refinement.narrowed` shows that they may be used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy import optimize, special

from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy.whole_run.refinement import KNOTS, Envelope, Narrow, Potential, bend, bent

_POWERS = 1.0 - np.arange(KNOTS + 1) / KNOTS
_SPARE = 1e-8
"""The relative part by which the planned variance and exponential moment exceed what they must."""
_RATIOS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0)
"""The κ/θ that are tried."""
_LARGEST_EXPONENT = 200.0
_NONE = 1e-250


def _moment(law: Potential, kappa: float, mean: float) -> float:
    """Return ``E (2/κ²) ψ₁(κ(X − m))``, which is the variance for κ → 0."""
    return float(law.masses() @ bent(kappa * (law.knots - mean))) * 2.0 / kappa**2


def bounded_by_variance(law: Envelope, lowest: float, highest: float) -> Potential | None:
    """Return Ŵ, the top last; None where W̄ has no more variance than V to speak of."""
    mean = law.mean(lowest)

    def of(turn: float, further: float = 0.0) -> Potential:
        scale = max(1.0, 1.0 - turn)
        left = law.potential(turn - scale * np.expm1(_POWERS * math.log1p((turn + lowest) / scale)))
        top = turn + further + left.above[-1:] / law.beyond(np.array([turn]))
        return left.then(Potential(knots=top, above=np.zeros(1), beside=top - (1.0 - law.alpha)))

    def variance(curve: Potential) -> float:
        return float(curve.masses() @ (curve.knots - mean) ** 2)

    wanted = law.variance * (1.0 + _SPARE)
    low, high = 0.5 * (mean - lowest), min(highest, law.alpha * math.expm1(8.0 * law.mu))
    if not float(law.beyond([high])[0]) > _NONE:
        return None
    if not variance(of(low)) < wanted < (1.0 - 1e-3) * variance(of(high)):
        return None
    turn = float(optimize.brentq(lambda turn: variance(of(turn)) - wanted, low, high, xtol=1e-6, rtol=1e-6))
    found = of(turn)
    # the variance is linear in the top
    found = of(turn, (wanted - variance(found)) / float(found.above[-2]))
    return found if found.masses().min() >= 0.0 else None


def _log_mean(theta: float, points: FloatArray, masses: FloatArray) -> float:
    """Return ``log E e^{θX}``."""
    return float(special.logsumexp(theta * points, b=masses))


@dataclass(frozen=True, kw_only=True)
class Kept:
    """W̃ for one κ, about, on knots of its own, the foot first; its moment; and what it gains at θ."""

    narrow: Narrow
    law: Potential
    target: float
    gain: float


def best_kept(law: Envelope, *, theta: float, steps: int, lowest: float, highest: float) -> Kept | None:
    """Return the W̃ by whose κ the bound falls most, about; None where none falls."""
    if not lowest - math.expm1(law.epsilon) > 0.1 * math.sqrt(law.variance):
        return None  # hardly anything is left below the mean
    bounded = bounded_by_variance(law, lowest, highest)
    if bounded is None:
        return None
    mean, curve = law.mean(lowest), law.potential(_fine(law, lowest, highest))
    turn, top = (float(t) for t in bounded.knots[-2:])
    before = _log_mean(theta, curve.knots, curve.masses())
    best: Kept | None = None
    for ratio in _RATIOS:
        chosen = bend(theta, ratio)
        if chosen.kappa * (lowest + top) > _LARGEST_EXPONENT:
            break
        target = _moment(bounded, chosen.kappa, mean) * (1.0 + _SPARE)
        kept = _cut(law, curve, chosen.kappa, lowest, target)
        if kept is None:
            continue
        after = _log_mean(theta, kept.knots, kept.masses())
        gain = steps * (before - after) - chosen.log_cost(theta)
        if best is not None and gain < 0.9 * best.gain:
            break  # it rises to one maximum, about
        if gain > (0.0 if best is None else best.gain):
            foot = float(kept.knots[0])
            narrow = Narrow(bend=chosen, lowest=lowest, turn=turn, top=top, foot=foot)
            best = Kept(narrow=narrow, law=kept, target=target, gain=gain)
    return best


def _fine(law: Envelope, lowest: float, highest: float) -> FloatArray:
    """Return knots from −b to T, equally spaced in log y on either side of 0."""
    alpha = law.alpha
    low = 1.0 - np.exp(np.linspace(math.log1p(lowest), 0.0, 200))
    high = np.exp(np.linspace(law.epsilon, math.log(alpha + highest), 300)) - alpha
    return np.concatenate([low[:-1], [0.0], high[1:]])


def _cut(law: Envelope, curve: Potential, kappa: float, lowest: float, target: float) -> Potential | None:
    """Return W̃ where the curve is followed from a point on, about."""
    mean, close = law.mean(lowest), 1e-4 * law.mu

    def of(start: float, up: float = 0.0) -> Potential:
        at = law.potential(np.array([start]))
        rest = float(law.beyond(at.knots)[0])
        # where the tangent meets m − t
        foot = (mean - float(at.above[0]) - rest * start) / max(1.0 - rest, 1e-12)
        foot = max(foot, -lowest)
        foot += up * (min(mean, start) - foot)
        return law.foot(foot, lowest).then(at).then(curve.where(curve.knots > start + close))

    def excess(start: float, up: float = 0.0) -> float:
        return _moment(of(start, up), kappa, mean) - target

    low, high = float(curve.knots[1]), float(curve.knots[-1]) * 0.999
    if not excess(low) > 0.0 > excess(high):
        return None
    start = float(optimize.brentq(excess, low, high, xtol=close, rtol=1e-4))
    back = close
    while excess(start) < 0.0:
        start, back = start - back, 2.0 * back
    if excess(start) < 0.01 * target:
        return of(start)
    # the atom at 0 is kept in part
    if not excess(start, 0.99) < 0.0:
        return None
    return of(start, float(optimize.brentq(lambda up: excess(start, up), 0.0, 0.99, xtol=1e-4)))


@dataclass(frozen=True, kw_only=True)
class Placed:
    """W̃ on a grid: the foot, then `below` cells further and on to T points with the values of U; about."""

    narrow: Narrow
    below: int
    above: int
    masses: FloatArray

    def log_mean(self, theta: float, step: float) -> float:
        """Return ``log E e^{θW̃}``."""
        index = np.append(0, np.arange(self.below, self.below + self.above + 1))
        return _log_mean(theta, self.narrow.foot + step * index, self.masses)


def placed(law: Envelope, kept: Kept, step: float, highest: float) -> Placed | None:
    """Return W̃ on the grid of this step; None where none has the moment that it must."""
    lowest, kappa = kept.narrow.lowest, kept.narrow.bend.kappa
    mean = law.mean(lowest)
    first, gap = float(kept.law.knots[0]), float(kept.law.knots[1] - kept.law.knots[0])
    below = max(1, round(gap / step))

    def of(foot: float) -> Potential:
        above = math.ceil((highest - foot) / step) - below
        followed = law.potential(foot + step * np.arange(below, below + above + 1))
        return law.foot(foot, lowest).then(followed)

    def excess(foot: float) -> float:
        return _moment(of(foot), kappa, mean) - kept.target

    low, high = max(first - gap - 2.0 * step, -lowest), min(mean, first + gap + step)
    if not (low + step * below < highest - 2.0 * step and excess(low) > 0.0 > excess(high)):
        return None
    foot = float(optimize.brentq(excess, low, high, xtol=1e-12 * step, rtol=1e-13))
    back = 1e-12 * step
    while excess(foot) < 0.0:
        foot, back = foot - back, 2.0 * back
    masses = of(foot).masses()
    if masses[:2].min() <= 0.0:
        return None
    return Placed(narrow=replace(kept.narrow, foot=foot), below=below, above=len(masses) - 2, masses=masses)
