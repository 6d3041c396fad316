"""Changes of one record of a data set: an array, a pandas table, a list or a tuple."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
from hypothesis import assume
from numpy.typing import NDArray

from dpsco_verify.errors import InputError


def _is_table(data: Any) -> bool:
    return hasattr(data, "iloc")


def count_of(data: Any) -> int:
    """Return how many records a data set has."""
    if _is_table(data) or isinstance(data, list | tuple) or (isinstance(data, np.ndarray) and data.ndim):
        return len(data)
    raise InputError(
        f"data_sets drew a {type(data).__name__}; give arrays with rows, pandas tables, lists or tuples"
    )


def without(data: Any, position: int) -> Any:
    """Return the data set without the record at `position`."""
    if isinstance(data, list | tuple):
        return spliced(data, position, [])
    kept = np.arange(len(data)) != position
    return data.iloc[kept] if _is_table(data) else data[kept]


def spliced(data: Any, position: int, records: list[Any]) -> Any:
    """Return a list or tuple with `records` in the place of one."""
    return type(data)([*data[:position], *records, *data[position + 1 :]])


def renumbered(data: Any) -> Any:
    """Return a table with its rows numbered anew; everything else as it is."""
    return data.reset_index(drop=True) if _is_table(data) else data


def zeroed_record(data: Any, position: int) -> Any:
    """Return the data set with nothing in the place of a record: 0, or None."""
    if isinstance(data, list | tuple):
        return spliced(data, position, [None])
    return zeroed_line(data, position) if _is_table(data) else zeroed_row(data, position)


def zeroed_row(data: NDArray[Any], position: int) -> NDArray[Any]:
    """Return an array with zeros, or None, in the place of a row."""
    changed = data.copy()
    changed[position] = None if data.dtype.kind == "O" else np.zeros((), dtype=data.dtype)
    return changed


def zeroed_line(data: Any, position: int) -> Any:
    """Return a table with what stands for nothing in the place of a row."""
    changed = data.copy()
    if not hasattr(data, "columns"):
        changed.iloc[position] = _zero_of(data.dtype)
        return changed
    for number in range(data.shape[1]):
        column = data.iloc[:, number].copy()
        column.iloc[position] = _zero_of(column.dtype)
        changed.isetitem(number, column)
    return changed


def _zero_of(dtype: Any) -> Any:
    """Return what stands for nothing in a pandas column."""
    if dtype.kind in "iufc":
        return 0
    if dtype.kind == "b":
        return False
    return "" if str(dtype) in {"str", "string"} else None


def replaced(data: Any, position: int, source: Any, place: int) -> Any:
    """Return `data` with the record at `position` replaced by the one at `place` of `source`, if that fits."""
    if _is_table(data):
        changed = importlib.import_module("pandas").concat(
            [data.iloc[:position], source.iloc[[place]], data.iloc[position + 1 :]]
        )
        return changed.set_axis(data.index)
    if isinstance(data, list | tuple):
        return spliced(data, position, [copy.deepcopy(source[place])])
    assume(data.dtype == source.dtype and data.shape[1:] == source.shape[1:])
    changed = data.copy()
    changed[position] = source[place]
    return changed
