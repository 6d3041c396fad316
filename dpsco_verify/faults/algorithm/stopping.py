"""Wrong stops."""

from __future__ import annotations

from dpsco_verify.faults.algorithm.exhibit import AlgorithmExhibit
from dpsco_verify.faults.algorithm.run import PlainRun, State


def until_half(state: State) -> bool:
    """Stop at n/2 points, one too early: the text's rule where the pseudo-code's is meant."""
    return 2 * len(state.seen) < state.n


def until_all(state: State) -> bool:
    """Stop when all points were used."""
    return len(state.seen) < state.n


def n_iterations(state: State) -> bool:
    """Stop after n iterations, whatever was seen."""
    return state.time <= state.n


def counting_draws(state: State) -> bool:
    """Count draws, repeats included, for distinct points."""
    return 2 * len(state.draws) <= state.n


def one_more_step(state: State) -> bool:
    """Notice the stop one step late: look at ``|F_{t−1}|``."""
    return 2 * len({i for batch in state.draws[:-1] for i in batch}) <= state.n


STOPPING_EXHIBITS: tuple[AlgorithmExhibit, ...] = (
    AlgorithmExhibit(
        id="algorithm-stops-at-half",
        title="stops at n/2 points, not at n/2 + 1",
        source="Algorithm 1, line 2: while |F| ≤ n/2; the text of Section 4 says otherwise",
        truth="one point too few where n is even",
        implementation=PlainRun(goes_on=until_half),
        caught_by=("stopping-rule", "stopping-time"),
        effort=0.5,
    ),
    AlgorithmExhibit(
        id="algorithm-stops-at-all",
        title="stops when all points were used",
        source="Algorithm 1, line 2; the proof of the stopping time's lemma says otherwise",
        truth="n log n iterations, each of which costs privacy",
        implementation=PlainRun(goes_on=until_all),
        caught_by=("stopping-rule", "stopping-time"),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-stops-after-n",
        title="stops after n iterations, whatever was seen",
        source="Algorithm 1, line 2",
        truth="the number of used points is random",
        implementation=PlainRun(goes_on=n_iterations),
        caught_by=("stopping-rule", "stopping-time"),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-counts-draws",
        title="counts draws for distinct points",
        source="Algorithm 1, lines 2 and 9: F is a set",
        truth="too few points",
        implementation=PlainRun(goes_on=counting_draws),
        caught_by=("stopping-rule", "stopping-time"),
        effort=0.25,
    ),
    AlgorithmExhibit(
        id="algorithm-stops-late",
        title="notices the stop one step late",
        source="Algorithm 1, lines 2 and 9: the condition is on the F just updated",
        truth="one step more",
        implementation=PlainRun(goes_on=one_more_step),
        caught_by=("stopping-rule",),
        effort=0.25,
    ),
)
