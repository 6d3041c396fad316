"""Wrong gradients, and wrong steps along them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.algorithm import run
from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.run import PlainRun, State


def _mean(state: State, points: Sequence[int]) -> FloatArray:
    return run.gradient(state, points, points)


def on_repeats(state: State, batch: Sequence[int], _fresh: Sequence[int]) -> FloatArray:
    """Return the gradient of every draw, repeat or not."""
    return _mean(state, batch)


def unclipped(state: State, _batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return a mean that is as long as the data make it."""
    if not fresh:
        return np.zeros_like(state.w)
    return run.mean([state.loss.subgradient(state.w, state.data[i]) for i in fresh])


def clipped_by_coordinates(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return each coordinate clipped to [−L, L], where the length was meant."""
    return np.clip(unclipped(state, batch, fresh), -state.lipschitz, state.lipschitz)


def clipped_as_a_batch(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the mean of the batch clipped, not each point's gradient."""
    return run.clipped(state, unclipped(state, batch, fresh))


def summed(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the sum over the fresh points, not the mean."""
    return len(fresh) * run.gradient(state, batch, fresh)


def over_batch_size(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the sum over the fresh points divided by m, repeats counted as 0."""
    return run.gradient(state, batch, fresh) * (len(fresh) / state.batch_size)


def whole_batch_if_any_fresh(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the mean over the whole batch as soon as one point of it is fresh."""
    return _mean(state, batch) if fresh else np.zeros_like(state.w)


def at_first_iterate(state: State, _batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the gradient at ``w_1`` throughout."""
    if not fresh:
        return np.zeros_like(state.w)
    w = state.iterates[0]
    return run.mean([run.clipped(state, state.loss.subgradient(w, state.data[i])) for i in fresh])


def at_previous_iterate(state: State, _batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the gradient at ``w_{t−1}``: stale by one step."""
    if not fresh:
        return np.zeros_like(state.w)
    w = state.iterates[max(len(state.iterates) - 2, 0)]
    return run.mean([run.clipped(state, state.loss.subgradient(w, state.data[i])) for i in fresh])


def ascending(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return the gradient with the wrong sign."""
    return -run.gradient(state, batch, fresh)


def normalised(state: State, batch: Sequence[int], fresh: Sequence[int]) -> FloatArray:
    """Return every gradient made of length L, short ones too."""
    g = run.gradient(state, batch, fresh)
    length = float(np.linalg.norm(g))
    return g if length == 0.0 else g * (state.lipschitz / length)


def decaying_step(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return the step of size ``η/√t`` for η."""
    eta = state.step_size / np.sqrt(state.time)
    return state.convex_set.project(state.w - eta * (g + xi))


GRADIENT_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-gradient-on-repeats",
        title="gradient on repeat draws",
        source="Algorithm 1, line 5: w − ηξ",
        truth="a point is used more than once, which no bound of the paper covers",
        implementation=PlainRun(gradient=on_repeats),
        caught_by=("repeat-draws", "reported-draws", "batch-mean"),
        unseen_by=(("gradient", "each step is a right one of some point"),),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-unclipped",
        title="gradient beyond L not clipped",
        source="Section 2: f is L-Lipschitz",
        truth="the privacy loss is unbounded in an outlier",
        implementation=PlainRun(gradient=unclipped),
        caught_by=("clipping", "batch-clipping"),
        unseen_by=(
            ("gradient", "on data within the bound it is right"),
            ("single-step-privacy", "its data are within the bound"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-clipped-by-coordinates",
        title="each coordinate clipped to [−L, L]",
        source="Section 2: the subgradients' norm is at most L",
        truth="the norm may be L√d",
        implementation=PlainRun(gradient=clipped_by_coordinates),
        caught_by=("clipping",),
        unseen_by=(("single-step-privacy", "its problem has one coordinate"),),
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-clipped-as-a-batch",
        title="the batch's mean clipped, not each point's gradient",
        source="Section 5: the mean of gradients that are at most L each",
        truth="an outlier decides the direction of its batch's step",
        implementation=PlainRun(gradient=clipped_as_a_batch),
        caught_by=("batch-clipping",),
        unseen_by=(
            ("clipping", "a batch of one is clipped rightly"),
            ("batch-mean", "its data are within the bound"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-summed",
        title="sum for mean when m > 1",
        source="Section 5: the mini-batched gradient is a mean",
        truth="the sensitivity is up to m times the stated one",
        implementation=PlainRun(gradient=summed),
        caught_by=("batch-mean",),
        unseen_by=(("gradient", "its problems have batches of one"),),
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-over-batch-size",
        title="sum over the fresh points divided by m",
        source="Section 5: the mean is over the fresh points of the batch",
        truth="shrinks steps whose batch has repeats",
        implementation=PlainRun(gradient=over_batch_size),
        caught_by=("batch-mean",),
        unseen_by=(("gradient", "its problems have batches of one"),),
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-of-whole-batch",
        title="mean over the whole batch as soon as one point of it is fresh",
        source="Section 5: the mean is over the fresh points of the batch",
        truth="points are used more than once",
        implementation=PlainRun(gradient=whole_batch_if_any_fresh),
        caught_by=("batch-mean",),
        unseen_by=(("repeat-draws", "its problem has batches of one"),),
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-at-first-iterate",
        title="gradient taken at the first iterate throughout",
        source="Algorithm 1, line 8: ∇f(w_τ, x)",
        truth="no descent",
        implementation=PlainRun(gradient=at_first_iterate),
        caught_by=("gradient",),
        unseen_by=(("single-step-privacy", "the gradient's norm is at most L wherever it is taken"),),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-stale",
        title="gradient taken at the iterate before",
        source="Algorithm 1, line 8: ∇f(w_τ, x)",
        truth="stale by one step",
        implementation=PlainRun(gradient=at_previous_iterate),
        caught_by=("gradient",),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-ascends",
        title="wrong sign of the gradient",
        source="Algorithm 1, line 8: w − ηg",
        truth="as private, and climbs",
        implementation=PlainRun(gradient=ascending),
        caught_by=("gradient",),
        unseen_by=(("single-step-privacy", "the sign changes nothing about privacy"),),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-gradient-normalised",
        title="every gradient made of length L",
        source="Algorithm 1, line 8: the subgradient as it is",
        truth="as private, and not the gradient",
        implementation=PlainRun(gradient=normalised),
        caught_by=("gradient",),
        unseen_by=(("clipping", "no gradient is longer than L"),),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-decaying-step",
        title="step size η/√t for η",
        source="Theorem thm:utility_guarantee: a constant step size",
        truth="gradient and noise shrink together: as private, and slower",
        implementation=PlainRun(step=decaying_step),
        caught_by=("gradient", "noise-scale"),
        unseen_by=(("single-step-privacy", "its step is the first one, where √t is 1"),),
        effort=0.25,
    ),
)
