"""Private fits beside scikit-learn's stochastic gradient descent, one epoch, and in seconds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

from benchmarks.measure import in_turn, seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.estimators import PrivateSGDClassifier, noise

GROUP = "estimators"


def rows(size: Size) -> Iterator[Row]:
    """Yield the ratio of a private fit to one epoch of SGDClassifier, and the seconds of a first fit."""
    n, d = size.of(50_000, 2_000), size.of(100, 10)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    plain = SGDClassifier(loss="log_loss", max_iter=1, tol=None)
    private = PrivateSGDClassifier(data_norm=float(np.sqrt(d)), classes=[0, 1])
    with threadpool_limits(1):
        pairs = in_turn(lambda: private.fit(X, y), lambda: plain.fit(X, y), rounds=size.rounds)
        yield row(
            GROUP,
            f"private fit over SGDClassifier, one epoch, {n} x {d}",
            [a / b for a, b in pairs],
            unit="x",
            at_most=3.0,
            note="the noise was calibrated before, as in any fit but the first of its size",
        )

        def first() -> None:
            noise.plan.cache_clear()
            private.fit(X, y)

        yield row(
            GROUP,
            f"first private fit, {n} x {d}",
            [seconds(first) for _ in range(size.rounds)],
            unit="s",
            at_most=2.0,
            note="calibration included",
        )
