"""Wrong noise."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.algorithm import run
from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.run import PlainRun, State


def half(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return noise of half the size."""
    return 0.5 * run.noise(state, fresh)


def sigma_as_variance(state: State, _fresh: Sequence[int]) -> FloatArray:
    """Return noise of covariance σI, as the paper's Section 4 has it, where σ²I is meant."""
    return math.sqrt(state.sigma) * state.rng.standard_normal(state.w.size)


def variance_as_scale(state: State, _fresh: Sequence[int]) -> FloatArray:
    """Return noise from a sampler that takes the standard deviation and was handed the variance."""
    return state.rng.normal(scale=state.sigma**2, size=state.w.size)


def none_on_repeats(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return noise on fresh steps alone."""
    return run.noise(state, fresh) if fresh else np.zeros_like(state.w)


def reused(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return one noise vector for all steps of a run."""
    return state.noises[0] if state.noises else run.noise(state, fresh)


def cancelling(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return, at every second step, the noise of the one before with the other sign: an antithetic pair."""
    return -state.noises[-1] if len(state.noises) % 2 else run.noise(state, fresh)


def correlated(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return noise of an autoregression: right in each step, correlated by 1/2 with the step before."""
    new = run.noise(state, fresh)
    return 0.5 * state.noises[-1] + np.sqrt(0.75) * new if state.noises else new


def shared_by_coordinates(state: State, _fresh: Sequence[int]) -> FloatArray:
    """Return one number for all coordinates."""
    return np.full_like(state.w, state.sigma * state.rng.standard_normal())


def over_batch_size(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return noise divided by the batch size, as if the sensitivity were that much smaller."""
    return run.noise(state, fresh) / state.batch_size


def laplace(state: State, _fresh: Sequence[int]) -> FloatArray:
    """Return Laplace noise of the right variance."""
    return state.rng.laplace(scale=state.sigma / np.sqrt(2.0), size=state.w.size)


def one_coordinate_missed(state: State, fresh: Sequence[int]) -> FloatArray:
    """Return no noise in the last coordinate, say an intercept that was appended later."""
    xi = run.noise(state, fresh)
    if xi.size > 1:
        xi[-1] = 0.0
    return xi


def outside_the_step(state: State, g: FloatArray, xi: FloatArray) -> FloatArray:
    """Return ``P(w − ηg − ξ)``: the noise is not multiplied by η."""
    return state.convex_set.project(state.w - state.step_size * g - xi)


def same_seed(_rng: np.random.Generator) -> np.random.Generator:
    """Return one stream for all runs."""
    return np.random.default_rng(0)


def few_seeds(rng: np.random.Generator) -> np.random.Generator:
    """Return a stream whose seed has two digits: of a few dozen runs two share one."""
    return np.random.default_rng(int(rng.integers(100)))


NOISE_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-half-noise",
        title="noise of half the size",
        source="Algorithm 1, lines 5 and 8: ξ ~ N(0, σ²I)",
        truth="the first step's δ(1) at σ = L, n = 2 is 0.454, not 0.210",
        implementation=PlainRun(noise=half),
        caught_by=("noise-scale", "single-step-privacy"),
        cost=5.0,
    ),
    AlgorithmExhibit(
        id="algorithm-sigma-as-variance",
        title="variance taken for standard deviation: noise N(0, σI)",
        source="Section 4 writes N(0, σI), Section 5 N(0, σ²I)",
        truth="too little noise for σ > 1, too much for σ < 1",
        implementation=PlainRun(noise=sigma_as_variance),
        caught_by=("noise-scale",),
        unseen_by=(
            ("noise-on-repeats", "its σ is so small that √σ drowns the gradients, so no step can be read"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-variance-as-scale",
        title="variance taken for standard deviation: noise of standard deviation σ²",
        source="Algorithm 1, lines 5 and 8: ξ ~ N(0, σ²I), and samplers that take the standard deviation",
        truth="too little noise for σ < 1, too much for σ > 1",
        implementation=PlainRun(noise=variance_as_scale),
        caught_by=("noise-scale", "noise-on-repeats"),
    ),
    AlgorithmExhibit(
        id="algorithm-no-noise-on-repeats",
        title="no noise on repeat draws",
        source="Algorithm 1, line 5",
        truth="an iterate that stays where it was tells that the draw was a repeat",
        implementation=PlainRun(noise=none_on_repeats),
        caught_by=("noise-on-repeats", "step-independence"),
        unseen_by=(("single-step-privacy", "its step is the first one, which is never a repeat"),),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-noise-reused",
        title="noise reused between the steps of a run",
        source="Algorithm 1, input: a noise sequence {ξ_t}",
        truth="differences of increments are free of noise",
        implementation=PlainRun(noise=reused),
        caught_by=("step-independence",),
        unseen_by=(
            ("run-independence", "every run has noise of its own"),
            ("single-step-privacy", "each step by itself is right"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-cancelling",
        title="every second step takes the noise of the one before back",
        source="Algorithm 1, input: a noise sequence {ξ_t}",
        truth="after two steps the iterate is free of noise",
        implementation=PlainRun(noise=cancelling),
        caught_by=("step-independence",),
        unseen_by=(("single-step-privacy", "each step by itself is right"),),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-correlated",
        title="noise correlated by 1/2 with the step before",
        source="Algorithm 1, input: a noise sequence {ξ_t}",
        truth="given the past a step's noise has variance 3σ²/4",
        implementation=PlainRun(noise=correlated),
        caught_by=("step-independence",),
        unseen_by=(("single-step-privacy", "each step by itself is right"),),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-shared-by-coordinates",
        title="one noise number for all coordinates",
        source="Algorithm 1, lines 5 and 8: ξ ~ N(0, σ²I)",
        truth="differences of coordinates are free of noise",
        implementation=PlainRun(noise=shared_by_coordinates),
        caught_by=("coordinate-independence",),
        unseen_by=(
            ("step-independence", "every step has noise of its own"),
            ("single-step-privacy", "its problem has one coordinate"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-misses-a-coordinate",
        title="no noise in one coordinate",
        source="Algorithm 1, lines 5 and 8: ξ ~ N(0, σ²I)",
        truth="that coordinate of each fresh point's gradient is read off",
        implementation=PlainRun(noise=one_coordinate_missed),
        caught_by=("noise-scale",),
        unseen_by=(("single-step-privacy", "its problem has one coordinate"),),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-over-batch-size",
        title="noise divided by the batch size",
        source="Section 5: the noise does not depend on m",
        truth="the worst pair's sensitivity is 2L for every m, as a batch may hold one fresh point",
        implementation=PlainRun(noise=over_batch_size),
        caught_by=("noise-scale",),
        unseen_by=(("noise-law", "its problem has batches of one"),),
    ),
    AlgorithmExhibit(
        id="algorithm-noise-outside-the-step",
        title="noise not multiplied by the step size",
        source="Algorithm 1, lines 5 and 8: w − η(g + ξ)",
        truth="the noise relative to the gradient is off by the factor 1/η",
        implementation=PlainRun(step=outside_the_step),
        caught_by=("noise-scale",),
    ),
    AlgorithmExhibit(
        id="algorithm-laplace-noise",
        title="Laplace noise of the right variance",
        source="Algorithm 1, lines 5 and 8: ξ ~ N(0, σ²I)",
        truth="another mechanism, whose privacy loss is not that of normal noise",
        implementation=PlainRun(noise=laplace),
        caught_by=("noise-law",),
    ),
    AlgorithmExhibit(
        id="algorithm-one-seed",
        title="one seed shared by all runs",
        source="Theorem 5.3 speaks of one run with randomness of its own",
        truth="two runs on neighbouring data have the same noise: their difference is exact",
        implementation=PlainRun(source=same_seed),
        caught_by=("run-independence",),
        unseen_by=(
            ("gradient", "each run by itself is right"),
            ("step-independence", "each run by itself is right"),
        ),
    ),
    AlgorithmExhibit(
        id="algorithm-few-seeds",
        title="seeds of two digits shared by runs",
        source="Theorem 5.3 speaks of one run with randomness of its own",
        truth="whoever tries 100 seeds knows the noise",
        implementation=PlainRun(source=few_seeds),
        caught_by=("run-independence",),
        unseen_by=(("step-independence", "each run by itself is right"),),
    ),
)
