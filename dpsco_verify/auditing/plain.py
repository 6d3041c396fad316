"""Outputs of richer types as what they are judged as, and the outcome of a run that raised."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from dpsco_verify.errors import InputError


@dataclass(frozen=True)
class Raised:
    """The outcome of a run that raised: the type of the exception; `said` is for messages and is no part of it."""

    kind: str
    said: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"raised {self.kind}"


_PLAIN = frozenset({float, str, bytes, int, bool, type(None), list, tuple, Raised})
"""Types of which most outputs are made, which need no asking."""


def plain(item: Any) -> Any:  # noqa: C901, PLR0911, PLR0912  one line a type
    """Return an output of a richer type as what it is judged as; others as they are.

    A dictionary and a dataclass (also of attrs, msgspec or pydantic) are pairs of key and value in their order; a set
    is its members in an order of their own, any other sequence a list; a member of an enumeration is its name, a date
    or time its ISO text, a path or a UUID its text, a decimal or rational number the double next to it, a complex
    number its two parts, a named tuple a tuple, and an array without axes what it holds. Tables are their index, if
    they have one, and their columns by name, a missing value of theirs its text; masked arrays are lists with None for
    what is hidden, records tuples, and sparse arrays their shape with what they store, by its place. What has the array
    protocol, such as the tensors of other libraries, is the array that it gives.
    """
    if type(item) in _PLAIN:
        return item
    if isinstance(item, float | str | bytes | Raised) and not isinstance(item, enum.Enum):
        return item
    if isinstance(item, np.ndarray):
        return _plain_array(item)
    if isinstance(item, complex | np.complexfloating):
        return [float(item.real), float(item.imag)]
    if isinstance(item, np.generic):
        return _plain_scalar(item)
    if isinstance(item, enum.Enum):
        return f"{type(item).__name__}.{item.name}"
    if isinstance(item, bytearray | memoryview):
        return bytes(item)
    if isinstance(item, Decimal):
        return float("nan") if item.is_nan() else float(item)
    if isinstance(item, Fraction):
        return as_float(item)
    if isinstance(item, dt.datetime):
        return item.isoformat(" ")  # so that each of its numbers stands apart
    if isinstance(item, dt.date | dt.time):
        return item.isoformat()
    if isinstance(item, dt.timedelta):
        return item.total_seconds()
    if isinstance(item, Mapping):
        return list(item.items())
    if isinstance(item, AbstractSet):
        return sorted(item, key=lambda member: (type(member).__name__, repr(member)))
    if isinstance(item, Sequence):
        return list(item)
    if isinstance(item, PurePath | UUID):
        return str(item)
    names = _field_names(item)
    if names is not None:
        return [(name, getattr(item, name)) for name in names]
    found = foreign_array(item)
    if found is not item:
        return _plain_array(found)
    return _plain_foreign(item)


def _field_names(item: Any) -> Iterable[str] | None:
    """Return the names of the fields of a record, None if it is none; their libraries are not imported."""
    kind = type(item)
    if isinstance(item, SimpleNamespace):
        return vars(item)
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    if hasattr(kind, "__attrs_attrs__"):
        return [attribute.name for attribute in kind.__attrs_attrs__]
    found: Iterable[str] | None = getattr(kind, "__struct_fields__", None)  # of msgspec
    return getattr(kind, "model_fields", None) if found is None else found  # of pydantic


def _plain_foreign(item: Any) -> Any:
    """Return tables, sparse arrays and scalars of other libraries as what they are judged as."""
    if _is_table(item):
        columns = item.items() if hasattr(item, "columns") else [(item.name, item)]
        index = ("index", item.index.tolist())
        return [index, *((name, column.tolist()) for name, column in columns)]
    if _is_frame(item):
        return [(column.name, column.to_list()) for column in item.get_columns()]
    if _has(item, "to_pydict"):
        return list(item.to_pydict().items())
    if _has(item, "to_pylist"):
        return item.to_pylist()
    if _has(item, "tocoo", "nnz"):
        stored = item.tocoo()
        places = zip(*(axis.tolist() for axis in stored.coords), strict=True)
        return [tuple(stored.shape), *zip(places, stored.data.tolist(), strict=True)]
    # A missing value, a period, an interval: their texts tell all.
    return str(item) if type(item).__module__.partition(".")[0] == "pandas" else item


def _plain_array(item: NDArray[Any]) -> Any:
    if isinstance(item, np.ma.MaskedArray):
        return item.tolist()
    if item.ndim == 0:
        return plain(item[()])
    return item.tolist() if item.dtype.names is not None else numeric(item)


def _plain_scalar(item: np.generic) -> Any:
    if item.dtype.names is not None:
        return tuple(item.tolist())
    return float(numeric(np.array([item]))[0]) if item.dtype.kind in "mMV" else item


def numeric(array: NDArray[Any]) -> NDArray[Any]:
    """Return complex numbers as pairs and times as numbers of their unit, NaN for none; other arrays as they are.

    Floats of a type that numpy does not know itself, such as bfloat16, become doubles.

    Raises
    ------
    InputError
        If it holds raw memory.
    """
    if array.dtype.kind == "V" and array.dtype.names is None:
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            raise InputError(
                f"returned an array of dtype {array.dtype}, which is memory without a type; return numbers, or bytes"
            ) from None
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], axis=-1)
    if array.dtype.kind in "mM":
        return np.where(np.isnat(array), np.nan, array.astype(np.int64).astype(np.float64))
    return array


def foreign_array(item: Any) -> Any:
    """Return what has the array protocol and is no array, such as another library's tensor, as an array.

    A tensor that gradients flow through, or of another device, gives its values once it is cut off from the one and
    copied from the other.

    Raises
    ------
    InputError
        If it has the protocol and gives none, as an array of another device may.
    """
    if isinstance(item, np.ndarray | np.generic):
        return item
    try:
        # As an array a table would lose the names of its columns, and arrow's missing values would be NaN.
        if _is_table(item) or _is_frame(item) or _has(item, "to_pydict") or _has(item, "to_pylist"):
            return item
        if _has(item, "requires_grad", "detach", "cpu"):
            return _of_tensor(item.detach().cpu())
        if hasattr(item, "__array__"):
            return np.asarray(item)
        return np.from_dlpack(item) if hasattr(item, "__dlpack__") else item
    except Exception as error:  # noqa: BLE001  a library may raise anything here
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"returned a {type(item).__name__} that gives no array ({said}); return it as one of numpy"
        ) from None


def _of_tensor(tensor: Any) -> NDArray[Any]:
    """Return a tensor of this device, cut off from its gradients; of floats that numpy does not have, as singles."""
    try:
        return np.asarray(tensor)
    except TypeError:
        return np.asarray(tensor.float())


def _is_table(item: Any) -> bool:
    """Whether this is a pandas DataFrame or Series, found without an import of pandas."""
    return _has(item, "iloc", "index", "to_numpy", "shape")


def _is_frame(item: Any) -> bool:
    """Whether this is a table of polars, found without an import of polars."""
    return _has(item, "get_columns", "height")


def _has(item: Any, *names: str) -> bool:
    return all(hasattr(item, name) for name in names)


def as_float(value: int | Fraction) -> float:
    """Return the double next to a number, infinite beyond the largest."""
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
