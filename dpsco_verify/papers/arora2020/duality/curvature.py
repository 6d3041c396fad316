"""Units of work of ``duality`` and ``bregman-dual``: how convex potentials are, how smooth their conjugates.

The quotients ``2D_Φ(x‖y)/‖x − y‖²`` and ``2D_Φ*(a‖b)/‖a − b‖_*²`` of the implementation, over random pairs from far
apart to close by and over the pairs at which they are extreme, each with its bound on the rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.execution import stream
from dpsco_verify.geometry import Euclidean, NegativeEntropy, PNorm, Potential
from dpsco_verify.geometry.norms import maximum_norm
from dpsco_verify.geometry.potentials.remainders import exponential_remainder
from dpsco_verify.ledger import Handle, Units

_SOFTMAX_ERROR = 1e-12
"""Absolute error of a quotient of log-sum-exp: the terms are of size t², and cancel in nothing but t − ⟨p, t⟩.

Its error is at most d + 2 units of |t|, so that of D at most 2(d + 2)u t² for d ≤ 16, far below this.
"""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A potential: the entropy on the simplex has p = 1, the norm that it goes with; the Euclidean one p = 2."""

    kind: str
    p: Fraction

    @property
    def alpha(self) -> Fraction:
        """The constant of strong convexity that is claimed: p − 1, and 1 for the entropy on the simplex."""
        return Fraction(1) if self.p == 1 else self.p - 1

    @property
    def label(self) -> str:
        """Its name in tables."""
        return self.kind if self.kind != "p-norm" else f"p-norm, p = {self.p}"

    def potential(self) -> Potential:
        """Return the implementation."""
        if self.kind == "euclidean":
            return Euclidean()
        if self.kind == "p-norm":
            return PNorm(float(self.p))
        if self.kind == "entropy-simplex":
            return NegativeEntropy()
        raise InputError(f"kind={self.kind!r} is no potential; give euclidean, p-norm or entropy-simplex")


EUCLIDEAN = (Case(kind="euclidean", p=Fraction(2)),)
P_NORMS = tuple(
    Case(kind="p-norm", p=Fraction(p))
    for p in ("9/8", "5/4", "3/2", "7/4", "15/8")  # dyadic: the doubles are these numbers
)
ENTROPY_ON_SIMPLEX = (Case(kind="entropy-simplex", p=Fraction(1)),)
CASES = (*EUCLIDEAN, *P_NORMS, *ENTROPY_ON_SIMPLEX)


@dataclass(frozen=True, kw_only=True)
class Curvature:
    """The least ``2D_Φ/‖x−y‖²`` and the largest ``2D_Φ*/‖a−b‖_*²`` found, and whether rounding explains all excess.

    Attributes
    ----------
    stated
        The constant that the implementation states.
    convex, smooth
        No pair is less convex than α, or less smooth than 1/α, by more than rounding.
    """

    case: Case
    pairs: int
    stated: float
    least_convexity: float
    largest_smoothness: float
    convex: bool
    smooth: bool

    @property
    def dual_constant(self) -> float:
        """The least c with ``D_Φ* ≤ (c/α)‖a−b‖_*²`` at the pairs tried."""
        return self.largest_smoothness * float(self.case.alpha) / 2


def softmax_divergence(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``D(a‖b)`` of log-sum-exp, the conjugate of the entropy on the simplex: ``log Σ p_i e^{t_i} − ⟨p, t⟩``.

    With t = a − b less its mean under p = softmax(b) the mean term vanishes, and the sum is one plus remainders.
    """
    weights = np.exp(b - b.max(axis=-1, keepdims=True))
    p = weights / weights.sum(axis=-1, keepdims=True)
    t = a - b
    centred = t - np.sum(p * t, axis=-1, keepdims=True)
    drift = np.sum(p * centred, axis=-1)  # zero but for rounding
    return np.asarray(np.log1p(np.sum(p * exponential_remainder(centred), axis=-1) + drift) - drift)


DIMENSIONS = (2, 5, 16)
"""Dimensions in which pairs are tried."""


def plan_exploration(units: Units, cases: Sequence[Case], *, pairs: int) -> list[Handle[Curvature]]:
    """Plan a unit of :func:`explore` for each case, named by its label."""
    return [
        units.add(
            case.label,
            explore,
            {"case": case, "dimensions": DIMENSIONS, "pairs": pairs},
            cost=1e-5 * pairs,
            random=True,
        )
        for case in cases
    ]


def explore(*, case: Case, dimensions: tuple[int, ...], pairs: int, seed: int, name: str) -> Curvature:
    """Return the extreme quotients of `case` over `pairs` random pairs in each dimension and the extreme family."""
    potential = case.potential()
    alpha = float(case.alpha)
    rng = stream(seed, name)
    least, largest, convex, smooth, count = np.inf, 0.0, True, True, 0
    for dimension in dimensions:
        x, y = _primal(case, dimension, pairs, rng)
        squares = potential.norm(x - y) ** 2
        ratio = 2 * potential.divergence(x, y) / squares
        room = 2 * potential.divergence_error(x, y) / squares + 1e-13 * alpha
        least = min(least, float(ratio.min()))
        convex = convex and bool((ratio + room >= alpha).all())
        a, b = _dual(case, dimension, pairs, rng)
        ratio, room = _smoothness(potential, case, a, b)
        largest = max(largest, float(ratio.max()))
        smooth = smooth and bool(((ratio - room) * alpha <= 1.0).all())
        count += len(x) + len(a)
    return Curvature(
        case=case,
        pairs=count,
        stated=potential.strong_convexity,
        least_convexity=least,
        largest_smoothness=largest,
        convex=convex,
        smooth=smooth,
    )


def _smoothness(
    potential: Potential, case: Case, a: FloatArray, b: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the quotients of the conjugate and the bounds on their errors."""
    if case.kind == "entropy-simplex":
        ratio = 2 * softmax_divergence(a, b) / maximum_norm(a - b) ** 2
        return np.asarray(ratio), np.full_like(ratio, _SOFTMAX_ERROR)
    squares = potential.dual_norm(a - b) ** 2
    ratio = 2 * potential.conjugate_divergence(a, b) / squares
    error = 2 * potential.conjugate_divergence_error(a, b) / squares
    return np.asarray(ratio), np.asarray(error + 1e-13 / float(case.alpha))


def _around(base: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return steps from `base`, from a thousandth of its length to ten times it."""
    scale = 10.0 ** rng.uniform(-3.0, 1.0, size=(len(base), 1))
    length = np.abs(base).max(axis=-1, keepdims=True)
    return np.asarray(scale * length * rng.standard_normal(base.shape))


def _extreme(dimension: int) -> tuple[FloatArray, FloatArray]:
    """Return the pairs (1 + s, 1 − s, 0, …) and (1, 1, 0, …), s a power of two."""
    steps = 2.0 ** -np.arange(1.0, 11.0)
    y = np.zeros((steps.size, dimension))
    y[:, :2] = 1.0
    x = y.copy()
    x[:, 0] += steps
    x[:, 1] -= steps
    return x, y


def _primal(
    case: Case, dimension: int, pairs: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    x, y = _extreme(dimension)
    if case.kind == "entropy-simplex":
        inside = np.full((1, dimension), 1.0 / dimension)
        x, y = x / 2, y / 2
        x, y = x + 2.0**-30 * (inside - x), y + 2.0**-30 * (inside - y)  # off the boundary
        first = rng.dirichlet(np.full(dimension, 1.0), size=pairs)
        second = rng.dirichlet(np.full(dimension, 0.7), size=pairs)
        mixed = second + (1 - 2.0 ** -rng.uniform(0.1, 8.0, size=(pairs, 1))) * (first - second)
        second = np.maximum(second, 1e-12)
        second /= second.sum(axis=-1, keepdims=True)
        return np.concatenate([x, mixed]), np.concatenate([y, second])
    base = rng.standard_normal((pairs, dimension)) * 10.0 ** rng.uniform(-2.0, 2.0, size=(pairs, dimension))
    return np.concatenate([x, base + _around(base, rng)]), np.concatenate([y, base])


def _dual(case: Case, dimension: int, pairs: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    x, y = _extreme(dimension)
    if case.kind == "entropy-simplex":
        x, y = x - y, np.where(y > 0, 0.0, -60.0)  # softmax gives the first two coordinates all its weight
        x = x + y
        base = rng.standard_normal((pairs, dimension)) * rng.uniform(0.0, 5.0, size=(pairs, 1))
        step = rng.uniform(-1.0, 1.0, size=base.shape) * 10.0 ** rng.uniform(-3.0, 1.0, size=(pairs, 1))
        return np.concatenate([x, base + step]), np.concatenate([y, base])
    base = rng.standard_normal((pairs, dimension)) * 10.0 ** rng.uniform(-1.0, 1.0, size=(pairs, dimension))
    return np.concatenate([x, base + _around(base, rng)]), np.concatenate([y, base])
