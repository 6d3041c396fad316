"""The audit of a mechanism with too little noise, beside the drawing of its samples."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import WALL, in_turn
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditResult, AuditVerdict, audit
from dpsco_verify.execution.own_process import OwnProcess
from dpsco_verify.privacy.claims import GaussianDP

GROUP = "audit"
TRUE_EPSILON = 1.25


def laplace_sum(dataset: Any, size: int, rng: np.random.Generator) -> FloatArray:
    """Return a sum of sensitivity 1 with Laplace noise for ε = 1.25."""
    return np.asarray(np.sum(dataset) + rng.laplace(scale=1.0 / TRUE_EPSILON, size=size), dtype=np.float64)


def rows(size: Size) -> Iterator[Row]:
    """Yield the time of an audit that claims ε = 1, alone and over that of its samples; seeds differ by round."""
    samples = size.of(40_000, 1_000)
    milliseconds, ratios, found, used = [], [], 0, []
    for seed in range(size.of(7, 1)):

        def whole(seed: int = seed) -> AuditResult:
            return audit(laplace_sum, [0.0], [1.0], epsilon=1.0, samples=samples, seed=seed)

        result = whole()

        def draw(seed: int = seed, count: int = result.samples) -> object:
            rng = np.random.default_rng(seed)
            return laplace_sum([0.0], count, rng), laplace_sum([1.0], count, rng)

        ((audited, drawn),) = in_turn(whole, draw, rounds=1, calls=(1, 5), clock=WALL)
        milliseconds.append(1e3 * audited)
        ratios.append(audited / drawn)
        found += result.verdict is AuditVerdict.VIOLATED
        used.append(result.samples)
    note = f"{found} of {len(used)} found violated, by {min(used)} to {max(used)} outputs a data set"
    yield row(GROUP, "Laplace noise for ε = 1.25 against a claim of 1", milliseconds, unit="ms", note=note)
    yield row(
        GROUP,
        "the same over the drawing of its samples",
        ratios,
        unit="x",
        note="selection, test, detectability",
    )
    yield _wide(size)
    yield row(
        GROUP,
        "one of 10,000 samples that finds nothing, in a process of its own over in this one",
        _apart(size),
        unit="x",
        note="what a test with assert_private pays so that nothing ends pytest",
    )


def two_layers(dataset: FloatArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return a gradient plus standard normal noise that its second half shares with the first."""
    noise = rng.standard_normal((size, dataset.size // 2))
    return np.concatenate([noise, noise], axis=1) + dataset


def _wide(size: Size) -> Row:
    width = size.of(10_000, 100)
    gradient = np.random.default_rng(1).standard_normal(width)
    gradient /= np.linalg.norm(gradient)
    found, seconds = 0, []
    for seed in range(size.of(3, 1)):
        start = time.perf_counter()
        result = audit(
            two_layers,
            np.zeros(width),
            gradient,
            claim=GaussianDP(1.0),
            samples=size.of(10_000, 1_000),
            seed=seed,
        )
        seconds.append(time.perf_counter() - start)
        found += result.verdict is AuditVerdict.VIOLATED
    name = f"two layers of {width // 2:,} coordinates that share their noise"
    note = f"{found} of {len(seconds)} found violated"
    return row(GROUP, name, seconds, unit="s", at_most=60.0, note=note)


def _apart(size: Size) -> list[float]:
    def here() -> AuditResult:
        return audit(laplace_sum, [0.0], [1.0], epsilon=TRUE_EPSILON, samples=size.of(10_000, 1_000))

    def apart() -> object:
        with OwnProcess(lambda _: here()) as process:
            return process.answer()

    return [a / b for a, b in in_turn(apart, here, rounds=size.of(15, 1), clock=WALL)]
