"""The exact law of the stopping time, and certified bounds on its tail.

Let ``T_m`` be the number of uniform draws from n points until m distinct ones have been seen. While k have been
seen the next draw is fresh with probability ``1 − k/n``, whatever was drawn before, so ``T_m`` is a sum of
independent geometric variables with parameters ``1 − k/n``, k = 0, …, m − 1.

Routes, each checked by another:

* rational arithmetic for small n (:func:`tail_exact`, the oracle);
* a recursion in doubles with a proven error, the whole law at once (:func:`survival`, :func:`log_survival`);
* inclusion and exclusion in ball arithmetic, one t (:func:`log_tail_enclosure`);
* Chernoff's bound in ball arithmetic at its best point, any n at the same cost (:func:`log_tail_bound`);
* Janson's bound for all n at once (:func:`janson_exponent`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from fractions import Fraction

import flint
import numpy as np
from scipy import optimize, special

from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball, enclose
from dpsco_verify.validation import require_integer

RECURSION_LIMIT = 20_000
"""The largest n of :func:`survival` and :func:`log_survival`, whose work is ``m t``."""

_BLOCK_BITS = 300
_GUARD_BITS = 96
_LOG_2 = math.log(2.0)


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

    The relative error is below ``(4t + m)·2⁻⁵²`` (:func:`relative_error`); tails below 2⁻¹⁰²² lose digits, those below
    2⁻¹⁰⁷⁴ are 0, and :func:`log_survival` has them.

    Raises
    ------
    InputError
        For n above :data:`RECURSION_LIMIT`.
    """
    values, exponents = _scaled_survival(n, m, t_max)
    with np.errstate(under="ignore"):
        return np.asarray(np.ldexp(values, np.maximum(exponents, -4000)), dtype=np.float64)


def log_survival(n: int, m: int, t_max: int) -> FloatArray:
    """Return ``log P(T_m > t)`` for t = 0, …, `t_max`, however small; −∞ where the tail is 0 (m = 1).

    The absolute error is below :func:`relative_error` of the tail, plus ``2⁻⁵¹`` of the logarithm itself.
    """
    values, exponents = _scaled_survival(n, m, t_max)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values) + exponents * _LOG_2, dtype=np.float64)


def _scaled_survival(n: int, m: int, t_max: int) -> tuple[FloatArray, IntArray]:
    """Return the tails as ``value · 2^exponent``.

    The recursion of :func:`tail_exact` divided by ``n^t``: ``P_{t+1}(k) = P_t(k) k/n + P_t(k − 1)(n − k + 1)/n``. Its
    terms are not negative, and each step rounds a state at most four times. Every state has an exponent of its own,
    taken anew after each block of steps: late tails are made of states too small for a double beside the likely ones.

    Nothing under- or overflows that counts. In a step a state is multiplied by no less than 1/n, and by no more than
    ``1 + P_t(k−1)(n−k+1)/(n P_t(k)) ≤ 1 + n/2``: in Stirling's numbers that ratio is ``S(t, k−1)/(n S(t, k))``, which
    falls in t as S is log-concave in k, and is ``k(k−1)/(2n)`` at t = k. So within a block, of b steps with
    ``(1 + n)^b ≤ 2^300``, scaled states remain within ``2^±301``; and what a scaled move below 2⁻¹⁰²² or a weight
    below 2⁻¹⁰⁷⁴ loses is below ``2⁻⁴⁰⁰`` of the state or the sum that it is added to.
    """
    n, m = _require_counts(n, m)
    t_max = require_integer("t_max", t_max, minimum=0)
    if n > RECURSION_LIMIT:
        raise InputError(
            f"n={n} exceeds {RECURSION_LIMIT}; use the certified bound log_tail_bound beyond it, at any n"
        )
    stay = np.arange(m) / n
    move = (n - np.arange(m - 1)) / n
    state, scratch = np.zeros(m), np.empty(m)
    state[0] = 1.0
    exponents = np.zeros(m, dtype=np.int64)
    values, totals = np.zeros(t_max + 1), np.zeros(t_max + 1, dtype=np.int64)
    values[0] = 1.0
    block = int(_BLOCK_BITS / math.log2(1 + n))
    with np.errstate(under="ignore"):
        for start in range(0, t_max, block):
            if not _rescale(state, exponents):
                break  # m = 1: the first draw ends it
            top = int(exponents.max())
            scaled_move = np.ldexp(move, np.maximum(exponents[:-1] - exponents[1:], -4000))
            weight = np.ldexp(1.0, np.maximum(exponents - top, -4000))
            for t in range(start + 1, min(start + block, t_max) + 1):
                moved = np.multiply(state[:-1], scaled_move, out=scratch[:-1])
                state *= stay
                state[1:] += moved
                values[t] = np.multiply(state, weight, out=scratch).sum()
            totals[start + 1 : start + block + 1] = top
    return values, totals


def _rescale(state: FloatArray, exponents: IntArray) -> bool:
    """Bring the states into [1/2, 1), in place; return False if all are 0. The others are in one piece."""
    live = np.flatnonzero(state)
    if not live.size:
        return False
    first, last = int(live[0]), int(live[-1])
    mantissas, steps = np.frexp(state)
    state[:] = mantissas
    exponents += steps
    exponents[:first], exponents[last + 1 :] = exponents[first], exponents[last]
    return True


def relative_error(m: int, t: int) -> float:
    """Return the bound on the relative error of :func:`survival` at t."""
    return (4.0 * t + m) * 2.0**-52


def log_tail_enclosure(n: int, m: int, t: int) -> tuple[float, float]:
    """Return doubles (low, high) that enclose ``log P(T_m > t)``, proven; (−∞, −∞) where the tail is 0.

    ``T_m > t`` says that t draws leave at least ``n − m + 1`` points unseen. By inclusion and exclusion

        P(T_m > t) = Σ_{i<m} (−1)^{m−1−i} C(n−i−1, n−m) C(n, i) (i/n)^t,

    whose terms cancel, evaluated in balls of as many bits as that takes: about n, so the work grows with ``m n``.
    """
    n, m = _require_counts(n, m)
    t = require_integer("t", t, minimum=0)
    if t < m:
        return 0.0, 0.0
    if m == 1:
        return -math.inf, -math.inf
    i = np.arange(1, m)
    log_terms = (
        special.gammaln(n - i)
        - special.gammaln(m - i)
        - special.gammaln(n - m + 1)
        + special.gammaln(n + 1)
        - special.gammaln(i + 1)
        - special.gammaln(n - i + 1)
        + t * np.log(i / n)
    )
    bits = math.ceil((float(log_terms.max()) - log_tail_bound(n, m, t)) / _LOG_2) + _GUARD_BITS
    while True:
        with flint.ctx.workprec(bits):
            value = _inclusion_exclusion(n, m, t)
            if value > 0 and value.rad() <= value * ball(2.0**-60):
                low, high = enclose(value.log, relative=1e-15)
                return low, min(high, 0.0)
        bits += bits // 4


def _inclusion_exclusion(n: int, m: int, t: int) -> flint.arb:
    total = flint.arb(0)
    coefficient = flint.fmpz(math.comb(n - 1, n - m))
    for i, power in zip(range(m), _powers(m, t), strict=True):
        term = power * coefficient
        total = total - term if (m - 1 - i) % 2 else total + term
        coefficient = coefficient * ((n - i) * (m - 1 - i)) // ((i + 1) * max(n - i - 1, 1))
    return total / flint.arb(n) ** t


def _powers(m: int, t: int) -> Iterator[flint.arb]:
    """Yield ``i^t`` for i = 0, …, m − 1 as balls: powers of primes, the others being products."""
    divisor = np.zeros(m, dtype=np.int64)  # the smallest prime divisor of a composite number
    for prime in range(2, math.isqrt(m) + 1):
        if not divisor[prime]:
            multiples = divisor[prime * prime :: prime]
            multiples[multiples == 0] = prime
    powers: list[flint.arb] = []
    for i in range(m):
        d = int(divisor[i])
        powers.append(powers[d] * powers[i // d] if d else flint.arb(i) ** t)
        yield powers[i]


def log_tail_bound(n: int, m: int, t: int) -> float:
    """Return a proven upper bound on ``log P(T_m > t)``, at a cost that does not grow with n.

    Chernoff: ``P(T_m > t) ≤ z^{−(t+1)} E z^{T_m}`` for z ≥ 1. With ``z = n/a`` for ``m − 1 < a ≤ n``, the product of
    the geometric variables' generating functions is ``Π_{k<m} (n − k)/(a − k)``, so

        log P(T_m > t) ≤ log Γ(n+1) − log Γ(n−m+1) + log Γ(a−m+1) − log Γ(a+1) + (t + 1) log(a/n).

    The right side is evaluated in balls and rounded up. Each a is valid; the best has ``Σ_{k<m} a/(a − k) = t + 1``,
    and is found in doubles. The bound has the tail's true exponent, and is too large by a factor of the order of
    ``√n``. Up to the mean it is 0, which says nothing.
    """
    n, m = _require_counts(n, m)
    t = require_integer("t", t, minimum=0)
    if t < m:
        return 0.0
    if m == 1:
        return -math.inf

    def excess(log_y: float) -> float:
        """Return the mean under the tilted law less t + 1, for ``a = m − 1 + y``."""
        y = math.exp(log_y)
        a = m - 1 + y
        return float(a * (special.digamma(a + 1.0) - special.digamma(y))) - (t + 1)

    low, high = math.log((m - 1) / (t + 1)), math.log(n - m + 1)
    if excess(high) >= 0:
        return 0.0
    y = math.exp(optimize.brentq(excess, low - 1.0, high, xtol=1e-12, rtol=1e-12))
    with flint.ctx.workprec(64 + 2 * (n * (t + 1)).bit_length()):
        left = ball(min(Fraction(y), Fraction(n - m + 1)))  # so that a ≤ n: for z < 1 there is no such bound
        a = left + (m - 1)
        value = flint.arb(n + 1).lgamma() - flint.arb(n - m + 1).lgamma() + left.lgamma() - (a + 1).lgamma()
        value += (t + 1) * (a / n).log()
        return min(enclose(lambda: value, relative=1e-12)[1], 0.0)


def mean_iterations(n: int, m: int) -> Fraction:
    """Return ``E[T_m] = n(H_n − H_{n−m}) = Σ_{k<m} n/(n − k)`` exactly."""
    return _mean_iterations(*_require_counts(n, m))


@functools.lru_cache(maxsize=4096)
def _mean_iterations(n: int, m: int) -> Fraction:
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
