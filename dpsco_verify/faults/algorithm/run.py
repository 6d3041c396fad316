"""A plain run of Algorithm 1, right as it stands, with a hook at each place where implementations go wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpsco_verify.algorithm.conformance import ObservedRun
from dpsco_verify.arrays import FloatArray
from dpsco_verify.geometry import ConvexSet, L2Ball
from dpsco_verify.problems import Loss


@dataclass(kw_only=True)
class State:
    """A run as far as it has come.

    Attributes
    ----------
    data, rng, loss, convex_set, step_size, sigma, lipschitz, initial_point, batch_size
        As they were given.
    iterates
        ``w_1, …, w_t``.
    draws
        The batches that were drawn.
    seen
        F, the points used so far.
    fresh_times
        The times, from 1 on, at which fresh points were used.
    noises
        ``ξ_1, …, ξ_{t−1}``.
    """

    data: FloatArray
    rng: np.random.Generator
    loss: Loss
    convex_set: ConvexSet
    step_size: float
    sigma: float
    lipschitz: float
    initial_point: FloatArray
    batch_size: int
    iterates: list[FloatArray] = field(default_factory=list)
    draws: list[Sequence[int]] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    fresh_times: list[int] = field(default_factory=list)
    noises: list[FloatArray] = field(default_factory=list)

    @property
    def n(self) -> int:
        """The number of points."""
        return len(self.data)

    @property
    def w(self) -> FloatArray:
        """The current iterate ``w_t``."""
        return self.iterates[-1]

    @property
    def time(self) -> int:
        """t, from 1 on."""
        return len(self.iterates)

    @property
    def radius(self) -> float:
        """The radius of W, which is a ball about 0."""
        assert isinstance(self.convex_set, L2Ball)  # noqa: S101  the problems of the conformance checks have no other
        return self.convex_set.radius


def source(rng: np.random.Generator) -> np.random.Generator:
    """Return where the run's randomness comes from."""
    return rng


def start(state: State) -> FloatArray:
    """Return ``w_1``."""
    return state.initial_point


def goes_on(state: State) -> bool:
    """Return whether there is another iteration: ``|F| ≤ n/2``."""
    return 2 * len(state.seen) <= state.n


def draw(state: State) -> Sequence[int]:
    """Return the next batch: m distinct indices, uniformly."""
    if state.batch_size == 1:
        return [int(state.rng.integers(state.n))]
    return [int(i) for i in state.rng.permutation(state.n)[: state.batch_size]]


def noise(state: State, _fresh: Sequence[int]) -> FloatArray:
    """Return ξ, whose covariance is ``σ²I`` whether or not anything is `fresh`."""
    return state.sigma * state.rng.standard_normal(state.w.size)


def mean(vectors: Sequence[FloatArray]) -> FloatArray:
    """Return the mean of vectors, of at least one."""
    total = vectors[0]
    for vector in vectors[1:]:
        total = total + vector
    return total / len(vectors)


def clipped(state: State, gradient: FloatArray) -> FloatArray:
    """Return a gradient shortened to length L if it is longer."""
    length = math.sqrt(float(gradient @ gradient))
    return gradient if length <= state.lipschitz else gradient * (state.lipschitz / length)


def point_gradient(state: State, index: int) -> FloatArray:
    """Return the clipped subgradient at the current iterate for one point."""
    return clipped(state, state.loss.subgradient(state.w, state.data[index]))


def gradient(state: State, _batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return g, the mean over the `fresh` points of the batch; 0 if there are none."""
    if not fresh:
        return np.zeros_like(state.w)
    return mean([point_gradient(state, i) for i in fresh])


def step(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return ``w_{t+1} = P(w_t − η(g + ξ))``."""
    return state.convex_set.project(state.w - state.step_size * (g + xi))


def output(state: State) -> FloatArray:
    """Return ``ŵ``, the average of ``w_t`` over the fresh times t."""
    return mean([state.iterates[t - 1] for t in state.fresh_times])


@dataclass(frozen=True, kw_only=True)
class PlainRun:
    """Algorithm 1 as the functions of this module have it, but for the hooks that are given otherwise."""

    source: Callable[[np.random.Generator], np.random.Generator] = source
    start: Callable[[State], FloatArray] = start
    goes_on: Callable[[State], bool] = goes_on
    draw: Callable[[State], Sequence[int]] = draw
    noise: Callable[[State, Sequence[int]], FloatArray] = noise
    gradient: Callable[[State, Sequence[int], Sequence[int]], FloatArray] = gradient
    step: Callable[[State, FloatArray, FloatArray], FloatArray] = step
    output: Callable[[State], FloatArray | None] = output

    def __call__(
        self,
        data: FloatArray,
        rng: np.random.Generator,
        *,
        batch_size: int = 1,
        **arguments: Any,
    ) -> ObservedRun:
        """Run once, as :class:`~dpsco_verify.algorithm.conformance.Implementation` says."""
        state = State(data=data, rng=self.source(rng), batch_size=batch_size, **arguments)
        state.iterates.append(self.start(state))
        while self.goes_on(state):
            batch = self.draw(state)
            fresh = [i for i in batch if i not in state.seen]
            xi = self.noise(state, fresh)
            following = self.step(state, self.gradient(state, batch, fresh), xi)
            if fresh:
                state.fresh_times.append(state.time)
            state.seen.update(fresh)
            state.draws.append(batch)
            state.noises.append(xi)
            state.iterates.append(following)
        return ObservedRun(
            iterates=np.stack(state.iterates), output=self.output(state), draws=np.array(state.draws)
        )
