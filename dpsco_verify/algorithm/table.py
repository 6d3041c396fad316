"""A person's table of numbers: what a spreadsheet or another program writes, read into points."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpsco_verify.arrays import FloatArray
from dpsco_verify.errors import InputError

_SEPARATORS = (";", "\t", ",")


@dataclass(frozen=True, kw_only=True)
class Table:
    """Points, shape (n, k), the names of the columns, and the labels of −1 and +1, where there are any."""

    points: FloatArray
    columns: tuple[str, ...] | None
    classes: tuple[str, str] | None


def read_table(path: Path, *, labelled: bool = False, classes: tuple[str, ...] | None = None) -> Table:
    """Return the points of a file, one a line.

    The values of a line are separated by semicolons, tabs or commas, or by blanks where there is none of these;
    with semicolons or tabs, a comma is a decimal point. A byte-order mark, blank lines, blanks around values and
    quotes are no part of the data. The first line names the columns if one of its values, the label aside, is no
    number.

    Parameters
    ----------
    labelled
        Whether the last column has labels: numbers or names, of two classes, which become −1 and +1 in the order of
        numbers or of the alphabet.
    classes
        The two labels, that of −1 first; by default they are read from the file. With -1 and 1 nothing has to be
        read.

    Raises
    ------
    InputError
        If the file cannot be read, is empty or ragged, or holds anything but finite numbers and two labels; with
        the line, the column and what to do.
    """
    shown = f"data={str(path)!r}"
    lines = _lines(path, shown)
    if not lines:
        raise InputError(f"{shown} is empty; give one point a line")
    columns = None
    # a name in the last place of a line of numbers is a label
    if any(_number(value) is None for value in (lines[0][1][:-1] if labelled else lines[0][1])):
        columns = tuple(lines.pop(0)[1])
        if not lines:
            raise InputError(f"{shown} holds names of columns and no points; give one point a line")
    width = len(columns) if columns is not None else len(lines[0][1])
    for line, values in lines:
        if len(values) != width:
            raise InputError(
                f"{shown} has {len(values)} values in line {line} where the first line has {width}; "
                "give all lines the same"
            )
    numbers = width - 1 if labelled else width
    points = np.empty((len(lines), width))
    for row, (line, values) in enumerate(lines):
        for column in range(numbers):
            number = _number(values[column])
            if number is None or not math.isfinite(number):
                name = f"column {column + 1}" + ("" if columns is None else f" ({columns[column]})")
                value = values[column]
                raise InputError(f"{shown} has {value!r} in line {line}, {name}; {_advice(value)}")
            points[row, column] = number
    if not labelled:
        return Table(points=points, columns=columns, classes=None)
    labels = [values[-1] for _, values in lines]
    two = _two_classes(labels, classes, shown)
    place = {_key(two[0]): -1.0, _key(two[1]): 1.0}
    points[:, -1] = [place[_key(label)] for label in labels]
    return Table(points=points, columns=columns, classes=two)


def _lines(path: Path, shown: str) -> list[tuple[int, list[str]]]:
    """Return the lines that are not blank with their numbers, split into values."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(
            f"{shown} is no table of numbers (it is not text in UTF-8); save it as CSV"
        ) from None
    except OSError as error:
        raise InputError(f"{shown} cannot be read ({error.strerror}); give a readable file") from None
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = next((s for s in _SEPARATORS if s in first), None)
    if separator is None:
        return [(i, line.split()) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    try:
        reader = csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True, strict=True)
        rows = [(reader.line_num, [value.strip() for value in row]) for row in reader]
    except csv.Error as error:
        raise InputError(f"{shown} is no table of numbers ({error}); give one point a line") from None
    if separator != ",":
        rows = [(i, [_with_a_point(value) for value in row]) for i, row in rows]
    return [(i, row) for i, row in rows if any(row)]


def _with_a_point(value: str) -> str:
    changed = value.replace(",", ".")
    return changed if _number(changed) is not None else value


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _advice(value: str) -> str:
    if not value:
        return "fill empty values in, or leave the point or the column out"
    if _number(value) is not None:
        return "give finite numbers"
    return "give a number; make a category columns of 0 and 1, one for each of its values"


def _key(label: str) -> float | str:
    """Return what makes labels the same: 1, 1.0 and 1e0 are."""
    number = _number(label)
    return label if number is None or math.isnan(number) else number


def _two_classes(labels: list[str], given: tuple[str, ...] | None, shown: str) -> tuple[str, str]:
    found = {_key(label): label for label in labels}
    if given is not None:
        if len({_key(label) for label in given}) != 2 or len(given) != 2:
            raise InputError(
                f"classes={','.join(given)!r} are not two labels; give that of -1 and that of +1"
            )
        other = [label for key, label in found.items() if key not in {_key(label) for label in given}]
        if other:
            raise InputError(
                f"label={other[0]!r} is not one of classes={','.join(given)!r}; give its two labels"
            )
        return given[0], given[1]
    if found.keys() <= {-1.0, 1.0}:
        return "-1", "1"
    if len(found) != 2:
        some = ", ".join(repr(label) for label in list(found.values())[:3])
        raise InputError(
            f"{shown} has {len(found)} class{'es' if len(found) > 1 else ''} in the last column (label={some}, …); "
            "give a column of two labels, or name them with classes"
        )
    numbers = [key for key in found if isinstance(key, float)]
    ordered = sorted(numbers) if len(numbers) == 2 else sorted(found, key=str)
    return found[ordered[0]], found[ordered[1]]
