"""The gradient of a step: whose it is, of which length, and the mean of a batch's."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.check import Outcome, check
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import BATCH, BATCH_OUTLIER, CURVED, LINEAR, OUTLIERS


@check("gradient", "each step uses the subgradient at the current iterate of one point, or none")
def gradient(bench: Bench, alpha: float) -> Outcome:
    """Judge that each step is η times the subgradient at the current iterate, of one point or of none, plus the noise.

    Where the gradients are those of the points and where they depend on the iterate, without projection.
    """
    wrong, worst, steps, runs, detectable = 0, 0.0, 0, 0, 0.0
    for problem in (LINEAR, CURVED):
        distances = bench.explained(problem).distance
        radius = bench.radius(problem, alpha=alpha / 2.0)
        wrong += int((distances > radius).sum())
        worst = max(worst, float(distances.max()))
        steps += distances.size
        runs += len(bench.runs(problem))
        shift = detectable_shift(radius=radius / problem.noise, dimension=problem.dimension)
        detectable = max(detectable, shift * problem.noise)
    return Outcome(
        violated=wrong > 0,
        detail=(
            f"{wrong} of {steps} steps are further from every point's subgradient, and from 0, than the noise "
            f"reaches, the worst {worst:.3g}"
        ),
        detectable=f"an error of {detectable:.3g} in one step's gradient, of L = {LINEAR.lipschitz:g}",
        runs=runs,
    )


@check("clipping", "no step uses a gradient longer than L")
def clipping(bench: Bench, alpha: float) -> Outcome:
    """Judge that no step uses a gradient longer than L, also where the data break the Lipschitz bound.

    Such data may be refused. A refusal is taken as a statement of the domain on which the privacy guarantee is meant:
    on data outside it nothing is promised.
    """
    lengths = np.linalg.norm(bench.steps(OUTLIERS).increments, axis=-1)
    radius = bench.radius(OUTLIERS, alpha=alpha)
    too_long = int((lengths > OUTLIERS.lipschitz + radius).sum())
    refused = bench.number_of_runs(OUTLIERS) - len(bench.runs(OUTLIERS))
    shift = detectable_shift(radius=radius / OUTLIERS.noise, dimension=OUTLIERS.dimension) * OUTLIERS.noise
    return Outcome(
        violated=too_long > 0,
        detail=(
            f"{too_long} of {lengths.size} steps are longer than L = {OUTLIERS.lipschitz:g} and the noise, the longest "
            f"{float(lengths.max(initial=0.0)):.3g}; {refused} of {bench.number_of_runs(OUTLIERS)} runs were refused"
        ),
        detectable=f"a gradient longer than L = {OUTLIERS.lipschitz:g} by {shift:.3g}",
        runs=bench.number_of_runs(OUTLIERS),
    )


@check(
    "batch-mean",
    "each step of batches uses the mean subgradient of the fresh points among m distinct ones",
    batched=True,
)
def batch_mean(bench: Bench, alpha: float) -> Outcome:
    """Judge that with m > 1 a step uses the mean of the subgradients at those points of its batch that are fresh.

    So every step shows the mean over a set of at most m points, no point is used twice, and the first step, where all
    are fresh, uses m.
    """
    steps, explanation = bench.steps(BATCH), bench.explained(BATCH)
    radius = bench.radius(BATCH, alpha=alpha)
    wrong = int((explanation.distance > radius).sum())
    known = explanation.known(radius)
    used: Counter[tuple[int, int]] = Counter()
    short = 0
    for run, time, best in zip(steps.run[known], steps.time[known], explanation.nearest[known], strict=True):
        use = explanation.uses[best]
        used.update((int(run), point) for point in use)
        short += time == 1 and len(use) != BATCH.batch_size
    again = sum(count > 1 for count in used.values())
    shift = detectable_shift(radius=radius / BATCH.noise, dimension=BATCH.dimension) * BATCH.noise
    unknown = len(steps) - wrong - int(known.sum())
    return Outcome(
        violated=True if wrong or again or short else (None if unknown else False),
        detail=(
            f"{wrong} of {len(steps)} steps show no mean over at most {BATCH.batch_size} points; {again} points were "
            f"used again; {short} of {len(bench.runs(BATCH))} first steps do not use {BATCH.batch_size} points"
        ),
        detectable=(
            f"an error of {shift:.3g} in one step's gradient, one point that is used twice, one short first batch"
        ),
        runs=len(bench.runs(BATCH)),
    )


@check("batch-clipping", "each subgradient of a batch is clipped to length L before the mean", batched=True)
def batch_clipping(bench: Bench, alpha: float) -> Outcome:
    """Judge that in a batch each subgradient is clipped to length L by itself, or the data are refused.

    Clipped afterwards, one outlier decides the mean's direction, and the step's sensitivity is 2L, not 2L/m.
    """
    distances = bench.explained(BATCH_OUTLIER).distance if bench.runs(BATCH_OUTLIER) else None
    radius = bench.radius(BATCH_OUTLIER, alpha=alpha)
    wrong = 0 if distances is None else int((distances > radius).sum())
    total = bench.number_of_runs(BATCH_OUTLIER)
    refused = total - len(bench.runs(BATCH_OUTLIER))
    shift = detectable_shift(radius=radius / BATCH_OUTLIER.noise, dimension=BATCH_OUTLIER.dimension)
    return Outcome(
        violated=wrong > 0,
        detail=(
            f"{wrong} of {0 if distances is None else distances.size} steps show no mean of clipped subgradients; "
            f"{refused} of {total} runs were refused"
        ),
        detectable=f"an error of {shift * BATCH_OUTLIER.noise:.3g} in one step's gradient",
        runs=total,
    )
