"""The faults of public reports at the settings of a user who sets none: whether each is found, and how long it takes.

The pair is given, or searched. Four violations are so small that the default number of outputs is not expected to show
them: these have as many as in the museum, and a note says what power no test with the default number exceeds, told both
laws and spending nothing on the choice of its event. Wide outputs are in the suite ``audit``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import msgspec
import numpy as np

from benchmarks.fault_limits import LIMITS
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


def rows(size: Size) -> Iterator[Row]:
    """Yield for each fault the seconds of its audit; the target is not met where it is not found at each seed."""
    exhibits = (*RELEASE_FAULTS, *ADDITIVE_FAULTS, *SELECTION_FAULTS, *STRUCTURED, *EDGES)
    faults = [exhibit for exhibit in exhibits if exhibit.kind is ExhibitKind.FAULT]
    for exhibit in faults[:: size.of(1, 20)]:
        samples, more, note = _DEFAULT, "", ""
        if exhibit.id in LIMITS:
            samples = exhibit.samples
            more = f", {samples:,} outputs"
            note = f"with {_DEFAULT:,} no test has more power than {LIMITS[exhibit.id](_DEFAULT, ERROR_BUDGET):.2g}"
        yield _row(f"{exhibit.id}, pair given{more}", partial(_judged, exhibit, samples), size, note=note)
    for name, mechanism, pairs, relation in _searched()[: size.of(9, 1)]:
        yield _row(f"{name}, pair searched", partial(_found, mechanism, pairs, relation), size)


def _row(name: str, found: Callable[[int], bool], size: Size, *, note: str = "") -> Row:
    hits: list[bool] = []

    def once(seed: int) -> None:
        hits.append(found(seed))

    taken = [seconds(partial(once, seed)) for seed in range(size.of(3, 1))]
    note = "; ".join(part for part in (f"found {sum(hits)} of {len(hits)} times", note) if part)
    result = row(GROUP, name, taken, unit="s", at_most=_MOST_SECONDS, note=note)
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
