"""Worst-case pairs of laws for one step, per neighbouring relation: on the line, and attained by data sets.

Given the rest of the sample, a step's output is noise F around the sum of what the record and its stand-in contribute.
With p the probability that the record is in the sample, and contributions of norm at most 1 (x of the record in D, y
of it in D', h of the record that is in the sample in its stead, 0 where there is none),

    P = p F(x) + (1 − p) F(h),    Q = p F(y) + (1 − p) F(h).

This is the law up to a shift that both have in common: a Poisson sample of the others does not depend on the record,
and a sample of b out of n without replacement is one of b − 1 out of n − 1, together with the record (probability b/n)
or with another (otherwise). By joint convexity the divergences are largest at one (x, y, h):

* With ``w = (e^ε − 1)(1 − p)/p`` the divergence is ``p·sup_E [F(x)(E) − e^ε F(y)(E) − w F(h)(E)]`` (advanced joint
  convexity; Balle, Barthe and Gaboardi 2018, Theorem 2).
* Noise with a log-concave density on the line has likelihood ratios that rise along the line. So for x above y and h
  the best E is a half-line ``(c, ∞)``, and all terms gain when x moves to the right and the others to the left. If
  x is not the outermost, then by convexity the divergence is at most that of x against its further neighbour, at a
  distance that the worst case below has too.
* Gaussian noise in space comes down to the line by Plackett's identity (:mod:`dpsco_verify.privacy.single_step`).

Hence, for orders ε ≥ 0:

====================  ==============================  ==============================
relation              Poisson (h = 0)                 without replacement (|h| ≤ 1)
====================  ==============================  ==============================
replace-one           (1, −1, 0), either direction    (1, −1, −1), either direction
add-remove            (1, 0, 0) and (0, 1, 0)         (1, −1, −1) and (−1, 1, −1)
zero-out              (1, 0, 0) and (0, 1, 0)         (1, 0, −1) and (0, 1, 1)
====================  ==============================  ==============================

In the last entry of add-remove, h stands for the record that D' has in the sample in any case: ``Q = F(h)``, so the
distance is 2 there as well. Without sampling, p = 1.

**Composition.** A pair composes when it is the worst at every order, also at those below 0, which are the other
direction's orders above 0. Without replacement the two directions of replace-one and of zero-out have worst cases
that are not each other's reverse, so no pair of data sets is worst for a composition (Lebeda, Regehr, Kamath and
Steinke 2024): its upper bound takes the worst of both at once, and its lower bounds those that data sets attain.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy import special

from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing.accountants.events import Noise, Sampling, Step
from dpsco_verify.choices import Relation


@dataclass(frozen=True, kw_only=True)
class Pair:
    """``P = p F(x) + (1 − p) F(h)`` and ``Q = p F(y) + (1 − p) F(h)`` with noise F; mirrored so that x > y.

    Attributes
    ----------
    noise, parameter
        The family, and its variance (Gaussian) or scale (Laplace).
    p
        The probability of the record's being in the sample.
    x, y, h
        See the module.
    """

    noise: Noise
    parameter: Fraction
    p: Fraction
    x: int
    y: int
    h: int

    def __post_init__(self) -> None:
        """Mirror the pair if need be; without sampling only the distance matters."""
        x, y, h = (self.x, self.y, self.h) if self.x > self.y else (-self.x, -self.y, -self.h)
        if self.p == 1:
            x, y, h = x - y, 0, 0
        for name, value in (("x", x), ("y", y), ("h", h)):
            object.__setattr__(self, name, value)

    @property
    def reverse(self) -> Pair:
        """The pair (Q, P)."""
        return Pair(noise=self.noise, parameter=self.parameter, p=self.p, x=self.y, y=self.x, h=self.h)

    @property
    def distance(self) -> int:
        """The distance of x and y."""
        return self.x - self.y

    @property
    def scale(self) -> float:
        """The standard deviation, or the Laplace noise's scale."""
        value = float(self.parameter)
        return float(np.sqrt(value)) if self.noise is Noise.GAUSSIAN else value

    def log_ratio(self, t: FloatArray) -> FloatArray:
        """Return ``log dP/dQ (t)``, elementwise."""
        p = float(self.p)
        at_x, at_y, at_h = (self._log_density(t - mean) for mean in (self.x, self.y, self.h))
        if self.p == 1:
            return at_x - at_y
        inside, outside = np.log(p), np.log1p(-p)
        top = np.logaddexp(inside + at_x, outside + at_h)
        return np.asarray(top - np.logaddexp(inside + at_y, outside + at_h), dtype=np.float64)

    def density(self, z: FloatArray) -> FloatArray:
        """Return the noise's density, elementwise."""
        norm = np.sqrt(2.0 * np.pi) if self.noise is Noise.GAUSSIAN else 2.0
        return np.asarray(np.exp(self._log_density(z)) / (norm * self.scale), dtype=np.float64)

    def _log_density(self, z: FloatArray) -> FloatArray:
        """Return the noise's log-density up to a constant."""
        if self.noise is Noise.GAUSSIAN:
            return -0.5 * np.square(z / self.scale)
        return -np.abs(z) / self.scale

    def masses(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return P and Q of the intervals between neighbouring points, given in increasing order."""
        p = float(self.p)
        at_x, at_y, at_h = (self.between(points - mean) for mean in (self.x, self.y, self.h))
        return p * at_x + (1.0 - p) * at_h, p * at_y + (1.0 - p) * at_h

    def between(self, z: FloatArray) -> FloatArray:
        """Return the noise's probability between neighbouring points, from the side on which nothing cancels."""
        low, high = z[:-1], z[1:]
        left = self.cdf(high) - self.cdf(low)
        return np.where(low > 0.0, self.cdf(-low) - self.cdf(-high), left)

    def cdf(self, z: FloatArray) -> FloatArray:
        """Return the noise's distribution function, elementwise."""
        if self.noise is Noise.GAUSSIAN:
            return np.asarray(special.ndtr(z / self.scale), dtype=np.float64)
        tail = 0.5 * np.exp(-np.abs(z) / self.scale)
        return np.where(z < 0.0, tail, 1.0 - tail)

    def quantile(self, q: FloatArray) -> FloatArray:
        """Return the inverse of :meth:`cdf`, elementwise, for q in (0, 1/2]."""
        if self.noise is Noise.GAUSSIAN:
            return np.asarray(self.scale * special.ndtri(q), dtype=np.float64)
        return np.asarray(self.scale * np.log(2.0 * q), dtype=np.float64)


@dataclass(frozen=True, kw_only=True)
class Direction:
    """The worst pair of one direction, and that of the opposite one."""

    forward: Pair
    backward: Pair

    @property
    def composes(self) -> bool:
        """Whether the forward pair is the worst at every order, so that its compositions are."""
        return self.backward == self.forward.reverse

    @property
    def attained(self) -> tuple[Pair, ...]:
        """The pairs (P, Q) in this direction that data sets attain."""
        return (self.forward,) if self.composes else (self.forward, self.backward.reverse)


_SHAPES: dict[tuple[Relation, Sampling], tuple[tuple[int, int, int], ...]] = {
    (Relation.REPLACE_ONE, Sampling.NONE): ((1, -1, -1),),
    (Relation.REPLACE_ONE, Sampling.POISSON): ((1, -1, 0),),
    (Relation.REPLACE_ONE, Sampling.WITHOUT_REPLACEMENT): ((1, -1, -1),),
    (Relation.ADD_REMOVE, Sampling.NONE): ((1, 0, 0), (0, 1, 1)),
    (Relation.ADD_REMOVE, Sampling.POISSON): ((1, 0, 0), (0, 1, 0)),
    (Relation.ADD_REMOVE, Sampling.WITHOUT_REPLACEMENT): ((1, -1, -1), (-1, 1, -1)),
    (Relation.ZERO_OUT, Sampling.NONE): ((1, 0, 0), (0, 1, 1)),
    (Relation.ZERO_OUT, Sampling.POISSON): ((1, 0, 0), (0, 1, 0)),
    (Relation.ZERO_OUT, Sampling.WITHOUT_REPLACEMENT): ((1, 0, -1), (0, 1, 1)),
}


def directions(step: Step, relation: Relation) -> tuple[Direction, ...]:
    """Return the directions of a relation for one step: a single one for replace-one, which is symmetric."""
    pairs = [
        Pair(noise=step.noise, parameter=step.parameter, p=step.probability, x=x, y=y, h=h)
        for x, y, h in _SHAPES[relation, step.sampling]
    ]
    return tuple(
        Direction(forward=forward, backward=backward)
        for forward, backward in zip(pairs, reversed(pairs), strict=True)
    )
