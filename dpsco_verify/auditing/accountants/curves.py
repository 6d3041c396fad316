"""The exact δ(ε) of a worst-case pair, as a ball, and the half-line that attains it, in doubles.

With ``w = (e^ε − 1)(1 − p)/p`` and S the noise's upper tail, the best half-line ``(c, ∞)`` of a pair (x, y, h) gives

    δ(ε) = p [S(c − x) − e^ε S(c − y) − w S(c − h)],

c being where the bracket's derivative vanishes, that is ``f(c − x) = e^ε f(c − y) + w f(c − h)`` for the density f.

* h = y: ``δ(ε) = p δ_F(log(e^ε + w); Δ)`` at the distance Δ of x and y.
* h = x: ``δ(ε) = p (1 − w) δ_F(ε − log(1 − w); Δ)``, and 0 for w ≥ 1.
* (1, −1, 0) and (1, 0, −1): normal noise makes the equation a quadratic one in ``r = e^{c/σ²}``; Laplace noise makes it
  linear in ``e^{2c/b}`` between two neighbouring means, and c is infinite where no point is worth having.

Here ``δ_F`` is that of the unsampled noise: ``δ_G(ε; Δ/σ)`` (:mod:`dpsco_verify.privacy.balls`), or
``(1 − e^{(ε − Δ/b)/2})_+`` for Laplace noise of scale b. All is for orders ε ≥ 0.
"""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.accountants.events import Noise
from dpsco_verify.auditing.accountants.pairs import Pair
from dpsco_verify.errors import InputError
from dpsco_verify.privacy.balls import ball, enclose, gaussian_delta, upper_tail
from dpsco_verify.privacy.single_step import log_expm1


def exact_delta(pair: Pair, epsilon: float) -> tuple[float, float]:
    """Return doubles (low, high) that enclose the pair's δ(ε), ε ≥ 0."""
    low, high = enclose(lambda: delta_ball(pair, ball(epsilon)))
    return max(low, 0.0), min(max(high, 0.0), 1.0)


def delta_ball(pair: Pair, epsilon: flint.arb) -> flint.arb:
    """Return the pair's δ(ε) as a ball, ε ≥ 0, at the precision in force."""
    if pair.p == 1:
        return _base(pair, epsilon)
    p = ball(pair.p)
    w = epsilon.expm1() * ball(1 - pair.p) / p
    if pair.h == pair.y:
        return p * _base(pair, (epsilon.exp() + w).log())
    if pair.h == pair.x:
        return _in_any_case(pair, epsilon, 1 - w)
    shape = (pair.x, pair.y, pair.h)
    if shape not in ((1, -1, 0), (1, 0, -1)):
        raise InputError(f"pair={shape} is not a worst case of a relation; its curve has no closed form here")
    return _gaussian(pair, epsilon, w) if pair.noise is Noise.GAUSSIAN else _laplace(pair, epsilon, w)


def _in_any_case(pair: Pair, epsilon: flint.arb, rest: flint.arb) -> flint.arb:
    """Return the curve for h = x, `rest` being 1 − w."""
    if rest > 0:
        return ball(pair.p) * rest * _base(pair, epsilon - rest.log())
    if rest <= 0:
        return flint.arb(0)
    return flint.arb(0).union(ball(pair.p) * rest.upper())


def _base(pair: Pair, epsilon: flint.arb) -> flint.arb:
    """Return ``δ_F(ε; Δ)``."""
    if pair.noise is Noise.GAUSSIAN:
        return gaussian_delta(epsilon, pair.distance / ball(pair.parameter).sqrt())
    gap = epsilon - ball(Fraction(pair.distance) / pair.parameter)
    if gap >= 0:
        return flint.arb(0)
    value = -(gap / 2).expm1()
    return value if gap < 0 else flint.arb(0).union(value)


def _gaussian(pair: Pair, epsilon: flint.arb, w: flint.arb) -> flint.arb:
    variance = ball(pair.parameter)
    k = (-1 / (2 * variance)).exp()
    e = epsilon.exp()
    if pair.y == -1:
        r = (w + (w * w + 4 * k * k * e).sqrt()) / (2 * k)
    else:
        r = (e + (e * e + 4 * k * k * w).sqrt()) / (2 * k)
    c = variance * r.log()
    sigma = variance.sqrt()
    first, second, third = (upper_tail((c - mean) / sigma) for mean in (pair.x, pair.y, pair.h))
    return ball(pair.p) * (first - e * second - w * third)


def _laplace(pair: Pair, epsilon: flint.arb, w: flint.arb) -> flint.arb:
    b = ball(pair.parameter)
    e, step = epsilon.exp(), (-1 / b).exp()

    def value(c: flint.arb, *, right: bool) -> flint.arb:
        """Return the bracket for a c in [0, 1] (right) or [−1, 0]."""
        above = (-c / b).exp() / 2  # S(c) for c ≥ 0
        below = 1 - (c / b).exp() / 2  # S(c) for c ≤ 0
        first, beyond = 1 - step * (c / b).exp() / 2, step * (-c / b).exp() / 2  # S(c − 1), S(c + 1)
        middle = above if right else below
        second, third = (beyond, middle) if pair.y == -1 else (middle, beyond)
        return ball(pair.p) * (first - e * second - w * third)

    total = e * step + w if pair.y == -1 else e + w * step
    if total >= 1 / step:
        return flint.arb(0)
    candidates = []
    if not total < step:
        candidates.append(value((1 + b * total.log()) / 2, right=True))
    if not total >= step:
        candidates.append(value(-(1 + b * ((step - w).log() - epsilon)) / 2, right=False))
    if not total < 1 / step:
        candidates.append(flint.arb(0))
    result = candidates[0]
    for other in candidates[1:]:
        result = result.union(other)
    return result


def threshold(pair: Pair, epsilon: FloatArray) -> FloatArray:
    """Return the c of the best half-line ``(c, ∞)`` at each order ε ≥ 0; infinite where every event loses."""
    with np.errstate(divide="ignore"):
        log_w = (
            np.full(epsilon.shape, -np.inf)
            if pair.p == 1
            else log_expm1(epsilon) + np.log(float(1 - pair.p)) - np.log(float(pair.p))
        )
        if pair.noise is Noise.GAUSSIAN:
            return _gaussian_threshold(pair, epsilon, log_w)
        return _laplace_threshold(pair, epsilon, log_w)


def _log_one_minus(log_w: FloatArray) -> FloatArray:
    """Return ``log(1 − w)``, −∞ for w ≥ 1."""
    return np.log(np.maximum(-np.expm1(np.minimum(log_w, 0.0)), 0.0))


def _gaussian_threshold(pair: Pair, epsilon: FloatArray, log_w: FloatArray) -> FloatArray:
    variance, distance = float(pair.parameter), pair.distance
    middle = 0.5 * (pair.x + pair.y)
    if pair.h == pair.y or pair.p == 1:
        return np.asarray(middle + variance / distance * np.logaddexp(epsilon, log_w), dtype=np.float64)
    if pair.h == pair.x:
        return np.asarray(middle + variance / distance * (epsilon - _log_one_minus(log_w)), dtype=np.float64)
    log_k = -0.5 / variance
    first, other = (log_w, epsilon) if pair.y == -1 else (epsilon, log_w)
    root = 0.5 * np.logaddexp(2.0 * first, 2.0 * (np.log(2.0) + log_k) + other)
    return np.asarray(variance * (np.logaddexp(first, root) - np.log(2.0) - log_k), dtype=np.float64)


def _laplace_threshold(pair: Pair, epsilon: FloatArray, log_w: FloatArray) -> FloatArray:
    b = float(pair.parameter)
    reach = pair.distance / b
    middle = 0.5 * (pair.x + pair.y)
    if pair.h in (pair.x, pair.y) or pair.p == 1:
        inner = (
            np.logaddexp(epsilon, log_w)
            if pair.h == pair.y or pair.p == 1
            else epsilon - _log_one_minus(log_w)
        )
        return np.where(inner < reach, middle + 0.5 * b * np.minimum(inner, reach), np.inf)
    if pair.y == 0:
        total = np.logaddexp(epsilon, log_w - 1.0 / b)
        return np.where(total < 1.0 / b, 0.5 + 0.5 * b * np.minimum(total, 1.0 / b), np.inf)
    total = np.logaddexp(epsilon - 1.0 / b, log_w)
    right = 0.5 + 0.5 * b * np.minimum(total, 1.0 / b)
    left = -0.5 - 0.5 * b * (-1.0 / b + _log_one_minus(log_w + 1.0 / b) - epsilon)
    result = np.where(total < -1.0 / b, np.minimum(left, 0.0), right)
    return np.where(total < 1.0 / b, result, np.inf)
