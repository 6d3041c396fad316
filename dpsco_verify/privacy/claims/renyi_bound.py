"""Certified upper bounds on δ from a bound on a Rényi divergence, in ball arithmetic.

**Any ℓ gives a bound.** Let ``Φ(p, q) = p^α q^{−κ} + (1−p)^α (1−q)^{−κ} ≤ C = e^{κε}``, ``x = e^e``, λ, m > 0. With
``p = qr`` and ``1 − p = (1−q)r'``,

    p − xq ≤ p − xq + λ(C − Φ) = q[(1+m)r − x − λr^α] + (1−q)[mr' − λr'^α] + λC − m ≤ max(A, B) + λC − m,

where A and B are the suprema of the brackets over r and r'. Take ``m = 1/(e^{κL} − 1)`` and ``λ = m e^{κℓ}/α``. Then
``B = (κ/α) m e^{−ℓ}``, and ``A ≤ B`` is the same as ``g(L) ≤ ℓ + e`` with

    g(L) = log[(κ/α)(e^{αL} − 1)/(e^{κL} − 1)]   (α = 1: log[(e^L − 1)/L]).

So for all ℓ ≥ 0 and L > 0 with ``g(L) ≤ ℓ + e``

    p − e^e q ≤ (κ/α) ψ(ℓ)/(e^{κL} − 1),   ψ(ℓ) = (e^{κ(ε+ℓ)} − 1)/κ − 1 + e^{−ℓ},

and for α = 1 the limit ``(ε + ℓ − 1 + e^{−ℓ})/L``. Here ℓ comes from a search in doubles, L is the number of many
digits below the root of ``g(L) = ℓ + e`` for which the inequality is proved, and the right side is enclosed.

**Below the corner.** δ is convex in e^e, so up to the order s it lies below the chord from the total variation
``tanh(t/2)`` at the order 0 to the bound at s. That randomised response with log-odds t has ``D_α ≥ ε`` is proved.
"""

from __future__ import annotations

import functools
import math

import flint

from dpsco_verify.privacy.balls import ball, decide, enclose
from dpsco_verify.privacy.claims.claim import rounded_up
from dpsco_verify.privacy.claims.renyi_region import (
    LARGEST_ALPHA,
    corner,
    extreme_point,
    g_slope,
    log_odds_ratio,
)

SMALLEST_DIVERGENCE = 1e-100
"""Bounds between 0 and this are taken for this: a weaker claim, and no underflow."""
_PRECISION = 192
_FIRST_NUDGE = -90
_MOST_DOUBLINGS = 12


def _g(alpha: flint.arb, length: flint.arb) -> flint.arb:
    kappa = alpha - 1
    if kappa == 0:
        return (length.expm1() / length).log()
    return (kappa / alpha * (alpha * length).expm1() / (kappa * length).expm1()).log()


def _certified_length(alpha: float, order: float, ell: float) -> flint.arb:
    """Return an exact L with ``g(L) ≤ ℓ + order`` proved, close to equality."""
    start = log_odds_ratio(alpha, ell + order)
    slope = ball(g_slope(alpha, start))
    # g is the logarithm of a number near 1 + L/2.
    precision = _PRECISION + 2 * max(0, -math.frexp(start)[1])
    exponent = _FIRST_NUDGE
    for _ in range(_MOST_DOUBLINGS):
        with flint.ctx.workprec(precision):
            a, target = ball(alpha), ball(ell) + ball(order)
            length = ball(start)
            length -= (_g(a, length) - target) / slope  # one of Newton's steps
            length = (length * (1 - flint.arb(2) ** exponent)).mid()
            if _g(a, length) <= target:
                return length
        precision *= 2
        exponent = min(exponent + 10, -10)
    raise ArithmeticError(f"no length could be proved at alpha={alpha!r}, order={order!r}, ell={ell!r}")


def _one_sided(alpha: float, epsilon: float, rho: float | None, order: float, ell: float) -> float:
    """Return the bound at ℓ; where `rho` is given, ε is ρα without rounding."""
    length = _certified_length(alpha, order, ell)

    def value() -> flint.arb:
        a, e = ball(alpha), ball(ell)
        kappa = a - 1
        eps = ball(epsilon) if rho is None else ball(rho) * a
        rest = (-e).expm1()
        if kappa == 0:
            return (eps + e + rest) / length
        return ((kappa * (eps + e)).expm1() + kappa * rest) / (a * (kappa * length).expm1())

    return enclose(value)[1]


def _total_variation(alpha: float, epsilon: float, rho: float | None) -> float:
    """Return ``tanh(t/2)`` for a t whose randomised response has at least the divergence."""
    t, _ = corner(alpha, epsilon)

    def divergence(log_odds: float) -> flint.arb:
        a, x = ball(alpha), ball(log_odds)
        if a == 1:
            return x * (x / 2).tanh()
        return ((a - ball(0.5)) * x).cosh().log() - (x / 2).cosh().log()

    def bound() -> flint.arb:
        a = ball(alpha)
        eps = ball(epsilon) if rho is None else ball(rho) * a
        return eps if a == 1 else (a - 1) * eps

    nudge = 2.0**-50
    while not decide(functools.partial(divergence, t), bound):
        t *= 1.0 + nudge
        nudge *= 2.0
    return rounded_up(math.tanh(0.5 * t))


@functools.lru_cache(maxsize=4096)
def renyi_delta(alpha: float, epsilon: float, order: float, *, rho: float | None = None) -> float:
    """Return δ(order) of the claim ``D_α ≤ ε`` in both directions: certified not to be too small, and lossless.

    Parameters
    ----------
    alpha
        At least 1.
    epsilon
        The bound on D_α, at least 0.
    order
        At least 0.
    rho
        Where the bound is really ``ρα``, of which `epsilon` is the rounded value.
    """
    if epsilon == 0.0:
        return 0.0
    alpha, epsilon = min(alpha, LARGEST_ALPHA), max(epsilon, SMALLEST_DIVERGENCE)
    _, s = corner(alpha, epsilon)
    whole = _total_variation(alpha, epsilon, rho)
    if order >= s:
        return min(whole, _one_sided(alpha, epsilon, rho, order, extreme_point(alpha, epsilon, order)))
    t, _ = corner(alpha, epsilon)
    at_s = min(whole, _one_sided(alpha, epsilon, rho, s, t))
    # The weights are (e^s − e^order)/(e^s − 1) and (e^order − 1)/(e^s − 1).
    total = -math.expm1(-s)
    upper = -math.expm1(order - s) / total
    lower = math.exp(order - s) * -math.expm1(-order) / total
    return min(whole, rounded_up(upper * whole + lower * at_s))
