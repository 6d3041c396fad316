"""How much faster each fast path is than its oracle: ratios within one run, so that the machine cancels.

Each pair is timed in turn, five times over, and the median ratio is printed with the smallest and the largest.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from dpsco_verify.algorithm import GeneratorTape, private_sgd, record, run_ensemble
from dpsco_verify.algorithm.stopping_law import survival, tail_exact
from dpsco_verify.geometry import L2Ball
from dpsco_verify.inference.privacy_event_test import CellCounts, PrivacyEventTest
from dpsco_verify.privacy import balls, gaussian_delta
from dpsco_verify.problems import Linear

ROUNDS = 5


def seconds(action: Callable[[], object]) -> float:
    """Return how long `action` takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def compare(name: str, fast: Callable[[], object], slow: Callable[[], object]) -> None:
    """Print the ratio of the slow path's time to the fast one's."""
    fast()  # not counted: first calls fill caches
    ratios = [seconds(slow) / seconds(fast) for _ in range(ROUNDS)]
    print(  # noqa: T201  a benchmark prints
        f"{name:58} {statistics.median(ratios):9.1f} x   ({min(ratios):.1f} to {max(ratios):.1f})"
    )


def ensemble_against_oracle() -> None:
    """200 runs at n = 64, d = 10."""
    runs, n, d = 200, 64, 10
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

    compare("ensemble of 200 runs against the oracle", together, alone)


def curve_against_balls() -> None:
    """δ_G at 2,000 points."""
    rng = np.random.default_rng(1)
    epsilon, mu = rng.uniform(0.01, 3.0, 2000), rng.uniform(0.1, 2.0, 2000)
    compare(
        "Gaussian privacy curve in doubles against balls",
        lambda: gaussian_delta(epsilon, mu),
        lambda: [
            balls.gaussian_delta(balls.ball(float(e)), balls.ball(float(m)))
            for e, m in zip(epsilon, mu, strict=True)
        ],
    )


def recursion_against_rationals() -> None:
    """Compare at n = 100."""
    compare(
        "stopping tail in doubles against rationals, n = 100",
        lambda: survival(100, 51, 200),
        lambda: tail_exact(100, 51, 200),
    )


def counts_against_indicators() -> None:
    """Compare on a million pairs."""
    rng = np.random.default_rng(2)
    first, second = rng.random((2, 1_000_000)) < 0.1
    counts = CellCounts.from_indicators(first, second)
    compare(
        "e-process from counts against a look at every pair",
        lambda: PrivacyEventTest(epsilon=1.0, delta=0.01, alpha=0.01).update_counts(counts),
        lambda: PrivacyEventTest(epsilon=1.0, delta=0.01, alpha=0.01).update(first, second),
    )


if __name__ == "__main__":
    ensemble_against_oracle()
    curve_against_balls()
    recursion_against_rationals()
    counts_against_indicators()
