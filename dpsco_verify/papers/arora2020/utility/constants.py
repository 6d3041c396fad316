"""The constant that a careful proof of the utility theorem gives, exactly, for each n.

Let m be the number of fresh points at the stop and T the number of iterations. By the non-expansiveness of the
projection, for any u in W,

    Σ_t ⟨g_t + ξ_t, w_t − u⟩ ≤ ‖u − w₁‖²/(2η) + (η/2) Σ_t ‖g_t + ξ_t‖²,

with g_t = 0 in noise-only steps. In expectation the noise is orthogonal to all that came before, a fresh point is
independent of w_t, and ``E[T] = n(H_n − H_{n−m})``, so with convexity

    m (E F(ŵ) − F(u)) ≤ ‖u − w₁‖²/(2η) + (η/2)(mL² + d s² E[T]),

s² being the variance of a coordinate of the noise. With ``η = D/(√n G)``, ``G = L + σ√d`` and ``‖u − w₁‖ ≤ κD``:

    E F(ŵ) − F(u) ≤ c D G/√n,   c = (n/2m)(κ² + (mL² + d s² E[T])/(n G²)).

For ``s = σ`` the fraction is at most ``E[T]/n`` since ``m ≤ E[T]`` and ``L² + dσ² ≤ G²``, whatever L, σ and d are.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsco_verify.algorithm.stopping_law import mean_iterations


def proven_constant(n: int, distance_factor: float) -> Fraction:
    """Return ``(n/2m)(κ² + H_n − H_{n−m})`` with m = ⌊n/2⌋ + 1: the constant at n, for all L, σ and d."""
    m = n // 2 + 1
    return Fraction(n, 2 * m) * (Fraction(distance_factor) ** 2 + mean_iterations(n, m) / n)


def limit_constant(distance_factor: float) -> float:
    """Return the supremum over n, which is the limit: ``κ² + ln 2``."""
    return distance_factor**2 + math.log(2.0)


def constant_at(
    *, n: int, lipschitz: float, sigma: float, dimension: int, variance: float, distance_factor: float
) -> float:
    """Return c for one choice of all parameters; `variance` is s²."""
    m = n // 2 + 1
    scale = lipschitz + sigma * math.sqrt(dimension)
    mean = float(mean_iterations(n, m))
    noisy = (m * lipschitz**2 + dimension * variance * mean) / (n * scale**2)
    return n / (2 * m) * (distance_factor**2 + noisy)
