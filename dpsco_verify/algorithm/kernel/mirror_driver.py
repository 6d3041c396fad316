"""From checked arguments to the compiled mirror descent and back."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.kernel.kinds import ROOM, MirrorPlan
from dpsco_verify.arrays import FloatArray


def mirror_compiled(
    gradients: FloatArray, start: FloatArray, *, plan: MirrorPlan, step_size: float
) -> tuple[FloatArray, tuple[int, int] | None]:
    """Return the iterates, shape (R, τ + 1, d), for finite gradients of shape (R, τ, d).

    Beside them None, or the run and the step (both from 0) at which the kernel stopped since it left the potential's
    domain or the doubles; what comes later is not filled in.
    """
    from dpsco_verify.algorithm.kernel import mirror  # noqa: PLC0415  brings in the compiler

    runs, steps, d = gradients.shape
    slopes = np.ascontiguousarray(gradients)
    iterates = np.empty((runs, steps + 1, d))
    iterates[:, 0] = start
    arrays = (
        slopes,
        iterates,
        plan.convex_set.numbers,
        plan.convex_set.vectors,
        np.zeros(d),  # the point
        np.zeros(ROOM + 2 * d),  # room
        np.zeros(1),  # distances
    )
    stopped = mirror.mirror_runs(
        np.array([runs, steps, d, plan.kind, plan.convex_set.kind]),
        np.array([step_size, *plan.exponents]),
        np.array([array.ctypes.data for array in arrays]),
    )
    return iterates, None if stopped < 0 else divmod(int(stopped), steps)
