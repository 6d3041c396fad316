"""Neighbouring data sets: three relations, checked for arrays, tables and lists, and a guard against mutation.

Records are the rows of an array (its first axis; structured arrays too) or of a pandas table, and the items of a list
or tuple, in their order. Two data sets of a pair differ in one record and in nothing else: not in the type, the dtype
or the columns. Records are equal as Python says, save that NaN equals itself; a table's index is no part of its
records. Positions count from 0.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
import numbers
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import BoolArray
from dpsco_verify.errors import InputError


class Relation(enum.StrEnum):
    """What neighbouring data sets are.

    ``replace-one``: as many records, and exactly one position differs. ``add-remove``: one data set is the other
    without exactly one record, from any position. ``zero-out``: one record is replaced by zeros of its own shape and
    type (the empty string for text), or by None, or in tables by missing values.
    """

    REPLACE_ONE = "replace-one"
    ADD_REMOVE = "add-remove"
    ZERO_OUT = "zero-out"

    @classmethod
    def _missing_(cls, value: object) -> Relation:
        known = ", ".join(r.value for r in cls)
        raise InputError(f"relation={value!r} is unknown; give one of {known}")


def require_neighbours(d: Any, d_prime: Any, relation: str) -> None:
    """Return if the two data sets are neighbours; the relations are symmetric, and equal data sets are none.

    Raises
    ------
    InputError
        If they are not; the message says how they differ, and which other relation they have.
    """
    wanted = Relation(relation)
    first, second = _records("d", d), _records("d_prime", d_prime)
    _require_one_form(first, second)
    fault = _fault(first, second, wanted)
    if fault is None:
        return
    others = [r.value for r in Relation if _fault(first, second, r) is None]
    hint = f", or give relation={others[0]!r}, which they have" if others else ""
    raise InputError(f"{fault}{hint}")


def require_pair(d: Any, d_prime: Any, relation: str | None, *, name: str = "") -> None:
    """Return if the two data sets differ, and are neighbours where a relation is given.

    Equal data sets tell nothing: every mechanism has the same law on both. `name` is what messages begin with.

    Raises
    ------
    InputError
        If they are equal, or no such neighbours.
    """
    prefix = f"{name}: " if name else ""
    if equal_data(d, d_prime):
        raise InputError(
            f"{prefix}d and d_prime are the same data set, {_short(d)}, on which every mechanism is private; give two "
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
        first, second = _records("d", d), _records("d_prime", d_prime)
        _require_one_form(first, second)
    except InputError:
        return False
    return first.length == second.length and not _differs(first, second).any()


def recognised(d: Any, d_prime: Any) -> tuple[str, bool]:
    """Return in words which relation a pair has of which none was given, and whether it is known to have none."""
    try:
        first, second = _records("d", d), _records("d_prime", d_prime)
    except InputError:
        types = " and ".join(dict.fromkeys(type(data).__name__ for data in (d, d_prime)))
        return f"no relation was given, and none can be seen in data sets of type {types}", False
    try:
        _require_one_form(first, second)
    except InputError as error:
        difference = str(error).partition(";")[0]
    else:
        found = [r.value for r in Relation if _fault(first, second, r) is None]
        if found:
            return f"no relation was given; the pair seems to be {' and '.join(found)}", False
        difference = _difference(first, second)
    *others, last = Relation
    relations = f"{', '.join(others)} or {last}"
    return f"no relation was given, and the data sets are no neighbours under {relations}: {difference}", True


def _difference(first: _Records, second: _Records) -> str:
    """Return how two data sets that are no neighbours differ, in a clause."""
    n, m = first.length, second.length
    if n == m:
        positions = np.flatnonzero(_differs(first, second))
        return (
            f"all {n:,} records differ"
            if len(positions) == n
            else f"{len(positions):,} of {n:,} records differ"
        )
    if abs(n - m) == 1:
        return f"they have {n:,} and {_count(m)}, and differ in more than the one"
    return f"they have {n:,} and {_count(m)}"


def describe_pair(d: Any, d_prime: Any) -> str:
    """Return how two data sets differ, in some 200 characters at most: ``replace-one: record 3 of 10: 0.2 -> 5.0``."""
    try:
        first, second = _records("d", d), _records("d_prime", d_prime)
        _require_one_form(first, second)
    except InputError:
        return f"{_short(d)} -> {_short(d_prime)}"
    if first.length != second.length:
        return _describe_lengths(first, second)
    positions = np.flatnonzero(_differs(first, second))
    if not len(positions):
        return f"identical, {_count(first.length)}"
    position = int(positions[0])
    change = _change(first, second, position)
    if len(positions) > 1:
        return f"{len(positions):,} of {_count(first.length)} differ: the first, {position}: {change}"
    return f"replace-one: record {position} of {first.length:,}: {change}"


def _describe_lengths(first: _Records, second: _Records) -> str:
    lengths = f"{first.length:,} -> {_count(second.length)}"
    longer, shorter = (first, second) if first.length > second.length else (second, first)
    if longer.length > shorter.length + 1:
        return lengths
    position = _gap(longer, shorter)
    if _differs(longer.without(position), shorter).any():
        return f"{lengths}, others of which differ too"
    word = "removed" if longer is first else "added"
    return f"add-remove: record {position} of {longer.length:,} {word}: {longer.shown(position)}"


def same_data(a: Any, b: Any) -> bool:
    """Whether two data sets of any type are the same in every entry and, for arrays and tables, dtype and labels."""
    return _same(a, b, frozenset())


def snapshot(d: Any) -> Any:
    """Return a deep copy of a data set of any type.

    Raises
    ------
    InputError
        If it cannot be copied, or not told apart from its copy, so that a change would go unseen.
    """
    try:
        copied = copy.deepcopy(d)
    except Exception as error:  # noqa: BLE001  a class may raise anything here
        raise InputError(
            f"data set of type {type(d).__name__} cannot be copied ({error}); give an array, a table, a list or a "
            "plain object"
        ) from None
    if not same_data(copied, d):
        raise InputError(
            f"data set of type {type(d).__name__} does not equal its own copy, so a change of it could not be seen; "
            "give an array, a table, a list or a plain object"
        )
    return copied


# --- records --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Records:
    """A data set as columns, each an array whose first axis runs over the records."""

    form: str
    columns: tuple[NDArray[Any], ...]
    names: tuple[Any, ...]
    types: tuple[Any, ...]
    length: int

    def without(self, position: int) -> _Records:
        columns = tuple(np.delete(column, position, axis=0) for column in self.columns)
        return _Records(self.form, columns, self.names, self.types, self.length - 1)

    def record(self, position: int) -> tuple[Any, ...]:
        return tuple(column[position] for column in self.columns)

    def shown(self, position: int, *, but: Sequence[int] = ()) -> str:
        """Return a record in words; of a table at most 3 columns, and not those numbered in `but`."""
        record = self.record(position)
        if not self.names:
            return _short(record[-1])
        columns = [i for i in range(len(self.names)) if i not in but] or range(len(self.names))
        entries = [f"{self.names[i]}={_short(record[i])}" for i in columns[:3]]
        more = ["…"] if len(self.names) > len(entries) else []
        return f"({', '.join([*entries, *more])})"


def _records(label: str, data: Any) -> _Records:
    if _is_table(data):
        frame = hasattr(data, "columns")
        parts = [data.iloc[:, i] for i in range(data.shape[1])] if frame else [data]
        # As objects pandas's own dtypes keep their missing values apart from NaN, and large integers exact.
        columns = tuple(
            p.to_numpy() if isinstance(p.dtype, np.dtype) else p.to_numpy(dtype=object) for p in parts
        )
        names = tuple(data.columns) if frame else ()
        form = "table" if frame else "series"
        return _Records(form, columns, names, tuple(part.dtype for part in parts), len(data))
    if isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray):
        return _Records(type(data).__name__, (np.fromiter(data, object, len(data)),), (), (), len(data))
    if isinstance(data, np.ndarray) or hasattr(data, "__array__"):
        columns = _array_columns(data)
        if columns[-1].ndim:
            return _Records("array", columns, (), (columns[-1].dtype,), len(columns[-1]))
    raise InputError(
        f"{label} of type {type(data).__name__} is no sequence of records; give an array with rows, a pandas table, a "
        "list or a tuple"
    )


def _is_table(data: Any) -> bool:
    """Whether this is a pandas DataFrame or Series, found without an import of pandas."""
    return all(hasattr(data, name) for name in ("iloc", "index", "to_numpy", "shape"))


def _array_columns(data: Any) -> tuple[NDArray[Any], ...]:
    """Return the plain array, preceded by the mask of a masked one, whose hidden values are set to zero."""
    if isinstance(data, np.ma.MaskedArray):
        zero: Any = np.zeros((), data.dtype)[()]
        return np.ma.getmaskarray(data), data.filled(zero)
    return (np.asarray(data),)


def _require_one_form(first: _Records, second: _Records) -> None:
    if first.form != second.form:
        raise InputError(f"d is of type {first.form} and d_prime of type {second.form}; give both the same")
    if first.names != second.names:
        columns, others = _short(list(first.names)), _short(list(second.names))
        raise InputError(f"d has the columns {columns} and d_prime {others}; give both the same")
    for number, (one, other) in enumerate(zip(first.types, second.types, strict=True)):
        if one != other and not _both_text(one, other):
            of = f"column {first.names[number]!r} of " if first.names else ""
            raise InputError(f"{of}d has dtype {one} and {of}d_prime {other}; give both the same")
    if first.form == "array" and first.columns[-1].shape[1:] != second.columns[-1].shape[1:]:
        shapes = f"d.shape={first.columns[-1].shape} and d_prime.shape={second.columns[-1].shape}"
        raise InputError(f"{shapes} differ beyond the first axis; give records of one shape")


def _both_text(one: Any, other: Any) -> bool:
    """Whether two dtypes are text of any two lengths: numpy takes the length from the longest entry."""
    return getattr(one, "kind", "") in {"U", "S"} and one.kind == getattr(other, "kind", "")


# --- relations ------------------------------------------------------------------------------------------------------


def _fault(first: _Records, second: _Records, relation: Relation) -> str | None:
    """Return what keeps two data sets of one form from being neighbours, or None."""
    n, m = first.length, second.length
    if relation is Relation.ADD_REMOVE:
        return _fault_of_removal(first, second)
    if n != m:
        return f"d has {_count(n)} and d_prime {m:,}, while {relation} keeps their number; replace one record"
    positions = np.flatnonzero(_differs(first, second))
    if not len(positions):
        return (
            f"d and d_prime are identical ({_count(n)}), which is no pair for {relation}; change one record"
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


def _fault_of_removal(first: _Records, second: _Records) -> str | None:
    n, m = first.length, second.length
    remove = f"remove exactly one record from one of them for {Relation.ADD_REMOVE}"
    if abs(n - m) != 1:
        return f"d has {_count(n)} and d_prime {m:,}; {remove}"
    (longer, name), (shorter, other) = (
        ((first, "d"), (second, "d_prime")) if n > m else ((second, "d_prime"), (first, "d"))
    )
    position = _gap(longer, shorter)
    left = np.flatnonzero(_differs(longer.without(position), shorter))
    if not len(left):
        return None
    fault = f"{name} without its record {position} still differs from {other} in {_listed(left)}"
    return f"{fault}; {remove}, and keep the order"


def _gap(longer: _Records, shorter: _Records) -> int:
    """Return the first position at which the longer one, by one record, differs from the shorter one.

    If removing any record gives the shorter one, removing this one does: from here to there all are equal.
    """
    n = shorter.length
    cut = _Records(longer.form, tuple(column[:n] for column in longer.columns), longer.names, longer.types, n)
    positions = np.flatnonzero(_differs(cut, shorter))
    return int(positions[0]) if len(positions) else n


def _differs(first: _Records, second: _Records) -> BoolArray:
    """Return at which positions two data sets of one form and length differ, shape (n,)."""
    found = np.zeros(first.length, dtype=np.bool_)
    for one, other in zip(first.columns, second.columns, strict=True):
        differ = _entries_differ(one, other)
        found |= differ.any(axis=tuple(range(1, differ.ndim)))
    return found


def _change(first: _Records, second: _Records, position: int) -> str:
    """Return both records at a position in words; of tables the columns that differ."""
    one, other = first.record(position), second.record(position)
    equal = [i for i, (x, y) in enumerate(zip(one, other, strict=True)) if same_data(x, y)]
    return f"{first.shown(position, but=equal)} -> {second.shown(position, but=equal)}"


def _count(n: int) -> str:
    return f"{n:,} record{'' if n == 1 else 's'}"


def _listed(positions: NDArray[np.intp]) -> str:
    text = ", ".join(str(p) for p in positions[:3])
    return f"{_count(len(positions))} ({text}{', …' if len(positions) > 3 else ''})"


# --- equality and zeros ---------------------------------------------------------------------------------------------


def _entries_differ(one: NDArray[Any], other: NDArray[Any]) -> BoolArray:
    """Return where two arrays of one shape and kind differ; for structured arrays, in any field."""
    if one.dtype.names is not None:
        found = np.zeros(one.shape, dtype=np.bool_)
        for name in one.dtype.names:
            field = _entries_differ(one[name], other[name])
            found |= field.any(axis=tuple(range(one.ndim, field.ndim)))
        return found
    if "O" in one.dtype.kind + other.dtype.kind:
        differ = (not _same(a, b, frozenset()) for a, b in zip(one.flat, other.flat, strict=True))
        return np.fromiter(differ, np.bool_, one.size).reshape(one.shape)
    with np.errstate(invalid="ignore"):
        found = np.asarray(one != other)
        if one.dtype.kind in "fcmM" and found.any():
            found &= ~((one != one) & (other != other))  # noqa: PLR0124  NaN and NaT alone differ from themselves
    return found


def _same(a: Any, b: Any, under_way: frozenset[tuple[int, int]]) -> bool:
    """Whether two objects are the same; `under_way` holds the comparisons that contain this one (for cycles)."""
    if a is b or (id(a), id(b)) in under_way:
        return True
    if (
        type(a) is type(b)
        and type(a) in {list, tuple}
        and {*map(type, a), *map(type, b)} <= _ATOMS
        and a == b
    ):
        return True
    if isinstance(a, np.void) and isinstance(b, np.void):
        return _same_arrays(np.asarray(a), np.asarray(b))
    if a is None or isinstance(a, np.generic | numbers.Number | str | bytes) or type(a) is not type(b):
        return _equal(a, b) is True or (_is_nan(a) and _is_nan(b))
    if _is_table(a) or isinstance(a, np.ndarray) or hasattr(a, "__array__"):
        return _same_arrays(a, b)
    return _same_objects(a, b, under_way | {(id(a), id(b))})


def _same_objects(a: Any, b: Any, under_way: frozenset[tuple[int, int]]) -> bool:
    """Compare items and then state: what a class adds to a container, or holds beside a comparison by identity."""
    items, kind = True, cast("Any", type(a))
    if isinstance(a, Sequence):
        items = len(a) == len(b) and all(_same(x, y, under_way) for x, y in zip(a, b, strict=True))
    elif isinstance(a, Mapping):
        items = a.keys() == b.keys() and all(_same(a[key], b[key], under_way) for key in a)
    elif kind.__eq__ is not object.__eq__ and not dataclasses.is_dataclass(kind):
        equal = _equal(a, b)
        if equal is not None:
            return equal
    elif a.__getstate__() is None:
        return hasattr(a, "__dict__")
    return items and _same(a.__getstate__(), b.__getstate__(), under_way)


_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})


def _equal(a: Any, b: Any) -> bool | None:
    """Return ``a == b``; None where that is no truth value, as for classes that compare entry by entry."""
    try:
        equal = a == b
    except Exception:  # noqa: BLE001  a class may raise anything here, arrays of two shapes do
        return None
    return bool(equal) if isinstance(equal, bool | np.bool_) else None


def _is_nan(value: Any) -> bool:
    return isinstance(value, np.generic | numbers.Number) and _equal(value, value) is False


def _same_arrays(a: Any, b: Any) -> bool:
    if not _is_table(a):
        one, other = _array_columns(a), _array_columns(b)
        return one[-1].dtype == other[-1].dtype and all(
            x.shape == y.shape and not _entries_differ(x, y).any() for x, y in zip(one, other, strict=True)
        )
    first, second = _records("a", a), _records("b", b)
    labels, others = (x.index.to_numpy() for x in (a, b))
    return (
        (first.form, first.names, first.types, first.length)
        == (second.form, second.names, second.types, second.length)
        and (a.index.dtype, list(a.index.names)) == (b.index.dtype, list(b.index.names))
        and not _entries_differ(labels, others).any()
        and not _differs(first, second).any()
    )


def _all_null(record: tuple[Any, ...], like: tuple[Any, ...]) -> bool:
    return all(_is_null(x, y) for x, y in zip(record, like, strict=True))


def _is_null(x: Any, like: Any) -> bool:
    """Whether `x` is the zero of the shape and type of `like`, or stands for a missing value."""
    if x is None or type(x).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(x, numbers.Number | np.bool_):
        # Outside of columns of numbers NaN is what pandas has for a missing value.
        return _equal(x, 0) is True if isinstance(like, numbers.Number | np.bool_) else _is_nan(x)
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


# --- words ----------------------------------------------------------------------------------------------------------

_LONGEST = 80
_repr = reprlib.Repr()
_repr.maxstring, _repr.maxother, _repr.maxlevel = 40, 60, 3


def _short(value: Any) -> str:
    """Return a value in one line of at most 80 characters."""
    if isinstance(value, np.ndarray):
        with np.printoptions(threshold=6, edgeitems=2):
            text = np.array2string(value, separator=", ")
    else:
        dated = isinstance(value, np.datetime64 | np.timedelta64)
        plain = str(value) if dated else value.item() if isinstance(value, np.generic) else value
        text = plain if dated else _repr.repr(plain)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
