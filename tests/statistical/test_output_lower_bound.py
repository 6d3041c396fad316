"""What the average alone reveals, by its characteristic function, against runs of the implementation on that instance.

Each interval holds with probability at least 1 − 1e-9; what it would have found is stated.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from dpsco_verify.algorithm import private_sgd
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
    found = np.empty(runs)
    for i in range(runs):
        run = private_sgd(
            data,
            loss=Linear(),
            convex_set=Box([-radius], [radius]),
            step_size=1.0,
            sigma=1.0,
            lipschitz=mu / 2,
            initial_point=[0.0],
            rng=rng,
        )
        found[i] = -run.output[0]
    return found - others * (m - 1) / 2


def test_the_tail_is_that_of_runs():
    """Four intervals; a tail that is off by 0.1 would be found, as one without the repeats' noise is."""
    n, mu, rng = 9, 3.0, np.random.default_rng(23)
    law = Average(n, 4.0)
    for own, shift, runs in ((mu / 2, mu, 4_000), (-mu / 2, 0.0, 12_000)):
        values = sampled(n, mu, own, -mu / 2, runs, rng)
        for x in (1.0, 2.0):
            low, high = clopper_pearson_interval(int(np.sum(values > x)), runs, alpha=1e-9 / 4)
            assert low <= law.tail(x, shift) <= high
            assert high - low < 0.1
    silent = stats.norm.sf(2.0 / math.sqrt(sum(((5 - i) / 5) ** 2 for i in range(1, 5))))
    assert not low <= silent <= high
