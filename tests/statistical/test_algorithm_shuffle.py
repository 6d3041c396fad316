"""Two descriptions of Algorithm 1: as written, and as a shuffle with noise-only steps at times that know no data."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsco_verify.algorithm import GeneratorTape, Options, StoppingRule, private_sgd, record
from dpsco_verify.algorithm.stopping_law import survival
from dpsco_verify.algorithm.tape import draw_batches
from dpsco_verify.geometry import WholeSpace
from dpsco_verify.inference import goodness_of_fit
from dpsco_verify.problems import Linear

pytestmark = pytest.mark.slow

RUNS = 3_000
LEVEL = 1e-9


def transcripts(n):
    tape = record(GeneratorTape(np.random.default_rng(11), RUNS, n, 1), 40 * n)
    for r in range(RUNS):
        yield private_sgd(
            np.ones((n, 1)),
            loss=Linear(),
            convex_set=WholeSpace(1),
            step_size=1.0,
            sigma=0.0,
            lipschitz=1.0,
            tape=tape.of_run(r),
            options=Options(stopping=StoppingRule.LOOP),
            transcript=True,
        )


def test_the_order_of_fresh_points_is_a_shuffle_and_does_not_know_the_times():
    """n = 4 stops at 3 points: the 24 orders are equally likely, also given that a repeat came before the second.

    Each of the 48 counts is tested against its binomial law at 1e-9/48; the stopping times against the exact law.
    """
    n, orders, late_orders, times = 4, {}, {}, []
    for run in transcripts(n):
        order = tuple(int(y) for y in run.transcript.draws[run.transcript.fresh])
        orders[order] = orders.get(order, 0) + 1
        if not run.transcript.fresh[1, 0]:
            late_orders[order] = late_orders.get(order, 0) + 1
        times.append(run.iterations)
    possible = list(itertools.permutations(range(n), 3))
    for counts in (orders, late_orders):
        total = sum(counts.values())
        assert set(counts) <= set(possible)
        for order in possible:
            assert binomtest(counts.get(order, 0), total, 1 / 24).pvalue > LEVEL / 48
    law = 1.0 - survival(n, 3, max(times))
    fit = goodness_of_fit.decide(
        np.array(times), lambda k: np.where(k >= 0, law[np.maximum(k, 0)], 0.0), alpha=LEVEL
    )
    assert not fit.rejected


def test_batches_are_uniform_subsets():
    """All 20 subsets of 3 out of 6, each count against its binomial law at 1e-9/20."""
    batches = draw_batches(np.random.default_rng(5), runs=60_000, n=6, batch_size=3)
    subsets, counts = np.unique(np.sort(batches, axis=1), axis=0, return_counts=True)
    assert len(subsets) == math.comb(6, 3)
    for count in counts:
        assert binomtest(int(count), 60_000, 1 / 20).pvalue > LEVEL / 20


def test_a_biased_draw_is_noticed():
    """The same check on subsets that prefer the last index by a tenth."""
    rng = np.random.default_rng(6)
    keys = rng.random((60_000, 6))
    keys[:, -1] *= 0.9
    biased = np.sort(np.argpartition(keys, 2, axis=1)[:, :3], axis=1)
    _, counts = np.unique(biased, axis=0, return_counts=True)
    assert min(binomtest(int(count), 60_000, 1 / 20).pvalue for count in counts) < LEVEL / 20
