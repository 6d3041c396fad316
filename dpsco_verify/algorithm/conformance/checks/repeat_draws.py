"""Repeat draws use no gradient: within a run no point is used twice."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR


def _judge(bench: Bench, alpha: float) -> Outcome:
    steps, explanation = bench.steps(LINEAR), bench.explained(LINEAR)
    known = explanation.known(bench.radius(LINEAR, alpha=alpha))
    unknown = int((~known).sum())
    used = Counter(
        (int(run), point)
        for run, best in zip(steps.run[known], explanation.nearest[known], strict=True)
        for point in explanation.uses[best]
    )
    again = sum(count > 1 for count in used.values())
    runs = len(bench.runs(LINEAR))
    return Outcome(
        violated=True if again else (None if unknown else False),
        detail=(
            f"{again} of {len(used)} points that were used, in {runs} runs, were used again"
            + (f"; {unknown} of {np.size(known)} steps could not be read" if unknown else "")
        ),
        detectable="one point that is used twice in a run",
        runs=runs,
    )


REPEAT_DRAWS = Check(id="repeat-draws", null="no point is used twice in a run", judge=_judge)
