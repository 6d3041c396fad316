"""Neighbouring data sets: three relations, checked for arrays, tables and lists.

Two data sets of a pair differ in one record (:mod:`dpsco_verify.auditing.records`) and in nothing else: not in the
type, the dtype or the columns. Positions count from 0.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.auditing.records import (
    Records,
    count,
    differs,
    is_nan,
    plainly_equal,
    records_of,
    require_one_form,
    same_data,
    short,
    snapshot,
)
from dpsco_verify.auditing.relations import OwnRelation
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError


def require_neighbours(d: Any, d_prime: Any, relation: str | OwnRelation) -> None:
    """Return if the two data sets are neighbours; the relations are symmetric, and equal data sets are not.

    Raises
    ------
    InputError
        If they are not; the message says how they differ, and which other relation they have. If a relation of one's
        own raises, changes the data sets or does not answer.

    Examples
    --------
    >>> require_neighbours([1, 2, 3], [1, 3], "add-remove")
    >>> require_neighbours([1, 2, 3], [1, 3], "replace-one")
    Traceback (most recent call last):
        ...
    dpsco_verify.errors.InputError: d has 3 records and d_prime 2, while replace-one keeps their ...
    """
    if isinstance(relation, OwnRelation):
        found = _own_fault(d, d_prime, relation)
        if found is not None:
            raise InputError(f"d and d_prime are not neighbours under {relation}: {found}; give two that are")
        return
    wanted = Relation(relation)
    first, second = records_of("d", d), records_of("d_prime", d_prime)
    require_one_form(first, second)
    fault = _fault(first, second, wanted)
    if fault is None:
        return
    others = [r.value for r in Relation if _fault(first, second, r) is None]
    hint = f", or give relation={others[0]!r}, which they have" if others else ""
    raise InputError(f"{fault}{hint}")


def _own_fault(d: Any, d_prime: Any, relation: OwnRelation) -> str | None:
    """Ask a relation of one's own, on copies: what it did to the data sets would be judged."""
    asked = snapshot(d), snapshot(d_prime)
    try:
        found: Any = relation.fault(*asked)
    except InputError:
        raise
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
        raise InputError(
            f"relation={relation} raised {said} when it was asked of {short(d)} and {short(d_prime)}; mend it"
        ) from error
    if not same_data(asked, (d, d_prime)):
        raise InputError(f"relation={relation} changes the data sets that it is asked of; look at copies")
    if found is not None and not (isinstance(found, str) and found):
        raise InputError(
            f"relation={relation} answered {found!r}; its fault returns None, or words for what keeps data sets from "
            "being neighbours"
        )
    return None if found is None else str(found)


def require_pair(d: Any, d_prime: Any, relation: str | OwnRelation | None, *, name: str = "") -> None:
    """Return if the two data sets differ, and are neighbours where a relation is given.

    Equal data sets tell nothing: every mechanism has the same law on both. `name` is what messages begin with.

    Raises
    ------
    InputError
        If they are equal, or not such neighbours.
    """
    prefix = f"{name}: " if name else ""
    if equal_data(d, d_prime):
        raise InputError(
            f"{prefix}d and d_prime are the same data set, {short(d)}, on which every mechanism is private; give two "
            "that differ in one record"
        )
    if relation is not None:
        try:
            require_neighbours(d, d_prime, relation)
        except InputError as error:
            raise InputError(f"{prefix}{error}") from None


def equal_data(d: Any, d_prime: Any) -> bool:
    """Whether two data sets are the same, or hold the same records, as tables do whose indices alone differ."""
    if same_data(d, d_prime):
        return True
    try:
        first, second = records_of("d", d), records_of("d_prime", d_prime)
        require_one_form(first, second)
    except InputError:
        return False
    return first.length == second.length and not differs(first, second).any()


def recognised(d: Any, d_prime: Any) -> tuple[str, bool]:
    """Return in words which relation a pair has of which none was given, and whether it is known to have none."""
    try:
        first, second = records_of("d", d), records_of("d_prime", d_prime)
    except InputError:
        types = " and ".join(dict.fromkeys(type(data).__name__ for data in (d, d_prime)))
        return f"no relation was given, and none can be seen in data sets of type {types}", False
    try:
        require_one_form(first, second)
    except InputError as error:
        difference = str(error).partition(";")[0]
    else:
        found = [r.value for r in Relation if _fault(first, second, r) is None]
        if found:
            return f"no relation was given; the pair seems to be {' and '.join(found)}", False
        difference = _difference(first, second)
    *others, last = Relation
    relations = f"{', '.join(others)} or {last}"
    return (
        f"no relation was given, and the data sets are not neighbours under {relations}: {difference}",
        True,
    )


def _difference(first: Records, second: Records) -> str:
    """Return how two data sets that are not neighbours differ, in a clause."""
    n, m = first.length, second.length
    if n == m:
        positions = np.flatnonzero(differs(first, second))
        return (
            f"all {n:,} records differ"
            if len(positions) == n
            else f"{len(positions):,} of {n:,} records differ"
        )
    if abs(n - m) == 1:
        return f"they have {n:,} and {count(m)}, and differ in more than the one"
    return f"they have {n:,} and {count(m)}"


def describe_pair(d: Any, d_prime: Any) -> str:
    """Return how two data sets differ, in some 200 characters at most: ``replace-one: record 3 of 10: 0.2 -> 5.0``.

    Examples
    --------
    >>> describe_pair([0.1, 0.2, 0.3], [0.1, 5.0, 0.3])
    'replace-one: record 1 of 3: 0.2 -> 5.0'
    """
    try:
        first, second = records_of("d", d), records_of("d_prime", d_prime)
        require_one_form(first, second)
    except InputError:
        return f"{short(d)} -> {short(d_prime)}"
    if first.length != second.length:
        return _describe_lengths(first, second)
    positions = np.flatnonzero(differs(first, second))
    if not len(positions):
        return f"identical, {count(first.length)}"
    position = int(positions[0])
    change = _change(first, second, position)
    if len(positions) > 1:
        return f"{len(positions):,} of {count(first.length)} differ: the first, {position}: {change}"
    return f"replace-one: record {position} of {first.length:,}: {change}"


def _describe_lengths(first: Records, second: Records) -> str:
    lengths = f"{first.length:,} -> {count(second.length)}"
    longer, shorter = (first, second) if first.length > second.length else (second, first)
    if longer.length > shorter.length + 1:
        return lengths
    position = _gap(longer, shorter)
    if differs(longer.without(position), shorter).any():
        return f"{lengths}, others of which differ too"
    word = "removed" if longer is first else "added"
    return f"add-remove: record {position} of {longer.length:,} {word}: {longer.shown(position)}"


# --- relations -------------------------------------------------------------------------------------------------------


def _fault(first: Records, second: Records, relation: Relation) -> str | None:
    """Return what keeps two data sets of one form from being neighbours, or None."""
    n, m = first.length, second.length
    if relation is Relation.ADD_REMOVE:
        return _fault_of_removal(first, second)
    if n != m:
        return f"d has {count(n)} and d_prime {m:,}, while {relation} keeps their number; replace one record"
    positions = np.flatnonzero(differs(first, second))
    if not len(positions):
        return (
            f"d and d_prime are identical ({count(n)}), which is not a pair for {relation}; change one record"
        )
    if len(positions) > 1:
        return (
            f"d and d_prime differ in {_listed(positions)}, while {relation} allows 1; change one record only"
        )
    position = int(positions[0])
    if relation is Relation.ZERO_OUT:
        one, other = first.record(position), second.record(position)
        if not (_all_null(other, one) or _all_null(one, other)):
            change = _change(first, second, position)
            return f"record {position} differs ({change}), but on neither side is it zeros; zero it for {relation}"
    return None


def _fault_of_removal(first: Records, second: Records) -> str | None:
    n, m = first.length, second.length
    remove = f"remove exactly one record from one of them for {Relation.ADD_REMOVE}"
    if abs(n - m) != 1:
        return f"d has {count(n)} and d_prime {m:,}; {remove}"
    (longer, name), (shorter, other) = (
        ((first, "d"), (second, "d_prime")) if n > m else ((second, "d_prime"), (first, "d"))
    )
    position = _gap(longer, shorter)
    left = np.flatnonzero(differs(longer.without(position), shorter))
    if not len(left):
        return None
    fault = f"{name} without its record {position} still differs from {other} in {_listed(left)}"
    return f"{fault}; {remove}, and keep the order"


def _gap(longer: Records, shorter: Records) -> int:
    """Return the first position at which the longer one, by one record, differs from the shorter one.

    If removing any record gives the shorter one, removing this one does: from here to there all are equal.
    """
    n = shorter.length
    cut = Records(longer.form, tuple(column[:n] for column in longer.columns), longer.names, longer.types, n)
    positions = np.flatnonzero(differs(cut, shorter))
    return int(positions[0]) if len(positions) else n


def _change(first: Records, second: Records, position: int) -> str:
    """Return both records at a position in words; of tables the columns that differ."""
    one, other = first.record(position), second.record(position)
    equal = [i for i, (x, y) in enumerate(zip(one, other, strict=True)) if same_data(x, y)]
    return f"{first.shown(position, but=equal)} -> {second.shown(position, but=equal)}"


def _listed(positions: NDArray[np.intp]) -> str:
    text = ", ".join(str(p) for p in positions[:3])
    return f"{count(len(positions))} ({text}{', …' if len(positions) > 3 else ''})"


# --- zeros -----------------------------------------------------------------------------------------------------------


def _all_null(record: tuple[Any, ...], like: tuple[Any, ...]) -> bool:
    return all(_is_null(x, y) for x, y in zip(record, like, strict=True))


def _is_null(x: Any, like: Any) -> bool:
    """Whether `x` is the zero of the shape and type of `like`, or stands for a missing value."""
    if x is None or type(x).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(x, numbers.Number | np.bool_):
        # Outside of columns of numbers NaN is what pandas has for a missing value.
        return plainly_equal(x, 0) is True if isinstance(like, numbers.Number | np.bool_) else is_nan(x)
    if isinstance(x, np.ndarray | np.generic) and not isinstance(x, str | bytes):
        return _is_null_array(np.asarray(x), np.asarray(like))
    return _is_null_container(x, like)


def _is_null_container(x: Any, like: Any) -> bool:
    if isinstance(x, str | bytes):
        return len(x) == 0 and isinstance(like, str | bytes)
    if isinstance(x, Sequence):
        return type(x) is type(like) and len(x) == len(like) and all(map(_is_null, x, like))
    keyed = isinstance(x, Mapping) and isinstance(like, Mapping) and x.keys() == like.keys()
    return keyed and all(_is_null(x[key], like[key]) for key in x)


def _is_null_array(x: NDArray[Any], like: NDArray[Any]) -> bool:
    if x.shape != like.shape:
        return False
    if x.dtype.names is not None:
        return x.dtype == like.dtype and all(_is_null_array(x[name], like[name]) for name in x.dtype.names)
    kinds = (x.dtype.kind, like.dtype.kind)
    if "O" in kinds:
        return all(map(_is_null, x.astype(object).flat, like.astype(object).flat))
    if kinds[1] in "US":
        return kinds[0] == kinds[1] and not x.astype(np.bool_).any()
    if kinds[0] in "mM":
        return bool(np.all(np.isnat(x) | (x.astype(np.int64) == 0)))
    return kinds[0] in "biufc" and not x.any()
