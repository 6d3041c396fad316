"""The lines that are exchanged with a program under audit: requests out, outputs in.

Reading a line never looks at the other lines. So what is made of an output is a function of that output alone, a
post-processing that can lose a violation but never make one.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from dpsco_verify.errors import InputError

_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NAMES = {repr(value): name for name, value in _NOT_FINITE.items()}
_DECODER = json.JSONDecoder(parse_int=float, parse_constant=_NOT_FINITE.__getitem__)
_MAX_DEPTH = 64


class UnreadableLineError(ValueError):
    """A line is not one output; the message says why, and begins with a verb."""


def request_line(dataset: Any, size: int, seed: int) -> bytes:
    """Return the line that asks for `size` outputs on `dataset`.

    Raises
    ------
    InputError
        If the data set has no form in JSON.
    """
    try:
        request = {"dataset": _plain(dataset, 0), "size": size, "seed": seed}
    except _FormlessError as error:
        where = "dataset" + "".join(f"[{key!r}]" for key in error.path)
        raise InputError(f"{where} {error.why}") from None
    return json.dumps(request, allow_nan=False, separators=(",", ":")).encode() + b"\n"


class _FormlessError(Exception):
    """A part of a data set has no form in JSON; `path` grows on the way out of the parts that it is in."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why
        self.path: list[Any] = []


def _plain(value: Any, depth: int) -> Any:
    """Return `value` made of what JSON has; what is not a finite number is written as a string."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else _NAMES[repr(float(value))]
    if depth > _MAX_DEPTH:
        raise _FormlessError(f"is nested more than {_MAX_DEPTH} deep; give a flatter data set")
    if isinstance(value, np.ndarray | np.generic):
        return _plain_array(value, depth)
    if isinstance(value, list | tuple):
        return [_inside(i, item, depth) for i, item in enumerate(value)]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _inside(key, item, depth) for key, item in value.items()}
    raise _FormlessError(
        f"of type {type(value).__name__} has no form in JSON; give numbers, strings, truth values, None, or arrays, "
        "lists and dictionaries (with strings for keys) of these"
    )


def _inside(key: Any, item: Any, depth: int) -> Any:
    try:
        return _plain(item, depth + 1)
    except _FormlessError as error:
        error.path.insert(0, key)
        raise


def _plain_array(value: Any, depth: int) -> Any:
    """Return an array as lists, and a structured one as one object a record."""
    names = value.dtype.names
    if names is not None:
        if getattr(value, "ndim", 0):
            return [_inside(i, row, depth) for i, row in enumerate(value)]
        return {name: _inside(name, value[name], depth) for name in names}
    kind = value.dtype.kind
    if kind not in "biufUO":
        raise _FormlessError(
            f"of dtype {value.dtype} has no form in JSON; give numbers, truth values or strings"
        )
    plain = value.astype(np.float64).tolist() if kind == "f" else value.tolist()
    # An array of a million numbers need not be walked through one by one.
    return plain if kind in "biuU" or (kind == "f" and np.isfinite(value).all()) else _plain(plain, depth)


def output_of(line: str) -> Any:
    """Return the output that a line holds: a float, string, truth value, None, or a tuple of these.

    Every number is a double, with or without a decimal point. ``NaN``, ``Infinity`` and ``-Infinity`` are numbers,
    bare or as strings.

    Raises
    ------
    UnreadableLineError
        If it is not one JSON value, or holds an object.
    """
    try:
        value = _DECODER.decode(line)
    except (ValueError, RecursionError):
        raise UnreadableLineError(
            "is blank" if not line.strip() else f"is not a JSON value: {_shown(line)}"
        ) from None
    return value if type(value) is float else _output(value, line, 0)


def _output(value: Any, line: str, depth: int) -> Any:
    if isinstance(value, str):
        return _NOT_FINITE.get(value, value)
    if isinstance(value, list):
        if depth > _MAX_DEPTH:
            raise UnreadableLineError(f"is nested more than {_MAX_DEPTH} deep: {_shown(line)}")
        return tuple(_output(item, line, depth + 1) for item in value)
    if isinstance(value, dict):
        raise UnreadableLineError(
            f"holds an object, and an output is a number, a string, true, false, null or an array: {_shown(line)}"
        )
    return value


def _shown(line: str) -> str:
    return ascii(line if len(line) <= 60 else line[:59] + "…")
