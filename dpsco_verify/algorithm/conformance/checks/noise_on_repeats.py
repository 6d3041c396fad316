"""Fresh steps and repeat steps have noise of the same, stated standard deviation.

Which is which is read off the steps; exact χ² tests of both, two-sided.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.checks.noise_scale import judge_scales
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR


def _judge(bench: Bench, alpha: float) -> Outcome:
    explanation = bench.explained(LINEAR)
    known = explanation.known(bench.radius(LINEAR, alpha=alpha / 2.0))
    fresh = np.array([len(use) > 0 for use in explanation.uses])[explanation.nearest]
    runs = len(bench.runs(LINEAR))
    if not known.all() or fresh.all() or not fresh.any():
        return Outcome(
            violated=None,
            detail=(
                f"{int((~known).sum())} of {known.size} steps could not be read, {int(fresh.sum())} are fresh and "
                f"{int((~fresh).sum())} repeats"
            ),
            detectable="nothing",
            runs=runs,
        )
    noise = explanation.residual / LINEAR.noise
    return judge_scales({"repeats": noise[~fresh], "fresh": noise[fresh]}, alpha=alpha / 2.0, runs=runs)


NOISE_ON_REPEATS = Check(
    id="noise-on-repeats", null="repeat steps have the same noise as fresh steps", judge=_judge
)
