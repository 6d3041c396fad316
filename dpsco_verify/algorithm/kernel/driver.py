"""From checked arguments to the compiled kernel and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.kernel.kinds import ROOM, Plan
from dpsco_verify.algorithm.kernel.stream import Stream, copy_stream, open_stream
from dpsco_verify.algorithm.kernel.ziggurat import ziggurat
from dpsco_verify.algorithm.run_spec import SUBGRADIENT_SLACK, RunSpec, StepSize, check_subgradient
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.validation import require_finite_array

Progress = Callable[[int, int], None]
"""Called as ``progress(runs done, runs)``."""

_BLOCK_NUMBERS, _LARGEST_BLOCK, _SMALLEST_BLOCK = 256, 32, 2
_CALL_NUMBERS = 2**24
"""Random numbers, roughly, between two reports of progress: some tenths of a second."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CompiledRuns:
    """What the kernel hands back, per run, and the draws that it used, where they were asked for.

    Attributes
    ----------
    outputs, iterations, distinct_points
        As in :class:`~dpsco_verify.algorithm.ensemble.Ensemble`.
    indices, normals
        Shapes (T, R, m) and (T, R, d) for T iterations of the longest run; 0 beyond a run's stop. None unless recorded.
    """

    outputs: FloatArray
    iterations: IntArray
    distinct_points: IntArray
    indices: IntArray | None = None
    normals: FloatArray | None = None


def block_size(dimension: int) -> int:
    """Return how many runs go step by step together: a part of what a seed means, so it depends on nothing else."""
    return max(_SMALLEST_BLOCK, min(_LARGEST_BLOCK, _BLOCK_NUMBERS // dimension))


def run_compiled(
    spec: RunSpec,
    *,
    plan: Plan,
    rng: np.random.Generator,
    record: bool = False,
    antithetic: bool = False,
    progress: Progress | None = None,
) -> CompiledRuns:
    """Run Algorithm 1 on the data sets of `spec`, shape (R, n, k), whose numbers need not have been checked.

    Parameters
    ----------
    spec, plan
        The run; a schedule of step sizes is asked for each time once and in order, as far as the longest run needs.
    rng
        Gives the 48 words at which the kernel's own stream begins, and nothing else.
    record
        Whether to return the draws.
    antithetic
        Whether each data set has two runs, one after the other, with the same draws and opposite noise.
    progress
        Called between blocks of runs.

    Raises
    ------
    InputError
        As the oracle does, if any run would.
    """
    stream = open_stream(rng)
    schedule = _Schedule(spec.step_size)
    if not record:
        return _Call(spec, plan, stream, schedule, 0, antithetic).execute(progress)
    capacity = 4 * spec.n
    while True:
        call = _Call(spec, plan, copy_stream(stream), schedule, capacity, antithetic)
        try:
            return call.execute(progress)
        except _RecordingFullError:
            capacity *= 2


class _RecordingFullError(Exception):
    """The recording holds fewer iterations than a run needs."""


class _Schedule:
    """The step sizes, asked for once each and in order."""

    def __init__(self, step_size: StepSize) -> None:
        self.constant = not callable(step_size)
        self._step_size = step_size
        self.values = np.zeros(0) if callable(step_size) else np.array([float(step_size)])

    def extend(self, count: int) -> None:
        """Ask for `count` more."""
        assert callable(self._step_size)  # noqa: S101  a constant one never runs out
        first = self.values.size + 1
        more = [float(self._step_size(t)) for t in range(first, first + count)]
        self.values = np.concatenate([self.values, more])


class _Call:
    """The arrays of one call of :func:`run_compiled`."""

    def __init__(
        self,
        spec: RunSpec,
        plan: Plan,
        stream: Stream,
        schedule: _Schedule,
        capacity: int,
        antithetic: bool,  # noqa: FBT001  called here alone
    ) -> None:
        self.spec, self.schedule = spec, schedule
        sets, n, width = spec.data.shape
        self.paired = int(antithetic)
        runs = sets << self.paired
        d, m = spec.convex_set.dimension, spec.options.batch_size
        self.block = block = block_size(d) & ~self.paired
        self.data, self.stride = flat_data(spec.data)
        self.resume = np.zeros(3, dtype=np.int64)
        self.w, self.g = np.zeros((block, d)), np.zeros((block, d))
        self.outputs, self.counts = np.zeros((runs, d)), np.zeros((runs, 3), dtype=np.int64)
        self.distinct = np.zeros(block, dtype=np.int64)
        self.indices = np.zeros((capacity, runs, m), dtype=np.int64)
        self.normals = np.zeros((capacity, runs, d))
        self.sizes = [block, n, d, m, width, self.stride, spec.stop_at]
        self.sizes += [plan.loss.kind, plan.convex_set.kind]
        self.scales = np.array(
            [plan.loss.number, spec.noise_scale, spec.lipschitz * (1.0 + SUBGRADIENT_SLACK)]
        )
        self.arrays = [
            *(self.resume, *stream, *ziggurat(), self.data),
            *(plan.convex_set.numbers, plan.convex_set.vectors, np.array(spec.initial_point)),
        ]
        self.workspace = [
            *(self.outputs, self.counts),
            self.w,
            *np.zeros((2, block * d)),  # sums, means
            np.zeros(block * ((n + 63) // 64), dtype=np.uint64),  # seen
            *(np.zeros(block, dtype=np.int64) for _ in range(4)),  # places, rows, bases, news
            *(self.distinct, np.zeros(block, dtype=np.int64)),  # distinct points, iterations that found one
            *(np.zeros(block * m, dtype=np.int64) for _ in range(2)),  # batches, fresh
            np.zeros(block * d),  # normals
            np.zeros(block * d + 1, dtype=np.int64),  # unsettled
            np.zeros(ROOM + 2 * d),  # room
            np.zeros(block),  # distances
            self.g,
            *(self.indices, self.normals),
        ]

    def execute(self, progress: Progress | None) -> CompiledRuns:
        """Run all and return the results."""
        runs = len(self.outputs)
        a_call = max(1, runs)
        if progress:
            blocks = max(1, _CALL_NUMBERS // (self.block * self.spec.n * self.spec.convex_set.dimension))
            a_call = self.block * blocks
        for first in range(0, runs, a_call):
            self._run_to(min(first + a_call, runs))
            if progress:
                progress(min(first + a_call, runs), runs)
        recorded = self.indices.size > 0
        longest = int(self.counts[:, 0].max(initial=0))
        return CompiledRuns(
            outputs=self.outputs,
            iterations=self.counts[:, 0].copy(),
            distinct_points=self.counts[:, 1].copy(),
            indices=self.indices[:longest] if recorded else None,
            normals=self.normals[:longest] if recorded else None,
        )

    def _run_to(self, last: int) -> None:
        from dpsco_verify.algorithm.kernel import runs  # noqa: PLC0415  brings in the compiler

        schedule = self.schedule
        while True:
            arrays = [*self.arrays, schedule.values, *self.workspace]
            steps = -1 if schedule.constant else schedule.values.size
            status = runs.run_blocks(
                np.array([last, *self.sizes, steps, len(self.indices) or -1, len(self.outputs), self.paired]),
                self.scales,
                np.array([array.ctypes.data for array in arrays]),
            )
            if status == runs.DONE:
                return
            if status == runs.PAUSED:
                schedule.extend(self._certainly_needed())
            elif status == runs.FULL:
                raise _RecordingFullError
            else:
                self._fail(long_subgradient=status == runs.LONG_SUBGRADIENT)

    def _certainly_needed(self) -> int:
        """Return a number of iterations that the run farthest from its stop cannot do without."""
        fewest = int(self.distinct[: self.resume[2]].min()) if self.resume[1] else 0
        return -(-(self.spec.stop_at - fewest) // self.spec.options.batch_size)

    def _fail(self, *, long_subgradient: bool) -> None:
        """Raise what the oracle raises."""
        require_finite_array("data", self.spec.data)
        count = int(self.resume[2])
        if long_subgradient:
            with np.errstate(over="ignore", invalid="ignore"):
                check_subgradient(self.g[:count], self.spec.lipschitz)
        self.spec.convex_set.project(self.w[:count])
        raise AssertionError("the kernel stopped where numpy goes on")


def flat_data(data: FloatArray) -> tuple[FloatArray, int]:
    """Return the numbers of `data` in one row, read-only, and how many lie between two runs: 0 where all share one set.

    A set that all runs share is checked here, others by the kernel, block by block, just before it needs them.
    """
    if data.strides[0] == 0 and len(data):
        flat, stride = np.ascontiguousarray(data[0]).reshape(-1), 0
        if not np.isfinite(flat).all():
            require_finite_array("data", data)
    else:
        flat, stride = np.ascontiguousarray(data).reshape(-1), data.shape[1] * data.shape[2]
    view = flat.view()
    view.setflags(write=False)
    return view, stride
