"""The noise has the stated standard deviation: as a whole, in each coordinate, and with batches.

Exact χ² tests, two-sided, their level split equally.
"""

from __future__ import annotations

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.gaussian import detectable_scales, scale_test
from dpsco_verify.algorithm.conformance.problems import BATCH_NOISE, NOISE
from dpsco_verify.arrays import FloatArray


def judge_scales(samples: dict[str, FloatArray], *, alpha: float, runs: int) -> Outcome:
    """Test the standard deviation of each named sample at an equal part of the level."""
    level = alpha / len(samples)
    decisions = {name: scale_test(sample, alpha=level) for name, sample in samples.items()}
    worst = min(decisions, key=lambda name: decisions[name].p_value)
    first = next(iter(samples))
    low, high = detectable_scales(samples[first].size, alpha=level)
    shown = dict.fromkeys((first, worst))
    seen = ", ".join(f"{decisions[name].ratio:.4g} times the stated one ({name})" for name in shown)
    return Outcome(
        violated=any(decision.rejected for decision in decisions.values()),
        detail=f"the standard deviation is {seen}; p = {min(1.0, decisions[worst].p_value * len(samples)):.3g}",
        detectable=f"a standard deviation below {low:.4g} or above {high:.4g} times the stated one ({first})",
        runs=runs,
    )


def _judge(bench: Bench, alpha: float) -> Outcome:
    noise = np.concatenate(bench.noise(NOISE))
    samples = {"all": noise}
    runs = len(bench.runs(NOISE))
    if bench.batched:
        samples["batches"] = np.concatenate(bench.noise(BATCH_NOISE))
        runs += len(bench.runs(BATCH_NOISE))
    samples |= {f"coordinate {j + 1}": noise[:, j] for j in range(NOISE.dimension)}
    return judge_scales(samples, alpha=alpha, runs=runs)


NOISE_SCALE = Check(
    id="noise-scale", null="each coordinate of the noise has the stated standard deviation", judge=_judge
)
