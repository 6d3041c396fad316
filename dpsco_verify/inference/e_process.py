"""A betting e-process for the null hypothesis that bounded payoffs have conditional mean at most 0.

Validity. Under ``E[X_t | past] ≤ 0`` the mixture wealth W_t of :mod:`dpsco_verify.inference.bets` is a non-negative
supermartingale with ``W_0 = 1``, so ``P(sup_t W_t ≥ 1/α) ≤ α`` (Ville 1939, Étude critique de la notion de collectif):
the test may be looked at after every payoff and stopped whenever one likes. At every stopping time ``E[W] ≤ 1``, so
the wealth is an e-value. Betting for bounded means: Waudby-Smith & Ramdas 2023 (Estimating means of bounded random
variables by betting, JRSS-B 86). A mixture over fixed bets in place of a choice by the data: Robbins 1970; Howard,
Ramdas, McAuliffe & Sekhon 2021 (Time-uniform, nonparametric, nonasymptotic confidence sequences, Ann. Statist. 49).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import ArrayLike, FloatArray, IntArray
from dpsco_verify.errors import InputError, no_truth_value
from dpsco_verify.inference.bets import (
    BLOCK,
    bet_fractions,
    checked_fractions,
    depth_for_range,
    log_factors,
    log_mean_exp,
    log_wealth_error,
)
from dpsco_verify.inference.checks import require_counts, require_range, require_within
from dpsco_verify.validation import require_open_interval


@dataclass(frozen=True)
class EProcessDecision:
    """What a betting test has decided so far.

    Attributes
    ----------
    rejected
        True when the wealth has reached ``1/alpha`` at a moment when it was looked at. Once true it stays true.
    log_wealth
        The log of the wealth now: the log of an e-value, which may be averaged with others.
    max_log_wealth
        The largest log wealth seen so far. Not the log of an e-value.
    log_threshold
        ``log(1/alpha)``.
    alpha
        The level: the largest probability of ever rejecting a true null hypothesis.
    samples
        Payoffs seen.
    rejected_at
        Payoffs that had been seen when the wealth was first seen at or above the threshold, or None.

    """

    rejected: bool
    log_wealth: float
    max_log_wealth: float
    log_threshold: float
    alpha: float
    samples: int
    rejected_at: int | None

    __bool__ = no_truth_value("not decision.rejected")

    @property
    def p_value(self) -> float:
        """The anytime-valid p-value ``min(1, 1/sup_t W_t)`` (Ville 1939)."""
        return math.exp(-max(self.max_log_wealth, 0.0))


class BettingEProcess:
    """Test of ``E[X_t | past] ≤ 0`` for payoffs in ``[low, high]``, valid at every time.

    Parameters
    ----------
    low, high
        Bounds of the payoffs, ``low < 0 < high``.
    alpha
        Level in (0, 1).
    fractions
        Bets as fractions in (0, 1) of the largest bet ``1/|low|``, shape (K,), fixed before any payoff is drawn; a
        logarithmic grid when None.

    Raises
    ------
    InputError
        When the bounds do not enclose 0, or a payoff is NaN or outside of them.

    Notes
    -----
    A rejection needs the computed log wealth to clear the threshold by a bound on its own rounding error.

    """

    __bool__ = no_truth_value("not test.rejected")

    def __init__(self, *, low: float, high: float, alpha: float, fractions: ArrayLike | None = None) -> None:
        self._low, self._high = require_range(low, high)
        if not self._low < 0.0 < self._high:
            raise InputError(f"low={low!r} and high={high!r} do not enclose 0; give low < 0 < high")
        self._alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
        if fractions is None:
            self._fractions = bet_fractions(depth=depth_for_range(self._low, self._high))
        else:
            self._fractions = checked_fractions(fractions)
        self._log_capital = np.zeros_like(self._fractions)
        self._compensation = np.zeros_like(self._fractions)
        self._log_threshold = -math.log(self._alpha)
        self._samples = 0
        self._log_wealth = 0.0
        self._max_log_wealth = 0.0
        self._rejected_at: int | None = None

    @property
    def fractions(self) -> FloatArray:
        """The bets as fractions of the largest bet, shape (K,)."""
        return self._fractions.copy()

    @property
    def samples(self) -> int:
        """Payoffs seen."""
        return self._samples

    @property
    def log_wealth(self) -> float:
        """The log of the wealth now."""
        return self._log_wealth

    @property
    def max_log_wealth(self) -> float:
        """The largest log wealth seen so far, at least 0."""
        return self._max_log_wealth

    @property
    def rejected(self) -> bool:
        """Whether the wealth has been seen at or above ``1/alpha``."""
        return self._rejected_at is not None

    @property
    def decision(self) -> EProcessDecision:
        """The decision so far."""
        return EProcessDecision(
            rejected=self.rejected,
            log_wealth=self._log_wealth,
            max_log_wealth=self._max_log_wealth,
            log_threshold=self._log_threshold,
            alpha=self._alpha,
            samples=self._samples,
            rejected_at=self._rejected_at,
        )

    def update(self, payoffs: ArrayLike) -> float:
        """Take in payoffs in the order they were drawn, shape (N,) or a scalar; return the log wealth now.

        The wealth is looked at after every single payoff.
        """
        array = require_within("payoffs", payoffs, self._low, self._high)
        for start in range(0, array.size, BLOCK):
            self._walk(log_factors(self._fractions, array[start : start + BLOCK] / -self._low))
        return self._log_wealth

    def update_categories(self, values: ArrayLike, categories: IntArray) -> float:
        """Take in the payoffs ``values[categories[0]], values[categories[1]], …`` in this order.

        The same as ``update(values[categories])``, but the logarithms are taken once per value. Shapes: values (V,),
        categories (N,) with entries in 0, …, V − 1.
        """
        table = log_factors(
            self._fractions, require_within("values", values, self._low, self._high) / -self._low
        )
        codes = np.asarray(categories)
        if codes.ndim != 1 or not np.issubdtype(codes.dtype, np.integer):
            raise InputError(
                f"categories of type {codes.dtype} and shape {codes.shape} are not usable; give integers (N,)"
            )
        if codes.size and (codes.min() < 0 or codes.max() >= table.shape[1]):
            raise InputError(
                f"categories reach from {codes.min()} to {codes.max()}; give indices from 0 to {table.shape[1] - 1}"
            )
        for start in range(0, codes.size, BLOCK):
            self._walk(table[:, codes[start : start + BLOCK]])
        return self._log_wealth

    def update_counts(self, values: ArrayLike, counts: ArrayLike) -> float:
        """Take in ``counts[j]`` payoffs of size ``values[j]`` as one batch; return the log wealth at its end.

        Shapes (V,) and (V,). The cost does not depend on the counts. What the wealth did inside the batch is not
        known, so it is looked at once, at the end: valid, and at most less powerful than :meth:`update`.
        """
        array = require_within("values", values, self._low, self._high)
        totals = require_counts("counts", counts, size=array.size)
        number = int(totals.sum())
        if number:
            table = log_factors(self._fractions, array / -self._low)
            for start in range(0, totals.size, BLOCK):
                self._add(table[:, start : start + BLOCK] @ totals[start : start + BLOCK])
            self._samples += number
            self._look(log_mean_exp(self._log_capital[:, np.newaxis]), first=self._samples)
        return self._log_wealth

    def _walk(self, logs: FloatArray) -> None:
        """Take in one block of log factors, shape (K, b), looking after each of its columns."""
        sums = np.cumsum(logs, axis=1)
        path = self._log_capital[:, np.newaxis] + sums
        self._add(sums[:, -1])
        first = self._samples + 1
        self._samples += logs.shape[1]
        self._look(log_mean_exp(path), first=first)

    def _add(self, gain: FloatArray) -> None:
        """Add to the log capitals with Neumaier's compensation, so that 1e6 batches round no worse than one."""
        gain = gain + self._compensation
        total = self._log_capital + gain
        back = total - self._log_capital
        self._compensation = (self._log_capital - (total - back)) + (gain - back)
        self._log_capital = total

    def _look(self, log_wealth: FloatArray, *, first: int) -> None:
        """Look at the wealth after payoff number `first`, `first` + 1, …."""
        self._log_wealth = float(log_wealth[-1])
        self._max_log_wealth = max(self._max_log_wealth, float(log_wealth.max()))
        if self._rejected_at is None:
            error = log_wealth_error(self._fractions, self._high / -self._low, self._samples)
            crossed = np.flatnonzero(log_wealth - error >= self._log_threshold)
            if crossed.size:
                self._rejected_at = first + int(crossed[0])
