"""All iterates, and the output, lie in W. Exact."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import ROUNDING, Check, Outcome
from dpsco_verify.algorithm.conformance.problems import BOUNDED


def _judge(bench: Bench, alpha: float) -> Outcome:
    del alpha
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


ITERATES_IN_SET = Check(
    id="iterates-in-set", null="all iterates and the output lie in W", judge=_judge, exact=True
)
