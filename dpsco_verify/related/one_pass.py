"""Steps over many runs at once, compiled where the kernel knows loss and set: with noise, and averaged over a pass."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm import Options
from dpsco_verify.algorithm.kernel import plan_run, steps_compiled
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet, WholeSpace
from dpsco_verify.geometry.norms import euclidean_norm
from dpsco_verify.problems import Loss

_NUMBERS_AT_ONCE = 2**20
"""Of the noise that is drawn together."""
_WORTH_COMPILED = 2**13
"""Numbers in the points from which on the kernel takes their mean gradient faster than numpy."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """``w ← P(w − η_t(s·g_t + σ_tξ_t))`` for t = 1, …, T, with g_t the mean gradient of the next B_t points.

    Attributes
    ----------
    order
        The points' indices in the order in which they are used, shape (N, R), or (N, 1) where all runs share it.
    sizes
        ``η_t``, shape (T,).
    batches
        ``B_t``, shape (T,); None for single points.
    sigmas
        ``σ_t``, shape (T,); None for no noise.
    scale
        s.
    longest
        The longest gradient of a single point that is taken.
    """

    order: IntArray
    sizes: FloatArray
    batches: IntArray | None = None
    sigmas: FloatArray | None = None
    scale: float = 1.0
    longest: float = math.inf


def take_steps(
    steps: Steps,
    sample: FloatArray,
    start: FloatArray,
    *,
    loss: Loss,
    convex_set: ConvexSet,
    rng: np.random.Generator | None = None,
    released: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the last points, and the sums of the points at which gradients were taken, both of shape (R, d).

    Parameters
    ----------
    sample
        Shape (R, n, k).
    start
        Shape (R, d).
    rng
        Gives ``ξ_1, ξ_2, …``, each of shape (R, d), where there is noise.
    released
        Shape (R, T, d), over which ``s·g_t + σ_tξ_t`` is written; None where nobody asks.

    Raises
    ------
    InputError
        For a gradient that is too long, or points that leave the doubles.
    """
    runs, d = start.shape
    count = len(steps.sizes)
    batches = np.ones(count, dtype=np.int64) if steps.batches is None else steps.batches
    ends = np.concatenate([[0], np.cumsum(batches)])
    w, totals = start.copy(), np.zeros_like(start)
    plan = plan_run(loss=loss, convex_set=convex_set, options=Options(), n=sample.shape[1])
    if plan is not None and sample.strides[0] != 0:
        sample = np.ascontiguousarray(sample)
    block = max(1, _NUMBERS_AT_ONCE // max(1, runs * d))
    for first in range(0, count, block):
        here = slice(first, min(first + block, count))
        noise = None
        if steps.sigmas is not None:
            assert rng is not None  # noqa: S101  noise is drawn from it
            noise = steps.sigmas[here, None, None] * rng.standard_normal((here.stop - first, runs, d))
        elif released is not None:
            noise = np.zeros((here.stop - first, runs, d))
        taken = 0
        if plan is not None:
            taken = steps_compiled(
                sample,
                w,
                totals,
                plan=plan,
                order=steps.order[ends[first] : ends[here.stop]],
                batches=batches[here],
                step_sizes=steps.sizes[here],
                noise=noise,
                scale=steps.scale,
                longest=steps.longest,
            )
        for t in range(first + taken, here.stop):
            points = _points(sample, steps.order[ends[t] : ends[t + 1]])
            step = steps.scale * _gradient(steps, loss, w, points)
            if noise is not None:
                noise[t - first] += step
                step = noise[t - first]
            totals += w
            w = convex_set.project(w - steps.sizes[t] * step)
        if released is not None and noise is not None:
            released[:, here] = np.swapaxes(noise, 0, 1)
    return w, totals


def _points(sample: FloatArray, order: IntArray) -> FloatArray:
    """Return the points of a batch, shape (R, B, k)."""
    if order.shape[1] == 1:
        shared: FloatArray = sample[:, order[:, 0]]
        return shared
    # In C order, so that sums over a batch run in one and the same order.
    mine = np.ascontiguousarray(order.T)
    own: FloatArray = sample[np.arange(sample.shape[0])[:, np.newaxis], mine]
    return own


def _gradient(steps: Steps, loss: Loss, w: FloatArray, points: FloatArray) -> FloatArray:
    if math.isfinite(steps.longest):
        norm = float(np.max(euclidean_norm(loss.subgradient(w[:, np.newaxis], points)), initial=0.0))
        if not norm <= steps.longest:
            raise InputError(
                f"lipschitz={steps.longest:g} is too small; a gradient has the norm {norm:g}; declare a larger radius"
            )
    return mean_gradient(loss, w, points)


def mean_gradient(loss: Loss, w: FloatArray, points: FloatArray) -> FloatArray:
    """Return ``(1/B) Σ_j ∇f(w_r, z_{r,j})``, shape (R, d), for `w` of shape (R, d) and `points` of shape (R, B, k)."""
    if points.shape[-2] == 1:
        return loss.subgradient(w, points[..., 0, :])
    if points.size >= _WORTH_COMPILED and w.shape[1] > 1:
        found = _compiled_mean(loss, w, points)
        if found is not None:
            return found
    gradients = loss.subgradient(w[..., np.newaxis, :], points)
    mean: FloatArray = np.add.reduce(gradients, axis=-2) / float(points.shape[-2])
    return mean


def _compiled_mean(loss: Loss, w: FloatArray, points: FloatArray) -> FloatArray | None:
    """Return the mean gradient as a step of length 0 writes it down; None where that is left to numpy."""
    count = points.shape[1]
    plan = plan_run(loss=loss, convex_set=WholeSpace(w.shape[1]), options=Options(), n=count)
    if plan is None:
        return None
    mean = np.zeros((1, *w.shape))
    taken = steps_compiled(
        points,
        w.copy(),
        np.zeros_like(w),
        plan=plan,
        order=np.arange(count)[:, np.newaxis],
        batches=np.array([count]),
        step_sizes=np.zeros(1),
        noise=mean,
        scale=1.0,
        longest=math.inf,
    )
    return mean[0] if taken else None


def average_of_pass(
    points: FloatArray, start: FloatArray, *, loss: Loss, convex_set: ConvexSet, step_size: float
) -> FloatArray:
    """Return ``w̄ = (1/m) Σ_{t=1}^m w_t`` of one pass ``w_{t+1} = P(w_t − η∇f(w_t, z_t))``, shape (R, d).

    The average is over the points at which a gradient was taken, so that for i.i.d. points and any u in W, which
    may depend on `start`, ``E F(w̄) − F(u) ≤ E‖w_1 − u‖²/(2ηm) + ηL²/2``.

    **Sensitivity.** Where ``w ↦ w − η∇f(w, z)`` is non-expansive for all z (η ≤ 2/β), replacing z_j moves w_{j+1}
    by at most 2Lη and no later iterate further, so w̄ moves by at most ``2Lη(m − 1)/m``, the case j = 1.

    Parameters
    ----------
    points
        Shape (R, m, k), taken in order.
    start
        ``w_1``, shape (R, d).
    """
    m = points.shape[1]
    steps = Steps(order=np.arange(m)[:, np.newaxis], sizes=np.full(m, step_size))
    _, total = take_steps(steps, points, start, loss=loss, convex_set=convex_set)
    average: FloatArray = total / float(m)
    return average


def repeated(point: FloatArray, runs: int) -> FloatArray:
    """Return `point` once for each run, shape (R, d), to be written to."""
    return np.tile(point, (runs, 1))
