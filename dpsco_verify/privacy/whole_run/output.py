"""What the returned average alone reveals of a run, from below: an instance whose output has a known law.

Linear losses in one dimension, under the loop's rule with batches of one. All other points have one gradient, and
each step adds N(0, σ²), repeats too. With ``m = ⌊n/2⌋ + 1`` fresh steps, the average of the iterates that the fresh
steps start from is, where nothing is projected,

    ŵ = w₁ − η Σ_i c_i (g_i + ξ_i + what R_i repeats add),   c_i = (m − i)/m,   1 ≤ i < m,

R_i being how many repeats come between the i-th fresh step and the next, geometric: ``P(R_i ≥ r) = (i/n)^r``. So the
noise in ``(w₁ − ŵ)/(ησ)`` has the characteristic function

    Π_i y_i p_i/(1 − (1 − p_i) y_i),   y_i = exp(−ω²c_i²/2),   p_i = 1 − i/n,

and the differing point moves its mean by ``a c_i`` with probability 1/n for each i ≤ m, where ``(a, b)``, for z and
z', is (μ, 0), (μ/2, −μ/2) or (0, −μ): the gradient of the others is that of z', 0, or that of z. For every x

    δ(ε) ≥ P(X > x) − e^ε P'(X > x) − (1 + e^ε) q,

q being the probability that something was projected. The set is a segment from ``w₁ − ησR`` to ``w₁ + ησR`` with
``R = tμ/2 + √(64t)``, ``t = 4n + 200``. A run takes more than t steps with a probability below ``exp(−0.28t) < 1e-24``,
as each is fresh with probability 1/2 at least (Hoeffding); and the sum of t noises exceeds ``√(64t)`` at some time
with one below ``4e^{−32}`` (Lévy). So q < 6e-14.

**Tails.** With a square wave of period T, ``P(X > x) = ½ + (2/π) Σ_{k odd} Im(φ(ω_k) e^{−iω_k x})/k``, ``ω_k = 2πk/T``,
up to ``P(|X − x| > T/2)``, which is below 1e-15 by Chernoff's bound with the same product. As each factor is at most
y_i, the terms end where ``exp(−ω² Σc_i²/2)`` is below e^{−40}.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from dpsco_verify.arrays import FloatArray

LARGEST_OUTPUT = 10**6
"""The largest n: the product has n/2 factors."""

_HIGHEST = 9.0
_CHERNOFF = 36.0
_INEXACT = 1e-12
"""More than what rounding, the ends of the series and q add to a tail. The moduli of the series sum to less than 5, and
the logarithm of a product is a sum of at most 5·10⁵ terms, pairwise, known to 1e-14 (1 + its modulus)."""
_MOST = 25.0


class Average:
    """The law of the average for one n, in units of a step's noise, for points that move it by at most `furthest`."""

    def __init__(self, n: int, furthest: float) -> None:
        """Tabulate the characteristic function of the noise."""
        m = n // 2 + 1
        self.n, self.m = n, m
        i = np.arange(1, m)
        self._weight, self._passed = (m - i) / m, i / n
        self.spread = math.sqrt(float(np.sum(self._weight**2 / (1.0 - self._passed))))
        self.reach = 8.0 * self.spread + furthest
        self.period = 2.0 * (self._beyond() + self.reach + furthest)
        least = math.sqrt(float(np.sum(self._weight**2)))
        terms = math.ceil(_HIGHEST / least * self.period / (2.0 * math.pi))
        self._k = np.arange(1, 2 * (terms // 2) + 2, 2)
        self._omega = 2.0 * math.pi * self._k / self.period
        self._noise = np.array([math.exp(-self._log(-0.5 * w * w)) for w in self._omega])

    def _log(self, exponent: float) -> float:
        """Return ``−log E exp(exponent · Σ c_i²(1 + R_i))``: a factor is ``1/(1 + (1/y − 1)/p)``."""
        return float(np.sum(np.log1p(np.expm1(-exponent * self._weight**2) / (1.0 - self._passed))))

    def _beyond(self) -> float:
        """Return a u with ``P(|noise| > u) < 1e-15``."""
        rates = np.geomspace(1.0, 16.0, 9) / max(self.spread, 16.0)  # below √(2 log 2), where it is finite
        return min((_CHERNOFF - self._log(0.5 * t * t)) / t for t in map(float, rates))

    def tail(self, x: float, shift: float) -> float:
        """Return ``P(X > x)`` where the differing point moves the mean by ``shift · c_i``."""
        angle = self._omega * shift / self.m
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sin(0.5 * self.m * angle) / np.sin(0.5 * angle)
        ratio = np.where(np.abs(angle) < 1e-9, float(self.m), ratio)
        moved: NDArray[np.complex128] = ratio * np.exp(0.5j * (self.m - 1) * angle) / self.n
        mixed = (1.0 - self.m / self.n) + moved
        terms = np.imag(self._noise * mixed * np.exp(-1j * self._omega * x)) / self._k
        return 0.5 + 2.0 / math.pi * float(terms.sum())


@functools.lru_cache(maxsize=4)
def _average(n: int, furthest: float) -> Average:
    return Average(n, furthest)


def output_lower(n: int, mu: float, epsilon: float) -> float:
    """Return a lower bound on the worst δ(ε) of the average alone; 0 where it is lost in rounding.

    Parameters
    ----------
    n, mu, epsilon
        The size of the data, 2 to 10⁶, ``2L/σ``, and ε ≥ 0.
    """
    if epsilon > _MOST or not 1e-9 <= mu <= 1e3:
        return 0.0
    law, alpha = _average(n, 2.0 ** math.ceil(math.log2(mu))), math.exp(epsilon)
    best = 0.0
    for a, b in ((mu, 0.0), (0.5 * mu, -0.5 * mu), (0.0, -mu)):
        value = functools.partial(_gap, law, alpha, a, b)
        places: FloatArray = np.linspace(-law.reach, law.reach, 161)
        i = int(np.argmin([value(float(x)) for x in places]))
        ends = (float(places[max(i - 1, 0)]), float(places[min(i + 1, 160)]))
        found = optimize.minimize_scalar(value, bounds=ends, method="bounded")
        best = max(best, -float(found.fun), -value(float(places[i])))
    return max(best - _INEXACT * (1.0 + alpha), 0.0)


def _gap(law: Average, alpha: float, a: float, b: float, x: float) -> float:
    return alpha * law.tail(x, b) - law.tail(x, a)
