"""The private part of a fit: noisy clipped gradients on a lattice, and steps that follow from them.

**What is released.** In each step the sum S of the batch's gradients, a ``k × (d + 1)`` array, is rounded to the
lattice γℤ, and so is the noise; both are added, and the sum is divided by f. All that follows (step sizes,
iterates, their average, hence everything that is fitted) is a function of these releases and of public numbers.

**Sensitivity.** The gradient of a record is ``c ⊗ (x, 1)`` with ``‖x‖ ≤ 1`` by
:func:`~dpsco_verify.estimators.records.bounded_rows` and ``‖c‖ ≤ s`` by the loss, clipped where there are several
outputs. So its norm is at most ``L₀ = s√2`` (s without an intercept) *for every record*, and replacing one moves S
by at most 2L₀. Rounding to the lattice moves S by at most γ√p/2, p = k(d + 1), and its summation in doubles, u =
2⁻⁵³, by at most ``1.01 f²uL₀``; a row and its slopes are within ``(d + k + 32)u`` of their bounds. So the noise is
made for

    L = L₀ (1 + (d + k + 32)u + 1.01 f²u) + γ√p/2.

**The lattice.** γ is a power of two, about 2⁻¹⁶ of the noise's standard deviation on S, fixed by public numbers.
As S is on the lattice, rounding the noise is rounding the sum: the release is a function of ``S + N(0, f²σ²I)``.
Sums of lattice points below 2⁵³γ are exact in doubles, so the release has no digit that depends on S in any other
way: adding up doubles of different magnitude is what betrays S where noise is added naively (Mironov 2012). The
rounded noise has its exact law (:mod:`dpsco_verify.estimators.randomness`), so nothing is assumed of doubles here.

**Steps.** ``w_{t+1} = P(w_t − (D/√2) g_t/√(‖g_1‖² + … + ‖g_t‖²))`` (AdaGrad's norm version; Streeter and McMahan
2010): a regret of at most ``√2 D √(Σ‖g_t‖²)`` whatever the gradients, D the diameter of the set. Nothing has to be
tuned. The average weights w_t with t.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray, IntArray
from dpsco_verify.estimators.noise import Plan
from dpsco_verify.estimators.randomness import Source
from dpsco_verify.estimators.records import bounded_rows
from dpsco_verify.geometry import ConvexSet

UNIT = 2.0**-53
_FINENESS = 16

Slopes = Callable[[FloatArray, FloatArray], FloatArray]
"""The derivative of the loss in the scores, from scores and targets, all of shape (f, k)."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is to be minimised, in the units of bounded rows.

    Attributes
    ----------
    rows, norm
        The records, shape (n, d), as they came, and the norm to which they are clipped and by which they are
        divided.
    targets
        Shape (n, k).
    counted
        The records whose target means something; the others have a gradient of 0. None for all.
    slopes, slope_bound
        The derivative of the loss in the scores, and s, the largest norm of a record's k slopes.
    convex_set
        The set of each of the k vectors of coefficients.
    intercept_bound
        The intercepts are in ``[−b, b]``; None for a model without.
    """

    rows: FloatArray
    norm: float
    targets: FloatArray
    counted: BoolArray | None
    slopes: Slopes
    slope_bound: float
    convex_set: ConvexSet
    intercept_bound: float | None

    @property
    def outputs(self) -> int:
        """Return k."""
        k: int = self.targets.shape[1]
        return k

    @property
    def parameters(self) -> int:
        """Return p, the number of parameters."""
        d: int = self.rows.shape[1]
        return self.outputs * (d + (self.intercept_bound is not None))

    @property
    def diameter(self) -> float:
        """Return D, the diameter of the set of all parameters."""
        span = 0.0 if self.intercept_bound is None else 2.0 * self.intercept_bound
        return math.sqrt(self.outputs) * math.hypot(self.convex_set.diameter, span)


@dataclass(frozen=True, kw_only=True)
class Release:
    """How gradients are released: L, the noise σ on the mean and fσ on the sum, and γ."""

    lipschitz: float
    sigma: float
    deviation: float
    lattice: float


def release_of(problem: Problem, plan: Plan) -> Release:
    """Return L, σ, fσ and γ for a plan, as the module says."""
    f, d, k = plan.batch_size, problem.rows.shape[1], problem.outputs
    plain = problem.slope_bound * math.sqrt(1.0 if problem.intercept_bound is None else 2.0)
    lattice = 2.0 ** (math.floor(math.log2(plan.ratio * plain * f)) - _FINENESS)
    rounding = (d + k + 32) * UNIT + 1.01 * f * f * UNIT
    lipschitz = plain * (1.0 + rounding) + 0.5 * lattice * math.sqrt(problem.parameters)
    sigma = plan.ratio * lipschitz
    return Release(lipschitz=lipschitz, sigma=sigma, deviation=f * sigma, lattice=lattice)


def gradient_sum(
    problem: Problem, rows: FloatArray, which: IntArray | slice, w: FloatArray, lattice: float
) -> FloatArray:
    """Return S on the lattice, shape (k, d) or (k, d + 1): `rows` are bounded, and those of the records `which`."""
    d = problem.rows.shape[1]
    scores = rows @ w[:, :d].T
    if problem.intercept_bound is not None:
        scores += w[:, d]
    slopes = problem.slopes(scores, problem.targets[which])
    if problem.counted is not None:
        slopes = np.where(problem.counted[which][:, np.newaxis], slopes, 0.0)
    if problem.outputs > 1:
        norms = np.sqrt(np.einsum("ij,ij->i", slopes, slopes))
        slopes = slopes * (problem.slope_bound / np.maximum(norms, problem.slope_bound))[:, np.newaxis]
    total = np.empty_like(w)
    total[:, :d] = slopes.T @ rows
    if problem.intercept_bound is not None:
        total[:, d] = slopes.sum(axis=0)
    on_lattice: FloatArray = np.rint(total / lattice) * lattice
    return on_lattice


def descend(
    problem: Problem,
    plan: Plan,
    release: Release,
    source: Source,
    *,
    transcript: list[FloatArray] | None = None,
) -> FloatArray:
    """Return the weighted average of the iterates, shape (k, d) or (k, d + 1).

    A `transcript` takes all that was released: the noisy mean gradient of each step.
    """
    d = problem.rows.shape[1]
    intercept = problem.intercept_bound is not None
    w = np.zeros((problem.outputs, d + intercept))
    w[:, :d] = problem.convex_set.project(w[:, :d])
    average, weight, squares = np.zeros_like(w), 0.0, 0.0
    length = problem.diameter / math.sqrt(2.0)
    for rows, which in _batches(problem, plan, source):
        total = gradient_sum(problem, rows, which, w, release.lattice)
        noise = source.rounded_normals(w.shape, release.deviation / release.lattice)
        g = (total + noise * release.lattice) / plan.batch_size
        if transcript is not None:
            transcript.append(g)
        squares += float(np.einsum("ij,ij->", g, g))
        if squares > 0.0:
            w = w - length / math.sqrt(squares) * g
        w[:, :d] = problem.convex_set.project(w[:, :d])
        if problem.intercept_bound is not None:
            w[:, d] = np.clip(w[:, d], -problem.intercept_bound, problem.intercept_bound)
        weight += 1.0
        average += weight * w
    return average / (0.5 * weight * (weight + 1.0))


def _batches(problem: Problem, plan: Plan, source: Source) -> Iterator[tuple[FloatArray, IntArray | slice]]:
    f = plan.batch_size
    if f == plan.n:
        rows = bounded_rows(problem.rows, problem.norm)
        for _ in range(plan.epochs):
            yield rows, slice(None)
        return
    for _ in range(plan.epochs):
        order = source.order(plan.n)
        for start in range(0, plan.points, f):
            which = order[start : start + f]
            yield bounded_rows(problem.rows[which], problem.norm), which
