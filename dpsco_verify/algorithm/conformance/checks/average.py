"""The output is the average that the reading asks for, of iterates that are seen.

The corrected reading averages ``w_t`` over the times t at which a fresh point was used, the literal one ``w_j`` over
the numbers j, from 1 on, of the points that were used, which is undefined where the run is shorter than one of them.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.explanation import first_uses
from dpsco_verify.algorithm.conformance.finding import ROUNDING, Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR
from dpsco_verify.algorithm.options import Averaging


def _judge(bench: Bench, alpha: float) -> Outcome:
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


AVERAGE = Check(
    id="average", null="the output is the average of the iterates that the reading names", judge=_judge
)
