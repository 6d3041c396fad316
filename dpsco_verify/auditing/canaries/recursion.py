"""How many of a fixed number of guesses can be right in one run of an f-DP mechanism.

Setting. m canaries; canary j is in by a fair coin S_j of its own. Whoever sees the output of one run guesses N of the
coins: which ones, and how, may depend on all of the output, but the number N not. K guesses are right. ``F = 1 − f``
bounds the probability of any event under one value of S_j by F of that under the other, all else fixed.

Theorem. For k ≥ 1:  ``E[K; K ≥ k]/m ≤ F(E[N − K; K ≥ k − 1]/m)``.

Proof. Fix all coins but S_j, and let K' count the right guesses about them, a function of the output. For b = 0, 1
let A_b be the event that b is guessed for j and K' ≥ k − 1. Guess j is right and K ≥ k iff A_{S_j}; it is wrong and K
≥ k − 1 iff A_{1−S_j}, as then K = K'. So ``P(right, K ≥ k) = ½ Σ_b P_b(A_b) ≤ ½ Σ_b F(P_{1−b}(A_b)) ≤ F(P(wrong, K ≥
k − 1))``, F being concave. Average over the other coins and over j, F being concave again: the left becomes E[K; K ≥
k]/m, and what F is taken of E[N − K; K ≥ k − 1]/m, because every guess is right or wrong and there are N of them. ∎
Where only "in" is guessed A_0 is empty, and the same lines give ½F(2x) for F(x): as with m/2 canaries in the place of
m.

In tails ``P_k = P(K ≥ k)`` and ``T_k = Σ_{i>k} P_i`` the left is ``(k P_k + T_k)/m``, and what F is taken of
``((N − k + 1)P_{k−1} − P_k − T_k)/m``. So P_{k−1} is at least

    ``(m F⁻¹((k P_k + T_k)/m) + P_k + T_k)/(N − k + 1)``,

and at least P_k: bounds that rise with P_k and T_k. From ``P_c ≥ α`` and ``T_c ≥ 0`` they lead down to P_0; if it
would have to exceed 1, then ``P(K ≥ c) < α``. Once a step raises nothing no later one does: k P_k + T_k stays as it
is.

Sources: Mahloujifar, Melis and Chaudhuri (2025, Auditing f-differential privacy in one run, ICML; arXiv:2410.22235),
who bound the single probabilities P(K = k) by a recursion of this kind; the setting is that of Steinke, Nasr and
Jagielski (2023, Privacy auditing with one (1) training run, NeurIPS; arXiv:2305.08846). The inequality and its tails
are proved here on their own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.canaries.lines import TradeOffLines

_ROUNDING = 1e-9
"""A million additions of positive numbers lose less."""


def rejects(lines: TradeOffLines, *, correct: int, guesses: int, canaries: float, alpha: float) -> bool:
    """Return whether `correct` or more right guesses have probability below `alpha` under the claim.

    Parameters
    ----------
    lines
        The claim.
    correct, guesses
        c and N.
    canaries
        m; half of it where only "in" is guessed.
    alpha
        α in (0, 1).
    """
    a, b = lines.inverse
    return bool(_compiled()(alpha, correct, guesses, canaries, a, b) > 1.0 + _ROUNDING)


def least_total(
    alpha: float, correct: int, guesses: int, canaries: float, slopes: FloatArray, starts: FloatArray
) -> float:
    """Return the least P_0 that ``P_c ≥ α`` allows, or what exceeds 1 on the way to it."""
    tail, above, line = alpha, 0.0, 0
    for k in range(correct, 0, -1):
        r = (k * tail + above) / canaries
        if r > 1.0:
            return 2.0
        # r only rises, and so does the line that is the largest at it.
        wrong = 0.0
        for j in range(line, len(slopes)):
            a, b = slopes[j], starts[j]
            value = a * r + b if a <= 1.0 else b - a * (1.0 - r)
            if j > line and value < wrong:
                break
            line, wrong = j, value
        wrong = max(wrong, 0.0)
        above += tail
        least = (canaries * wrong + above) / (guesses - k + 1)
        if least <= tail:
            break
        tail = least
        if tail > 2.0:
            break
    return tail


def lines_used(
    lines: TradeOffLines, *, correct: int, guesses: int, canaries: float, alpha: float
) -> set[float]:
    """Return the slopes e^ε of the claim's lines that some step of the recursion rests on."""
    a, b = lines.inverse
    used: set[float] = set()
    tail, above = alpha, 0.0
    for k in range(correct, 0, -1):
        r = (k * tail + above) / canaries
        values = np.where(a <= 1.0, a * r + b, b - a * (1.0 - r))
        best = int(values.argmax())
        # A rising line's slope is 1/e^ε, to the rounding of a quotient.
        slope = float(a[best])
        used.add(slope if slope > 1.0 else float(lines.slopes[np.abs(lines.slopes * slope - 1.0).argmin()]))
        above += tail
        least = (canaries * max(float(values[best]), 0.0) + above) / (guesses - k + 1)
        if least <= tail or least > 1.0:
            break
        tail = least
    return used


@cache
def _compiled() -> Callable[[float, int, int, float, FloatArray, FloatArray], float]:
    """Return :func:`least_total` compiled, from a file where one can be kept."""
    numba: Any = importlib.import_module("numba")
    try:
        compiled: Any = numba.njit(cache=True)(least_total)
    except RuntimeError:  # there is no folder that can be written
        compiled = numba.njit(least_total)
    found: Callable[[float, int, int, float, FloatArray, FloatArray], float] = compiled
    return found
