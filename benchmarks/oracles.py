"""Each fast path beside the slow, literal one that its tests hold it to."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.measure import faster
from benchmarks.record import Row
from benchmarks.size import Size
from dpsco_verify.algorithm import GeneratorTape, private_sgd, record, run_ensemble
from dpsco_verify.algorithm.stopping_law import survival, tail_exact
from dpsco_verify.geometry import L2Ball
from dpsco_verify.inference.privacy_event_test import CellCounts, PrivacyEventTest
from dpsco_verify.privacy import balls, gaussian_delta
from dpsco_verify.problems import Linear

GROUP = "fast path over oracle"


def rows(size: Size) -> Iterator[Row]:
    """Yield the ratios of the oracles' times to the fast paths'."""
    yield _ensemble(size)
    yield _curve(size)
    yield _recursion(size)
    yield _counts(size)


def _ensemble(size: Size) -> Row:
    runs, n, d = size.of(200, 5), 64, 10
    rng = np.random.default_rng(0)
    data = rng.standard_normal((runs, n, d))
    data /= np.linalg.norm(data, axis=-1, keepdims=True)
    tape = record(GeneratorTape(rng, runs, n, d), 4 * n)
    common = {
        "loss": Linear(),
        "convex_set": L2Ball(np.zeros(d), 1.0),
        "step_size": 0.1,
        "sigma": 1.0,
        "lipschitz": 1.1,
    }

    def together() -> object:
        tape.position = 0
        return run_ensemble(data, tape=tape, **common)  # type: ignore[arg-type]  # keywords of several types

    def alone() -> object:
        return [private_sgd(data[r], tape=tape.of_run(r), **common) for r in range(runs)]  # type: ignore[arg-type]  # the same

    return faster(
        GROUP,
        f"ensemble of {runs} runs of a recorded tape, n = {n}, d = {d}",
        together,
        alone,
        rounds=size.rounds,
    )


def _curve(size: Size) -> Row:
    count = size.of(2000, 50)
    rng = np.random.default_rng(1)
    epsilon, mu = rng.uniform(0.01, 3.0, count), rng.uniform(0.1, 2.0, count)
    return faster(
        GROUP,
        "Gaussian privacy curve in doubles against balls",
        lambda: gaussian_delta(epsilon, mu),
        lambda: [
            balls.gaussian_delta(balls.ball(float(e)), balls.ball(float(m)))
            for e, m in zip(epsilon, mu, strict=True)
        ],
        rounds=size.rounds,
    )


def _recursion(size: Size) -> Row:
    n = size.of(100, 20)
    m = n // 2 + 1
    return faster(
        GROUP,
        f"stopping law in doubles against one rational tail, n = {n}",
        lambda: survival(n, m, 2 * n),
        lambda: tail_exact(n, m, 2 * n),
        rounds=size.rounds,
    )


def _counts(size: Size) -> Row:
    pairs = size.of(1_000_000, 1_000)
    rng = np.random.default_rng(2)
    first, second = rng.random((2, pairs)) < 0.1
    counts = CellCounts.from_indicators(first, second)
    return faster(
        GROUP,
        f"e-process from counts against a look at every one of {pairs} pairs",
        lambda: PrivacyEventTest(epsilon=1.0, delta=0.01, alpha=0.01).update_counts(counts),
        lambda: PrivacyEventTest(epsilon=1.0, delta=0.01, alpha=0.01).update(first, second),
        rounds=size.rounds,
    )
