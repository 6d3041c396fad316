"""Each coordinate of the noise is normal with mean 0 and the stated standard deviation.

By the probability transform Φ the noise is uniform; cut into equal bins it is a uniform integer, exactly, which is
judged by the Dvoretzky–Kiefer–Wolfowitz inequality.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import NOISE
from dpsco_verify.inference import goodness_of_fit

_BINS = 1024


def _judge(bench: Bench, alpha: float) -> Outcome:
    noise = np.concatenate(bench.noise(NOISE)).ravel()
    bins = np.minimum((_BINS * ndtr(noise)).astype(np.int64), _BINS - 1)
    decision = goodness_of_fit.decide(bins, lambda k: np.clip((k + 1.0) / _BINS, 0.0, 1.0), alpha=alpha)
    least = goodness_of_fit.minimum_detectable_distance(noise.size, alpha=alpha)
    return Outcome(
        violated=decision.rejected,
        detail=(
            f"the distribution function of {noise.size} coordinates is {decision.distance:.3g} from the normal one, "
            f"where {decision.critical_distance:.3g} alarms"
        ),
        detectable=f"a distance of {least:.3g} between the distribution functions at multiples of 1/{_BINS}",
        runs=len(bench.runs(NOISE)),
    )


NOISE_LAW = Check(id="noise-law", null="each coordinate of the noise is normal", judge=_judge)
