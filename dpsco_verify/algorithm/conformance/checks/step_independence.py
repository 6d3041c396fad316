"""The noise of a run's steps is independent: neighbours in time are uncorrelated, no noise vector comes twice."""

from __future__ import annotations

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.checks.independence import judge_independence, repeated_rows
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import NOISE


def _judge(bench: Bench, alpha: float) -> Outcome:
    noise = bench.noise(NOISE)
    return judge_independence(
        [(run[:-1], run[1:]) for run in noise],
        twice=sum(len(repeated_rows(run)) for run in noise),
        between="steps next to each other",
        alpha=alpha,
        runs=len(noise),
        same=lambda count: f"{count} noise vectors came again in the same run",
    )


STEP_INDEPENDENCE = Check(
    id="step-independence", null="the noise of the steps of a run is independent", judge=_judge
)
