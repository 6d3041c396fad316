"""In a batch each subgradient is clipped to length L by itself, before the mean; or the data are refused.

Clipped afterwards, one outlier decides the mean's direction, and the step's sensitivity is 2L, not 2L/m.
"""

from __future__ import annotations

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_shift
from dpsco_verify.algorithm.conformance.problems import BATCH_OUTLIER


def _judge(bench: Bench, alpha: float) -> Outcome:
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


BATCH_CLIPPING = Check(
    id="batch-clipping",
    null="each subgradient of a batch is clipped to length L before the mean",
    judge=_judge,
    batched=True,
)
