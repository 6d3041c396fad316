"""A norm to clip records at, from the data, at a price."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.estimators.records import finite_rows
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.validation import require_finite_array, require_open_interval, require_positive

GRID: tuple[float, ...] = tuple(2.0 ** (j / 2) for j in range(-80, 81))
"""The norms that can be returned, 10⁻¹² to 10¹²: public, and √2 apart."""

Below = Callable[[int], int]
"""From k to a uniformly random one of 0, …, k − 1."""


def private_norm(
    X: Any,
    *,
    epsilon: float,
    quantile: float = 0.5,
    grid: Sequence[float] = GRID,
    below: Below = secrets.randbelow,
) -> float:
    """Return, ε-differentially private, a norm that about this part of the records does not exceed.

    For clipping with :class:`~dpsco_verify.estimators.PrivateSGDClassifier`: a norm at ε₁ and a fit at (ε₂, δ) are
    (ε₁ + ε₂, δ)-differentially private together. Neighbours are data sets of n records of which one differs in any
    way. With ``N(c) = #{i : ‖x_i‖₂ ≤ c}`` and c' the next smaller norm of the grid, c has the utility ``u(c) =
    min(N(c) − ⌈qn⌉, ⌈qn⌉ − 1 − N(c'))``: not negative for the least c with N(c) ≥ qn, negative for all others, and
    moved by at most 1 by one record. Permute-and-flip takes one: in a uniformly random order the first c of which a
    coin of probability ``exp(ε(u(c) − max u)/2)`` says so. With probability 1 − β its utility is within
    ``2 log(|grid|/β)/ε`` of the best. All coins are exact: whole random numbers, no doubles.

    Parameters
    ----------
    X
        Records, shape (n, d). Missing values count as 0, and infinite ones are beyond every norm.
    epsilon
        What it costs, in [1e-4, 100].
    quantile
        q, in (0, 1). A larger one needs more records above it: some ``2 log(|grid|)/ε``.
    grid
        The norms to choose from, positive and not from the data.
    below
        Where random numbers come from; the operating system, except in tests.

    Raises
    ------
    InputError
        For an ε or q outside its range, or an empty or wrong grid.
    ValueError, TypeError
        As scikit-learn raises them for X of a wrong shape or type; the latter where it is sparse.

    Notes
    -----
    Source: McKenna and Sheldon (2020), Algorithm 1 and Theorem 2; coins by Canonne, Kamath and Steinke (2020),
    Algorithm 1.

    Examples
    --------
    >>> private_norm(np.full((5000, 2), 1.0), epsilon=1.0)
    1.4142135623730951
    """
    epsilon = require_positive("epsilon", epsilon)
    if not 1e-4 <= epsilon <= 100.0:
        raise InputError(f"epsilon={epsilon!r} is outside [0.0001, 100]; give a number in it")
    q = require_open_interval("quantile", quantile, 0.0, 1.0)
    candidates = np.unique(require_finite_array("grid", grid, shape=(None,)))
    if candidates.size == 0 or not np.all(candidates > 0.0):
        raise InputError(f"grid={grid!r} is no list of positive norms; give at least one")
    rows: FloatArray = check_array(X, dtype=np.float64, ensure_all_finite=False, input_name="X")
    utilities = utilities_of(rows, candidates, q)
    return float(candidates[permute_and_flip(utilities, Fraction(epsilon), below)])


def utilities_of(rows: FloatArray, candidates: FloatArray, quantile: float) -> list[int]:
    """Return the utilities of increasing norms, as :func:`private_norm` says."""
    norms = np.sort(euclidean_norm(finite_rows(rows)))
    wanted = math.ceil(Fraction(quantile) * len(norms))
    counts = np.searchsorted(norms, candidates, side="right").tolist()
    return [
        min(count - wanted, wanted - 1 - before) for count, before in zip(counts, [0, *counts], strict=False)
    ]


def permute_and_flip(utilities: Sequence[int], epsilon: Fraction, below: Below) -> int:
    """Return the place of one of some whole utilities, ε-differentially private if a record moves each by at most 1."""
    best = max(utilities)
    left = list(range(len(utilities)))
    while True:
        place = left.pop(below(len(left)))
        # the best one's coin never fails, so that something is left until it comes
        if _exponential_coin(epsilon * (best - utilities[place]) / 2, below):
            return place


def _exponential_coin(rate: Fraction, below: Below) -> bool:
    """Return true with probability ``exp(−rate)``, exactly."""
    while rate > 1:
        if not _small_coin(Fraction(1), below):
            return False
        rate -= 1
    return _small_coin(rate, below)


def _small_coin(rate: Fraction, below: Below) -> bool:
    """Return true with probability ``exp(−rate)`` for a rate in [0, 1], by the alternating series."""
    k = 1
    while below(rate.denominator * k) < rate.numerator:
        k += 1
    return k % 2 == 1
