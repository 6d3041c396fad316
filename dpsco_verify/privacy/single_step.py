"""The exact privacy loss of the paper's single step ``M_i¹`` (Section 5), in the worst case.

One iteration draws a batch of m of the n points; let ρ be the index at which two neighbouring data sets differ,
``p = m/n`` the probability that ρ is drawn, and ρ not yet seen (otherwise both laws are equal). Gradients are in
units of L, and outputs in the coordinate ``(w − w⁺)/η = g + ξ`` before the projection. A half-line event of that
coordinate is a half-line of w⁺ along the gradient, and survives the projection onto an interval that contains
its end, so in one dimension a half-line's probabilities are those of the mechanism itself.

**Advanced joint convexity** (Balle, Barthe and Gaboardi 2018, Theorem 2). With P, P' the laws given that ρ is
drawn, R the law given that it is not, ``e^ε = 1 + p(e^ε̂ − 1)`` and ``β = e^{ε−ε̂}``,

    D_{e^ε}(pP + (1−p)R ‖ pP' + (1−p)R) = p · D_{e^ε̂}(P ‖ (1−β)R + βP').

**Worst case, m = 1.** Let N(x) be the normal law with mean x and covariance σ²I, g and g' the gradients at the
differing point, h another point's (joint convexity leaves one h; a repeat draw is h = 0).

* Replace-one: by convexity the right side is at most ``δ_G(ε̂; 2/σ)`` since all means lie in a ball of
  radius 1, and ``h = g' = −g`` attains it.
* Zero-out, ρ present against absent: ``E_0[(r_g − a r_h − b)_+]`` with log-normal ratios r whose log-covariance is
  ``⟨g, h⟩/σ²``. By Plackett's identity its derivative in the covariance is the mean of the mixed second derivative
  in (log r_g, log r_h), which is not positive; so g and h are opposite in the worst case. On the line the
  optimal event is a half-line ``{x > c}``, and each of its terms is monotone in |g| and |h|: ``g = 1, h = −1``.
* Zero-out, absent against present: the same with a mixed derivative that is not negative: ``h = g``, and the
  divergence is ``δ_G(ε̂; 1/σ)``.

**m > 1.** The means of batches lie in the same ball, so the replace-one bound above stays an upper bound (and for
zero-out ``(1−β)δ_G(ε̂; 2/σ) + βδ_G(ε̂; 1/σ)``); lower bounds come from explicit neighbours and half-lines.

The curves here are balls; :mod:`dpsco_verify.privacy.single_step_doubles` has them in doubles, for whole arrays.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
from scipy import special

from dpsco_verify.arrays import ArrayLike, FloatArray
from dpsco_verify.privacy.balls import ball, gaussian_delta, upper_tail


def log_expm1(x: ArrayLike) -> FloatArray:
    """Return ``log(e^x − 1)`` for x > 0 without overflow."""
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(x + np.log(-np.expm1(-x)), dtype=np.float64)


def inner_epsilon(p: ArrayLike, epsilon: ArrayLike) -> FloatArray:
    """Return ε̂ with ``e^ε = 1 + p(e^ε̂ − 1)``, for ε ≥ 0 and p ≥ 1e-300, without overflow.

    Examples
    --------
    >>> round(float(inner_epsilon(0.01, 0.1)), 3)  # sampled at a hundredth, 0.1 needs only this inside
    2.444
    """
    p, epsilon = np.broadcast_arrays(np.asarray(p, dtype=np.float64), np.asarray(epsilon, dtype=np.float64))
    small = np.log1p(np.expm1(np.minimum(epsilon, 1.0)) / p)
    # e^ε̂ = 1 + (e^ε − 1)/p; a logarithm of a small e^ε̂ − 1 would lose digits, so only large orders go through it
    large = np.logaddexp(0.0, log_expm1(np.maximum(epsilon, 1.0)) - np.log(p))
    return np.asarray(np.where(epsilon <= 1.0, small, large), dtype=np.float64)


def inner_epsilon_ball(p: flint.arb, epsilon: flint.arb) -> flint.arb:
    """Return ε̂ of :func:`inner_epsilon` as a ball."""
    return (1 + epsilon.expm1() / p).log()


def replace_one_delta(p: flint.arb, epsilon: flint.arb, sigma: flint.arb) -> flint.arb:
    """Return the worst-case δ(ε) for replace-one neighbours: exact for m = 1, an upper bound for m > 1."""
    return p * gaussian_delta(inner_epsilon_ball(p, epsilon), 2 / sigma)


def zero_out_present_delta(p: flint.arb, epsilon: flint.arb, sigma: flint.arb) -> flint.arb:
    """Return the worst-case δ(ε) of a present against an absent point, m = 1 (g = 1, g' = 0, h = −1).

    With ``k = e^{−1/(2σ²)}`` the likelihood ratio equals e^ε̂ where ``r = e^{c/σ²}`` solves
    ``k r² − e^ε r − k(e^ε̂ − e^ε) = 0``.
    """
    k = (-1 / (2 * sigma * sigma)).exp()
    e = epsilon.exp()
    weight = epsilon.expm1() * (1 / p - 1)  # e^ε̂ − e^ε = e^ε̂(1 − β)
    r = (e + (e * e + 4 * k * k * weight).sqrt()) / (2 * k)
    c = sigma * sigma * r.log()
    return p * (
        upper_tail((c - 1) / sigma) - weight * upper_tail((c + 1) / sigma) - e * upper_tail(c / sigma)
    )


def zero_out_absent_delta(p: flint.arb, epsilon: flint.arb, sigma: flint.arb) -> flint.arb:
    """Return the worst-case δ(ε) of an absent against a present point, m = 1 (g = 0, g' = h = 1)."""
    return p * gaussian_delta(inner_epsilon_ball(p, epsilon), 1 / sigma)


def zero_out_upper_bound(p: flint.arb, epsilon: flint.arb, sigma: flint.arb) -> flint.arb:
    """Return an upper bound on δ(ε) for zero-out neighbours and any m, by convexity."""
    inner = inner_epsilon_ball(p, epsilon)
    weight = epsilon.expm1() * (1 / p - 1)  # e^ε̂ − e^ε, so that β = e^ε/(e^ε + weight)
    e = epsilon.exp()
    inside = weight * gaussian_delta(inner, 2 / sigma) + e * gaussian_delta(inner, 1 / sigma)
    return p * inside / (e + weight)


@dataclass(frozen=True, kw_only=True)
class NeighbouringStep:
    """A concrete pair of neighbours for the single step, on a line, gradients in units of L.

    Attributes
    ----------
    n, m
        Number of points and batch size.
    fresh
        Number of fresh points, ρ among them; the rest has been seen.
    g, g_prime
        Gradient at the differing point, in S and in S'.
    h
        Gradient at every other fresh point.

    Examples
    --------
    >>> from fractions import Fraction
    >>> step = NeighbouringStep(n=100, m=1, fresh=100, g=Fraction(1), g_prime=Fraction(-1), h=Fraction(-1))
    >>> step.m, step.g - step.g_prime
    (1, Fraction(2, 1))
    """

    n: int
    m: int
    fresh: int
    g: Fraction
    g_prime: Fraction
    h: Fraction

    @functools.lru_cache(maxsize=4096)  # noqa: B019  the records are small, and few
    def mixture(self, gradient: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
        """Return the means of g + ξ with their exact weights, `gradient` being that of ρ.

        Given that ρ is drawn, the number k of other fresh points in the batch is hypergeometric with
        (n − 1, fresh − 1, m − 1), otherwise with (n − 1, fresh − 1, m).
        """
        n, m, others = self.n, self.m, self.fresh - 1
        p = Fraction(m, n)
        weights: dict[Fraction, Fraction] = {}
        for drawn, share, size in ((True, p, m - 1), (False, 1 - p, m)):
            if share == 0:
                continue
            all_batches = math.comb(n - 1, size)
            for k in range(min(size, others) + 1):
                ways = math.comb(others, k) * math.comb(n - 1 - others, size - k)
                if ways == 0:
                    continue
                without = self.h if k else Fraction(0)
                mean = (gradient + k * self.h) / (1 + k) if drawn else without
                weights[mean] = weights.get(mean, Fraction(0)) + share * Fraction(ways, all_batches)
        return tuple(sorted(weights.items()))

    def probability(self, gradient: Fraction, threshold: Fraction, sigma: flint.arb) -> flint.arb:
        """Return ``P(g + ξ > threshold)`` as a ball."""
        total = flint.arb(0)
        for mean, weight in self.mixture(gradient):
            total += ball(weight) * upper_tail((ball(threshold) - ball(mean)) / sigma)
        return total

    def best_threshold(self, epsilon: float, sigma: float) -> Fraction:
        """Return a threshold that nearly maximises ``P(S) − e^ε P(S')`` over half-lines (a search, in doubles)."""
        here = [(float(a), float(w)) for a, w in self.mixture(self.g)]
        there = [(float(a), float(w)) for a, w in self.mixture(self.g_prime)]
        scale = max(sigma, 1e-3)
        factor = math.exp(min(epsilon, 700.0))
        grid = np.linspace(-2.0 - 2.0 * scale, 2.0 + 40.0 * scale, 1025)
        for _ in range(5):
            gap = _tail(here, grid, sigma) - factor * _tail(there, grid, sigma)
            best = int(np.argmax(gap))
            grid = np.linspace(grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)], 65)
        return Fraction(round(float(grid[32]) * 2**20), 2**20)


def _tail(mixture: list[tuple[float, float]], thresholds: FloatArray, sigma: float) -> FloatArray:
    """Return the mixture's probability above each threshold."""
    means, weights = np.array(mixture).T
    tails = special.ndtr((means - thresholds[:, np.newaxis]) / sigma)
    return np.asarray(np.sum(tails * weights, axis=-1), dtype=np.float64)
