"""The faults of public reports at the settings of a user who sets none: whether each is found, and how long it takes.

The pair is given, or searched. Violations so small that the default number of outputs cannot show them, whatever the
event, have as many as in the museum, which their names say. Wide outputs are in the suite ``audit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import numpy as np

from benchmarks.measure import seconds
from benchmarks.record import Row, row
from benchmarks.size import Size
from dpsco_verify.arrays import FloatArray
from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.auditing.relations import one_user
from dpsco_verify.choices import DEFAULT_PROFILE, ERROR_BUDGET, SAMPLES
from dpsco_verify.faults.exhibit import Exhibit, ExhibitKind
from dpsco_verify.faults.exhibits import (
    ADDITIVE_FAULTS,
    EDGES,
    RELEASE_FAULTS,
    SELECTION_FAULTS,
    STRUCTURED,
)
from dpsco_verify.faults.mechanisms.edges import ClampedSum, LargestRecord, SumOfBytes, UserCount
from dpsco_verify.strategies import neighbouring_arrays

GROUP = "faults"
_MOST_SECONDS = 10.0
_DEFAULT = SAMPLES[DEFAULT_PROFILE]
_SMALL = {
    "threshold-release",
    "wrong-norm",
    "laplace-1.1",
    "laplace-1.25",
    "sparse-vector-3",
    "sparse-vector-4",
    "sparse-vector-5",
    "sparse-vector-6",
    "noisy-max-value",
    "running-sums",
    "drawn-anew",
}


def rows(size: Size) -> Iterator[Row]:
    """Yield for each fault the seconds of its audit; the target is not met where it is not found at each seed."""
    exhibits = (*RELEASE_FAULTS, *ADDITIVE_FAULTS, *SELECTION_FAULTS, *STRUCTURED, *EDGES)
    faults = [exhibit for exhibit in exhibits if exhibit.kind is ExhibitKind.FAULT]
    for exhibit in faults[:: size.of(1, 20)]:
        samples = exhibit.samples if exhibit.id in _SMALL else _DEFAULT
        more = f", {samples:,} outputs" if samples > _DEFAULT else ""
        yield _row(f"{exhibit.id}, pair given{more}", partial(_judged, exhibit, samples), size)
    for name, mechanism, pairs, relation in _searched()[: size.of(9, 1)]:
        yield _row(f"{name}, pair searched", partial(_found, mechanism, pairs, relation), size)


def _row(name: str, found: Callable[[int], bool], size: Size) -> Row:
    hits: list[bool] = []

    def once(seed: int) -> None:
        hits.append(found(seed))

    taken = [seconds(partial(once, seed)) for seed in range(size.of(3, 1))]
    result = row(
        GROUP, name, taken, unit="s", at_most=_MOST_SECONDS, note=f"found {sum(hits)} of {len(hits)} times"
    )
    return result if all(hits) else msgspec.structs.replace(result, met=False)


def _judged(exhibit: Exhibit, samples: int, seed: int) -> bool:
    judgement = replace(exhibit, samples=samples).judge(alpha=ERROR_BUDGET, seed=seed)
    return judgement.verdict is AuditVerdict.VIOLATED


def _found(mechanism: Any, pairs: Any, relation: Any, seed: int) -> bool:
    result = audit(mechanism, pairs=pairs, epsilon=1.0, relation=relation, seed=seed)
    return result.verdict is AuditVerdict.VIOLATED


def _searched() -> list[tuple[str, Any, Any, Any]]:
    """Return mechanisms whose default search has to find the pair, with what draws pairs and their relation."""
    plain = neighbouring_arrays("add-remove")
    return [
        ("nan-past-a-clamp", ClampedSum(nan_passes=True), plain, "add-remove"),
        ("crash-on-empty", LargestRecord(of_none=None), plain, "add-remove"),
        (
            "wrapped-sum",
            SumOfBytes(dtype="int8"),
            neighbouring_arrays("add-remove", dtype=np.int8),
            "add-remove",
        ),
        ("many-contributions", UserCount(rows_of_a_user=None), _rows_of_users, one_user(0)),
    ]


def _rows_of_users(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return eight rows of three users, and those of two of them."""
    users = rng.integers(1, 4, size=8)
    whole = np.stack([users, rng.random(8)], axis=1)
    return whole, whole[users != users[0]]
