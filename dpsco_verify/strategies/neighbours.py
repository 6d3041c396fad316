"""Hypothesis strategies for pairs of neighbouring data sets: arrays, lists, tables, and data sets of your own.

Each draws ``(d, d_prime)`` that :func:`dpsco_verify.auditing.require_neighbours` accepts. The records before and after
the one that differs are drawn apart from it, so pairs shrink to the fewest and simplest records. Under ``add-remove``
and ``zero-out`` either data set may be the one with the record.
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from dpsco_verify.auditing.pairs import require_neighbours
from dpsco_verify.auditing.records import same_data
from dpsco_verify.auditing.worst_pair import with_first_pairs
from dpsco_verify.choices import Relation
from dpsco_verify.errors import InputError
from dpsco_verify.strategies.edits import (
    count_of,
    renumbered,
    replaced,
    spliced,
    without,
    zeroed_line,
    zeroed_record,
    zeroed_row,
)
from dpsco_verify.strategies.specials import special_values as specials
from dpsco_verify.validation import require_integer

try:
    from hypothesis import assume
    from hypothesis import strategies as st
    from hypothesis.extra import numpy as hnp
    from hypothesis.strategies import DrawFn, SearchStrategy
except ImportError as error:
    raise ImportError(
        "dpsco_verify.strategies needs Hypothesis; install it with: pip install dpsco-verify[strategies]"
    ) from error

_LARGEST = 1e6
"""Bound of the entries of arrays of numbers, unless the caller gives a strategy of them."""


def neighbouring_arrays(
    relation: str,
    *,
    record_shape: int | tuple[int, ...] = (),
    elements: SearchStrategy[Any] | None = None,
    dtype: DTypeLike = np.float64,
    min_records: int = 1,
    max_records: int = 10,
    thresholds: Sequence[float] = (),
    special_values: bool = True,
) -> SearchStrategy[tuple[NDArray[Any], NDArray[Any]]]:
    """Draw neighbouring arrays of shape ``(n, *record_shape)``.

    Where no `elements` say what may be drawn, the record that differs is now and then one of special values: NaN, the
    infinities, both zeros, the extremes of the dtype. The other records are not. A search for the worst pair begins
    with these values, alone and beside a zero.

    Parameters
    ----------
    relation
        ``replace-one``, ``add-remove`` or ``zero-out``.
    record_shape
        The shape of one record; a number k stands for ``(k,)``, rows of width k.
    elements
        Of single entries; finite ones of `dtype` if left out, numbers of at most 10⁶ in absolute value.
    dtype
        Of the arrays; structured ones too.
    min_records, max_records
        Bounds of n, for ``add-remove`` of the larger of the two.
    thresholds
        Where a mechanism of numbers may change what it does: the record that differs is now and then at one, or next to
        it.
    special_values
        Whether special values are drawn.
    """
    kind = np.dtype(dtype)
    shape = (record_shape,) if isinstance(record_shape, int) else tuple(record_shape)
    records = hnp.arrays(kind, shape, elements=_elements(kind) if elements is None else elements)

    def build(drawn: Sequence[NDArray[Any]]) -> NDArray[Any]:
        data = np.empty((len(drawn), *shape), dtype=kind)
        for position, record in enumerate(drawn):
            data[position] = record
        return data

    chosen = specials(kind, thresholds) if special_values and elements is None else []
    chosen = chosen or (list(np.asarray(thresholds, dtype=kind)) if thresholds else [])
    changing = hnp.arrays(kind, shape, elements=st.sampled_from(chosen)) if chosen else None
    bounds = _bounds(min_records, max_records)
    found = _pairs(Relation(relation), records, build, zeroed_row, *bounds, special=changing)
    return with_first_pairs(found, _plain_pairs(Relation(relation), kind, shape, chosen, *bounds))


def _plain_pairs(
    relation: Relation,
    kind: np.dtype[Any],
    shape: tuple[int, ...],
    chosen: Sequence[Any],
    least: int,
    most: int,
) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Return for each chosen value the pair of fewest records that differs by a record of it, and one of zeros else."""
    pairs = []
    for value in chosen:
        whole = np.zeros(
            (max(least, min(2, most) if relation is Relation.ADD_REMOVE else 1), *shape), dtype=kind
        )
        for n in range(least, len(whole) + 1):
            data = whole[:n].copy()
            data[0] = value
            other = data[1:].copy() if relation is Relation.ADD_REMOVE else whole[:n].copy()
            if not same_data(data, other):
                pairs += [(data, other)]
    return pairs


def neighbouring_lists(
    relation: str,
    records: SearchStrategy[Any],
    *,
    zero: Any = None,
    min_records: int = 1,
    max_records: int = 10,
) -> SearchStrategy[tuple[list[Any], list[Any]]]:
    """Draw neighbouring lists of records of any kind.

    Parameters
    ----------
    relation, min_records, max_records
        As for :func:`neighbouring_arrays`.
    records
        Of single records.
    zero
        What ``zero-out`` puts in a record's place: None, or zeros of the records' own shape and type.
    """

    def zeroed(data: list[Any], position: int) -> list[Any]:
        return list(spliced(data, position, [copy.deepcopy(zero)]))

    return _pairs(Relation(relation), records, list, zeroed, *_bounds(min_records, max_records))


def neighbouring_tables(
    relation: str,
    columns: Mapping[str, SearchStrategy[Any]],
    *,
    dtypes: Mapping[str, Any] | None = None,
    min_records: int = 1,
    max_records: int = 10,
) -> SearchStrategy[tuple[Any, Any]]:
    """Draw neighbouring pandas tables with the index 0, 1, …; both have the same dtypes.

    Parameters
    ----------
    relation, min_records, max_records
        As for :func:`neighbouring_arrays`. ``zero-out`` puts 0 for numbers, False, the empty string, and a missing
        value for anything else.
    columns
        A strategy of entries for each column, by its name.
    dtypes
        The dtypes of columns; what pandas makes of the entries if left out.
    """
    if not columns:
        raise InputError("columns={} is empty; give a strategy for each column")
    unknown = sorted(set(dtypes or {}) - set(columns))
    if unknown:
        raise InputError(f"dtypes has {unknown!r}, which columns lacks; give dtypes of columns only")
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ImportError("neighbouring_tables needs pandas; install it with: pip install pandas") from None
    names = list(columns)

    def build(drawn: Sequence[tuple[Any, ...]]) -> Any:
        table = pandas.DataFrame({name: [record[i] for record in drawn] for i, name in enumerate(names)})
        return table.astype(dict(dtypes or {}))

    records = st.tuples(*columns.values())
    return _pairs(Relation(relation), records, build, zeroed_line, *_bounds(min_records, max_records))


def neighbours_of(relation: str, data_sets: SearchStrategy[Any]) -> SearchStrategy[tuple[Any, Any]]:
    """Draw a data set from a strategy of whole data sets, and a neighbour of it.

    Parameters
    ----------
    relation
        As for :func:`neighbouring_arrays`; ``replace-one`` takes the new record from a second draw of `data_sets`.
    data_sets
        Of arrays, pandas tables, lists or tuples; draws without records are passed over.
    """
    return _neighbours_of(Relation(relation), data_sets)


@st.composite
def _neighbours_of(draw: DrawFn, relation: Relation, data_sets: SearchStrategy[Any]) -> tuple[Any, Any]:
    # A copy: strategies such as st.just hand out one object again and again.
    data = copy.deepcopy(draw(data_sets))
    count = count_of(data)
    assume(count)
    position = draw(st.integers(0, count - 1))
    if relation is Relation.REPLACE_ONE:
        source = draw(data_sets)
        others = count_of(source)
        assume(others)
        other = replaced(data, position, source, draw(st.integers(0, others - 1)))
        assume(_have(relation, data, other))
        return data, other
    other = without(data, position) if relation is Relation.ADD_REMOVE else zeroed_record(data, position)
    return _swapped_or_not(draw, relation, data, other)


Build = Callable[[Sequence[Any]], Any]


@st.composite
def _pairs(
    draw: DrawFn,
    relation: Relation,
    records: SearchStrategy[Any],
    build: Build,
    zeroed: Callable[[Any, int], Any],
    min_records: int,
    max_records: int,
    *,
    special: SearchStrategy[Any] | None = None,
) -> tuple[Any, Any]:
    """Draw the record that differs, its replacement if there is one, and then what stands before and after.

    Before it stand copies of it now and then.
    """
    changing = records if special is None else st.one_of(records, special)
    record = draw(changing)
    replacement = []
    if relation is Relation.REPLACE_ONE:
        replacement = [draw(changing.filter(lambda drawn: not same_data(drawn, record)))]
    before = draw(st.lists(records, max_size=max_records - 1))
    copies = draw(st.integers(0, min(2, max_records - 1 - len(before))))
    before = [*before, *(copy.deepcopy(record) for _ in range(copies))]
    rest = max_records - 1 - len(before)
    after = draw(st.lists(records, min_size=max(min_records - 1 - len(before), 0), max_size=rest))
    position = len(before)
    # Both data sets are made of one, so that what pandas makes of the entries is the same for both.
    whole = build([*before, record, *replacement, *after])
    if relation is Relation.REPLACE_ONE:
        pair = renumbered(without(whole, position + 1)), renumbered(without(whole, position))
        assume(not same_data(*pair))
        return pair
    other = (
        renumbered(without(whole, position)) if relation is Relation.ADD_REMOVE else zeroed(whole, position)
    )
    return _swapped_or_not(draw, relation, whole, other)


def _swapped_or_not(draw: DrawFn, relation: Relation, data: Any, other: Any) -> tuple[Any, Any]:
    assume(relation is Relation.ADD_REMOVE or not same_data(data, other))
    require_neighbours(data, other, relation)
    return (other, data) if draw(st.booleans()) else (data, other)


def _have(relation: Relation, data: Any, other: Any) -> bool:
    try:
        require_neighbours(data, other, relation)
    except InputError:
        return False
    return True


def _bounds(min_records: int, max_records: int) -> tuple[int, int]:
    least = require_integer("min_records", min_records, minimum=1)
    most = require_integer("max_records", max_records, minimum=1)
    if most < least:
        raise InputError(f"max_records={most} is below min_records={least}; give at least as many")
    return least, most


def _elements(kind: np.dtype[Any]) -> SearchStrategy[Any]:
    if kind.kind == "f":
        bound = min(_LARGEST, float(np.finfo(kind).max))
        return hnp.from_dtype(kind, min_value=-bound, max_value=bound)
    if kind.kind in "iu":
        info = np.iinfo(kind)
        return hnp.from_dtype(
            kind, min_value=max(int(info.min), -int(_LARGEST)), max_value=min(int(info.max), int(_LARGEST))
        )
    if kind.kind == "c":
        return hnp.from_dtype(kind, allow_nan=False, max_magnitude=_LARGEST)
    return hnp.from_dtype(kind, allow_nan=False, allow_infinity=False)
