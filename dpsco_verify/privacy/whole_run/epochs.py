"""Several epochs: the bound of one epoch as a pair of laws, and its composition.

**Up.** Let h(α) be the hockey-stick divergence of one epoch, for given earlier ones. It is convex and falls,
``h(0) = 1``, ``h(α) ≤ β(α)`` for the bound β of one epoch at ``α = e^ε ≥ 1``, and
``h(1/α) = 1 − 1/α + h'(α)/α ≤ 1 − 1/α + β(α)/α`` where h' is that of the neighbours exchanged, for which β
holds as well. So h lies below the chords between any such points, and so below their convex minorant β₀; after
the last point β₀ stays constant. β₀ is convex, falls, has ``β₀(0) = 1`` and is at least ``(1 − α)₊``, so it is
the divergence of a pair (A, B): B has mass ``β₀'(α+) − β₀'(α−)`` where dA/dB = α, A has α times that, and β₀(∞)
where B has none. Such pairs compose: an adaptive sequence, each member dominated whatever came before, is
dominated by the product (Zhu, Dong and Wang 2022, Proposition 15 and Theorem 10). The points are equally spaced
in ε, so the losses log(dA/dB) add on a lattice.

**Down.** An epoch of the attained instance has dA/dB = ``M = 1 − K/n + (1/n) Σ Y_s``; epochs are independent.
The law of M under B from a lower law of Y, with its losses rounded down and the mass A = M·B kept, gives a
smaller δ, as ``E_A(1 − e^{ε − loss})₊`` rises with the loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy.whole_run.convolution import convolved
from dpsco_verify.privacy.whole_run.functional import Sum
from dpsco_verify.privacy.whole_run.law import UNIT, attained
from dpsco_verify.privacy.whole_run.plan import negligible_beyond, plan_attained

_NODES = 96
_NEGLIGIBLE = 1e-3
"""The part of δ that may be lost beyond the last order, about."""
_LADDER, _LAST = math.log(1.25), 64.0
_LOWEST_LOSS = -16.0
_TAIL = 9.0
_LARGEST = 2**22


def composed_upper(once: Callable[[float], float], epochs: int, epsilon: float) -> float:
    """Return an upper bound on δ(ε) of `epochs` epochs, of which one has at most δ = ``once(ε)``."""
    small = _NEGLIGIBLE * once(epsilon) / epochs
    # from a fixed ladder, so that calls with other orders meet the same nodes, which the caller remembers
    low = high = math.ceil(math.log(max(epsilon, 1e-6)) / _LADDER)
    most, reach = max(math.ceil(math.log(_LAST) / _LADDER), high), 1
    while once(math.exp(_LADDER * high)) > small and high < most:
        low, high, reach = high + 1, min(high + reach, most), 2 * reach
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if once(math.exp(_LADDER * middle)) > small else (low, middle)
    last = math.exp(_LADDER * high)
    orders = np.linspace(0.0, last, _NODES + 1)
    masses, never, inexact = _dominating(orders, np.array([once(float(order)) for order in orders]))
    losses = _composed(masses, -_NODES, float(orders[1]), epochs, epsilon)
    return min(sum(losses) + epochs * (never + inexact), 1.0)


def _dominating(orders: FloatArray, bounds: FloatArray) -> tuple[FloatArray, float, float]:
    """Return A's masses at the losses −last … last, its mass where B has none, and what rounding adds to them at most.

    The pair is symmetric: A has at a loss −l what B has at l, and only α ≥ 1 needs to be computed.
    """
    ratios = np.exp(orders)
    kept = [0]
    for i in range(1, len(ratios)):
        while len(kept) > 1 and _turns_down(ratios, bounds, kept[-2], kept[-1], i):
            kept.pop()
        kept.append(i)
    while True:
        x, y = ratios[kept], bounds[kept]
        slopes = np.append(np.diff(y) / np.diff(x), 0.0)
        # the chord from (1/x, 1 − 1/x + y/x) to (x, y), the same line on both sides of 1; at x = 1 its limit
        middle = -(1.0 - y[0]) / (1.0 + x[0])
        jumps = np.diff(np.concatenate([[middle], slopes]))
        if jumps[0] >= 0.0:
            break
        kept.pop(0)
    upper = np.zeros(len(orders))
    upper[kept] = jumps
    masses = np.concatenate([upper[:0:-1], [2.0 * upper[0]], (upper * ratios)[1:]])
    inexact = 64.0 * UNIT * (1.0 + float(np.sum(x[1:] * y[:-1] / np.diff(x))))
    return masses, float(y[-1]), inexact


def _turns_down(x: FloatArray, y: FloatArray, a: int, b: int, c: int) -> bool:
    return bool((y[b] - y[a]) * (x[c] - x[b]) >= (y[c] - y[b]) * (x[b] - x[a]))


def _composed(
    masses: FloatArray, first: int, step: float, epochs: int, epsilon: float
) -> tuple[float, float]:
    """Return ``Σ_l A^{epochs}(l) (1 − e^{ε − l})₊`` over the lattice of sums of losses, and the bound on its error."""
    size = 2 ** math.ceil(math.log2(epochs * (len(masses) - 1) + 2))
    p, error = convolved(np.pad(masses, (0, size - len(masses))), epochs)
    losses = step * (epochs * first + np.arange(size))
    weights = -np.expm1(np.minimum(epsilon - losses, 0.0))
    inexact = error * float(np.linalg.norm(weights)) + 64.0 * UNIT * (1.0 + float(np.abs(losses).max()))
    return float(np.sum(np.maximum(p, 0.0) * weights)), inexact


def composed_lower(problem: Sum, epochs: int) -> float:
    """Return a lower bound on δ of `epochs` independent epochs of the attained instance; 0 where none is found."""
    plan = plan_attained(problem, problem.guess() - _TAIL) if problem.summable else None
    if plan is None:
        return 0.0
    highest = negligible_beyond(problem, problem.guess() - 5.0)
    law = attained(epsilon=0.0, mu=problem.mu, step=plan.step, highest=highest)
    if law is None:
        return 0.0
    # Y ≥ 0, so P(Σ (Y − 1) < −x) ≤ exp(−x²/(2m E Y²)) (Maurer 2003): what would be counted too high
    reach = _TAIL * math.sqrt(problem.steps * math.exp(problem.mu**2))
    bottom = math.floor(max(-reach, problem.steps * law.origin) / law.step)
    size = plan.size
    while size * law.step < 2.0 * reach + highest and size < _LARGEST:
        size *= 2
    folded = np.bincount(np.arange(len(law.masses)) % size, law.masses, minlength=size).astype(np.float64)
    p, error = convolved(folded, problem.steps)
    first = bottom - math.ceil(problem.steps * law.origin / law.step)
    index = first + np.arange(size)
    ratio = 1.0 + (problem.steps * law.origin + law.step * index) / problem.scale
    top = float(ratio[-1])
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(ratio)
    width = min(
        math.log(top) / 2048.0,
        math.sqrt(problem.steps * math.expm1(problem.mu**2)) / problem.scale / 256.0,
    )
    counted = ratio > math.exp(_LOWEST_LOSS)
    places = np.floor(loss[counted] * (1.0 - 8.0 * UNIT) / width - 1e-9).astype(np.int64)
    lowest = int(places.min())
    masses = np.bincount(places - lowest, np.maximum(p[index % size][counted], 0.0) * ratio[counted]).astype(
        np.float64
    )
    inexact = top * (math.sqrt(size) * error + math.exp(-0.5 * _TAIL**2)) + 1e-14
    value, rounding = _composed(masses, lowest, width, epochs, problem.epsilon)
    return max(value - rounding - epochs * inexact, 0.0)
