"""Bounds on the privacy of steps that draw their points with replacement, for replace-one neighbours.

A step answers with the mean of `batch` gradients at points drawn uniformly out of n, and noise ``N(0, σ²I)``; the
query depends on the answers before. K ~ Bin(m, 1/n) is how often the differing point is drawn, ``q = P(K ≥ 1)``,
``μ_k = 2Lk/(mσ)``.

**From above.** Fix the other draws and where the point stands. For γ ≥ 1 and any weights ``w_k ≥ 0`` with ``Σ_k P(K =
k) w_k = (γ − 1)(1 − q)``, by advanced joint convexity, and by convexity once more over K,

    ``H_γ(P‖Q) ≤ Σ_{k≥1} P(K = k) sup_E [N(a_k)(E) − γ N(a'_k)(E) − w_k N(c)(E)]
    ≤ Σ_{k≥1} P(K = k) δ_G(log(γ + w_k); μ_k)``,

since the bracket is the mean, with weights γ and w_k, of ``N(a_k) − (γ + w_k) N(x)`` for x = ``a'_k`` and x = c, and
``a_k`` lies within 2Lk/m of both. The best weights are ``w_k = max(0, r_k(t) − γ)`` at one t, with ``r_k(z) = e^{kμz −
k²μ²/2}`` and ``μ = μ_1`` (:mod:`dpsco_verify.ledger.systems.sampled_losses`): where all are positive this is the curve
of the mixture over K against ``N(0)``, in which K is not revealed. It bounds both directions at all γ ≥ 1, so it
composes adaptively as in :mod:`dpsco_verify.auditing.accountants.grids`, whose masses are composed here by a Fourier
transform. They are tilted by ``e^{θ loss}`` first, so that a small δ is not lost in the transform's rounding, which is
allowed for. For single draws there is a bound in balls as well, for any number of steps: with ``r = 1 + q(e^{μz −
μ²/2} − 1)``, z standard normal, and b = α − 1,

    ``E_Q(P/Q)^α ≤ 1 + E[(r^α − 1 − r + r^{1−α}) 1{r > 1}] ≤ 1 + E[(r^α − 1 − α(r − 1) + (bα/2)(r − 1)²) 1{r > 1}]``

by the integral representation of f-divergences over γ (Sason and Verdú 2016), and
``δ ≤ e^{(α−1)(D_α − ε)} (1 − 1/α)^{α−1}/α`` (Canonne, Kamath and Steinke 2020, Proposition 12).

**From below.** The instance of :mod:`dpsco_verify.evidence.checker.sampling`.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
from scipy import special

from dpsco_verify.arrays import FloatArray
from dpsco_verify.ledger.systems.sampled_losses import dominating_masses
from dpsco_verify.privacy.balls import ball, upper_tail

_NEGLIGIBLE = 1e-16
"""The probability, at most, that a label beyond those considered occurs in any step; twice it is added to δ."""
_LARGEST_LOSS = 10.0
_MOST_CELLS = 1 << 19
_ROUNDOFF = 2.0**-53
_TILTS = (0.0, *(float(k) for k in np.geomspace(0.5, 200.0, 60)))
_ORDERS = (4, 8, 16, 24, 32, 48, 64)
"""For ε ≥ 1; for a smaller one they are divided by it."""
_LARGEST_ORDER = 1024
_PRECISION = 256


@dataclass(frozen=True, kw_only=True)
class SampledSteps:
    """T steps on batches of m out of n, drawn with replacement, with noise of σ/L on the mean gradient."""

    n: int
    batch: int
    steps: int
    noise: float

    def scaled(self, factor: float) -> SampledSteps:
        """Return the same with the noise times `factor`."""
        return SampledSteps(n=self.n, batch=self.batch, steps=self.steps, noise=factor * self.noise)


@functools.lru_cache(maxsize=64)
def upper_delta(steps: SampledSteps, epsilon: float) -> float:
    """Return an upper bound on δ(ε) by composing the dominating losses on a grid."""
    labels, mu, count = _labels(steps), 2.0 / (steps.batch * steps.noise), steps.steps
    h = _interval(steps, labels)
    masses, infinite = dominating_masses(labels, mu, interval=h, largest=_LARGEST_LOSS)
    losses: FloatArray = h * np.arange(-(masses.size // 2), masses.size // 2 + 1, dtype=np.float64)
    positive = masses > 0.0
    losses, logs = losses[positive], np.log(masses[positive])

    def exponent(tilt: float) -> float:
        return float(count * special.logsumexp(tilt * losses + logs))

    tilt = min(_TILTS, key=lambda k: exponent(k) - k * epsilon)
    tilted = np.exp(tilt * losses + logs - exponent(tilt) / count)
    size = 1 << math.ceil(math.log2((2.0 * _LARGEST_LOSS + 4.0) / h))
    placed = np.zeros(size)
    np.add.at(placed, np.rint(losses / h).astype(np.int64) % size, tilted)
    composed = np.fft.irfft(np.fft.rfft(placed) ** count, size)
    # The lowest quarter of the circle stands for losses below 0; what lies lower still appears above, for the worse.
    index = np.arange(size)
    signed = h * np.where(index < size - size // 4, index, index - size)
    top = float(signed.max())
    above = signed > epsilon
    back = np.exp(exponent(tilt) - tilt * signed[above])
    value = float((np.clip(composed[above], 0.0, None) * back) @ -np.expm1(epsilon - signed[above]))
    rounding = (
        8.0 * count * _ROUNDOFF * math.log2(size) * math.sqrt(size) * float(np.linalg.norm(tilted))
    ) * math.exp(exponent(tilt) - tilt * epsilon)
    missed = 2.0 * math.exp(epsilon) * _NEGLIGIBLE
    lost = -math.expm1(count * math.log1p(-min(infinite, 0.5)))
    # Chernoff's bound on the probability of a loss beyond the circle
    beyond = math.exp(min(0.0, *(exponent(k) - k * top for k in _TILTS)))
    return min(1.0, value + rounding + missed + lost + beyond)


def _labels(steps: SampledSteps) -> FloatArray:
    """Return ``P(K = k)`` for k = 1, 2, …, as far as it matters."""
    from scipy.stats import binom  # noqa: PLC0415  slow to load, and few claims need it

    k = np.arange(1, steps.batch + 1)
    weights = binom.pmf(k, steps.batch, 1.0 / steps.n)
    tails = binom.sf(k, steps.batch, 1.0 / steps.n)
    enough = int(np.argmax(tails * steps.steps <= _NEGLIGIBLE)) + 1
    return np.asarray(weights[:enough], dtype=np.float64)


def _interval(steps: SampledSteps, labels: FloatArray) -> float:
    """Return the grid's width: a tenth of a step's standard deviation, so that rounding adds 1/400 to the variance."""
    k = np.arange(1, labels.size + 1)
    mu = np.minimum(2.0 * k / (steps.batch * steps.noise), 3.0)
    q = float(labels.sum())
    spread = math.sqrt(q * float(labels @ np.expm1(mu * mu)))
    return max(min(spread / 10.0, 5e-3), 2.0 * (2.0 * _LARGEST_LOSS + 4.0) / _MOST_CELLS)


def renyi_delta(steps: SampledSteps, epsilon: Fraction) -> flint.arb:
    """Return an upper bound on δ(ε) of single draws, the best of a ladder of orders, as a ball."""
    if steps.batch != 1:
        raise AssertionError(f"batch={steps.batch} is not a single draw")
    with flint.ctx.workprec(_PRECISION):
        q = ball(Fraction(1, steps.n))
        mu = 2 / ball(steps.noise)
        orders = [min(math.ceil(k / min(epsilon, Fraction(1))), _LARGEST_ORDER) for k in _ORDERS]
        tails = [upper_tail(mu / 2 - i * mu) for i in range(max(orders) + 1)]
        moments = [(i * (i - 1) * mu * mu / 2).exp() * tail for i, tail in enumerate(tails)]
        best = flint.arb(1)
        for order in orders:
            value = _delta_at(order, q, moments, steps.steps, ball(epsilon))
            best = min(best, value)
        return best


def _delta_at(
    order: int, q: flint.arb, moments: list[flint.arb], count: int, epsilon: flint.arb
) -> flint.arb:
    power = sum(
        (math.comb(order, i) * (1 - q) ** (order - i) * q**i * moments[i] for i in range(order + 1)),
        flint.arb(0),
    )
    first = q * (moments[1] - moments[0])
    second = q * q * (moments[2] - 2 * moments[1] + moments[0])
    excess = power - moments[0] - order * first + ball(Fraction(order * (order - 1), 2)) * second
    exponent = count * excess.log1p() - (order - 1) * epsilon
    return exponent.exp() * ball(Fraction(order - 1, order)) ** (order - 1) / order


def lower_delta(steps: SampledSteps, epsilon: float) -> tuple[float, float]:
    """Return a lower bound on δ(ε) from the sum of the answers, in doubles, and its threshold times m/L."""
    draws = steps.batch * steps.steps
    deviation = math.sqrt(steps.steps) * steps.batch * steps.noise
    mean = draws / steps.n
    reach = 12.0 * math.sqrt(mean)
    # Terms far from the mean may be left out of the event's probability: that only lowers the bound.
    k = np.arange(max(0, math.floor(mean - reach)), min(draws, math.ceil(mean + reach) + 40) + 1)
    logs = special.gammaln(draws + 1.0) - special.gammaln(k + 1.0) - special.gammaln(draws - k + 1.0)
    weights = np.exp(logs - k * math.log(steps.n) + (draws - k) * math.log1p(-1.0 / steps.n))
    low, high = 0.0, 2.0 * float(k[-1]) + 9.0 * deviation
    best, place = -math.inf, 0.0
    for _ in range(10):  # the gap has one maximum, as the ratio of the laws rises
        grid = np.linspace(low, high, 11)
        inside = special.ndtr((2.0 * k - grid[:, np.newaxis]) / deviation) @ weights
        gaps = inside - math.exp(min(epsilon, 700.0)) * special.ndtr(-grid / deviation)
        top = int(np.argmax(gaps))
        best, place = float(gaps[top]), float(grid[top])
        low, high = float(grid[max(top - 1, 0)]), float(grid[min(top + 1, grid.size - 1)])
    return best, place
