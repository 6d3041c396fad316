"""The functional whose value bounds δ(ε) of a run, with the bounds on it that are closed forms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpsco_verify.privacy.gaussian import log_gaussian_delta


@dataclass(frozen=True, kw_only=True)
class Sum:
    """``E(Σ_{s ≤ steps} W_s − threshold)₊ / scale``, the functional of step 2 in units of batches.

    Attributes
    ----------
    epsilon, mu
        ε, and the distance of two means of a step in standard deviations.
    n, points, batch
        The size of the data, K, and f, which divides K.
    """

    epsilon: float
    mu: float
    n: int
    points: int
    batch: int = 1

    @property
    def steps(self) -> int:
        """``K/f``."""
        return self.points // self.batch

    @property
    def scale(self) -> float:
        """``n/f``."""
        return self.n / self.batch

    @property
    def threshold(self) -> float:
        """``((n − K)/f)(e^ε − 1)``, to 3 units in the last place."""
        return (self.n - self.points) / self.batch * math.expm1(self.epsilon)

    @property
    def distance(self) -> float:
        """How far the threshold is above the mean of the sum, ``scale (e^ε − 1)``."""
        return self.scale * math.expm1(self.epsilon)

    @property
    def summable(self) -> bool:
        """Whether the sum can be taken in doubles; elsewhere densities underflow, and closed forms are used alone."""
        return 1e-9 <= self.mu <= 16.0 and self.epsilon <= 100.0 and self.log_one_use() > -640.0

    def log_one_use(self) -> float:
        """Return ``log((K/n) G(1 + (n/K)(e^ε − 1)))``: by convexity an upper bound, that of revealing the slot."""
        share = self.steps / self.scale
        order = _inner_order(self.epsilon, share)
        return math.log(share) + float(log_gaussian_delta(order, self.mu))

    def log_any_step(self) -> float:
        """Return a lower bound on log δ by the event that some step exceeds a level; it is good where μ is large."""
        if self.epsilon > 700.0:
            return -math.inf
        z = self.mu + np.linspace(-8.0, 8.0, 65)
        none = self.steps * special.log_ndtr(z)  # of n − K runs, and of the neighbour's
        missed = none - special.log_ndtr(z) + special.log_ndtr(z - self.mu)
        share = self.steps / self.scale
        value = share * np.exp(none) - share * np.exp(missed) + math.expm1(self.epsilon) * np.expm1(none)
        best = float(value.max()) * (1.0 - 1e-9) - 1e-12
        return math.log(best) if best > 0.0 else -math.inf

    def log_one_step(self) -> float:
        """Return ``log((1/n) G(1 + n(e^ε − 1)))``: by convexity a lower bound, that of one step alone."""
        order = _inner_order(self.epsilon, 1.0 / self.scale)
        return float(log_gaussian_delta(order, self.mu)) - math.log(self.scale)

    def guess(self) -> float:
        """Return a guess at log δ: of the Gaussian mechanism that a run resembles, or of one step."""
        exponent = min(self.mu**2, 600.0)
        like = math.sqrt(self.steps * math.expm1(exponent)) / self.scale
        return min(
            max(float(log_gaussian_delta(self.epsilon, like)), self.log_one_step()), self.log_one_use()
        )


def _inner_order(epsilon: float, share: float) -> float:
    """Return ``log(1 + (e^ε − 1)/share)``, also where e^ε is no double."""
    if epsilon < 1.0:
        return math.log1p(math.expm1(epsilon) / share)
    return epsilon - math.log(share) + math.log1p((share - 1.0) * math.exp(-epsilon))
