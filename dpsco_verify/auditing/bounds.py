"""Lower confidence bounds on δ and on ε from the counts of one event, by inversion of the betting test.

A value is rejected when the wealth against it, computed from the counts, reaches 1/α. Both bounds are the end of a run
of rejected values that begins at 0, so a bound above the truth would mean that the truth itself was rejected:
probability at most α, for each of the two, at whatever moment the counts were taken (Ville 1939). Once all outputs are
drawn, the same holds of the tests of their fixed number, with a level of their own
(:mod:`dpsco_verify.inference.fixed_size_test`).

Where the number of pairs n was fixed before they were drawn and are counted once,
:func:`epsilon_lower_bound_at_once` is another one. Given K occurrences in all, the
number a on the first data set has weights ``C(n, a) C(n, K − a) ω^a`` with the odds ratio ω of P(E) and P'(E). Against
those of Bin(K, ω/(1 + ω)), ``C(K, a) ω^a``, they have the factor ``1/((n − a)! (n − K + a)!)``, which is symmetric
about K/2 and falls with d = |a − K/2|. So d is stochastically smaller, and as the part of those at a distance d that
lie above K/2, ``ω^2d/(1 + ω^2d)``, grows with d,

    ``P(a ≥ a₀ | K) ≤ P(Bin(K, ω/(1 + ω)) ≥ a₀)`` for ω ≥ 1 and a₀ > K/2.

An exact binomial bound of ω/(1 + ω) is thus one of ω, and ``ω ≤ e^ε (1 − q)/(1 − e^ε q)``, which grows with q, gives
ε from an upper bound of q (the nuisance parameter by a bound of its own: Berger and Boos 1994).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betainccinv, betaincinv

from dpsco_verify.arrays import FloatArray
from dpsco_verify.inference import CellCounts
from dpsco_verify.inference.bets import log_wealth_error, log_wealth_of_counts
from dpsco_verify.inference.fixed_size_test import FixedSizeTest
from dpsco_verify.validation import require_non_negative, require_open_interval

_STEPS, _STEPS_OF_ALL = 30, 14
"""Bisections: fewer of the tests of all outputs, each of which is planned anew."""
_SCAN = 128
_LARGEST_EPSILON = 60.0
_NUISANCE = 0.05
"""The part of the level that the bound of P'(E) takes."""


def log_wealth_against(counts: CellCounts, *, epsilon: float, delta: float, fractions: FloatArray) -> float:
    """Return the log wealth of the test of ``P(E) − e^ε P'(E) ≤ δ`` after these counts, less its rounding error."""
    factor = math.exp(epsilon)
    low, high = -(factor + delta), 1.0 - delta
    if high <= 0.0:
        return 0.0
    ratios = (np.array([0.0, -factor, 1.0, 1.0 - factor]) - delta) / -low
    cells = [counts.n00, counts.n01, counts.n10, counts.n11]
    wealth = float(log_wealth_of_counts(fractions, ratios, cells))
    return wealth - log_wealth_error(fractions, high / -low, sum(cells))


def delta_lower_bound(counts: CellCounts, *, epsilon: float, alpha: float, fractions: FloatArray) -> float:
    """Return a δ that the truth at order ε exceeds with confidence 1 − α; 0 where none can be named.

    The wealth falls as δ grows, payoff by payoff, so bisection finds the end of what is rejected.
    """
    epsilon = require_non_negative("epsilon", epsilon)
    threshold = -math.log(require_open_interval("alpha", alpha, 0.0, 1.0))

    def rejected(delta: float) -> bool:
        return log_wealth_against(counts, epsilon=epsilon, delta=delta, fractions=fractions) >= threshold

    return _end_of_rejections(rejected, np.array([0.0, 1.0]))


def epsilon_lower_bound(counts: CellCounts, *, delta: float, alpha: float, fractions: FloatArray) -> float:
    """Return an ε that the truth at δ exceeds with confidence 1 − α; 0 where none can be named.

    For δ > 0 the wealth need not be monotone in ε, so the values are scanned from 0 to the first that is not rejected.
    """
    delta = require_non_negative("delta", delta)
    threshold = -math.log(require_open_interval("alpha", alpha, 0.0, 1.0))

    def rejected(epsilon: float) -> bool:
        return log_wealth_against(counts, epsilon=epsilon, delta=delta, fractions=fractions) >= threshold

    return _end_of_rejections(rejected, _epsilons(counts))


def delta_lower_bound_of_all(counts: CellCounts, *, epsilon: float, alpha: float, p: float) -> float:
    """Return the same as :func:`delta_lower_bound` by the tests of all outputs, planned for ``P(E) = p``."""
    rejected = _refuted_of_all(counts, alpha=alpha, p=p)
    return _end_of_rejections(
        lambda delta: rejected(epsilon, delta), np.array([0.0, 1.0]), steps=_STEPS_OF_ALL
    )


def epsilon_lower_bound_of_all(counts: CellCounts, *, delta: float, alpha: float, p: float) -> float:
    """Return the same as :func:`epsilon_lower_bound` by the tests of all outputs, planned for ``P(E) = p``."""
    rejected = _refuted_of_all(counts, alpha=alpha, p=p)
    return _end_of_rejections(
        lambda epsilon: rejected(epsilon, delta), _epsilons(counts), steps=_STEPS_OF_ALL
    )


def _refuted_of_all(counts: CellCounts, *, alpha: float, p: float) -> Callable[[float, float], bool]:
    """Return whether (ε, δ) is refuted by its own test of fixed size: each true one is with probability `alpha`."""
    first, second = counts.n11 + counts.n10, counts.n11 + counts.n01
    pairs = first + counts.n01 + counts.n00

    def rejected(epsilon: float, delta: float) -> bool:
        test = FixedSizeTest.aimed(epsilon=epsilon, delta=delta, p=p, samples=pairs, alpha=alpha)
        return test is not None and test.log_p_value(first, second) <= math.log(alpha)

    return rejected


def _epsilons(counts: CellCounts) -> FloatArray:
    """Return a grid of ε: it is at most log(1/P'(E)), and a count of 1 is the smallest P'(E) that counts speak of."""
    pairs = counts.n00 + counts.n01 + counts.n10 + counts.n11
    return np.linspace(0.0, min(math.log(max(pairs, 2)) + 1.0, _LARGEST_EPSILON), _SCAN)


def epsilon_lower_bound_at_once(first: float, second: float, pairs: int, *, alpha: float) -> float:
    """Return an ε that the truth at δ = 0 exceeds with confidence 1 − α; 0 where none can be named.

    Parameters
    ----------
    first, second
        How often the event occurred on the two data sets.
    pairs
        Among how many outputs on each; fixed before they were drawn, and looked at once.
    """
    alpha = require_open_interval("alpha", alpha, 0.0, 1.0)
    if first <= second:
        return 0.0
    spent = _NUISANCE * alpha
    q = float(betainccinv(second + 1.0, pairs - second, spent)) if second < pairs else 1.0
    part = float(betaincinv(first, second + 1.0, alpha - spent))
    odds = part / (1.0 - part)
    return max(0.0, math.log(odds) - math.log1p((odds - 1.0) * q))


def _end_of_rejections(rejected: Callable[[float], bool], grid: FloatArray, *, steps: int = _STEPS) -> float:
    if not rejected(0.0):
        return 0.0
    low, high = 0.0, math.inf
    for value in grid[1:]:
        if not rejected(float(value)):
            high = float(value)
            break
        low = float(value)
    if math.isinf(high):
        return low
    for _ in range(steps):
        middle = 0.5 * (low + high)
        if rejected(middle):
            low = middle
        else:
            high = middle
    return low
