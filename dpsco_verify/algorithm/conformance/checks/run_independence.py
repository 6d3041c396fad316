"""Runs are independent: the noise of one run is uncorrelated with the next one's, and comes in no other run."""

from __future__ import annotations

import itertools

import numpy as np

from dpsco_verify.algorithm.conformance.bench import Bench
from dpsco_verify.algorithm.conformance.checks.independence import judge_independence, repeated_rows
from dpsco_verify.algorithm.conformance.finding import Check, Outcome
from dpsco_verify.algorithm.conformance.problems import NOISE


def _judge(bench: Bench, alpha: float) -> Outcome:
    noise = bench.noise(NOISE)
    owner = np.repeat(np.arange(len(noise)), [len(run) for run in noise])
    pairs = owner[repeated_rows(np.concatenate(noise))]
    shared = int((pairs[:, 0] != pairs[:, 1]).sum())
    both = [(a[:steps], b[:steps]) for a, b in itertools.pairwise(noise) for steps in [min(len(a), len(b))]]
    return judge_independence(
        both,
        twice=shared,
        between="runs after each other",
        alpha=alpha,
        runs=len(noise),
        same=lambda count: f"{count} noise vectors came again in another run",
    )


RUN_INDEPENDENCE = Check(
    id="run-independence", null="the noise of different runs is independent", judge=_judge
)
