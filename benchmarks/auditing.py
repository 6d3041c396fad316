"""The audit of a mechanism with too little noise, beside the drawing of its samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import WALL, in_turn
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditResult, AuditVerdict, audit

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
