"""The laws of one step on a lattice: one that dominates every adversary's, and one that an adversary attains.

Let ``Y = exp(μZ − μ²/2)`` with Z standard normal, and ``α = e^ε``.

* The envelope W̄ (step 3 of ``docs/whole-run.md``): the positive part of ``Y − α``, the negative part of
  ``1 − αY``, and an atom at 0 of mass ``P(Y ≤ 1/α) − P(Y > α)``. :func:`envelope` goes up from it in the
  increasing convex order.
* The attained law ``W = Y − α`` (the other points' gradient is that of z'). :func:`attained` goes down from it.

**Up.** The mass at w in the cell ``[x, x + h]`` goes to the cell's ends with its mean kept: the part
``λ = (w − x)/h`` to x + h, the rest to x. By Jensen's inequality that raises the mean of every convex function.
Mass below the lattice moves up to its first point. Mass beyond its last point T moves down to it, which costs
at most ``E(W̄ − T)₊`` a step, and is paid for where the sum is taken.

**Down.** Let q be the masses of a law after that split, and U its potential ``t ↦ E(W − t)₊``. The masses
``p_j = 2q_j − (q_{j−1} + q_{j+1})/2`` have the potential ``u_j = U(x_j) − (h/2) q_j`` at lattice points, and
linear between. It lies below U. For at ``x = (1 − s)x_j + s x_{j+1}`` U lies below its own chord by
``h E[k(s, λ)]``, ``k(s, λ) = min(s, λ)(1 − max(s, λ))``, the mean being over the cell's mass; u lies below that
chord by at least ``(h/2) E[(1 − s)(1 − λ) + sλ]``; and ``2k(s, λ) ≤ (1 − s)(1 − λ) + sλ``: for s ≤ λ the
difference ``1 − λ − 3s + 4sλ`` is linear in s, ``1 − λ`` at s = 0 and ``(1 − 2λ)²`` at s = λ, and s ≥ λ is the
same with 1 − s and 1 − λ. So p precedes W in convex order; a p_j < 0 is made good with mass from the right,
which is moving mass down. What lies below the first cell is first put at its own mean or lower, which is a
lattice point, or left out; what lies beyond the last cell is moved down.

**Doubles.** A mass is a sum of integrals of positive functions over panels in ``t = log y``, where Y has the
density ``φ(t/μ + μ/2)/μ``, by Gauss and Legendre's rule. For a panel of width Δ let ``κ = Δ + (1 + |z|)Δ/μ``.
On Bernstein's ellipse of parameter ϱ about it the integrand exceeds its mean over the panel by at most
``2ϱ exp(κϱ/2 + (κϱ)²/16)``, so m nodes err by less than ``9 ϱ exp(κϱ/2 + (κϱ)²/16) ϱ^{−2m}`` of the integral:
below 1e-15 with five nodes for κ ≤ 1/64 (ϱ = 64) and with ten for κ ≤ 1/4 (ϱ = 8). The rest is rounding: t is
known to ``4u(|t| + ε)``, u = 2⁻⁵³, hence z to ``4u(|z| + μ + 2ε/μ)``, densities to |z| times that, sums of
nodes to a few u. :func:`relative_error` is four times the total, and enters each mass on its safe side.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from dpsco_verify.arrays import FloatArray

UNIT = 2.0**-53
"""The unit roundoff of doubles."""

_NARROW, _WIDE = 1.0 / 64.0, 1.0 / 4.0
_FEW = np.polynomial.legendre.leggauss(5)
_MANY = np.polynomial.legendre.leggauss(10)
_LOG_SQRT_2PI = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True, kw_only=True)
class LatticeLaw:
    """Masses at ``origin + step·(first + i)``, i = 0, 1, …: rounded up in an upper law, down in a lower one."""

    origin: float
    step: float
    first: int
    masses: FloatArray

    @property
    def last(self) -> float:
        """The last point."""
        return self.origin + self.step * (self.first + len(self.masses) - 1)


def relative_error(epsilon: float, mu: float, furthest: float) -> float:
    """Return the bound on the relative error of a mass whose z is between ±`furthest`."""
    return 16.0 * UNIT * (8.0 + furthest * (furthest + mu + 2.0 * epsilon / mu))


def _score(t: FloatArray | float, mu: float) -> FloatArray:
    """Return the z with ``exp(μz − μ²/2) = e^t``."""
    return np.asarray(np.asarray(t) / mu + 0.5 * mu, dtype=np.float64)


def _beyond(t: float, mu: float) -> float:
    """Return ``P(log Y > t)``."""
    return float(special.ndtr(-_score(t, mu)))


def split(shift: float, ratio: float, cells: int, mu: float) -> FloatArray:
    """Split the mass of Y in the cells between ``y_i = e^shift (1 + i·ratio)``, i = 0 … `cells`; shape (cells + 1,)."""
    masses = np.zeros(cells + 1)
    if cells == 0:
        return masses
    scale = 1.0 + np.arange(cells) * ratio
    t = shift + np.log1p(np.arange(cells) * ratio)
    width = np.log1p(ratio / scale)
    z = np.abs(_score(t, mu))
    kappa = width + (1.0 + np.maximum(z, np.abs(_score(t + width, mu)))) * width / mu
    counts = np.where(kappa <= _NARROW, 0, np.ceil(kappa / _WIDE).astype(np.int64))
    left, right = np.zeros(cells), np.zeros(cells)
    for count in np.unique(counts):
        some = counts == count
        rule = _FEW if count == 0 else _MANY
        left[some], right[some] = _panels(
            t[some], width[some], ratio / scale[some], mu, rule, max(int(count), 1)
        )
    masses[:-1] += left
    masses[1:] += right
    return masses


def _panels(
    t: FloatArray,
    width: FloatArray,
    ratio: FloatArray,
    mu: float,
    rule: tuple[FloatArray, FloatArray],
    count: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the parts of the masses that go to the left and to the right end of cells cut into `count` panels."""
    nodes, weights = rule
    inside = (np.add.outer(np.arange(count), 0.5 + 0.5 * nodes) / count).ravel()
    weight = np.tile(0.5 * weights / count, count)
    moved = np.multiply.outer(width, inside)
    share = np.expm1(moved) / ratio[:, np.newaxis]
    z = _score(t[:, np.newaxis] + moved, mu)
    density = np.exp(-0.5 * z * z - _LOG_SQRT_2PI) * weight * (width / mu)[:, np.newaxis]
    return np.sum(density * (1.0 - share), axis=1), np.sum(density * share, axis=1)


def _atom(epsilon: float, mu: float) -> float:
    """Return ``P(Y ≤ e^−ε) − P(Y > e^ε)``, the mass of a normal law between ``ε/μ ± μ/2``."""
    low, high = epsilon / mu - 0.5 * mu, epsilon / mu + 0.5 * mu
    panels = math.ceil(4.0 * mu * (1.0 + max(abs(low), abs(high))))
    nodes, weights = _MANY
    inside = np.add.outer(np.arange(panels), 0.5 + 0.5 * nodes) / panels
    z = low + mu * inside
    return float(np.sum(np.exp(-0.5 * z * z - _LOG_SQRT_2PI) * (0.5 * weights * mu / panels)))


def envelope(*, epsilon: float, mu: float, step: float, below: int, above: int) -> LatticeLaw:
    """Return an upper law of ``min(W̄, above·step)`` on the points ``step·j``, −below ≤ j ≤ above.

    Parameters
    ----------
    epsilon, mu
        ε ≥ 0 and μ > 0.
    step, below, above
        h, and how many cells there are on either side of 0.
    """
    right = split(epsilon, step * math.exp(-epsilon), above, mu)
    left = split(-epsilon, step, below, mu)
    top, bottom = epsilon + math.log1p(above * step * math.exp(-epsilon)), math.log1p(below * step) - epsilon
    right[-1] += _beyond(top, mu)
    left[-1] += _beyond(bottom, mu)
    masses = np.concatenate([left[:0:-1], [left[0] + right[0] + _atom(epsilon, mu)], right[1:]])
    furthest = max(abs(float(_score(t, mu))) for t in (epsilon, -epsilon, top, bottom))
    return LatticeLaw(
        origin=0.0,
        step=step,
        first=-below,
        masses=masses * (1.0 + relative_error(epsilon, mu, furthest)),
    )


def attained(*, epsilon: float, mu: float, step: float, highest: float) -> LatticeLaw | None:
    """Return a lower law of ``Y − α`` with points up to about `highest`; None where the step is too coarse for it."""
    alpha = math.exp(epsilon)
    start, kept = _first_cell(mu, step)
    if start is None:
        return None
    origin = (math.exp(start) - step - alpha) - 8.0 * UNIT * (math.exp(start) + step + alpha)
    cells = math.ceil((highest - origin) / step)
    if cells < 4:
        return None
    ratio = step * math.exp(-start)
    q = np.concatenate([[0.0], split(start, ratio, cells, mu)])  # point 0 holds the mass below the first cell

    def beyond(i: int) -> float:
        """Return the mass beyond the start of cell i."""
        return _beyond(start + math.log1p(i * ratio), mu)

    furthest = max(abs(float(_score(t, mu))) for t in (start, start + math.log1p((cells + 2) * ratio)))
    error = relative_error(epsilon, mu, furthest)
    p = np.zeros(len(q) + 1)
    p[:-1] = 2.0 * (1.0 - error) * q
    p[1:] -= 0.5 * (1.0 + error) * q
    p[:-2] -= 0.5 * (1.0 + error) * q[1:]
    if kept:
        p[0] += float(special.ndtr(_score(start, mu))) * (1.0 - error)
    p[-1] += beyond(cells + 1) * (1.0 - error)
    if not _repay(p):
        return None
    return LatticeLaw(origin=origin, step=step, first=0, masses=p * (1.0 - 8.0 * UNIT))


def _first_cell(mu: float, step: float) -> tuple[float | None, bool]:
    """Return ``t = log y`` with ``y − E[Y | Y ≤ y] ≤ step``, close to equality, and that what is below is kept.

    If the step is so small that there is none above z = −14, the cells begin there, and what is below is left out: less
    than 1e-44 of the law, and a payoff that is not negative is not raised.
    """

    def excess(t: float) -> float:
        z = float(_score(t, mu))
        mean = math.exp(float(special.log_ndtr(z - mu) - special.log_ndtr(z)))
        return (math.exp(t) - mean) * (1.0 + 1e-9) + 1e-12 * math.exp(t) - step

    low, high = -14.0 * mu - 0.5 * mu * mu, math.log(step + 2.0) + 12.0 * mu
    if not excess(high) > 0.0:
        return None, False
    if excess(low) >= 0.0:
        return low, False
    root = float(optimize.brentq(excess, low, high, xtol=1e-9 * mu, rtol=1e-14))
    while excess(root) > 0.0:
        root -= 1e-8 * mu
    return root, True


def _repay(p: FloatArray) -> bool:
    """Replace negative masses by 0 and take as much from the right, in place; say whether there was enough."""
    if p.min() >= 0.0:
        return True
    debt = 0.0
    for j in range(int(np.argmax(p < 0.0)), len(p)):
        if p[j] < 0.0:
            debt -= p[j]
            p[j] = 0.0
        elif debt > 0.0:
            paid = min(p[j], debt)
            p[j] -= paid
            debt -= paid
        elif p[j:].min() >= 0.0:
            return True
    return debt == 0.0
