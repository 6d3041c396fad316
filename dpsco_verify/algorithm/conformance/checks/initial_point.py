"""``w_1`` is the initial point that was given. Exact."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import ROUNDING, Check, Outcome
from dpsco_verify.algorithm.conformance.problems import BOUNDED, LINEAR


def _judge(bench: Bench, alpha: float) -> Outcome:
    del alpha
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


INITIAL_POINT = Check(id="initial-point", null="the first iterate is the given w_1", judge=_judge, exact=True)
