"""The estimators' releases, audited by this package's own auditor at their worst pairs, and their sources' laws.

Each audit accuses a right release with probability at most 1e-9. Two full passes at (0.5, 0.05) are a Gaussian
mechanism of which half the noise has δ = 0.23 at that ε: 2,000 outputs find it with probability above 0.999. The
seeds are fixed.
The sources' laws are tested at 1e-9 each; there are fewer than ten.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import stats

from dpsco_verify.auditing import audit
from dpsco_verify.estimators import noise
from dpsco_verify.estimators.descent import Problem, descend, release_of
from dpsco_verify.estimators.randomness import SeededSource, SystemSource
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Hinge

EPSILON, DELTA, ALPHA, SAMPLES = 0.5, 0.05, 1e-9, 2_000
N = 8


def release(batch_size, epochs, factor):
    """A mechanism that returns all noisy gradients of a fit to records (x, y) with hinge slopes."""
    plan = noise.plan(n=N, parameters=1, epsilon=EPSILON, delta=DELTA, batch_size=batch_size, epochs=epochs)
    plan = dataclasses.replace(plan, ratio=factor * plan.ratio)

    def mechanism(dataset, size, rng):
        records = np.asarray(dataset, dtype=np.float64)
        problem = Problem(
            rows=records[:, :1],
            norm=1.0,
            targets=records[:, 1:],
            counted=np.isfinite(records[:, 1]),
            slopes=Hinge().score_slope,
            slope_bound=1.0,
            convex_set=L2Ball(np.zeros(1), 0.5),  # margins stay below 1, so a slope is that of the label
            intercept_bound=None,
        )
        source, outputs = SeededSource(np.random.RandomState(rng.integers(2**32))), []
        scale = release_of(problem, plan)
        for _ in range(size):
            transcript = []
            descend(problem, plan, scale, source, transcript=transcript)
            outputs.append(np.ravel(transcript))
        return np.array(outputs)

    return mechanism


OTHERS = [[1.0, 1.0]] * (N - 1)
MIRROR = [[1.0, 1.0], *OTHERS], [[1.0, -1.0], *OTHERS]


@pytest.mark.parametrize(("batch_size", "epochs"), [(N, 2), (3, 1)])
def test_right_noise_passes_and_half_of_it_is_caught(batch_size, epochs):
    features = {
        "sum": lambda outputs: np.sum(outputs, axis=1),
        "most": lambda outputs: np.max(outputs, axis=1),
    }
    settings = {"epsilon": EPSILON, "delta": DELTA, "alpha": ALPHA, "samples": SAMPLES, "features": features}
    right = audit(release(batch_size, epochs, 1.0), *MIRROR, **settings)
    assert right.verdict != "violated"
    wrong = audit(release(batch_size, epochs, 0.5 if batch_size == N else 0.25), *MIRROR, **settings)
    assert wrong.verdict == "violated"


@pytest.mark.parametrize(
    "record",
    [[1e6, -1.0], [np.inf, -1.0], [np.nan, 1.0], [0.0, 1.0], [1.0, np.nan], [-1e308, 1.0]],
    ids=["huge", "infinite", "missing", "constant", "no class", "overflow"],
)
def test_dishonest_records_do_not_violate(record):
    """Against the records that differ most, all on the other side."""
    mechanism = release(N, 2, 1.0)
    pair = [[1.0, 1.0], *OTHERS], [record, *OTHERS]
    found = audit(mechanism, *pair, epsilon=EPSILON, delta=DELTA, alpha=ALPHA, samples=500)
    assert found.verdict != "violated"


def test_the_systems_numbers_are_normal_and_its_orders_uniform():
    source = SystemSource()
    z = source.rounded_normals((20_000,), 2.0**16) / 2.0**16
    assert stats.kstest(z, "norm").pvalue > 1e-9
    orders = np.array([source.order(3) for _ in range(3_000)])
    counts = np.unique(orders @ [9, 3, 1], return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-9
