"""With m > 1 a step uses the mean of the subgradients at those points of its batch that are fresh.

So every step shows the mean over a set of at most m points, no point is used twice, and the first step, where all are
fresh, uses m.
"""

from __future__ import annotations

from collections import Counter

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import BATCH


def _judge(bench: Bench, alpha: float) -> Outcome:
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


BATCH_MEAN = Check(
    id="batch-mean",
    null="each step of batches uses the mean subgradient of the fresh points among m distinct ones",
    judge=_judge,
    batched=True,
)
