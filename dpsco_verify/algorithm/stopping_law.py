"""The exact law of the stopping time, and a closed-form bound on its tail.

Let ``T_m`` be the number of uniform draws from n points until m distinct ones have been seen. While k have been
seen the next draw is fresh with probability ``1 − k/n``, whatever was drawn before, so ``T_m`` is a sum of
independent geometric variables with parameters ``1 − k/n``, k = 0, …, m − 1.

Three routes, each checked by another: rational arithmetic (:func:`tail_exact`, the oracle), a recursion in
doubles with a proven error (:func:`survival`), and Janson's bound (:func:`janson_exponent`) for all n at once.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer

RECURSION_LIMIT = 512
"""The largest n of :func:`survival`: beyond it tails of interest leave the range in which its error is proven."""


def _require_counts(n: int, m: int) -> tuple[int, int]:
    n = require_integer("n", n, minimum=1)
    m = require_integer("m", m, minimum=1)
    if m > n:
        raise InputError(f"m={m} distinct points exceed n={n}; give at most n")
    return n, m


def tail_exact(n: int, m: int, t: int) -> Fraction:
    """Return ``P(T_m > t)`` exactly, by the recursion over the number of distinct points seen.

    Integers only: the number of sequences of t draws with exactly k distinct values satisfies
    ``N(t+1, k) = k N(t, k) + (n − k + 1) N(t, k − 1)``, and ``P(T_m > t) = Σ_{k<m} N(t, k)/n^t``.
    """
    n, m = _require_counts(n, m)
    t = require_integer("t", t, minimum=0)
    counts = [1] + [0] * (m - 1)
    for _ in range(t):
        for k in range(m - 1, 0, -1):
            counts[k] = k * counts[k] + (n - k + 1) * counts[k - 1]
        counts[0] = 0
    return Fraction(sum(counts), n**t)


def survival(n: int, m: int, t_max: int) -> FloatArray:
    """Return ``P(T_m > t)`` for t = 0, …, `t_max`, in doubles; shape (t_max + 1,).

    The recursion of :func:`tail_exact` divided by ``n^t``. All its terms are non-negative and each of the t steps
    rounds a state at most four times, so the relative error is below ``(4t + m)·2⁻⁵²`` (:func:`relative_error`) plus an
    absolute error below ``t·m·2⁻¹⁰⁷⁴`` from underflow.

    Raises
    ------
    InputError
        For n above :data:`RECURSION_LIMIT`.
    """
    n, m = _require_counts(n, m)
    t_max = require_integer("t_max", t_max, minimum=0)
    if n > RECURSION_LIMIT:
        raise InputError(
            f"n={n} exceeds {RECURSION_LIMIT}; use the closed-form bound janson_exponent beyond it"
        )
    stay = np.arange(m) / n
    move = (n - np.arange(m - 1)) / n
    state = np.zeros(m)
    state[0] = 1.0
    tails = np.empty(t_max + 1)
    tails[0] = 1.0
    with np.errstate(under="ignore"):  # what underflows is counted in the absolute error
        for t in range(1, t_max + 1):
            moved = state[:-1] * move
            state *= stay
            state[1:] += moved
            tails[t] = state.sum()
    return tails


def relative_error(m: int, t: int) -> float:
    """Return the bound on the relative error of :func:`survival` at t."""
    return (4.0 * t + m) * 2.0**-52


def mean_iterations(n: int, m: int) -> Fraction:
    """Return ``E[T_m] = n(H_n − H_{n−m}) = Σ_{k<m} n/(n − k)`` exactly."""
    n, m = _require_counts(n, m)
    return sum((Fraction(n, n - k) for k in range(m)), Fraction(0))


def janson_exponent(*, fewest_left: float, mean_per_point: float, horizon_per_point: float) -> float:
    """Return x such that ``P(T_m > t) ≤ e^{−x n}`` for ``t = horizon_per_point · n``.

    Janson, "Tail bounds for sums of geometric and exponential variables" (2018), Theorem 2.1: a sum X of
    independent geometric variables with mean μ and smallest parameter p satisfies, for λ ≥ 1,
    ``P(X ≥ λμ) ≤ exp(−p μ (λ − 1 − ln λ))``. With ``λμ = t`` the exponent is ``p(t − μ − μ ln(t/μ))``, which
    falls as μ grows (its derivative is ``−p ln(t/μ)``), so an upper bound on μ and a lower bound on p suffice.

    Parameters
    ----------
    fewest_left
        A lower bound on ``p = 1 − (m − 1)/n``.
    mean_per_point
        An upper bound on ``μ/n``.
    horizon_per_point
        ``t/n``, above `mean_per_point`.

    Raises
    ------
    InputError
        If the horizon does not exceed the mean: λ ≥ 1 is the theorem's condition.
    """
    if not horizon_per_point >= mean_per_point > 0:
        raise InputError(
            f"horizon_per_point={horizon_per_point!r} is below mean_per_point={mean_per_point!r}; "
            "the bound speaks of tails above the mean only"
        )
    excess = horizon_per_point - mean_per_point
    return fewest_left * (excess - mean_per_point * math.log(horizon_per_point / mean_per_point))
