"""Data sets as records, whether two are the same, and a guard against mutation.

Records are the rows of an array (its first axis; structured arrays too) or of a pandas table, and the items of a list
or tuple, in their order. They are equal as Python says, save that NaN equals itself; a table's index is no part of its
records. Positions count from 0.
"""

from __future__ import annotations

import copy
import dataclasses
import numbers
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.arrays import BoolArray
from dpsco_verify.errors import InputError


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


# --- records ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Records:
    """A data set as columns, each an array whose first axis runs over the records."""

    form: str
    columns: tuple[NDArray[Any], ...]
    names: tuple[Any, ...]
    types: tuple[Any, ...]
    length: int

    def without(self, position: int) -> Records:
        """Return the others."""
        columns = tuple(np.delete(column, position, axis=0) for column in self.columns)
        return Records(self.form, columns, self.names, self.types, self.length - 1)

    def record(self, position: int) -> tuple[Any, ...]:
        """Return one record, column by column."""
        return tuple(column[position] for column in self.columns)

    def shown(self, position: int, *, but: Sequence[int] = ()) -> str:
        """Return a record in words; of a table at most 3 columns, and not those numbered in `but`."""
        record = self.record(position)
        if not self.names:
            return short(record[-1])
        columns = [i for i in range(len(self.names)) if i not in but] or range(len(self.names))
        entries = [f"{self.names[i]}={short(record[i])}" for i in columns[:3]]
        more = ["…"] if len(self.names) > len(entries) else []
        return f"({', '.join([*entries, *more])})"


def records_of(label: str, data: Any) -> Records:
    """Return a data set as records; :class:`InputError`, with `label` for its name, if it is not one."""
    if _is_table(data):
        frame = hasattr(data, "columns")
        parts = [data.iloc[:, i] for i in range(data.shape[1])] if frame else [data]
        # As objects pandas's own dtypes keep their missing values apart from NaN, and large integers exact.
        columns = tuple(
            p.to_numpy() if isinstance(p.dtype, np.dtype) else p.to_numpy(dtype=object) for p in parts
        )
        names = tuple(data.columns) if frame else ()
        form = "table" if frame else "series"
        return Records(form, columns, names, tuple(part.dtype for part in parts), len(data))
    if isinstance(data, Sequence) and not isinstance(data, str | bytes | bytearray):
        return Records(type(data).__name__, (np.fromiter(data, object, len(data)),), (), (), len(data))
    if isinstance(data, np.ndarray) or hasattr(data, "__array__"):
        columns = _array_columns(data)
        if columns[-1].ndim:
            return Records("array", columns, (), (columns[-1].dtype,), len(columns[-1]))
    raise InputError(
        f"{label} of type {type(data).__name__} is not a sequence of records; give an array with rows, a pandas table, "
        "a list or a tuple"
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


def require_one_form(first: Records, second: Records) -> None:
    """Raise :class:`InputError` for two data sets that differ in type, dtype, columns or the records' shape."""
    if first.form != second.form:
        raise InputError(f"d is of type {first.form} and d_prime of type {second.form}; give both the same")
    if first.names != second.names:
        columns, others = short(list(first.names)), short(list(second.names))
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


def differs(first: Records, second: Records) -> BoolArray:
    """Return at which positions two data sets of one form and length differ, shape (n,)."""
    found = np.zeros(first.length, dtype=np.bool_)
    for one, other in zip(first.columns, second.columns, strict=True):
        differ = _entries_differ(one, other)
        found |= differ.any(axis=tuple(range(1, differ.ndim)))
    return found


# --- equality --------------------------------------------------------------------------------------------------------


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
        return plainly_equal(a, b) is True or (is_nan(a) and is_nan(b))
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
        equal = plainly_equal(a, b)
        if equal is not None:
            return equal
    elif a.__getstate__() is None:
        return hasattr(a, "__dict__")
    return items and _same(a.__getstate__(), b.__getstate__(), under_way)


_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})


def plainly_equal(a: Any, b: Any) -> bool | None:
    """Return ``a == b``; None where that is not a truth value, as for classes that compare entry by entry."""
    try:
        equal = a == b
    except Exception:  # noqa: BLE001  a class may raise anything here, arrays of two shapes do
        return None
    return bool(equal) if isinstance(equal, bool | np.bool_) else None


def is_nan(value: Any) -> bool:
    """Whether a value is a number that differs from itself."""
    return isinstance(value, np.generic | numbers.Number) and plainly_equal(value, value) is False


def _same_arrays(a: Any, b: Any) -> bool:
    if not _is_table(a):
        one, other = _array_columns(a), _array_columns(b)
        return one[-1].dtype == other[-1].dtype and all(
            x.shape == y.shape and not _entries_differ(x, y).any() for x, y in zip(one, other, strict=True)
        )
    first, second = records_of("a", a), records_of("b", b)
    labels, others = (x.index.to_numpy() for x in (a, b))
    return (
        (first.form, first.names, first.types, first.length)
        == (second.form, second.names, second.types, second.length)
        and (a.index.dtype, list(a.index.names)) == (b.index.dtype, list(b.index.names))
        and not _entries_differ(labels, others).any()
        and not differs(first, second).any()
    )


# --- words -----------------------------------------------------------------------------------------------------------


_LONGEST = 80
_repr = reprlib.Repr()
_repr.maxstring, _repr.maxother, _repr.maxlevel = 40, 60, 3


def short(value: Any) -> str:
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


def count(n: int) -> str:
    """Return a number of records in words."""
    return f"{n:,} record{'' if n == 1 else 's'}"
