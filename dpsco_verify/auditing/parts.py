"""The discrete parts of structured outputs: each is a feature of its own, which no continuous number beside it hides.

Of a list, tuple, dictionary or set the parts are the strings at each place, the keys that its members have, their order
and their set, whether a key is present, where it stands and which follows it. A member's key is the first of its parts,
if that is a string, bytes or a whole number, or the member itself if it is a string or bytes: bare whole numbers, of
which a noisy histogram has hundreds, are entries like other numbers. The numbers beside a key are features too. Parts
are computed from one output alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.auditing.features import Feature
from dpsco_verify.auditing.orders import Aims
from dpsco_verify.auditing.outputs import Outputs
from dpsco_verify.auditing.plain import as_float, plain
from dpsco_verify.auditing.region_search import best_unions
from dpsco_verify.auditing.regions import Candidate

_MOST_PARTS = 48
_MOST_VALUES = 256
_FEWEST = 4
_MOST_MEMBERS = 4096
_MAX_DEPTH = 8
_ABSENT = "absent"


@dataclass(frozen=True)
class LabelRegion:
    """The outputs of which a discrete part has one of some values, or none of them."""

    part: str
    values: tuple[str, ...]
    negated: bool

    @property
    def pieces(self) -> int:
        """The number of values."""
        return len(self.values)

    def contains(self, outputs: Outputs) -> BoolArray:
        """Return whether each output lies in it."""
        chosen = set(self.values)
        seen = (labels.get(self.part, _ABSENT) in chosen for labels in _parts(outputs).labels)
        return np.fromiter(seen, np.bool_, outputs.size) ^ self.negated

    def __str__(self) -> str:
        """Return it in words."""
        more = f" and {len(self.values) - 3} more" if len(self.values) > 3 else ""
        return f"{self.part} is {'none of ' if self.negated else ''}{', '.join(self.values[:3])}{more}"


def has_parts(outputs: Outputs) -> bool:
    """Whether these are structured outputs."""
    return isinstance(outputs.raw, list) and any(
        isinstance(plain(item), list | tuple) for item in outputs.raw
    )


def parts_of(item: Any) -> tuple[dict[str, str], dict[str, float]]:
    """Return by name the discrete parts of one output; and the numbers beside keys, and the places of keys."""
    labels: dict[str, str] = {}
    amounts: dict[str, float] = {}
    _walk(item, "", "the output", labels, amounts, 0)
    return labels, amounts


@dataclass(frozen=True)
class _Parts:
    """The discrete parts of each output; and by name the rows that have an amount, and their values."""

    labels: list[dict[str, str]]
    amounts: dict[str, tuple[list[int], list[float]]]


_PARTS: WeakKeyDictionary[Outputs, _Parts] = WeakKeyDictionary()


def _parts(outputs: Outputs) -> _Parts:
    """Return the parts of all outputs: one walk over them serves all features and events."""
    if outputs not in _PARTS:
        found = _Parts([], {})
        for row, item in enumerate(outputs.raw):
            labels, amounts = parts_of(item)
            found.labels.append(labels)
            for name, value in amounts.items():
                rows, values = found.amounts.setdefault(name, ([], []))
                rows.append(row)
                values.append(value)
        _PARTS[outputs] = found
    return _PARTS[outputs]


def label_candidates(first: Outputs, second: Outputs, aims: Aims) -> list[Candidate]:
    """Return the best sets of values of the discrete parts that differ most between the two, for both directions."""
    if not (has_parts(first) and has_parts(second)):
        return []
    a, b = _parts(first).labels, _parts(second).labels
    seen_a, seen_b = (Counter(part for labels in side for part in labels.items()) for side in (a, b))
    merit: dict[str, float] = {}
    for part in {*seen_a, *seen_b}:
        p, q = seen_a[part] / first.size, seen_b[part] / second.size
        if seen_a[part] + seen_b[part] >= _FEWEST:
            z = abs(p - q) / float(np.sqrt((p + q) / min(first.size, second.size)))
            merit[part[0]] = max(merit.get(part[0], 0.0), z)
    found: list[Candidate] = []
    for name in sorted(merit, key=lambda name: (-merit[name], name))[:_MOST_PARTS]:
        counts = [Counter(labels.get(name, _ABSENT) for labels in side) for side in (a, b)]
        total = counts[0] + counts[1]
        values = sorted(v for v, n in total.most_common(_MOST_VALUES) if n >= _FEWEST)
        of = [np.array([*(c[v] for v in values), 0], dtype=np.float64) for c in counts]
        for column, size in zip(of, (first.size, second.size), strict=True):
            column[-1] = size - column.sum()
        for swapped in (False, True):
            (p_of, n_p), (q_of, n_q) = (
                (of[i], (first, second)[i].size) for i in ((1, 0) if swapped else (0, 1))
            )
            for z, far, chosen, order in best_unions(p_of, q_of, aims, n_p, n_q):
                negated = len(values) in chosen
                members = np.setdiff1d(np.arange(len(values)), chosen) if negated else np.sort(chosen)
                if members.size:
                    region = LabelRegion(name, tuple(values[int(m)] for m in members), negated)
                    found.append(Candidate(region, swapped, order, z, far))
    return found


def amount_features(sample: Outputs) -> Iterator[Feature]:
    """Yield the numbers beside keys, and the places of keys, that occur most often."""
    if has_parts(sample):
        seen = {name: len(rows) for name, (rows, _) in _parts(sample).amounts.items()}
        for name, count in sorted(seen.items(), key=lambda part: (-part[1], part[0]))[:_MOST_PARTS]:
            if count >= _FEWEST:
                yield Feature(name=name, values=_Amount(name))


@dataclass(frozen=True)
class _Amount:
    name: str

    def __call__(self, outputs: Outputs) -> FloatArray:
        values = np.full(outputs.size, np.nan)
        rows, amounts = _parts(outputs).amounts.get(self.name, ([], []))
        values[rows] = amounts
        return values


def _walk(
    item: Any, path: str, kind: str, labels: dict[str, str], amounts: dict[str, float], depth: int
) -> None:
    item = plain(item)
    if isinstance(item, str | bytes) or item is None:
        labels[f"entry {path}" if path else kind] = repr(item)
    if not isinstance(item, list | tuple) or depth > _MAX_DEPTH:
        return
    keys = [_key(part) for part in item[:_MOST_MEMBERS]]
    named = [key for key in keys if key is not None]
    if named:
        labels[f"order of the keys in {kind}"] = str(named)
        labels[f"set of the keys in {kind}"] = str(sorted(named))
    for i, (part, key) in enumerate(zip(item, keys, strict=False)):
        if key is not None:
            labels[f"{key} in {kind}"] = "present"
            labels[f"what follows {key} in {kind}"] = str(keys[i + 1]) if i + 1 < len(keys) else "nothing"
            amounts[f"place of {key} in {kind}"] = i + 1.0
            inner = plain(part)
            # Beside a bare key stands what follows it: of a record, whose key comes first, all of its numbers.
            beside = inner[1:] if isinstance(inner, list | tuple) else item[1:] if i == 0 else ()
            for m, value in enumerate(beside):
                if isinstance(value, float | np.floating):
                    amounts[f"number {m + 1} beside {key} in {kind}"] = float(value)
                elif isinstance(value, int | np.integer):
                    amounts[f"number {m + 1} beside {key} in {kind}"] = as_float(int(value))
        if not isinstance(part, float | int):
            _walk(part, f"{path}[{i}]", f"a member of {kind}", labels, amounts, depth + 1)


def _key(part: Any) -> str | None:
    part = plain(part)
    allowed: type | UnionType = str | bytes
    if isinstance(part, list | tuple) and part:
        part, allowed = plain(part[0]), str | bytes | int | np.integer
    if not isinstance(part, allowed) or isinstance(part, bool):
        return None
    # Python writes no decimal number of more than some thousand digits.
    return hex(part) if isinstance(part, int) and abs(part) >> 64 else repr(part)
