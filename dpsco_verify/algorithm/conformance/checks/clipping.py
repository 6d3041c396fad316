"""No step uses a gradient longer than L, also where the data break the Lipschitz bound; or such data are refused.

A refusal is taken as a statement of the domain on which the privacy guarantee is meant: on data outside it nothing is
promised.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import OUTLIERS


def _judge(bench: Bench, alpha: float) -> Outcome:
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


CLIPPING = Check(id="clipping", null="no step uses a gradient longer than L", judge=_judge)
