"""Runs of Algorithm 1 against the random numbers that they need.

The floor is numpy's own drawing of as many normals as the runs use, into one buffer that stays in cache: iterations
times d. The data are given; drawing the indices, looking up the points and checking them belong to the runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.measure import exponents, faster, in_turn, seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.algorithm import Ensemble, mirror_descent, run_ensemble
from dpsco_verify.algorithm.ensemble import Engine
from dpsco_verify.geometry import Box, ConvexSet, L2Ball, NegativeEntropy, Simplex
from dpsco_verify.problems import Linear, Logistic, Loss

GROUP = "runs of Algorithm 1"

_TARGETS = {1: 2.5, 5: 1.25, 20: 1.0, 100: 1.0, 1000: 1.0}
_N = 1000
_NORMALS = 4_000_000
_BUFFER = 4096
_LONGEST_COMPILATION = 5.0

_START = """
import time
import numpy as np
from dpsco_verify.algorithm import run_ensemble
from dpsco_verify.geometry import L2Ball
from dpsco_verify.problems import Linear
began = time.process_time()
run_ensemble(np.zeros((2, 4, 1)), loss=Linear(), convex_set=L2Ball([0.0], 1.0), step_size=0.1, sigma=1.0,
             lipschitz=1.0, rng=np.random.default_rng(0), engine="compiled")
print(time.process_time() - began)
"""


def rows(size: Size) -> Iterator[Row]:
    """Yield the ratios to the floor for each d, the exponents in n, runs and d, and what a first run costs."""
    for loss, box in ((Linear(), False), (Logistic(), True)):
        for dimension, target in _TARGETS.items():
            yield _against_floor(size, loss, dimension, box=box, at_most=None if box else target)
    yield from _growth(size)
    yield from _against_numpy(size)
    yield from _first_run(size)


def runs_of(
    loss: Loss, dimension: int, *, n: int, runs: int, box: bool = False, engine: Engine = "compiled"
) -> Callable[[], Ensemble]:
    """Return what does `runs` runs on data of norm 1 in the ball of radius 1, or in a cube."""
    rng = np.random.default_rng(dimension)
    data = rng.standard_normal((runs, n, loss.data_dimension(dimension)))
    features = data[..., :dimension]
    features /= np.linalg.norm(features, axis=-1, keepdims=True)
    if data.shape[-1] > dimension:
        data[..., -1] = np.where(data[..., -1] < 0.0, -1.0, 1.0)
    convex_set: ConvexSet = L2Ball(np.zeros(dimension), 1.0)
    if box:
        convex_set = Box(np.full(dimension, -0.5), np.full(dimension, 0.5))
    return lambda: run_ensemble(
        data,
        loss=loss,
        convex_set=convex_set,
        step_size=0.1,
        sigma=1.0,
        lipschitz=1.0,
        rng=rng,
        engine=engine,
    )


def _against_floor(size: Size, loss: Loss, dimension: int, *, box: bool, at_most: float | None) -> Row:
    n = size.of(_N, 60)
    runs = max(2, size.of(_NORMALS, 4_000) // (n * dimension))
    action = runs_of(loss, dimension, n=n, runs=runs, box=box)
    normals = int(action().iterations.sum()) * dimension
    rng, buffer = np.random.default_rng(0), np.empty(min(_BUFFER, normals))

    def floor() -> None:
        for _ in range(normals // buffer.size):
            rng.standard_normal(out=buffer)

    scale = normals / (normals // buffer.size * buffer.size)
    pairs = in_turn(action, floor, rounds=max(5, size.rounds))
    return row(
        GROUP,
        f"{loss.name}, {'box' if box else 'ball'}, d = {dimension}: time over that of its normals",
        [a / (b * scale) for a, b in pairs],
        unit="x",
        at_most=at_most,
        note=f"n = {n}, {runs} runs",
    )


def _growth(size: Size) -> Iterator[Row]:
    studies: dict[str, tuple[list[int], Callable[[int], Callable[[], Ensemble]]]] = {
        "n": (
            [2**k for k in range(size.of(9, 4), size.of(15, 8))],
            lambda n: runs_of(Linear(), 20, n=n, runs=size.of(48, 4)),
        ),
        "runs": (
            [2**k for k in range(size.of(7, 3), size.of(13, 7))],
            lambda runs: runs_of(Linear(), 5, n=size.of(1000, 20), runs=runs),
        ),
        "d": (
            [2**k for k in range(4, size.of(11, 7))],
            lambda d: runs_of(Linear(), d, n=size.of(300, 40), runs=size.of(36, 4)),
        ),
    }
    for name, (sizes, make) in studies.items():
        actions = [make(s) for s in sizes]
        for action in actions:
            action()
        times = [[seconds(action, calls=2) for action in actions] for _ in range(max(5, size.rounds))]
        yield row(
            GROUP,
            f"growth of the time with {name}",
            exponents([float(s) for s in sizes], times),
            unit="1",
            at_least=None
            if name == "d"
            else 0.95,  # what is done once a step weighs less and less as d grows
            at_most=1.05,
            note=f"exponent fitted from {sizes[0]} to {sizes[-1]}",
        )


def _against_numpy(size: Size) -> Iterator[Row]:
    n, runs = size.of(300, 30), size.of(200, 20)
    for dimension in (1, 20):
        yield faster(
            GROUP,
            f"compiled against numpy, d = {dimension}",
            runs_of(Linear(), dimension, n=n, runs=runs),
            runs_of(Linear(), dimension, n=n, runs=runs, engine="numpy"),
            rounds=size.rounds,
            fast_calls=5,
        )
    count, steps = size.of(200, 4), size.of(200, 10)
    gradients = np.random.default_rng(0).standard_normal((count, steps, 10))

    def literal() -> None:
        for slopes in gradients:
            mirror_descent(slopes, potential=NegativeEntropy(), convex_set=Simplex(10), step_size=0.01)

    yield faster(
        GROUP,
        "exponentiated gradient, compiled against numpy",
        lambda: mirror_descent(
            gradients, potential=NegativeEntropy(), convex_set=Simplex(10), step_size=0.01
        ),
        literal,
        rounds=size.of(3, 1),
        fast_calls=5,
        note=f"{count} runs of {steps} steps",
    )


def _first_run(size: Size) -> Iterator[Row]:
    """Measure a first run in fresh processes: one that compiles, and others that find the result."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}

        def first() -> float:
            command = [sys.executable, "-c", _START]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603  our own
            return float(done.stdout)

        yield row(GROUP, "first run, compiling", [first()], unit="s", at_most=_LONGEST_COMPILATION)
        again = [first() for _ in range(size.of(3, 1))]
        yield row(GROUP, "first run, compiled before", again, unit="s")
