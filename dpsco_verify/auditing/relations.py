"""Neighbouring relations beyond one record: all rows of a user, several records, another order, any of one's own.

Each is given as ``relation=`` where the three named relations are, and refuses pairs that do not have it. All are
symmetric. Data sets are arrays with rows, pandas tables, lists or tuples (:mod:`dpsco_verify.auditing.records`), for
:func:`relation_of` anything.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpsco_verify.auditing.records import (
    Records,
    count,
    differs,
    is_nan,
    records_of,
    require_one_form,
    same_data,
)
from dpsco_verify.errors import InputError
from dpsco_verify.validation import require_integer

_NOBODY = object()
"""Stands for NaN, which does not equal itself."""


@dataclass(frozen=True)
class OwnRelation:
    """A symmetric relation of data sets.

    Attributes
    ----------
    value
        Its name.
    fault
        Returns what keeps two data sets from being neighbours, in words, or None.

    Examples
    --------
    >>> fault = lambda d, d_prime: None if len(d) != len(d_prime) else "they have one length"
    >>> shorter = OwnRelation("shorter", fault)
    >>> print(shorter.fault([1], [2]))
    they have one length
    """

    value: str
    fault: Callable[[Any, Any], str | None]

    def __str__(self) -> str:
        return self.value


def relation_of(name: str, holds: Callable[[Any, Any], bool]) -> OwnRelation:
    """Return the relation that holds where `holds` says so, asked in both orders, on copies.

    Parameters
    ----------
    name
        What messages and reports call it.
    holds
        A function of two data sets. ``pairs=`` of :func:`dpsco_verify.auditing.audit` may be a function that draws
        pairs which have it.

    Examples
    --------
    >>> near = relation_of("near", lambda d, d_prime: abs(d[0] - d_prime[0]) <= 1)
    >>> require_neighbours([3.0], [4.0], near)
    >>> require_neighbours([3.0], [5.0], near)
    Traceback (most recent call last):
        ...
    dpsco_verify.errors.InputError: d and d_prime are not neighbours under near: its predicate says ...
    """
    called: Any = name
    if not isinstance(called, str) or len(called.splitlines()) != 1:
        raise InputError(f"name={name!r} is not a line of text; give what messages shall call the relation")
    if not callable(holds):
        raise InputError(f"holds={holds!r} is not callable; give a function of two data sets")

    def fault(d: Any, d_prime: Any) -> str | None:
        found = [holds(d, d_prime), holds(d_prime, d)]
        if not all(isinstance(one, bool | np.bool_) for one in found):
            raise InputError(
                f"holds returned {found[0]!r} for relation={name!r}; return whether they are neighbours"
            )
        if found[0] != found[1]:
            return "they are neighbours in one order and not in the other, and neighbouring is symmetric"
        return None if found[0] else "its predicate says that they are not"

    return OwnRelation(name, fault)


def some_records(k: int) -> OwnRelation:
    """Return the relation in which at most `k` records differ: replaced, or added to one of the data sets.

    Examples
    --------
    >>> require_neighbours([1, 2, 3], [1, 5, 6], some_records(2))
    >>> require_neighbours([1, 2, 3], [4, 5, 6], some_records(2))
    Traceback (most recent call last):
        ...
    dpsco_verify.errors.InputError: d and d_prime are not neighbours under 2 records: 3 records ...
    """
    k = require_integer("k", k, minimum=1)

    def fault(d: Any, d_prime: Any) -> str | None:
        first, second = _records(d, d_prime)
        if first.length == second.length:
            different = int(differs(first, second).sum())
            return None if different <= k else f"{count(different)} differ"
        longer, shorter = (first, second) if first.length > second.length else (second, first)
        more = longer.length - shorter.length
        if more > k:
            return f"they have {first.length:,} and {count(second.length)}"
        return None if _is_part(shorter, longer) else "neither is the other without some records"

    return OwnRelation(f"{k} record{'s' if k > 1 else ''}", fault)


def same_records() -> OwnRelation:
    """Return the relation of data sets that hold the same records, as often each, in another order.

    Examples
    --------
    >>> require_neighbours([1, 2, 3], [3, 1, 2], same_records())
    >>> require_neighbours([1, 2, 3], [3, 1, 1], same_records())
    Traceback (most recent call last):
        ...
    dpsco_verify.errors.InputError: d and d_prime are not neighbours under same records in another ...
    """

    def fault(d: Any, d_prime: Any) -> str | None:
        first, second = _records(d, d_prime)
        if first.length != second.length:
            return f"they have {first.length:,} and {count(second.length)}"
        left: dict[Hashable, list[tuple[Any, ...]]] = {}
        for i in range(second.length):
            left.setdefault(_mark(second.record(i)), []).append(second.record(i))
        for i in range(first.length):
            record = first.record(i)
            alike = left.get(_mark(record), [])
            place = next((j for j, other in enumerate(alike) if same_data(other, record)), None)
            if place is None:
                return f"record {i} of the first is not in the second, or not as often"
            del alike[place]
        return None

    return OwnRelation("same records in another order", fault)


def one_user(key: str | int | Callable[[Any], Hashable]) -> OwnRelation:
    """Return the relation of data sets that differ in the rows of one user alone, in number and content.

    Parameters
    ----------
    key
        Tells the user of a record: a function of the record (a row, an item), or the name of a column of tables and of
        structured arrays, or the number of a column.

    Examples
    --------
    >>> d = [("ann", 1), ("bob", 2), ("bob", 3)]
    >>> require_neighbours(d, [("ann", 1), ("bob", 7)], one_user(0))
    >>> require_neighbours(d, [("ann", 2), ("bob", 7)], one_user(0))
    Traceback (most recent call last):
        ...
    dpsco_verify.errors.InputError: d and d_prime are not neighbours under all rows of one user: ...
    """

    def fault(d: Any, d_prime: Any) -> str | None:
        first, second = _records(d, d_prime)
        users = [_users(data, records, key) for data, records in ((d, first), (d_prime, second))]
        for user in _users_at_first_difference(first, second, users):
            rest = [
                _kept(records, [i for i, other in enumerate(of) if other != user])
                for records, of in zip((first, second), users, strict=True)
            ]
            if rest[0].length == rest[1].length and not differs(*rest).any():
                return None
        return "the rows of no single user make the difference"

    return OwnRelation("all rows of one user", fault)


def _records(d: Any, d_prime: Any) -> tuple[Records, Records]:
    first, second = records_of("d", d), records_of("d_prime", d_prime)
    require_one_form(first, second)
    return first, second


def _is_part(shorter: Records, longer: Records) -> bool:
    """Whether the longer data set without some records is the shorter one; taking the first match is enough."""
    place = 0
    for i in range(longer.length):
        if place < shorter.length and same_data(longer.record(i), shorter.record(place)):
            place += 1
    return place == shorter.length


def _mark(record: tuple[Any, ...]) -> Hashable:
    """Return what equal records have in common, by which they are found; all that has none has the same."""
    try:
        shared = tuple(_shared(part.tolist() if isinstance(part, np.ndarray) else part) for part in record)
        hash(shared)
    except TypeError:
        return None
    return shared


def _shared(part: Any) -> Any:
    if isinstance(part, list | tuple):
        return tuple(_shared(inner) for inner in part)
    return _NOBODY if is_nan(part) else part


def _users_at_first_difference(
    first: Records, second: Records, users: Sequence[list[Hashable]]
) -> list[Hashable]:
    """Return who alone may make the difference: the first record that differs is one of theirs, on either side."""
    n = min(first.length, second.length)
    different = np.flatnonzero(differs(_kept(first, range(n)), _kept(second, range(n))))
    place = int(different[0]) if different.size else n
    return list(dict.fromkeys(of[place] for of in users if place < len(of)))


def _kept(records: Records, places: Sequence[int]) -> Records:
    chosen = np.array(places, dtype=np.intp)
    columns = tuple(column[chosen] for column in records.columns)
    return Records(records.form, columns, records.names, records.types, len(places))


def _users(data: Any, records: Records, key: str | int | Callable[[Any], Hashable]) -> list[Hashable]:
    """Return the user of each record; all that have no number for one, NaN, are one user."""
    if not callable(key):
        if key in records.names:
            found = list(records.columns[records.names.index(key)].tolist())
        else:
            try:
                found = [records.columns[-1][i][key] for i in range(records.length)]
            except (IndexError, KeyError, TypeError, ValueError):
                raise InputError(
                    f"key={key!r} names no column of the data set; give one, or a function of a record"
                ) from None
    else:
        rows = [row for _, row in data.iterrows()] if hasattr(data, "iterrows") else list(data)
        found = [key(row) for row in rows]
    users = [user.item() if isinstance(user, np.generic) else user for user in found]
    for user in users:
        try:
            hash(user)
        except TypeError:
            raise InputError(
                f"key={key!r} tells a user of type {type(user).__name__}; give one that tells a number or a text"
            ) from None
    return [_NOBODY if is_nan(user) else user for user in users]
