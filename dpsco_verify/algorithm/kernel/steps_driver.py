"""From checked arguments to the compiled steps and back."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.kernel.driver import flat_data
from dpsco_verify.algorithm.kernel.kinds import ROOM, Plan
from dpsco_verify.arrays import FloatArray, IntArray


def steps_compiled(
    data: FloatArray,
    w: FloatArray,
    totals: FloatArray,
    *,
    plan: Plan,
    order: IntArray,
    batches: IntArray,
    step_sizes: FloatArray,
    noise: FloatArray | None,
    scale: float,
    longest: float,
) -> int:
    """Take steps ``w ← P(w − η_t(s·g_t + b_t))`` in R runs, and return how many were taken.

    Fewer than T were where a subgradient is longer than `longest` or NaN, or a point leaves the doubles: then all is as
    it was before that step.

    Parameters
    ----------
    data
        Shape (R, n, k).
    w, totals
        The runs' points, and what the points before each step are added to; C order, shape (R, d), both written to.
    plan
        The loss and the set.
    order
        The indices of the points in the order in which they are used, shape (N, R), or (N, 1) where all runs share it.
    batches, step_sizes
        How many points a step takes, and η_t; shape (T,).
    noise
        ``b_t``, C order, shape (T, R, d), over which ``s·g_t + b_t`` is written; None for none.
    scale, longest
        s, and the longest subgradient.
    """
    from dpsco_verify.algorithm.kernel import steps  # noqa: PLC0415  brings in the compiler

    runs, d = w.shape
    flat, stride = flat_data(data)
    most = int(batches.max(initial=1))
    arrays = (
        flat,
        np.arange(runs) * stride,  # where the data of each run begin
        np.ascontiguousarray(order),
        np.ascontiguousarray(batches),
        np.ascontiguousarray(step_sizes),
        np.zeros(1) if noise is None else noise,
        plan.convex_set.numbers,
        plan.convex_set.vectors,
        w,
        totals,
        *(np.zeros(runs * d) for _ in range(3)),  # the next point, gradients, means
        np.zeros(runs * most if d == 1 else 1),  # the terms of a mean
        np.zeros(ROOM + 2 * d),  # room
        np.zeros(runs),  # distances
        np.zeros(runs, dtype=np.int64),  # points drawn
        np.ones(runs, dtype=np.int64),  # all of them fresh
        np.zeros(runs, dtype=np.int64),  # none of them counted
        np.zeros(runs * d),  # sums that are not asked for
    )
    taken: int = steps.step_runs(
        np.array(
            [
                *(runs, len(batches), d, data.shape[2]),
                *(plan.loss.kind, plan.convex_set.kind, order.shape[1], noise is not None),
            ]
        ),
        np.array([plan.loss.number, scale, longest]),
        np.array([array.ctypes.data for array in arrays]),
    )
    return taken
