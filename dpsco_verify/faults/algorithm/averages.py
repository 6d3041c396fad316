"""Wrong outputs, and a wrong start."""

from __future__ import annotations

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.faults.algorithm import run
from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.run import PlainRun, State


def of_all_times(state: State) -> FloatArray:
    """Return the average over all times, repeats included."""
    return run.mean(state.iterates[:-1])


def last_iterate(state: State) -> FloatArray:
    """Return the last iterate."""
    return state.w


def of_following_iterates(state: State) -> FloatArray:
    """Return the average of ``w_{t+1}``, the iterates after the fresh steps."""
    return run.mean([state.iterates[t] for t in state.fresh_times])


def of_data_indices(state: State) -> FloatArray | None:
    """Return the pseudo-code's own ``Σ_{j ∈ F} w_j/|F|``, F holding numbers of points; None where T is too small."""
    numbers = sorted(i + 1 for i in state.seen)
    if numbers[-1] > len(state.iterates):
        return None
    return run.mean([state.iterates[j - 1] for j in numbers])


def sum_over_half(state: State) -> FloatArray:
    """Return the sum over the fresh times divided by n/2, where it has ``⌊n/2⌋ + 1`` terms."""
    return run.output(state) * (len(state.fresh_times) / (0.5 * state.n))


def start_at_zero(state: State) -> FloatArray:
    """Return 0, whatever the initial point."""
    return np.zeros_like(state.initial_point)


OUTPUT_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-initial-point-ignored",
        title="initial point ignored",
        source="Algorithm 1, input: w_1",
        truth="starts at 0",
        implementation=PlainRun(start=start_at_zero),
        caught_by=("initial-point",),
        unseen_by=(("gradient", "each step is right from where the run is"),),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-average-of-all-times",
        title="average includes repeat times",
        source="Algorithm 1, output, in the corrected reading: the fresh times",
        truth="iterates after repeat draws count as much",
        implementation=PlainRun(output=of_all_times),
        caught_by=("average",),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-last-iterate",
        title="last iterate for the average",
        source="Algorithm 1, output",
        truth="the utility bound is about the average",
        implementation=PlainRun(output=last_iterate),
        caught_by=("average",),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-average-shifted",
        title="average of the iterates after the fresh steps",
        source="Algorithm 1, output: w_t, at which the gradient was taken",
        truth="shifted by one step",
        implementation=PlainRun(output=of_following_iterates),
        caught_by=("average",),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-average-of-data-indices",
        title="the pseudo-code's own output, over numbers of points for times",
        source="Algorithm 1, output, literally: the sum over j in F of w_j",
        truth="averages arbitrary iterates, and is undefined where T is small",
        implementation=PlainRun(output=of_data_indices),
        caught_by=("average",),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-sum-over-half",
        title="sum over the fresh times divided by n/2",
        source="Algorithm 1, output: divided by |F|, which is ⌊n/2⌋ + 1",
        truth="too long by the factor 1 + 2/n",
        implementation=PlainRun(output=sum_over_half),
        caught_by=("average",),
        effort=0.25,
    ),
)
