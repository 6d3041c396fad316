"""Which (ε, δ) a zero-concentrated claim implies, shown from the divergences of two coins.

A mechanism that is ρ-zCDP has ``D_α ≤ ρα`` for all α > 1, and so has every event E of it, with probabilities p and q:
``p^α q^{1−α} + (1 − p)^α (1 − q)^{1−α} ≤ e^{(α−1)αρ}``. If the left side is larger for some α and all q at
``p = δ + e^ε q``, no event has ``p − e^ε q = δ``; nor more than δ, since an event with more could be thinned.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import flint

from dpsco_verify.evidence.checker.arithmetic import ball
from dpsco_verify.evidence.checker.nulls import Parameters

_BITS = 192
_ROUNDS = 36
_GRID, _GRID_STEP = 64, 0.25
"""Of log(α − 1), from 10⁻³ to 10⁴."""


def concentrated(rho: Callable[[], flint.arb]) -> Callable[[Parameters, Fraction, Fraction], bool]:
    """Return what a ρ-zCDP claim implies."""

    def implies(_: Parameters, epsilon: Fraction, delta: Fraction) -> bool:
        if epsilon < 0 or not 0 < delta < 1:
            return epsilon >= 0 and delta >= 1
        with flint.ctx.workprec(_BITS):
            level = rho()
            end = (1 - ball(delta)) * (-ball(epsilon)).exp()

            def room(alpha: float) -> flint.arb:
                order = ball(Fraction(alpha))
                return _least(order, end, epsilon, delta).log() / (order - 1) - order * level

            # Any α will do: the best one is looked for on a grid, and then between its neighbours.
            grid = [math.log(1e-3) + k * _GRID_STEP for k in range(_GRID)]
            best = max(grid, key=lambda x: _middle(room(1 + math.exp(x))))
            low, high = best - _GRID_STEP, best + _GRID_STEP
            for _round in range(_ROUNDS):
                first, second = low + (high - low) * 0.382, low + (high - low) * 0.618
                if _middle(room(1 + math.exp(first))) < _middle(room(1 + math.exp(second))):
                    low = first
                else:
                    high = second
            return bool(room(1 + math.exp((low + high) / 2)) > 0)

    return implies


def _middle(value: flint.arb) -> float:
    return float(value.mid()) if value.is_finite() else -math.inf


def _least(alpha: flint.arb, end: flint.arb, epsilon: Fraction, delta: Fraction) -> flint.arb:
    """Return a lower bound of the left side over q in (0, end): it is convex, so a tangent bounds it from below."""
    factor, shift = ball(epsilon).exp(), ball(delta)

    def at(q: flint.arb) -> tuple[flint.arb, flint.arb]:
        p = shift + factor * q
        first = (alpha * p.log() + (1 - alpha) * q.log()).exp()
        second = (alpha * (1 - p).log() + (1 - alpha) * (1 - q).log()).exp()
        slope = first * (alpha * factor / p + (1 - alpha) / q) - second * (
            alpha * factor / (1 - p) + (1 - alpha) / (1 - q)
        )
        return first + second, slope

    low, high = flint.arb(0), flint.arb(end.mid())
    for _ in range(_BITS // 2):
        middle = flint.arb(((low + high) / 2).mid())
        if at(middle)[1] > 0:
            high = middle
        else:
            low = middle
    value, slope = at(flint.arb(((low + high) / 2).mid()))
    return value - abs(slope) * end
