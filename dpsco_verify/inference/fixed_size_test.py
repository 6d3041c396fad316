r"""Test of one event under an (ε, δ) claim at a number of outputs that was fixed before: H0 is ``p ≤ e^ε q + δ``.

Of n outputs on each data set a lie in the event on the first and b on the second, with laws Bin(n, p) and Bin(n, q).
The claim is rejected where ``T = u a − v b`` is large, for weights u, v > 0 that were fixed before the outputs were
drawn. A betting test that may be looked at all the time has to leave room for that; one look at the end need not.

**The bound.** T grows with p and falls with q, so that the worst case is ``p = e^ε q + δ``, ``0 ≤ q ≤ (1 − δ)/e^ε``.
With ``M(q) = E[e^T]`` and the tilted law, under which a and b are binomial and independent still, with
``p̃ = p e^u/(1 + p(e^u − 1))`` and ``q̃ = q e^{−v}/(1 − q(1 − e^{−v}))``,

    ``P(T ≥ t) = e^{−t} M(q) Ẽ[e^{t − T}; T ≥ t]``.

Given b, the values of a with T ≥ t are consecutive and e^{t − T} falls by e^u from one to the next, so the last factor
is at most ``max_a P̃(a)/(1 − e^{−u})``; given a, it is at most ``max_b P̃(b)/(1 − e^{−v})``; and it is at most 1. No
binomial probability exceeds ``1/sqrt(2e n r(1 − r))`` (Herzog 1947, Upper bound for terms of the binomial expansion,
Amer. Math. Monthly 54). With F(q) the smallest of the three,

    ``P(T ≥ t) ≤ e^{−t} K``,  ``K = sup_q M(q) F(q)``.

This is Chernoff's bound with what it loses, the factor F, a tenth or so, given back. K is computed from cells of q:
log M is concave and lies below its tangents at both ends of a cell, ``r(1 − r)`` is least at one of its ends.

**The weights** are the likelihood ratio of a violation that is just about to be found to the nearest pair (p₀, q₀)
within the claim, in relative entropy. There M has its maximum, so that it is by this very mean that the test adapts to
q: it has no nuisance parameter left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, rel_entr

from dpsco_verify.arrays import FloatArray
from dpsco_verify.inference.binomial import at_least, at_most

STEP = 1.0 / 8.0
"""Between the cells' ends, in the logit of q's part of its range."""
TILTS = (1.0, 1.25, 1.5, 2.0, 3.0)
"""θ, by which T is multiplied in the bound: of these the best for each cell."""
BEYOND = 8.0
"""By how much they go beyond log n, in both directions."""
_AIM = 1.2
"""The weights are those for a violation whose n outputs have so many times ``log(1/α)`` in relative entropy."""
_DESIGNS = 512
_RAREST = 1e-3
"""The least part of q₀ that the violation aimed at has for its q."""
_ROUNDING = 1e-9
_BLOCKS = 256
_REACH = 8.0


@dataclass(frozen=True, kw_only=True)
class FixedSizeTest:
    """The test of ``P(E|D) ≤ e^ε P(E|D') + δ`` by `samples` outputs on each data set, looked at once.

    Attributes
    ----------
    epsilon, delta
        ε ≥ 0 and δ in [0, 1).
    samples
        n, fixed before they are drawn.
    first_weight, second_weight
        u, v > 0, fixed before they are drawn.
    """

    epsilon: float
    delta: float
    samples: int
    first_weight: float
    second_weight: float

    @classmethod
    def aimed(
        cls, *, epsilon: float, delta: float, p: float, samples: int, alpha: float
    ) -> FixedSizeTest | None:
        """Return the test at level `alpha` of an event that has about the probability p on the first data set.

        None where such an event cannot break the claim.
        """
        n, factor = samples, math.exp(epsilon)
        p = min(max(p, 0.5 / n), 1.0 - 0.5 / n)
        parts = expit(np.linspace(-12.0, 12.0, _DESIGNS))
        p0 = delta + (p - delta) * parts
        q0 = (p0 - delta) / factor
        if p <= delta or not q0[0] > 0.0:
            return None
        # The pair within the claim that is nearest to (p, q) in relative entropy is stationary along its boundary.
        aim = q0 * (1.0 - factor * (p - p0) * (1.0 - q0) / (p0 * (1.0 - p0)))
        possible = np.flatnonzero((aim >= _RAREST * q0) & (q0 < 1.0) & (p0 < p))
        if not possible.size:
            return None
        p0, q0, aim = p0[possible], q0[possible], aim[possible]
        entropy = (
            rel_entr(p, p0) + rel_entr(1.0 - p, 1.0 - p0) + rel_entr(aim, q0) + rel_entr(1.0 - aim, 1.0 - q0)
        )
        k = int(np.argmin(np.abs(n * entropy + _AIM * math.log(alpha))))
        first = math.log(p / p0[k]) - math.log((1.0 - p) / (1.0 - p0[k]))
        second = math.log(q0[k] / aim[k]) - math.log((1.0 - q0[k]) / (1.0 - aim[k]))
        if not (first > 0.0 and second > 0.0):
            return None
        return cls(epsilon=epsilon, delta=delta, samples=n, first_weight=first, second_weight=second)

    def statistic(self, first: float, second: float) -> float:
        """Return ``u·first − v·second``."""
        return self.first_weight * first - self.second_weight * second

    def log_p_value(self, first: int, second: int) -> float:
        """Return the log of the p-value, for so many occurrences of the event on the two data sets."""
        tails = self._bounds - np.array(TILTS)[:, np.newaxis] * self.statistic(first, second)
        return min(0.0, float(tails.min(axis=0).max()) + _ROUNDING)

    def log_e_value(self, first: int, second: int, outputs: int) -> float:
        """Return ``T − outputs · sup_q log M/n``, the log of an e-value at any time, also before all are drawn."""
        return self.statistic(first, second) - outputs * self._log_mean / self.samples

    def power(self, p: float, q: float, *, alpha: float) -> float:
        """Return a lower bound of the probability of a rejection at level `alpha`, of P(E|D) = p and P(E|D') = q.

        The law of b is cut into blocks, each of which is moved to its upper end.
        """
        n = self.samples
        middle, spread = n * q, _REACH * (math.sqrt(n * q * (1.0 - q)) + 1.0)
        low, high = max(math.floor(middle - spread), 0), min(math.ceil(middle + spread), n)
        ends = np.unique(np.round(np.linspace(low, high, _BLOCKS)))
        in_block = np.diff(at_most(ends, n, q), prepend=0.0)
        needed = (self.critical(alpha) + self.second_weight * ends) / self.first_weight
        found = at_least(np.ceil(needed * (1.0 + 1e-12)), n, p)
        return float(in_block @ found)

    def critical(self, alpha: float) -> float:
        """Return the t from which on ``T ≥ t`` rejects at level `alpha`."""
        needed = (self._bounds - math.log(alpha)) / np.array(TILTS)[:, np.newaxis]
        return float(needed.min(axis=0).max()) + _ROUNDING

    @cached_property
    def _bounds(self) -> FloatArray:
        """For each tilt θ and each cell of q what ``log(M F)`` of θT is at most, shape (tilts, cells)."""
        return np.array([self._heights(tilt) + self._factors(tilt) for tilt in TILTS])

    @cached_property
    def _log_mean(self) -> float:
        """Return ``sup_q log M(q)``."""
        return float(self._heights(1.0).max()) + _ROUNDING

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Return p and q at the ends of the cells."""
        factor = math.exp(self.epsilon)
        most = min((1.0 - self.delta) / factor, 1.0)
        steps = math.ceil((math.log(self.samples) + BEYOND) / STEP)
        q = np.concatenate([[0.0], most * expit(STEP * np.arange(-steps, steps + 1)), [most]])
        return np.minimum(factor * q + self.delta, 1.0), q

    def _heights(self, tilt: float) -> FloatArray:
        """Return what log M of θT is at most in each cell: it is concave and below its tangents at both ends."""
        (p, q), n, factor = self._ends, self.samples, math.exp(self.epsilon)
        gain, loss = math.expm1(tilt * self.first_weight), -math.expm1(-tilt * self.second_weight)
        logs = n * (np.log1p(p * gain) + np.log1p(-q * loss))
        slopes = n * (factor * gain / (1.0 + p * gain) - loss / (1.0 - q * loss))
        widths = np.diff(q)
        rising = logs[:-1] + np.maximum(slopes[:-1], 0.0) * widths
        falling = logs[1:] - np.minimum(slopes[1:], 0.0) * widths
        return np.minimum(rising, falling)

    def _factors(self, tilt: float) -> FloatArray:
        """Return what log F of θT is at most in each cell: the variances are least at its ends."""
        smallest = np.zeros(self._ends[0].size - 1)
        for chance, weight in zip(self._ends, (self.first_weight, -self.second_weight), strict=True):
            r = chance * math.exp(tilt * weight) / (1.0 + chance * math.expm1(tilt * weight))
            variance = r * (1.0 - np.minimum(r, 1.0))
            with np.errstate(divide="ignore"):
                mode = -0.5 * np.log(2.0 * math.e * self.samples * np.minimum(variance[1:], variance[:-1]))
            smallest = np.minimum(smallest, mode - math.log(-math.expm1(-tilt * abs(weight))))
        return smallest
