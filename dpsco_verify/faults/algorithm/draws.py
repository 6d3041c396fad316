"""Wrong draws."""

from __future__ import annotations

from collections.abc import Sequence

from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.run import PlainRun, State


def without_replacement(state: State) -> Sequence[int]:
    """Never draw a point twice."""
    left = [i for i in range(state.n) if i not in state.seen]
    return [int(i) for i in state.rng.permutation(left)[: state.batch_size]]


def never_the_last(state: State) -> Sequence[int]:
    """Draw from all points but the last: an exclusive bound taken for an inclusive one."""
    return [int(i) for i in state.rng.permutation(state.n - 1)[: state.batch_size]]


def in_order(state: State) -> Sequence[int]:
    """Go through the points in their order."""
    first = state.batch_size * len(state.draws)
    return [(first + j) % state.n for j in range(state.batch_size)]


def batch_with_replacement(state: State) -> Sequence[int]:
    """Draw the indices of a batch independently, so that one may come twice in it."""
    return [int(i) for i in state.rng.integers(state.n, size=state.batch_size)]


DRAW_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-without-replacement",
        title="sampling without replacement",
        source="Algorithm 1, line 3: uniformly from [n]",
        truth="no repeat draws, hence not the amplification that the proof uses",
        implementation=PlainRun(draw=without_replacement),
        caught_by=("stopping-time",),
        unseen_by=(
            ("uniform-draws", "the new points come in the same order as with replacement"),
            ("single-step-privacy", "the first draw is the same"),
        ),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-never-the-last-point",
        title="never draws the last point",
        source="Algorithm 1, line 3: uniformly from [n]",
        truth="one point is not used, and the others are drawn more often than the proof allows",
        implementation=PlainRun(draw=never_the_last),
        caught_by=("uniform-draws", "reported-draws"),
    ),
    AlgorithmExhibit(
        id="algorithm-draws-in-order",
        title="goes through the points in their order",
        source="Algorithm 1, line 3: uniformly from [n]",
        truth="no amplification by subsampling at all",
        implementation=PlainRun(draw=in_order),
        caught_by=("uniform-draws", "reported-draws", "stopping-time", "single-step-privacy"),
        cost=1.5,
        slow=True,
    ),
    AlgorithmExhibit(
        id="algorithm-batch-with-replacement",
        title="batches drawn with replacement within the batch",
        source="Section 5: Unif([n], m) draws m out of n points",
        truth="a point may count twice in a batch's mean",
        implementation=PlainRun(draw=batch_with_replacement),
        caught_by=("batch-mean",),
        unseen_by=(("uniform-draws", "its problem has batches of one"),),
    ),
)
