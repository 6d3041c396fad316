"""Values to bytes and back, exactly; reading a foreign file runs no code of its choice.

What can be written is plain data and this package's records (:mod:`dpsco_verify.store.tree`). The reader calls nothing
that the bytes name: it looks a class up in this package, checks that it is a record, and sets its fields (a struct
checks its own).
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import importlib
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np

from dpsco_verify.store.tree import ARRAY_KINDS, NotDataError, Tree, Writer, class_name, to_bytes

_PACKAGE = __name__.partition(".")[0]
_NAME = re.compile(rf"({_PACKAGE}(?:\.[A-Za-z_]\w*)*):([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)", re.ASCII)


class DamagedValueError(Exception):
    """Bytes are not an encoded value."""


def encode(value: Any) -> bytes:
    """Return the bytes of a value.

    Raises
    ------
    NotDataError
        For a value that is not plain data, or a record of another package.
    """
    writer = Writer()
    tree = writer.tree(value)
    for kind in writer.classes:
        try:
            found = _class(class_name(kind))
        except DamagedValueError:
            found = None
        if found is not kind:
            raise NotDataError(f"a record of type {class_name(kind)} cannot be found again under this name")
    try:
        return to_bytes(tree)
    except (UnicodeEncodeError, RecursionError) as error:
        raise NotDataError(f"a value cannot be written ({error})") from error


def decode(data: bytes) -> Any:
    """Return the value that :func:`encode` made these bytes of.

    Raises
    ------
    DamagedValueError
        For any other bytes.
    """
    try:
        return _value(msgspec.msgpack.decode(data))
    except DamagedValueError:
        raise
    except Exception as error:
        # Whatever it is that the bytes do wrong, they are damaged.
        raise DamagedValueError(f"{type(error).__name__}: {error}") from error


def _value(tree: Tree) -> Any:
    if not isinstance(tree, list):
        if tree is None or type(tree) in (bool, int, float, str, bytes):
            return tree
        raise DamagedValueError(f"a {type(tree).__name__} stands where a tree should")
    tag, *rest = tree
    if not isinstance(tag, str) or tag not in _READERS:
        raise DamagedValueError("a tag is unknown")
    return _READERS[tag](rest)


def _values(trees: list[Tree]) -> list[Any]:
    return [_value(tree) for tree in trees]


def _big(rest: list[Tree]) -> int:
    (digits,) = rest
    if not isinstance(digits, str):
        raise DamagedValueError("an integer is not a text of digits")
    return int(digits, 16)


def _dict(rest: list[Tree]) -> dict[Any, Any]:
    return {_value(key): _value(item) for key, item in rest}


def _complex(rest: list[Tree]) -> complex:
    real, imaginary = rest
    return complex(_of(float, real), _of(float, imaginary))


def _fraction(rest: list[Tree]) -> Fraction:
    numerator, denominator = _values(rest)
    return Fraction(_of(int, numerator), _of(int, denominator))


def _array(rest: list[Tree]) -> np.ndarray[Any, Any]:
    kind, shape, order, data = rest
    flat = (
        np.frombuffer(_of(bytes, data), dtype=_dtype(kind)).copy()
        if data
        else np.empty(0, dtype=_dtype(kind))
    )
    sizes = tuple(_of(int, size) for size in shape)
    if min(sizes, default=0) < 0:
        raise DamagedValueError("an array's size is negative")
    if order == "F":
        return flat.reshape(sizes[::-1]).T
    if order != "C":
        raise DamagedValueError("an array's order is unknown")
    return flat.reshape(sizes)


def _scalar(rest: list[Tree]) -> Any:
    kind, data = rest
    (value,) = np.frombuffer(_of(bytes, data), dtype=_dtype(kind))
    return value


def _dtype(kind: Any) -> np.dtype[Any]:
    found: np.dtype[Any] = np.dtype(_of(str, kind))
    if found.kind not in ARRAY_KINDS or found.str != kind:
        raise DamagedValueError("an array's type is not plain memory")
    return found


def _enum(rest: list[Tree]) -> Any:
    name, member, value = rest
    kind: Any = _record(name, lambda kind: issubclass(kind, enum.Enum))
    # A flag goes by its value: it may combine members.
    found: Any = kind(_value(value)) if member is None else kind[_of(str, member)]
    if type(found.value) is not type(expected := _value(value)) or found.value != expected:
        raise DamagedValueError("a member of an enumeration has another value")
    return found


def _dataclass(rest: list[Tree]) -> Any:
    name, *fields = rest
    kind = _record(name, dataclasses.is_dataclass)
    _require_fields(fields, [field.name for field in dataclasses.fields(kind)])
    made: object = object.__new__(kind)
    for field, value in fields:
        # What __init__ checks was checked when the value was made.
        object.__setattr__(made, field, _value(value))
    return made


def _struct(rest: list[Tree]) -> Any:
    name, *fields = rest
    kind: Any = _record(name, lambda kind: issubclass(kind, msgspec.Struct))
    _require_fields(fields, list(kind.__struct_fields__))
    return kind(**{field: _value(value) for field, value in fields})


def _namedtuple(rest: list[Tree]) -> Any:
    name, *items = rest
    kind: Any = _record(name, lambda kind: issubclass(kind, tuple) and hasattr(kind, "_fields"))
    return kind._make(_values(items))


def _of(kind: type, value: Any) -> Any:
    if type(value) is not kind:
        raise DamagedValueError(f"a {type(value).__name__} stands where a {kind.__name__} should")
    return value


def _require_fields(fields: list[Tree], names: list[str]) -> None:
    if [name for name, _ in fields] != names:
        raise DamagedValueError("a record has other fields")


def _record(name: Any, is_record: Callable[[type], bool]) -> type:
    kind = _class(_of(str, name))
    if not is_record(kind):
        raise DamagedValueError("a class is not such a record")
    return kind


@functools.cache
def _class(name: str) -> type:
    """Look a class up in this package; nothing else can be named."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise DamagedValueError(f"{name!r} is not a class of this package")
    try:
        found: Any = importlib.import_module(match[1])
        for part in match[2].split("."):
            found = vars(found)[part]
    except (ImportError, KeyError, TypeError) as error:
        raise DamagedValueError(f"{name!r} is not a class of this package") from error
    # What a module merely imports stays where it is: the class must be defined under this name.
    if not isinstance(found, type) or class_name(found) != name:
        raise DamagedValueError(f"{name!r} is not a class of this package")
    return found


_READERS: dict[str, Callable[[list[Tree]], Any]] = {
    "int": _big,
    "tuple": lambda rest: tuple(_values(rest)),
    "list": _values,
    "dict": _dict,
    "set": lambda rest: set(_values(rest)),
    "frozenset": lambda rest: frozenset(_values(rest)),
    "complex": _complex,
    "fraction": _fraction,
    "array": _array,
    "scalar": _scalar,
    "enum": _enum,
    "dataclass": _dataclass,
    "struct": _struct,
    "namedtuple": _namedtuple,
}
