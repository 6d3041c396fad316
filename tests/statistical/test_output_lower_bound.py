"""What the average alone reveals, by its characteristic function, against runs of the implementation on that instance.

Each interval holds with probability at least 1 − 1e-9; what it would have found is stated.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dpsco_verify.algorithm import run_ensemble
from dpsco_verify.geometry import Box
from dpsco_verify.inference.binomial import clopper_pearson_interval
from dpsco_verify.privacy.whole_run.output import Average
from dpsco_verify.problems import Linear


def sampled(n, mu, own, others, runs, rng):
    """``(w₁ − ŵ)/(ησ)``, less what the others move it by, of runs of the instance on its segment."""
    m, t = n // 2 + 1, 4 * n + 200
    data = np.full((n, 1), -others)
    data[0, 0] = -own
    radius = t * mu / 2 + math.sqrt(64 * t)
    found = run_ensemble(
        np.broadcast_to(data, (runs, n, 1)),
        loss=Linear(),
        convex_set=Box([-radius], [radius]),
        step_size=1.0,
        sigma=1.0,
        lipschitz=mu / 2,
        initial_point=[0.0],
        rng=rng,
    )
    return -found.outputs[:, 0] - others * (m - 1) / 2


def test_the_tail_is_that_of_runs():
    """Four intervals; a tail that is off by 0.12 would be found.

    One without the repeats' noise is found sooner by the likelihood ratio of twenty cells, which is an e-value.
    """
    n, mu, runs, rng = 9, 3.0, 3_000, np.random.default_rng(23)
    law = Average(n, 4.0)
    for own, shift in ((mu / 2, mu), (-mu / 2, 0.0)):
        values = sampled(n, mu, own, -mu / 2, runs, rng)
        for x in (1.0, 2.0):
            low, high = clopper_pearson_interval(int(np.sum(values > x)), runs, alpha=1e-9 / 4)
            assert low <= law.tail(x, shift) <= high
            assert high - low < 0.12
    ends = np.linspace(-3.8, 3.8, 20)
    silent = stats.norm.sf(ends / math.sqrt(sum(((5 - i) / 5) ** 2 for i in range(1, 5))))
    counts = np.bincount(np.searchsorted(ends, values), minlength=21)
    right, wrong = (-np.diff([1.0, *tails, 0.0]) for tails in ([law.tail(x, 0.0) for x in ends], silent))
    assert counts @ np.log(right / wrong) > math.log(1e9)
