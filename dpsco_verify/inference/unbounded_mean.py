"""A betting e-process for ``E[X_t | past] ≤ bound`` where X is unbounded, with a stated variance or a stated tail.

* Variance: ``Var[X_t | past] ≤ σ²``. With Catoni's influence function ``φ(x) = log(1 + x + x²/2)`` for x ≥ 0 and
  ``−log(1 − x + x²/2)`` below, ``e^{φ(x)} ≤ 1 + x + x²/2`` for all x. φ increases, so under the null, with μ ≤ bound,
  ``E exp φ(λ(X − bound)) ≤ E exp φ(λ(X − μ)) ≤ 1 + λ²σ²/2``, and ``Π exp φ(λ(X_t − bound)) / (1 + λ²σ²/2)`` is a
  supermartingale that starts at 1 (Catoni 2012, Ann. IHP 48; Wang & Ramdas 2023, Stoch. Proc. Appl. 163).
* Tail: X is σ-sub-Gaussian, ``E[e^{λ(X_t − μ)} | past] ≤ e^{λ²σ²/2}`` for λ > 0. Then
  ``Π exp(λ(X_t − bound) − λ²σ²/2)`` is one.

The wealth is the mean over a grid of λ that is fixed before any data, and Ville's inequality applies as in
:mod:`dpsco_verify.inference.e_process`.
"""

from __future__ import annotations

import enum
import math

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.errors import no_truth_value
from dpsco_verify.inference.bets import BLOCK, log_mean_exp
from dpsco_verify.inference.e_process import EProcessDecision
from dpsco_verify.validation import (
    require_finite,
    require_finite_array,
    require_open_interval,
    require_positive,
)

BETS = np.ldexp(1.0, np.arange(-14, 2))
"""In units of 1/σ: the best for n observations is about sqrt(2 log(1/α)/n)."""

_UNIT_ROUNDOFF = 2.0**-53
_HUGE = 1e150


class Spread(enum.Enum):
    """What is known of an observation besides its mean: a bound σ on its deviation, or that it is σ-sub-Gaussian."""

    STANDARD_DEVIATION = "standard deviation"
    SUB_GAUSSIAN = "sub-Gaussian scale"


class UnboundedMeanTest:
    """Anytime-valid test of ``E[X_t | past] ≤ bound`` for unbounded observations.

    Parameters
    ----------
    bound
        The claimed bound of the mean.
    scale, spread
        σ, in the unit of the observations, and what it bounds.
    alpha
        Level in (0, 1).

    Raises
    ------
    InputError
        When a parameter is out of range, or an observation is not finite.
    """

    __bool__ = no_truth_value("not test.decision.rejected")

    def __init__(self, *, bound: float, scale: float, spread: Spread, alpha: float) -> None:
        self._bound = require_finite("bound", bound)
        self._scale = require_positive("scale", scale)
        self._spread = spread
        self._alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
        self._log_capital = np.zeros_like(BETS)
        self._size = np.zeros_like(BETS)
        self._samples = 0
        self._log_wealth = self._largest = 0.0
        self._rejected_at: int | None = None

    def log_factors(self, observations: FloatArray) -> FloatArray:
        """Return the log of the factor of each bet and observation, shapes (N,) to (K, N)."""
        x = np.multiply.outer(BETS, (observations - self._bound) / self._scale)
        price = (BETS**2 / 2.0)[:, np.newaxis]
        if self._spread is Spread.SUB_GAUSSIAN:
            return np.asarray(x - price)
        size = np.abs(x)
        # log(1 + x + x²/2), without the overflow of x².
        small = np.minimum(size, _HUGE)
        influence = np.where(
            size <= _HUGE, np.log1p(small + small**2 / 2.0), 2.0 * np.log(np.maximum(size, 1.0)) - math.log(2)
        )
        return np.asarray(np.copysign(influence, x) - np.log1p(price))

    def update(self, observations: ArrayLike) -> EProcessDecision:
        """Take in observations in the order they were drawn, shape (N,); the wealth is looked at after each."""
        array = require_finite_array("observations", np.atleast_1d(np.asarray(observations)), shape=(None,))
        for start in range(0, array.size, BLOCK):
            logs = self.log_factors(array[start : start + BLOCK])
            wealth = log_mean_exp(self._log_capital[:, np.newaxis] + np.cumsum(logs, axis=1))
            self._log_capital += logs.sum(axis=1)
            self._size += np.abs(logs).sum(axis=1)
            error = _UNIT_ROUNDOFF * (BLOCK + 16.0) * float(self._size.max()) + 1e-12
            crossed = np.flatnonzero(wealth - error >= -math.log(self._alpha))
            if self._rejected_at is None and crossed.size:
                self._rejected_at = self._samples + 1 + int(crossed[0])
            self._samples += logs.shape[1]
            self._log_wealth = float(wealth[-1])
            self._largest = max(self._largest, float(wealth.max()))
        return self.decision

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        return EProcessDecision(
            rejected=self._rejected_at is not None,
            log_wealth=self._log_wealth,
            max_log_wealth=self._largest,
            log_threshold=-math.log(self._alpha),
            alpha=self._alpha,
            samples=self._samples,
            rejected_at=self._rejected_at,
        )
