"""The expected excess risk of Algorithm 1 on the cube with a linear loss, computed rather than simulated.

W is the cube ``[−r, r]^d`` with ``r = D/(2√d)``, so its diameter is D; ``f(w, z) = −⟨w, z⟩``, and every data point is
``z = (L/√d)(1, …, 1)``; ``w₁ = 0 = argmin ½‖w‖²``. The coordinates share the fresh draws and are otherwise independent
copies of one walk, and the excess risk ``(L/√d) Σ_j (r − ŵ_j)`` is linear, so its mean is that of one coordinate. In
units of the cube's side, the distance y ∈ [0, 1] of a coordinate to its best end starts at 1/2 and makes the steps

    fresh draw: ``y → clip(y − b + cZ)``,  repeat draw: ``y → clip(y + cZ)``,
    ``b = 1/(√n (1 + s))``,  ``c = s b``,  ``s = σ√d/L``,

at the step size ``D/(√n (L + σ√d))``. Hence ``E[F(ŵ)] − F* = LD·ρ(n, s)``, where ρ is the mean over the
``m = ⌊n/2⌋ + 1`` fresh draws of ``E[y]`` before each: dimension, δ and ε enter through s alone.

Between the fresh draws k and k + 1 there is a geometric number of repeat draws, each with probability k/n. With B and A
the expectations over a fresh and a repeat step, ``V_k = y + B (1 − q)(I − qA)^{−1} V_{k+1}``, ``q = (k + 1)/n``, is the
expected sum of y from the fresh draw k on, and ``ρ = V_0(1/2)/m``. The functions are smooth with boundary layers of
width c, so they are held at N Chebyshev points, N of the order of ``1/√c``.

For large n: y is pushed against 0 by a drift of pb a draw, p the probability of a fresh one, so it crosses half the
side in ``√n (1 + s)/2`` fresh draws and then keeps the mean distance ``c²/(2pb) + ζ(½)c/√(2π) + …`` of a reflected
Gaussian walk. Summed over the fresh draws, during which p falls from 1 to 1/2,

    ``√n ρ(n, s) → (1 + s)/4 + ln 2 · s²/(1 + s) + ζ(½)/√(2π) · s/(1 + s) + (5/16)/(1 + s) + O(1/s²)``,

so the risk falls as ``n^{−1/2}`` for every s, and for large s as ``(1/4 + ln 2) LD σ√(d/n)``. The first correction is
the factor ``1 − O(s²/n)``: the asymptotic range begins at a multiple of ``σ²d/L²`` points. (The expansion for a
Gaussian walk: Chang & Peres 1997, Theorem 1.1.)
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from dpsco_verify.arrays import FloatArray
from dpsco_verify.validation import require_integer, require_positive

WALK_CONSTANT = -0.5825971579390106
"""``ζ(1/2)/√(2π)``."""

_REACH = 9.0
_QUADRATURE = 80


def limit_coefficient(s: float) -> float:
    """Return the limit of ``√n ρ(n, s)``, up to ``O(1/s²)``."""
    s = require_positive("s", s)
    return (1.0 + s) / 4.0 + (math.log(2.0) * s**2 + WALK_CONSTANT * s + 5.0 / 16.0) / (1.0 + s)


def expected_risk(n: int, s: float, *, nodes: int | None = None) -> float:
    """Return ``ρ(n, s) = (E[F(ŵ)] − F*)/(LD)``, to about ten digits.

    Parameters
    ----------
    n
        Number of points, at least 2.
    s
        ``σ√d/L``, positive.
    nodes
        Number of Chebyshev points; by default enough for double precision (a test doubles it).
    """
    n = require_integer("n", n, minimum=2)
    s = require_positive("s", s)
    b = 1.0 / (math.sqrt(n) * (1.0 + s))
    c = s * b
    size = (
        math.ceil(16.0 + 7.0 / math.sqrt(c)) if nodes is None else require_integer("nodes", nodes, minimum=4)
    )
    y, weights = _chebyshev(size)
    repeat = _step(y, weights, y, c)
    fresh = _step(y, weights, y - b, c)
    # In the eigenbasis of the repeat step its resolvent is a division. The basis is well conditioned (5 to 30).
    eigenvalues, basis = np.linalg.eig(repeat)
    inverse = np.linalg.inv(basis)
    step = inverse @ fresh @ basis
    distance = inverse @ y
    value = distance
    m = n // 2 + 1
    for k in range(m - 1, 0, -1):
        q = k / n
        value = distance + step @ ((1.0 - q) / (1.0 - q * eigenvalues) * value)
    total = np.real(basis @ value)
    return float(_lagrange(y, weights, np.array([0.5]))[0] @ total) / m


def _chebyshev(size: int) -> tuple[FloatArray, FloatArray]:
    """Return the Chebyshev points of the second kind on [0, 1], ends included, and their barycentric weights."""
    angles = np.pi * np.arange(size) / (size - 1)
    weights = np.where(np.arange(size) % 2 == 0, 1.0, -1.0)
    weights[[0, -1]] *= 0.5
    return np.sin(angles / 2.0) ** 2, weights


def _lagrange(nodes: FloatArray, weights: FloatArray, x: FloatArray) -> FloatArray:
    """Return the Lagrange basis at x, shape (*x.shape, nodes), by the barycentric formula (Berrut & Trefethen 2004)."""
    difference = x[..., np.newaxis] - nodes
    hit = difference == 0.0
    terms = weights / np.where(hit, 1.0, difference)
    basis = terms / terms.sum(axis=-1, keepdims=True)
    found: FloatArray = np.where(hit.any(axis=-1, keepdims=True), hit.astype(np.float64), basis)
    return found


def _step(nodes: FloatArray, weights: FloatArray, centre: FloatArray, c: float) -> FloatArray:
    """Return the matrix that takes a function's values at the nodes to ``E[V(clip(centre + cZ))]``."""
    points, masses = np.polynomial.legendre.leggauss(_QUADRATURE)
    low, high = np.clip(centre - _REACH * c, 0.0, 1.0), np.clip(centre + _REACH * c, 0.0, 1.0)
    half = (high - low)[:, np.newaxis] / 2.0
    x = (high + low)[:, np.newaxis] / 2.0 + half * points
    z = (x - centre[:, np.newaxis]) / c
    density = half * masses * np.exp(-0.5 * z**2) / (c * math.sqrt(2.0 * math.pi))
    matrix: FloatArray = np.einsum("iq,iqj->ij", density, _lagrange(nodes, weights, x))
    matrix[:, 0] += ndtr(-centre / c)
    matrix[:, -1] += ndtr((centre - 1.0) / c)
    return matrix
