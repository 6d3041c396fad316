"""Where the randomness of a run comes from: a generator, or a recording that can be replayed.

A tape hands out, iteration by iteration, the drawn indices and standard normal noise of `runs` independent
runs. The oracle reads one row of a recording and the ensemble all of them, so both can be fed the same draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpsco_verify.algorithm.run_spec import RunSpec
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.errors import InputError


class Tape(Protocol):
    """The randomness of several runs, one iteration at a time."""

    def next(self) -> tuple[IntArray, FloatArray]:
        """Return indices in ``0..n-1`` of shape (runs, m) and standard normals of shape (runs, d)."""
        ...


def draw_batches(rng: np.random.Generator, *, runs: int, n: int, batch_size: int) -> IntArray:
    """Draw a uniform subset of `batch_size` of the indices ``0..n-1`` for each run; shape (runs, batch_size).

    Floyd's algorithm (Bentley and Floyd 1987), all runs at once: for j = n − m, …, n − 1 draw t from 0..j and take
    t, or j where t has been taken. Every subset is equally likely, and memory does not grow with n.
    """
    batches = np.empty((runs, batch_size), dtype=np.int64)
    for position, j in enumerate(range(n - batch_size, n)):
        t = rng.integers(j + 1, size=runs)
        taken = (batches[:, :position] == t[:, np.newaxis]).any(axis=-1)
        batches[:, position] = np.where(taken, j, t)
    return batches


@dataclass
class GeneratorTape:
    """Fresh randomness from a generator."""

    rng: np.random.Generator
    runs: int
    n: int
    dimension: int
    batch_size: int = 1

    def next(self) -> tuple[IntArray, FloatArray]:
        """Draw the next iteration."""
        indices = draw_batches(self.rng, runs=self.runs, n=self.n, batch_size=self.batch_size)
        return indices, self.rng.standard_normal((self.runs, self.dimension))


@dataclass
class AntitheticTape:
    """The rows of another tape, each twice: the second time with the noise negated, which is as likely."""

    tape: Tape

    def next(self) -> tuple[IntArray, FloatArray]:
        """Draw the next iteration: rows 2r and 2r + 1 are the pair of row r."""
        indices, normals = self.tape.next()
        signs = np.tile([1.0, -1.0], len(normals))[:, np.newaxis]
        return np.repeat(indices, 2, axis=0), signs * np.repeat(normals, 2, axis=0)


@dataclass
class RecordedTape:
    """Recorded randomness: `indices` of shape (iterations, runs, m), `normals` of shape (iterations, runs, d)."""

    indices: IntArray
    normals: FloatArray
    position: int = 0

    def next(self) -> tuple[IntArray, FloatArray]:
        """Replay the next iteration."""
        if self.position >= len(self.indices):
            raise InputError(
                f"the recording holds iterations={len(self.indices)} and a run needs more; record a longer tape"
            )
        self.position += 1
        return self.indices[self.position - 1], self.normals[self.position - 1]

    def of_run(self, run: int) -> RecordedTape:
        """Return a tape, from its beginning, with the randomness of one run alone."""
        return RecordedTape(self.indices[:, run : run + 1], self.normals[:, run : run + 1])


def choose_tape(
    rng: np.random.Generator | None,
    tape: Tape | None,
    spec: RunSpec,
    *,
    runs: int,
) -> Tape:
    """Return the given tape, or one that draws from `rng`; exactly one of the two must be given."""
    if tape is not None and rng is None:
        return tape
    if rng is not None and tape is None:
        return GeneratorTape(rng, runs, spec.n, spec.convex_set.dimension, spec.options.batch_size)
    raise InputError(
        f"rng={rng!r} and tape={tape!r}: give exactly one of them as the source of draws and noise"
    )


def record(tape: Tape, iterations: int) -> RecordedTape:
    """Record the next `iterations` of a tape."""
    parts = [tape.next() for _ in range(iterations)]
    return RecordedTape(np.stack([p[0] for p in parts]), np.stack([p[1] for p in parts]))
