"""Values as trees of plain data, so that equal values have equal bytes and bytes can be read without running code.

A tree holds None, truth values, 64-bit integers, doubles, text and bytes as they are, and for everything else a list
that begins with a tag. Doubles keep their bits, arrays their type, shape, order and bits, mappings their order; objects
that stand twice become two. Records are this package's frozen dataclasses, named tuples, enumerations and msgspec
structs, written field by field.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

Tree = Any
"""None, bool, int, float, str, bytes, or a list of a tag and trees."""

Fallback = Callable[[Any, Callable[[Any], Tree]], Tree]
"""Called as ``fallback(value, write)`` with what is not data; raises :class:`NotDataError` for what it cannot do."""

ARRAY_KINDS = frozenset("biufcSUmM")
"""The kinds of arrays that are plain memory."""

_WORD = range(-(2**63), 2**63)


class NotDataError(Exception):
    """A value is not plain data; the message names its type and where it stands."""


def refuse(value: Any, _write: Callable[[Any], Tree]) -> Tree:
    """Refuse what is not plain data."""
    raise NotDataError(f"a value of type {class_name(type(value))} is not plain data")


class Writer:
    """Makes trees of values, and notes the classes of the records that it meets.

    Parameters
    ----------
    fallback
        What to do with values that are not plain data.
    """

    def __init__(self, fallback: Fallback = refuse) -> None:
        self.classes: set[type] = set()
        self._fallback = fallback
        self._open: set[int] = set()

    def tree(self, value: Any) -> Tree:
        """Return the tree of a value.

        Raises
        ------
        NotDataError
            For a value that has none, or that contains itself.
        """
        kind = type(value)
        if value is None or kind in (bool, float, str, bytes):
            return value
        if kind is int:
            return value if value in _WORD else ["int", f"{value:x}"]
        if id(value) in self._open:
            raise NotDataError(f"a value of type {class_name(kind)} contains itself")
        self._open.add(id(value))
        try:
            return self._compound(value, kind)
        finally:
            self._open.discard(id(value))

    def _compound(self, value: Any, kind: type) -> Tree:  # noqa: PLR0911  one case a line
        if kind is tuple:
            return ["tuple", *map(self.tree, value)]
        if kind is list:
            return ["list", *map(self.tree, value)]
        if kind is dict:
            return ["dict", *([self.tree(key), self.tree(item)] for key, item in value.items())]
        if kind in (set, frozenset):
            return [kind.__name__, *sorted(map(self.tree, value), key=to_bytes)]
        if kind is complex:
            return ["complex", value.real, value.imag]
        if kind is Fraction:
            return ["fraction", self.tree(value.numerator), self.tree(value.denominator)]
        if kind is np.ndarray:
            return self._array(value)
        if isinstance(value, np.generic):
            return ["scalar", *_memory(np.asarray(value))]
        return self._record(value, kind)

    def _record(self, value: Any, kind: Any) -> Tree:
        if isinstance(value, enum.Enum):
            self.classes.add(kind)
            # A flag may combine members, and then is none itself.
            name = None if isinstance(value, enum.Flag) else value.name
            return ["enum", class_name(kind), name, self.tree(value.value)]
        if dataclasses.is_dataclass(kind) and not _further_attributes(value, kind):
            self.classes.add(type(value))
            names = [field.name for field in dataclasses.fields(kind)]
            return [
                "dataclass",
                class_name(type(value)),
                *([name, self._field(value, name)] for name in names),
            ]
        if isinstance(value, msgspec.Struct):
            self.classes.add(kind)
            return ["struct", class_name(kind), *([n, self._field(value, n)] for n in kind.__struct_fields__)]
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            self.classes.add(kind)
            return ["namedtuple", class_name(kind), *map(self.tree, value)]
        return self._fallback(value, self.tree)

    def _field(self, record: Any, name: str) -> Tree:
        try:
            return self.tree(getattr(record, name))
        except NotDataError as error:
            raise NotDataError(f"{error}, in {type(record).__qualname__}.{name}") from None

    def _array(self, array: np.ndarray[Any, Any]) -> Tree:
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        kind, data = _memory(array.T if order == "F" else array)
        return ["array", kind, list(array.shape), order, data]


def class_name(kind: type) -> str:
    """Return ``module:qualified.name``."""
    return f"{kind.__module__}:{kind.__qualname__}"


def to_bytes(tree: Tree) -> bytes:
    """Return the one encoding of a tree (MessagePack)."""
    return msgspec.msgpack.encode(tree)


def _memory(array: np.ndarray[Any, Any]) -> tuple[str, bytes]:
    if array.dtype.kind not in ARRAY_KINDS or array.dtype.metadata:
        raise NotDataError(f"an array of type {array.dtype} is not plain data")
    return array.dtype.str, array.tobytes()


def _further_attributes(value: Any, kind: Any) -> list[str]:
    """Return the attributes of a dataclass that are not fields, but for what a cached property has kept."""
    names = {field.name for field in dataclasses.fields(kind)}
    return [
        name
        for name in getattr(value, "__dict__", {})
        if name not in names and not isinstance(getattr(kind, name, None), functools.cached_property)
    ]
