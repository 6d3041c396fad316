"""The noise: its standard deviation, its law, its independence."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import ndtr

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.check import ROUNDING, Outcome, check
from dpsco_verify.algorithm.conformance.gaussian import (
    detectable_correlation,
    detectable_scales,
    lag_test,
    scale_test,
)
from dpsco_verify.algorithm.conformance.problems import BATCH_NOISE, LINEAR, NOISE
from dpsco_verify.arrays import FloatArray, IntArray
from dpsco_verify.inference import goodness_of_fit

_BINS = 1024
"""Of the transformed noise."""


def _judge_scales(samples: dict[str, FloatArray], *, alpha: float, runs: int) -> Outcome:
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


@check("noise-scale", "each coordinate of the noise has the stated standard deviation")
def noise_scale(bench: Bench, alpha: float) -> Outcome:
    """Judge the standard deviation of the noise as a whole, in each coordinate, and with batches.

    Exact χ² tests, two-sided, their level split equally.
    """
    noise = np.concatenate(bench.noise(NOISE))
    samples = {"all": noise}
    runs = len(bench.runs(NOISE))
    if bench.batched:
        samples["batches"] = np.concatenate(bench.noise(BATCH_NOISE))
        runs += len(bench.runs(BATCH_NOISE))
    samples |= {f"coordinate {j + 1}": noise[:, j] for j in range(NOISE.dimension)}
    return _judge_scales(samples, alpha=alpha, runs=runs)


@check("noise-law", "each coordinate of the noise is normal")
def noise_law(bench: Bench, alpha: float) -> Outcome:
    """Judge that each coordinate of the noise is normal with mean 0 and the stated standard deviation.

    By the probability transform Φ the noise is uniform; cut into equal bins it is a uniform integer, exactly, which is
    judged by the Dvoretzky–Kiefer–Wolfowitz inequality.
    """
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


@check("noise-on-repeats", "repeat steps have the same noise as fresh steps")
def noise_on_repeats(bench: Bench, alpha: float) -> Outcome:
    """Judge that fresh steps and repeat steps have noise of the same, stated standard deviation.

    Which is which is read off the steps; exact χ² tests of both, two-sided.
    """
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
    return _judge_scales({"repeats": noise[~fresh], "fresh": noise[fresh]}, alpha=alpha / 2.0, runs=runs)


def repeated_rows(rows: FloatArray) -> IntArray:
    """Return the pairs of rows that are equal but for rounding, shape (pairs, 2), neighbours in lexicographic order.

    Two independent normal vectors are that close with probability below ``ROUNDING^d``. Rounding that separates equal
    rows in the order may hide a pair, never invent one.
    """
    order = np.lexsort(np.round(rows, 4).T[::-1])
    ordered = rows[order]
    near = np.all(np.abs(np.diff(ordered, axis=0)) <= ROUNDING * (1.0 + np.abs(ordered[1:])), axis=-1)
    return np.stack([order[:-1][near], order[1:][near]], axis=-1)


def _judge_independence(
    pairs: Sequence[tuple[FloatArray, FloatArray]],
    *,
    twice: int,
    between: str,
    alpha: float,
    runs: int,
    same: Callable[[int], str],
) -> Outcome:
    """Judge neighbours by :func:`lag_test`; `twice` counts what is equal, and `same` says so."""
    first = np.concatenate([a.ravel() for a, _ in pairs])
    second = np.concatenate([b.ravel() for _, b in pairs])
    decision = lag_test(first, second, alpha=alpha)
    return Outcome(
        violated=decision.rejected or twice > 0,
        detail=f"{same(twice)}; the correlation of {between} has z = {decision.z:.3g}, p = {decision.p_value:.3g}",
        detectable=(
            "noise that comes twice, or a correlation of "
            f"{detectable_correlation(first.size, alpha=alpha):.3g} between {between}"
        ),
        runs=runs,
    )


@check("step-independence", "the noise of the steps of a run is independent")
def step_independence(bench: Bench, alpha: float) -> Outcome:
    """Judge that the noise of a run's neighbouring steps is uncorrelated, and no noise vector comes twice."""
    noise = bench.noise(NOISE)
    return _judge_independence(
        [(run[:-1], run[1:]) for run in noise],
        twice=sum(len(repeated_rows(run)) for run in noise),
        between="steps next to each other",
        alpha=alpha,
        runs=len(noise),
        same=lambda count: f"{count} noise vectors came again in the same run",
    )


@check("coordinate-independence", "the coordinates of the noise are independent")
def coordinate_independence(bench: Bench, alpha: float) -> Outcome:
    """Judge that neighbouring coordinates of the noise are uncorrelated, and no vector repeats one number."""
    noise = np.concatenate(bench.noise(NOISE))
    # One pair of equal numbers is no proof: among many coordinates two may be close. All of a vector's are.
    equal = np.ptp(noise, axis=-1) <= ROUNDING * (1.0 + np.abs(noise).max(axis=-1))
    return _judge_independence(
        [(noise[:, :-1], noise[:, 1:])],
        twice=int(equal.sum()),
        between="coordinates next to each other",
        alpha=alpha,
        runs=len(bench.runs(NOISE)),
        same=lambda count: f"{count} of {len(noise)} noise vectors have one number in all coordinates",
    )


@check("run-independence", "the noise of different runs is independent")
def run_independence(bench: Bench, alpha: float) -> Outcome:
    """Judge that the noise of a run is uncorrelated with the next one's, and comes in no other run."""
    noise = bench.noise(NOISE)
    owner = np.repeat(np.arange(len(noise)), [len(run) for run in noise])
    pairs = owner[repeated_rows(np.concatenate(noise))]
    shared = int((pairs[:, 0] != pairs[:, 1]).sum())
    both = [(a[:steps], b[:steps]) for a, b in itertools.pairwise(noise) for steps in [min(len(a), len(b))]]
    return _judge_independence(
        both,
        twice=shared,
        between="runs after each other",
        alpha=alpha,
        runs=len(noise),
        same=lambda count: f"{count} noise vectors came again in another run",
    )
