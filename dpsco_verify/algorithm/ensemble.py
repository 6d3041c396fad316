"""Many independent runs of Algorithm 1 at once: the fast path.

Every operation of :func:`dpsco_verify.algorithm.private_sgd.private_sgd` is done for all runs together, in the
same order and by the same elementwise arithmetic, so that a run of the ensemble equals, to the last bit, the
oracle's run that is fed the same draws and noise. A test holds the two together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.checks import check_run, check_subgradient
from dpsco_verify.algorithm.options import Averaging, Options
from dpsco_verify.algorithm.private_sgd import StepSize
from dpsco_verify.algorithm.tape import Tape, choose_tape
from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """What R runs return.

    Attributes
    ----------
    outputs
        ``ŵ``, shape (R, d); a row of an undefined literal average holds NaN, and ``defined`` says so.
    defined
        Whether the output is defined, shape (R,).
    iterations, distinct_points, gradient_queries
        As in :class:`~dpsco_verify.algorithm.private_sgd.Run`, each of shape (R,).
    """

    outputs: FloatArray
    defined: BoolArray
    iterations: IntArray
    distinct_points: IntArray
    gradient_queries: IntArray


def noisy_step(
    w: FloatArray,
    batch: FloatArray,
    fresh: BoolArray,
    noise: FloatArray,
    *,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: float,
    lipschitz: float,
) -> FloatArray:
    """One iteration ``P(w − η(g + ξ))`` of R runs: the first output of the paper's ``M_i``.

    Parameters
    ----------
    w
        The iterates, shape (R, d).
    batch
        The drawn points, shape (R, m, k).
    fresh
        Which of them are fresh, shape (R, m); g averages the subgradients at these and is 0 if there is none.
    noise
        ``ξ``, shape (R, d).
    """
    g = np.zeros_like(w)
    any_fresh: BoolArray = np.any(fresh, axis=-1)
    for j in range(batch.shape[-2]):
        subgradient = loss.subgradient(w, batch[:, j, :])
        check_subgradient(subgradient[fresh[:, j]], lipschitz)
        g = np.where(fresh[:, j, np.newaxis], g + subgradient, g)
    count = np.maximum(fresh.sum(axis=-1), 1).astype(np.float64)
    g = g / count[:, np.newaxis]
    direction = np.where(any_fresh[:, np.newaxis], g + noise, noise)
    return convex_set.project(w - step_size * direction)


def run_ensemble(
    data: ArrayLike,
    *,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: StepSize,
    sigma: float,
    lipschitz: float,
    rng: np.random.Generator | None = None,
    tape: Tape | None = None,
    initial_point: ArrayLike | None = None,
    options: Options | None = None,
) -> Ensemble:
    """Run Algorithm 1 on R data sets at once, independently.

    Parameters
    ----------
    data
        One data set of n points a run, shape (R, n, k).
    loss, convex_set, step_size, sigma, lipschitz, rng, tape, initial_point, options
        As for :func:`~dpsco_verify.algorithm.private_sgd.private_sgd`; a tape hands out R rows an iteration.

    Raises
    ------
    InputError
        As the oracle does, if any run would.
    """
    options = options or Options()
    setup = check_run(
        data,
        loss=loss,
        convex_set=convex_set,
        step_size=step_size,
        sigma=sigma,
        lipschitz=lipschitz,
        initial_point=initial_point,
        options=options,
        leading_axes=1,
    )
    points, n, dimension = setup.data, setup.n, convex_set.dimension
    runs = len(points)
    source = choose_tape(rng, tape, runs=runs, n=n, dimension=dimension, batch_size=options.batch_size)
    noise_scale = options.noise.standard_deviation(setup.sigma)
    stop_at = options.stopping.distinct_points(n)
    literal = options.averaging is Averaging.DATA_INDICES

    seen = np.zeros((runs, n), dtype=bool)
    distinct = np.zeros(runs, dtype=np.int64)
    fresh_times = np.zeros(runs, dtype=np.int64)
    queries = np.zeros(runs, dtype=np.int64)
    iterations = np.zeros(runs, dtype=np.int64)
    w = np.repeat(setup.initial_point[np.newaxis], runs, axis=0)
    total = np.zeros_like(w)
    history = [w.copy()] if literal else []
    active = np.arange(runs)  # the runs that have not stopped
    tau = 1
    while active.size:
        indices, normals = source.next()
        indices, noise = indices[active], noise_scale * normals[active]
        eta = step_size(tau) if callable(step_size) else step_size
        rows = active[:, np.newaxis]
        fresh = ~seen[rows, indices]
        any_fresh: BoolArray = np.any(fresh, axis=-1)
        current = w[active]
        w[active] = noisy_step(
            current,
            points[rows, indices],
            fresh,
            noise,
            loss=loss,
            convex_set=convex_set,
            step_size=eta,
            lipschitz=setup.lipschitz,
        )
        seen[rows, indices] = True
        new = fresh.sum(axis=-1)
        total[active] += np.where(any_fresh[:, np.newaxis], current, 0.0)
        distinct[active] += new
        queries[active] += new
        fresh_times[active] += any_fresh
        iterations[active] = tau
        if literal:
            history.append(w.copy())
        active = active[distinct[active] < stop_at]
        tau += 1

    defined = np.ones(runs, dtype=bool)
    if literal:
        outputs = np.full_like(w, np.nan)
        iterates = np.stack(history)
        for r in range(runs):
            members = np.flatnonzero(seen[r])
            defined[r] = bool(members[-1] <= iterations[r])
            if defined[r]:
                outputs[r] = np.add.accumulate(iterates[members, r], axis=0)[-1] / float(members.size)
    else:
        outputs = total / fresh_times[:, np.newaxis]
    return Ensemble(
        outputs=outputs,
        defined=defined,
        iterations=iterations,
        distinct_points=distinct,
        gradient_queries=queries,
    )
