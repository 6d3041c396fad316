"""What no test can do: the largest power against a claim that is false, with both laws known.

Let P and Q be the laws of one output on the two data sets, and let the claim ε be false for them. For any pair of laws
(P₀, Q₀) that keeps the claim, a test of level α that sees n outputs a data set rejects ``P₀ⁿ × Q₀ⁿ`` with probability
at most α, so by Neyman and Pearson its power against ``Pⁿ × Qⁿ`` is at most

    ``inf_t e^t α + E[(1 − e^{t − S})₊]``,  S the log ratio of the n outputs of each under the two hypotheses,

however it chooses events, splits samples or learns, and even if it is told P and Q. Each (P₀, Q₀) gives a bound; the
one with the smallest relative entropy is taken (the reverse information projection; Larsson, Ramdas and Ruf 2024, The
numeraire e-variable). Its densities are P's and Q's but for a factor, save where ``P/Q`` passes e^ε or e^{−ε}.

P and Q enter by their masses in cells, and by the ends between which their log ratio lies in each, so that the pair is
within the claim at every point of a cell. S has one value a cell and is put on a grid from above (Connect the Dots;
Doroshenko, Ghazi, Kamath, Kumar and Manurangsi 2022), so the bound holds on the grid as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import xlogy

from dpsco_verify.arrays import FloatArray

_SURE = 12.0
"""Standard errors from which on the bound is 1 for all purposes and is not computed."""
_MOST_LOG_SAMPLES = math.log(1e12)
_GRID = 1 << 16
_REACH = 16.0


@dataclass(frozen=True)
class Law:
    """The laws of an output in cells, shape (cells,): their masses, and the ends between which the log ratio lies."""

    p: FloatArray
    q: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def discrete(cls, p: FloatArray, q: FloatArray) -> Law:
        """Return it where each cell is one output."""
        ratio = np.log(p) - np.log(q)
        return cls(p, q, ratio, ratio)


def least_favourable(law: Law, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return the masses of the pair within the claim whose entropy relative to the law is smallest.

    With the multipliers λ and μ of the two sums each cell has ``p₀ = p/λ, q₀ = q/μ`` where that is within the claim,
    else ``p₀ = c q₀`` with the end c that it passes and ``q₀ = (p + q)/(λc + μ)``; the sum of all ``λp₀ + μq₀`` gives
    λ + μ = 2.
    """
    shift = np.log(law.p) - np.log(law.q)
    least, most = np.exp(shift - law.low - epsilon), np.exp(shift - law.high + epsilon)

    def pair(weight: float) -> tuple[FloatArray, FloatArray]:
        other = 2.0 - weight
        free = np.exp(shift) * other / weight
        end = np.clip(free, least, most)
        q = np.where(end == free, law.q / other, (law.p + law.q) / (weight * end + other))
        return np.where(end == free, law.p / weight, end * q), q

    weight = float(brentq(lambda w: pair(w)[0].sum() - 1.0, 1e-9, 2.0 - 1e-9, xtol=1e-15, rtol=1e-15))
    return pair(weight)


def most_power(law: Law, epsilon: float, samples: int, alpha: float) -> float:
    """Return what the power of a test of level α against the claim ε, from `samples` outputs each, cannot exceed."""
    p, q = least_favourable(law, epsilon)
    sides = [(law.p, p), (law.q, q)]
    mean = sum(float(xlogy(x, x / y).sum()) for x, y in sides)
    if math.sqrt(2.0 * samples * mean) > _SURE:
        return 1.0
    variance = sum(float((x * np.log(x / y) ** 2).sum() - xlogy(x, x / y).sum() ** 2) for x, y in sides)
    widest = max(float(np.ptp(np.log(x / y))) for x, y in sides)
    h = 2.0 * max(_REACH * math.sqrt(samples * variance), widest) / _GRID
    spectrum = np.ones(_GRID // 2 + 1, dtype=np.complex128)
    total = 0.0
    for x, y in sides:
        masses, shift = _on_grid(x, y, h)
        spectrum *= np.fft.rfft(masses) ** samples
        total += samples * shift
    # The grid is a circle, on which the sum's mean has its place in the middle.
    centre = round(samples * mean / h)
    found = np.maximum(np.fft.irfft(spectrum, _GRID), 0.0)
    places = np.arange(_GRID)
    found = found[(places + centre - _GRID // 2 - int(total)) % _GRID]
    s = (places + centre - _GRID // 2) * h
    above = np.append(np.cumsum(found[::-1])[::-1], 0.0)
    tilted = np.append(np.cumsum((found * np.exp(-s))[::-1])[::-1], 0.0)
    return float(min(1.0, (np.exp(s) * alpha + above[1:] - np.exp(s) * tilted[1:]).min()))


def samples_for(law: Law, epsilon: float, alpha: float, power: float) -> int:
    """Return how many outputs a data set a test of level α needs at least for this power, to 1 %."""
    log_n = brentq(
        lambda x: most_power(law, epsilon, round(math.exp(x)), alpha) - power,
        0.0,
        _MOST_LOG_SAMPLES,
        xtol=0.01,
    )
    return round(math.exp(log_n))


def _on_grid(x: FloatArray, y: FloatArray, h: float) -> tuple[FloatArray, int]:
    """Return the masses of x by its log ratio to y, on the grid from its lowest point, and that point's number."""
    place = np.floor(np.log(x / y) / h)
    up = np.clip((x - y * np.exp(place * h)) / -np.expm1(-h), 0.0, x)
    lowest = int(place.min())
    index = (place - lowest).astype(np.int64)
    masses = np.bincount(index, weights=x - up, minlength=_GRID) + np.bincount(
        index + 1, weights=up, minlength=_GRID
    )
    return masses, lowest
