"""The coordinates of the noise are independent: neighbours are uncorrelated, no two are equal."""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.checks.independence import judge_independence
from dpsco_verify.algorithm.conformance.finding import ROUNDING, Check, Outcome
from dpsco_verify.algorithm.conformance.problems import NOISE


def _judge(bench: Bench, alpha: float) -> Outcome:
    noise = np.concatenate(bench.noise(NOISE))
    # One pair of equal numbers is no proof: among many coordinates two may be close. All of a vector's are.
    equal = np.ptp(noise, axis=-1) <= ROUNDING * (1.0 + np.abs(noise).max(axis=-1))
    return judge_independence(
        [(noise[:, :-1], noise[:, 1:])],
        twice=int(equal.sum()),
        between="coordinates next to each other",
        alpha=alpha,
        runs=len(bench.runs(NOISE)),
        same=lambda count: f"{count} of {len(noise)} noise vectors have one number in all coordinates",
    )


COORDINATE_INDEPENDENCE = Check(
    id="coordinate-independence", null="the coordinates of the noise are independent", judge=_judge
)
