"""δ(ε) of a composition of worst-case pairs from samples of its privacy loss, at any size of δ.

With L the sum of the steps' losses, ``δ(ε) = E_P[(1 − e^{ε − L})_+]``. A small δ is the mean of a payoff that is nearly
always 0, so the steps are drawn from the tilted law ``dR = e^{λ L − κ} dP`` instead, κ the sum of the steps'
``log E_P e^{λ L}``. Then

    δ(ε) = e^{κ − λ ε} · E_R[e^{−λ(L − ε)} (1 − e^{−(L − ε)})_+],

and whatever L is, the payoff lies between 0 and its maximum ``λ^λ/(1 + λ)^{1 + λ}``, at ``L − ε = log(1 + 1/λ)``: a
bounded mean, for which the betting confidence sequence gives an interval. The factor in front is the Rényi bound of
order 1 + λ; λ is where it is least. λ = 0 is plain sampling.

A tilted step is drawn exactly, by rejection: a cell of the line and one of the mixture's two parts with probability
proportional to the part's mass times the cell's largest ``e^{λ L}``, a point from the part within the cell, kept
with probability ``e^{λ L}`` over that. Outcomes further out than 10 standard deviations of the noise (40 scales of
Laplace noise) are never drawn; their mass under P is added to the upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.accountants.events import Noise
from dpsco_verify.auditing.accountants.pairs import Pair
from dpsco_verify.inference import BettingConfidenceSequence

_CELLS = 1024
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
# With λ L varying by 4 at most in a cell, the eight nodes leave a relative error below 1e-12.
_LARGEST_CHANGE = 4.0
_DRAWS_AT_ONCE = 1 << 20
_BEYOND = {Noise.GAUSSIAN: 1.6e-23, Noise.LAPLACE: 4.3e-18}
"""The noise's mass beyond its reach, rounded up: a sum of masses in doubles does not see it."""


@dataclass(frozen=True, kw_only=True)
class SampledDelta:
    """An interval that holds δ(ε) of the composed pairs with probability at least 1 − α, and the tilt λ."""

    low: float
    high: float
    tilt: float


class TiltedStep:
    """One pair's loss under the tilted law."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        centres = np.array(sorted({pair.x, pair.y, pair.h}), dtype=np.float64)
        reach = (10.0 if pair.noise is Noise.GAUSSIAN else 40.0) * pair.scale
        # The means are ends of cells: there Laplace noise has kinks.
        self._ends = np.unique(
            np.concatenate([np.linspace(centres[0] - reach, centres[-1] + reach, _CELLS + 1), centres])
        )
        low, high = self._ends[:-1, np.newaxis], self._ends[1:, np.newaxis]
        self._width = (high - low)[:, 0]
        points = 0.5 * (low + high) + 0.5 * (high - low) * _NODES
        self._node_loss = pair.log_ratio(points)
        self._node_mass = 0.5 * (high - low) * _WEIGHTS * _density(pair, points)
        at_ends = pair.log_ratio(self._ends)
        # The loss is monotone in a cell but for one, at most, in which it has a minimum.
        self._largest = np.maximum(at_ends[:-1], at_ends[1:])
        self.largest_tilt = _LARGEST_CHANGE / float(np.abs(np.diff(at_ends)).max())
        self._parts = [(float(pair.p), pair.x), (float(1 - pair.p), pair.h)]
        self.lost = float(max(_BEYOND[pair.noise], 1.0 - self._masses().sum()))
        self._tilt = 0.0
        self._cumulative: FloatArray = np.empty(0)

    def _masses(self) -> FloatArray:
        """Return the mass of each part in each cell, shape (2, cells)."""
        return np.stack([weight * self._pair.between(self._ends - mean) for weight, mean in self._parts])

    def log_moment(self, tilt: float) -> float:
        """Return ``log E_P e^{λ L}`` over the cells."""
        return float(special.logsumexp(tilt * self._node_loss, b=self._node_mass))

    def tilt_by(self, tilt: float) -> None:
        """Set λ."""
        self._tilt = tilt
        with np.errstate(divide="ignore"):
            weights = np.log(self._masses()) + tilt * self._largest
        weights = np.exp(weights - weights.max()).ravel()
        self._cumulative = np.cumsum(weights) / weights.sum()

    def draw(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Return `size` losses under the tilted law."""
        kept: list[FloatArray] = []
        missing = size
        while missing > 0:
            loss, accepted = self._proposed(max(256, int(1.1 * missing)), rng)
            kept.append(loss[accepted])
            missing -= kept[-1].size
        return np.concatenate(kept)[:size]

    def _proposed(self, size: int, rng: np.random.Generator) -> tuple[FloatArray, np.ndarray]:
        chosen = np.minimum(
            np.searchsorted(self._cumulative, rng.random(size), side="right"), self._cumulative.size - 1
        )
        part, cell = np.divmod(chosen, self._width.size)
        mean = np.array([mean for _, mean in self._parts], dtype=np.float64)[part]
        low, high = self._ends[cell] - mean, self._ends[cell + 1] - mean
        # The half of the line to the right of the mean is mirrored, so that the tails do not cancel.
        right = low >= 0.0
        low, high = np.where(right, -high, low), np.where(right, -low, high)
        below, above = self._pair.cdf(low), self._pair.cdf(high)
        z = self._pair.quantile(np.maximum(below + rng.random(size) * (above - below), 1e-300))
        z = np.clip(z, low, high)
        loss = self._pair.log_ratio(mean + np.where(right, -z, z))
        log_share = self._tilt * np.minimum(loss - self._largest[cell], 0.0)
        return loss, np.log1p(-rng.random(size)) <= log_share


def _density(pair: Pair, points: FloatArray) -> FloatArray:
    p = float(pair.p)
    return p * pair.density(points - pair.x) + (1.0 - p) * pair.density(points - pair.h)


def sampled_delta(
    pairs: Sequence[tuple[Pair, int]],
    epsilon: float,
    *,
    samples: int,
    alpha: float,
    rng: np.random.Generator,
) -> SampledDelta:
    """Return an interval for δ(ε) of the composition of each pair as often as is said."""
    steps = [(TiltedStep(pair), count) for pair, count in pairs]

    def log_factor(tilt: float) -> float:
        return sum(count * step.log_moment(tilt) for step, count in steps) - tilt * epsilon

    tilt = _best_tilt(log_factor, min(step.largest_tilt for step, _ in steps))
    for step, _ in steps:
        step.tilt_by(tilt)
    highest = math.exp(float(special.xlogy(tilt, tilt)) - (1.0 + tilt) * math.log1p(tilt))
    sequence = BettingConfidenceSequence(low=0.0, high=highest, alpha=alpha)
    draws_each = sum(count for _, count in steps)
    chunk = max(1, _DRAWS_AT_ONCE // draws_each)
    for start in range(0, samples, chunk):
        size = min(chunk, samples - start)
        excess = np.full(size, -epsilon, dtype=np.float64)
        for step, count in steps:
            excess += step.draw(size * count, rng).reshape(size, count).sum(axis=1)
        excess = np.maximum(excess, 0.0)
        payoff = np.exp(-tilt * excess) * -np.expm1(-excess)
        sequence.update(np.minimum(payoff, highest))
    factor = math.exp(min(log_factor(tilt), 0.0))
    lost = sum(count * step.lost for step, count in steps)
    low, high = sequence.interval
    return SampledDelta(low=factor * low, high=min(1.0, factor * high + lost), tilt=tilt)


def _best_tilt(log_factor: Callable[[float], float], largest: float) -> float:
    """Return the λ in [0, largest] at which the convex `log_factor` is least."""
    found = optimize.minimize_scalar(log_factor, bounds=(0.0, largest), method="bounded")
    return float(found.x) if found.fun < 0.0 else 0.0
