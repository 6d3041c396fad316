"""Many independent runs of Algorithm 1 at once: the fast path.

Every operation of :func:`dpsco_verify.algorithm.private_sgd.private_sgd` is done for all runs together, in the
same order and by the same elementwise arithmetic, so that a run of the ensemble equals, to the last bit, the
oracle's run that is fed the same draws and noise, wherever loss and projection rest on sums, differences, products,
quotients and square roots: these have the same bits on every processor, in numpy and compiled, and the sums run in one
order. A loss that goes through exp (:attr:`~dpsco_verify.problems.losses.Loss.is_bitwise`) is equal but for the last
digits. A test holds the two together.

Shipped losses and sets run in the compiled kernel, with draws and noise of its own; whatever it does not know, and
replayed draws, run here in numpy. Given the same draws the two agree as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpsco_verify.algorithm.kernel import CompiledRuns, Plan, Progress, plan_run, run_compiled
from dpsco_verify.algorithm.options import Averaging, Options
from dpsco_verify.algorithm.run_spec import RunSpec, StepSize, check_run, check_subgradient
from dpsco_verify.algorithm.tape import AntitheticTape, RecordedTape, Tape, choose_tape
from dpsco_verify.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from dpsco_verify.errors import InputError
from dpsco_verify.geometry import ConvexSet
from dpsco_verify.problems import Loss

Engine = Literal["auto", "compiled", "numpy"]
"""Where runs are done: by the kernel where it can, by it or not at all, or in numpy."""


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
    engine: Engine = "auto",
    antithetic: bool = False,
    progress: Progress | None = None,
) -> Ensemble:
    """Run Algorithm 1 on R data sets at once, independently.

    Parameters
    ----------
    data
        One data set of n points a run, shape (R, n, k).
    loss, convex_set, step_size, sigma, lipschitz, rng, tape, initial_point, options
        As for :func:`~dpsco_verify.algorithm.private_sgd.private_sgd`; a tape hands out R rows an iteration.
    engine
        By default the compiled kernel does what it can (:func:`~dpsco_verify.algorithm.kernel.plan_run`) and numpy the
        rest. The two give different runs of the same law: the kernel has a generator of its own, begun at words that
        `rng` draws.
    antithetic
        Give each data set two runs, with the same draws of points and opposite noise ξ and −ξ: rows 2r and 2r + 1 of
        the results belong to data set r. Both have the law of a run, as the noise is symmetric, so the mean of a pair
        is unbiased; its variance is ``(1 + ρ)/2`` of a run's with ρ the correlation of the two (Hammersley and Morton
        1956). Where the noise moves the risk in one direction ρ is near −1; where the risk is even in it, near 1.
    progress
        Called as ``progress(runs done, runs)`` now and then by the kernel, by numpy at the end.

    Raises
    ------
    InputError
        As the oracle does, if any run would; or if `engine` is "compiled" and the kernel does not know the run.
    """
    spec, plan = _prepare(
        data, loss, convex_set, step_size, sigma, lipschitz, initial_point, options, tape=tape, engine=engine
    )
    if plan is not None and rng is not None:
        return _ensemble(run_compiled(spec, plan=plan, rng=rng, antithetic=antithetic, progress=progress))
    source = choose_tape(rng, tape, spec, runs=len(spec.data))
    if antithetic:
        spec, source = replace(spec, data=np.repeat(spec.data, 2, axis=0)), AntitheticTape(source)
    ensemble = _run_in_numpy(spec, source)
    if progress:
        progress(len(spec.data), len(spec.data))
    return ensemble


def record_ensemble(
    data: ArrayLike,
    *,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: StepSize,
    sigma: float,
    lipschitz: float,
    rng: np.random.Generator,
    initial_point: ArrayLike | None = None,
    options: Options | None = None,
    antithetic: bool = False,
) -> tuple[Ensemble, RecordedTape]:
    """Run the compiled kernel as :func:`run_ensemble` does, and return beside the runs the draws that it used.

    The tape, replayed by :func:`run_ensemble` or, run by run, by the oracle, gives the same runs. It takes
    8·R·T·(m + d) bytes for the T iterations of the longest run.

    Raises
    ------
    InputError
        As :func:`run_ensemble` does with ``engine="compiled"``.
    """
    spec, plan = _prepare(
        data, loss, convex_set, step_size, sigma, lipschitz, initial_point, options, engine="compiled"
    )
    assert plan is not None  # noqa: S101  engine="compiled" raises instead
    found = run_compiled(spec, plan=plan, rng=rng, antithetic=antithetic, record=True)
    assert found.indices is not None  # noqa: S101  they were asked for
    assert found.normals is not None  # noqa: S101  the same
    return _ensemble(found), RecordedTape(found.indices, found.normals)


def _ensemble(found: CompiledRuns) -> Ensemble:
    """Return the kernel's results: each distinct point is queried once, and the average is defined."""
    return Ensemble(
        outputs=found.outputs,
        defined=np.ones(len(found.outputs), dtype=np.bool_),
        iterations=found.iterations,
        distinct_points=found.distinct_points,
        gradient_queries=found.distinct_points.copy(),
    )


def _prepare(
    data: ArrayLike,
    loss: Loss,
    convex_set: ConvexSet,
    step_size: StepSize,
    sigma: float,
    lipschitz: float,
    initial_point: ArrayLike | None,
    options: Options | None,
    *,
    tape: Tape | None = None,
    engine: Engine,
) -> tuple[RunSpec, Plan | None]:
    """Check the arguments; return how the kernel does the runs, or None where numpy does them.

    Whether data of the right type and shape are finite is left to the kernel.
    """
    plan = _plan(data, loss, convex_set, options or Options(), tape, engine)
    width = loss.data_dimension(convex_set.dimension)
    lightly = plan is not None and isinstance(data, np.ndarray) and data.dtype == np.float64
    lightly = lightly and np.ndim(data) == 3 and np.shape(data)[-1] == width
    checked = np.asarray(data)[:0] if lightly else data
    spec = check_run(
        checked, loss, convex_set, step_size, sigma, lipschitz, initial_point, options, leading_axes=1
    )
    return replace(spec, data=np.asarray(data)) if lightly else spec, plan


def _plan(
    data: ArrayLike,
    loss: Loss,
    convex_set: ConvexSet,
    options: Options,
    tape: Tape | None,
    engine: Engine,
) -> Plan | None:
    if engine not in ("auto", "compiled", "numpy"):
        raise InputError(f'engine={engine!r} is not allowed; give "auto", "compiled" or "numpy"')
    if engine == "numpy" or (tape is not None and engine == "auto"):
        return None
    n = np.shape(data)[1] if np.ndim(data) == 3 else 0
    plan = plan_run(loss=loss, convex_set=convex_set, options=options, n=n) if tape is None else None
    if plan is None and engine == "compiled":
        raise InputError(
            f'engine="compiled" knows no run with loss={loss.name}, {type(convex_set).__name__}, '
            f'averaging={options.averaging}, n={n}, tape={tape!r}; leave it to engine="auto"'
        )
    return plan


def _run_in_numpy(spec: RunSpec, source: Tape) -> Ensemble:
    points, n, stop_at = spec.data, spec.n, spec.stop_at
    runs = len(points)
    literal = spec.options.averaging is Averaging.DATA_INDICES

    seen = np.zeros((runs, n), dtype=bool)
    distinct = np.zeros(runs, dtype=np.int64)
    fresh_times = np.zeros(runs, dtype=np.int64)
    queries = np.zeros(runs, dtype=np.int64)
    iterations = np.zeros(runs, dtype=np.int64)
    w = np.repeat(spec.initial_point[np.newaxis], runs, axis=0)
    total = np.zeros_like(w)
    history = [w.copy()] if literal else []
    active = np.arange(runs)  # the runs that have not stopped
    tau = 1
    while active.size:
        indices, normals = source.next()
        indices, noise = indices[active], spec.noise_scale * normals[active]
        rows = active[:, np.newaxis]
        fresh = ~seen[rows, indices]
        any_fresh: BoolArray = np.any(fresh, axis=-1)
        current = w[active]
        w[active] = noisy_step(
            current,
            points[rows, indices],
            fresh,
            noise,
            loss=spec.loss,
            convex_set=spec.convex_set,
            step_size=spec.step_size_at(tau),
            lipschitz=spec.lipschitz,
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
