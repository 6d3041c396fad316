"""Where a run begins, where its steps end, and what it returns."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.check import ROUNDING, Outcome, check
from dpsco_verify.algorithm.conformance.explanation import first_uses, possible_gradients
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import BOUNDED, LINEAR
from dpsco_verify.algorithm.options import Averaging


@check("initial-point", "the first iterate is the given w_1", exact=True)
def initial_point(bench: Bench, _alpha: float) -> Outcome:
    """Judge exactly that ``w_1`` is the initial point that was given."""
    furthest, runs = 0.0, 0
    for problem in (LINEAR, BOUNDED):
        starts = np.stack([run.iterates[0] for run in bench.runs(problem)])
        furthest = max(furthest, float(np.abs(starts - problem.initial_point).max()))
        runs += len(starts)
    return Outcome(
        violated=furthest > ROUNDING,
        detail=f"the first iterate is up to {furthest:.3g} from w_1 in a coordinate",
        detectable=f"any distance above {ROUNDING:g}",
        runs=runs,
    )


@check("iterates-in-set", "all iterates and the output lie in W", exact=True)
def iterates_in_set(bench: Bench, _alpha: float) -> Outcome:
    """Judge exactly that all iterates, and the output, lie in W."""
    runs = bench.runs(BOUNDED)
    points = [run.iterates for run in runs] + [
        run.output[np.newaxis] for run in runs if run.output is not None
    ]
    misses = BOUNDED.convex_set.violation(np.concatenate(points))
    slack = ROUNDING * BOUNDED.convex_set.radius
    outside = int((misses > slack).sum())
    return Outcome(
        violated=outside > 0,
        detail=(
            f"{outside} of {misses.size} iterates and outputs lie outside W, the furthest by "
            f"{float(misses.max()):.3g}, where W's radius is {BOUNDED.convex_set.radius:g}"
        ),
        detectable=f"any distance from W above {slack:.3g}",
        runs=len(runs),
    )


@check("projection", "each step ends in the projection onto W of the gradient step")
def projection(bench: Bench, alpha: float) -> Outcome:
    """Judge that ``w_{t+1}`` is the projection of the noisy gradient step onto W.

    Projections do not expand, so ``‖P(w − η(g + ξ)) − P(w − ηg)‖ ≤ η‖ξ‖``: a right step ends within η times the longest
    noise of the projected step without noise, for the gradient that it used.
    """
    steps = bench.steps(BOUNDED)
    aims = BOUNDED.convex_set.project(
        steps.before[:, np.newaxis, :] - BOUNDED.step_size * possible_gradients(BOUNDED, steps.before)
    )
    misses = np.linalg.norm(steps.after[:, np.newaxis, :] - aims, axis=-1).min(axis=-1)
    radius = bench.radius(BOUNDED, alpha=alpha)
    allowed = BOUNDED.step_size * radius
    wrong = int((misses > allowed).sum())
    shift = detectable_shift(radius=radius / BOUNDED.noise, dimension=BOUNDED.dimension) * BOUNDED.noise
    return Outcome(
        violated=wrong > 0,
        detail=(
            f"{wrong} of {len(steps)} steps end further than {allowed:.3g} from every projected gradient step, "
            f"the worst {float(misses.max()):.3g}"
        ),
        detectable=f"an error of {BOUNDED.step_size * shift:.3g} in one step's end, of a W of radius "
        f"{BOUNDED.convex_set.radius:g}",
        runs=len(bench.runs(BOUNDED)),
    )


@check("average", "the output is the average of the iterates that the reading names")
def average(bench: Bench, alpha: float) -> Outcome:
    """Judge that the output is the average that the reading asks for, of iterates that are seen.

    The corrected reading averages ``w_t`` over the times t at which a fresh point was used, the literal one ``w_j``
    over the numbers j, from 1 on, of the points that were used, which is undefined where the run is shorter than one
    of them.
    """
    literal = bench.options.averaging is Averaging.DATA_INDICES
    runs = bench.runs(LINEAR)
    wrong, unknown, worst = 0, 0, 0.0
    for run, uses in zip(runs, bench.uses(LINEAR, alpha=alpha), strict=True):
        if uses is None:
            unknown += 1
            continue
        times, points = first_uses(uses)
        members = np.array(sorted(points) if literal else [time - 1 for time in times], dtype=np.int64)
        defined = members.size > 0 and int(members.max()) < len(run.iterates)
        if run.output is None or not defined:
            wrong += defined != (run.output is not None)
            continue
        miss = float(np.abs(run.output - run.iterates[members].mean(axis=0)).max())
        worst = max(worst, miss)
        wrong += miss > ROUNDING * max(1.0, float(np.abs(run.iterates).max()))
    return Outcome(
        violated=True if wrong else (None if unknown else False),
        detail=(
            f"{wrong} of {len(runs)} outputs are not the average over the "
            f"{'indices of used points' if literal else 'fresh times'}, the worst off by {worst:.3g}"
            + (f"; {unknown} runs could not be read" if unknown else "")
        ),
        detectable=f"one output that is off by more than {ROUNDING:g}, relatively",
        runs=len(runs),
    )
