"""The number of iterations has its exact law, that of drawing uniformly with replacement.

Judged by the Dvoretzky–Kiefer–Wolfowitz inequality against :mod:`dpsco_verify.algorithm.stopping_law`.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import LINEAR
from dpsco_verify.algorithm.stopping_law import mean_iterations, survival
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.inference import goodness_of_fit


def _judge(bench: Bench, alpha: float) -> Outcome:
    runs = bench.runs(LINEAR)
    times = np.array([len(run.iterates) - 1 for run in runs])
    points = bench.options.stopping.distinct_points(LINEAR.n)
    tails = survival(LINEAR.n, points, int(times.max()))

    def cdf(k: IntArray) -> FloatArray:
        return np.where(k < 0, 0.0, 1.0 - tails[np.maximum(k, 0)])

    decision = goodness_of_fit.decide(times, cdf, alpha=alpha)
    least = goodness_of_fit.minimum_detectable_distance(len(times), alpha=alpha)
    return Outcome(
        violated=decision.rejected,
        detail=(
            f"the distribution function of T is {decision.distance:.3g} from the exact one, where "
            f"{decision.critical_distance:.3g} alarms (mean {float(times.mean()):.4g}, exact "
            f"{float(mean_iterations(LINEAR.n, points)):.4g})"
        ),
        detectable=f"a distance of {least:.3g} between the distribution functions",
        runs=len(runs),
    )


STOPPING_TIME = Check(
    id="stopping-time", null="the number of iterations has the exact law of the stopping time", judge=_judge
)
