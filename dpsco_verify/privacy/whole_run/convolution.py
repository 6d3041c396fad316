"""The hockey-stick sum of many independent steps on a lattice, with a bound on all that doubles do to it.

Let t be the masses of one step tilted by ``e^{θx}`` and divided by M = e^{log M}. Then, for any θ > 0 and any
c,

    E(S − c)₊ = M^m e^{−θc} Σ_j p_j d_j e^{−θ d_j},   d_j = s_j − c > 0,

p being the m-fold convolution of t. It is computed modulo N: one Fourier transform, its m-th power by repeated
squaring, one inverse transform. The tilt puts the middle of p near c, so that the sum is a good part of p
however small E(S − c)₊ is.

What the numbers differ by (u = 2⁻⁵³, ‖·‖ the Euclidean norm of N numbers, F the transform):

1. Each t is known to a relative error ρ; m factors, so (1 ± ρ)^m.
2. A transform is a tree of log₂ N levels, in which an entry is multiplied by a weight known to 2u, with a
   relative error below 3u, and added, with one below u. So each number of it errs by less than ``η Σ|x_j|``,
   ``η = 8 u log₂ N``, and by less than ``η‖Fx‖`` in the Euclidean norm: Higham (2002), Theorem 24.2 and its
   proof. scipy transforms powers of two by such passes, of radix 2 and 4. (The certificate does not rest on
   this.)
3. The m-th power takes m − 1 products, each with a relative error below 3u, so ``κ = (1 + 3u)^{m−1} − 1``.
4. Hence, f being the transform that was computed, g its power that was computed, p is within
   ``E₂ = (m η ‖(|f| + η)^{m−1}‖ + κ‖f^m‖ + η‖g‖)/√N`` of its convolution in the Euclidean norm; and a sum with
   weights w errs by at most ``E₂‖w‖`` (Cauchy and Schwarz).
5. Modulo N, mass outside the window is added inside. An upper bound may keep it. From a lower bound is taken
   the largest weight, 1/(eθ), times Chernoff's bound on that mass. Beyond the window the weights are at most
   their value at its end, past 1/θ.
6. Positions d are known to a few u of ``|mx₀| + |c| + |s|``, and the weights change no faster than they.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import fft, special

from dpsco_verify.arrays import FloatArray
from dpsco_verify.privacy.whole_run.law import UNIT, LatticeLaw
from dpsco_verify.privacy.whole_run.plan import Plan

_TINY = 1e-290


def log_hockey_stick(law: LatticeLaw, plan: Plan, steps: int, threshold: float, *, upper: bool) -> float:
    """Return a bound on ``log E(S − c)₊``, from above or from below, S the sum of `steps` draws of the law.

    −∞ if the lower bound says nothing, +∞ if the upper does not.
    """
    side = 1.0 if upper else -1.0
    c = threshold * (1.0 - side * 4.0 * UNIT)
    theta, bend = plan.theta, None if plan.narrow is None else plan.narrow.bend
    if bend is not None:
        c -= bend.shift + 16.0 * UNIT * (abs(c) + abs(bend.shift))
    index = law.first + np.arange(len(law.masses))
    x = law.origin + law.step * index
    with np.errstate(divide="ignore"):
        exponents = np.log(law.masses) + theta * x
    log_mass = float(special.logsumexp(exponents))
    moves = theta * x - log_mass
    if not moves.max() < 690.0:
        return side * math.inf
    tilted = np.bincount(index % plan.size, law.masses * np.exp(moves), minlength=plan.size).astype(
        np.float64
    )
    rho = UNIT * (4.0 * float(np.abs(theta * x).max()) + 4.0 * abs(log_mass) + 16.0)
    p, error = convolved(tilted, steps)
    first = math.floor((c - steps * law.origin) / law.step) + 1
    window = first + np.arange(plan.reach)
    d = (steps * law.origin - c) + law.step * window
    d = np.maximum(d, 0.0)
    slope = 1.0 if bend is None else bend.slope
    weights = (d if bend is None else bend.payoff(d)) * np.exp(-theta * d)
    main = float(np.sum(np.maximum(p[window % plan.size], 0.0) * weights))
    inexact = error * float(np.linalg.norm(weights))
    furthest = abs(steps * law.origin) + abs(c) + law.step * float(np.abs(window).max())
    inexact += 8.0 * UNIT * slope * furthest
    if upper:
        end = max(float(d[-1]), 1.0 / theta)
        main = main * (1.0 + 512.0 * UNIT) + inexact + slope * end * math.exp(-theta * end)
    else:
        outside = _log_outside(law, plan, steps, theta, log_mass, low=float(d[-1]), c=c)
        main = main * (1.0 - 64.0 * UNIT) - inexact - math.exp(min(outside, 0.0)) / (math.e * theta)
        if not main > 0.0:
            return -math.inf
    slack = steps * rho * 1.01 + 8.0 * UNIT * (abs(steps * log_mass) + abs(theta * c) + 64.0)
    return steps * log_mass - theta * c + math.log(main) + side * slack


def convolved(masses: FloatArray, copies: int) -> tuple[FloatArray, float]:
    """Return the circular convolution of `copies` copies, and the bound on its error in the Euclidean norm.

    The number of masses is a power of two.
    """
    size = len(masses)
    eta = 8.0 * UNIT * math.log2(size) * float(masses.sum()) * (1.0 + 1e-10)
    transform = fft.rfft(masses)
    power, base, left = np.ones_like(transform), transform.copy(), copies
    while True:
        if left & 1:
            power *= base
        left >>= 1
        if not left:
            break
        base *= base
    result = np.asarray(fft.irfft(power, size), dtype=np.float64)
    kappa = math.expm1(3.0 * UNIT * copies)
    grown = _norm(np.exp((copies - 1) * np.log(np.abs(transform) + eta)))
    error = copies * eta * grown + (1.01 * kappa + eta) * _norm(np.abs(power))
    return result, error * (1.0 + 1e-10) / math.sqrt(size) + _TINY


def _norm(half: FloatArray) -> float:
    """Return the Euclidean norm of a transform of real numbers from the moduli of its first half."""
    squares = half * half
    return math.sqrt(2.0 * float(squares.sum()) - float(squares[0]) - float(squares[-1]))


def _log_outside(
    law: LatticeLaw, plan: Plan, steps: int, theta: float, log_mass: float, *, low: float, c: float
) -> float:
    """Return a bound on the log of the tilted mass that the lattice modulo N adds to the window (0, `low`]."""
    x = law.origin + law.step * (law.first + np.arange(len(law.masses)))
    with np.errstate(divide="ignore"):
        logs = np.log(law.masses)
    width = plan.size * law.step
    best = [math.inf, math.inf]
    for factor in np.geomspace(0.05, 20.0, 16):
        rate = float(theta * factor)
        down = steps * (float(special.logsumexp(logs + (theta - rate) * x)) - log_mass)
        up = steps * (float(special.logsumexp(logs + (theta + rate) * x)) - log_mass)
        best[0] = min(best[0], down + rate * (c + low - width))
        best[1] = min(best[1], up - rate * (c + width))
    if steps * float(x[0]) > c + low - width + law.step:
        best[0] = -math.inf
    if steps * float(x[-1]) < c + width - law.step:
        best[1] = -math.inf
    return float(np.logaddexp(best[0], best[1])) + 1e-3
