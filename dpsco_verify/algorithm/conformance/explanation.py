"""Which points a step used, read off the iterates.

A step that no projection touched shows ``x = (w_t − w_{t+1})/η = g + ξ``, where g is the mean of the subgradients at a
set of at most m points, each clipped to length L, or 0 for the empty set. If all noise vectors are of length at most
r, which :func:`~dpsco_verify.algorithm.conformance.gaussian.noise_radius` ensures but for a given probability, then
the set that was used is among those within r of x: with none the step is wrong, and with just one it is known.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from dpsco_verify.algorithm.conformance.problems import Problem
from dpsco_verify.arrays import BoolArray, FloatArray, IntArray

Use = tuple[int, ...]
"""The points that a step used, in increasing order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """All steps of all runs of a problem, N of them, in order.

    Attributes
    ----------
    run, time
        The run's number and t, from 1 on; shape (N,).
    before, after
        ``w_t`` and ``w_{t+1}``; shape (N, d).
    increments
        ``(w_t − w_{t+1})/η``; shape (N, d).
    """

    run: IntArray
    time: IntArray
    before: FloatArray
    after: FloatArray
    increments: FloatArray

    def __len__(self) -> int:
        return len(self.run)


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """The nearest explanation of each of N steps.

    Attributes
    ----------
    uses
        The sets of points that a step may have used.
    nearest
        Which of them explains the step best, shape (N,).
    residual
        The increment less that set's gradient: the noise, if it is the right one; shape (N, d).
    distance, second_distance
        The length of the residual, and that of the second best; shape (N,).
    """

    uses: tuple[Use, ...]
    nearest: IntArray
    residual: FloatArray
    distance: FloatArray
    second_distance: FloatArray

    def known(self, radius: float) -> BoolArray:
        """Return which steps have just one explanation when no noise is longer than `radius`."""
        return (self.distance <= radius) & (self.second_distance > radius)


def possible_uses(n: int, batch_size: int) -> tuple[Use, ...]:
    """Return the sets of at most `batch_size` of n points, the empty one first."""
    return tuple(use for size in range(batch_size + 1) for use in itertools.combinations(range(n), size))


def possible_gradients(problem: Problem, w: FloatArray) -> FloatArray:
    """Return the mean clipped subgradient over each possible set at each w, shape (N, d) to (N, sets, d)."""
    gradients = problem.loss.subgradient(w[:, np.newaxis, :], problem.data[np.newaxis])
    norms = np.sqrt(np.sum(gradients * gradients, axis=-1, keepdims=True))
    clipped = gradients * (problem.lipschitz / np.maximum(norms, problem.lipschitz))
    uses = possible_uses(problem.n, problem.batch_size)
    weights = np.zeros((len(uses), problem.n))
    for row, use in zip(weights, uses, strict=True):
        row[list(use)] = 1.0 / max(len(use), 1)
    return np.asarray(np.einsum("ui,tid->tud", weights, clipped))


def explain(problem: Problem, steps: Steps) -> Explanation:
    """Return the nearest explanation of each step."""
    misses = steps.increments[:, np.newaxis, :] - possible_gradients(problem, steps.before)
    distances = np.sqrt(np.sum(misses * misses, axis=-1))
    order = np.argpartition(distances, 1, axis=-1)
    rows = np.arange(len(steps))
    return Explanation(
        uses=possible_uses(problem.n, problem.batch_size),
        nearest=order[:, 0],
        residual=misses[rows, order[:, 0]],
        distance=distances[rows, order[:, 0]],
        second_distance=distances[rows, order[:, 1]],
    )


def first_uses(uses: list[Use]) -> tuple[list[int], list[int]]:
    """Return the times, from 1 on, at which a run used a point for the first time, and those points in order."""
    seen: list[int] = []
    times = []
    for time, use in enumerate(uses, start=1):
        new = [point for point in use if point not in seen]
        if new:
            times.append(time)
            seen.extend(new)
    return times, seen
