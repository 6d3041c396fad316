"""The strategies of neighbouring data sets draw neighbours and nothing else, and shrink to the fewest records."""

from __future__ import annotations

import functools
import random
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.extra import numpy as hnp

from dpsco_verify.auditing.pairs import Relation, require_neighbours
from dpsco_verify.auditing.records import same_data, snapshot
from dpsco_verify.errors import InputError
from dpsco_verify.strategies import (
    neighbouring_arrays,
    neighbouring_lists,
    neighbouring_tables,
    neighbours_of,
    special_values,
)
from dpsco_verify.strategies.edits import replaced

pytestmark = pytest.mark.slow  # draws of whole data sets

RELATIONS = [relation.value for relation in Relation]
STRUCTURED = np.dtype([("name", "U3"), ("place", "f8", (2,))])
DTYPES = ["f8", "f4", "f2", "i8", "u1", "bool", "c16", "U3", "S2", "M8[s]", STRUCTURED]
COLUMNS = {
    "whole": st.integers(0, 5),
    "real": st.floats(),
    "perhaps": st.none() | st.integers(-3, 3),
    "text": st.text(max_size=3),
    "truth": st.booleans(),
    "day": st.datetimes(),
    "kind": st.sampled_from("xyz"),
}


def arrays_of_some_dtype(relation):
    return st.sampled_from(DTYPES).flatmap(lambda dtype: neighbouring_arrays(relation, dtype=dtype))


def tables(relation):
    return neighbouring_tables(relation, COLUMNS, dtypes={"kind": "category"}, max_records=4)


def indexed_tables():
    columns = st.lists(st.floats(0, 3), max_size=4)
    return columns.map(lambda x: pd.DataFrame({"x": x}, index=[f"i{k}" for k in range(len(x))], dtype=float))


def own_strategies(relation):
    whole = [
        st.lists(st.integers()),
        st.lists(st.text()).map(tuple),
        hnp.arrays(float, st.tuples(st.integers(0, 3), st.integers(1, 2))),
        hnp.arrays(object, st.integers(0, 3), elements=st.integers(1, 9)),
        indexed_tables(),
        indexed_tables().map(lambda table: table["x"]),
    ]
    return st.one_of(*(neighbours_of(relation, data_sets) for data_sets in whole))


STRATEGIES = {
    "arrays": neighbouring_arrays,
    "rows": lambda relation: neighbouring_arrays(relation, record_shape=3),
    "grids": lambda relation: neighbouring_arrays(relation, record_shape=(2, 2), max_records=3),
    "dtypes": arrays_of_some_dtype,
    "lists": lambda relation: neighbouring_lists(
        relation, st.integers() | st.text() | st.floats() | st.none()
    ),
    "nested": lambda relation: neighbouring_lists(
        relation, st.tuples(st.floats(), st.text()), zero=(0.0, "")
    ),
    "tables": tables,
    "own": own_strategies,
}


@functools.cache
def strategy_of(name, relation):
    """One strategy for all draws: building it takes longer than a draw."""
    return STRATEGIES[name](relation)


@pytest.mark.parametrize("name", STRATEGIES)
@given(data=st.data())
@settings(suppress_health_check=list(HealthCheck))
def test_every_draw_is_a_pair_of_neighbours(name, data):
    relation = data.draw(st.sampled_from(RELATIONS))
    d, d_prime = data.draw(strategy_of(name, relation))
    require_neighbours(d, d_prime, relation)
    assert same_data(snapshot(d), d)  # so the audit can guard it
    if name != "own":
        assert 1 <= max(len(d), len(d_prime)) <= 10


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_pair_that_was_tampered_with_is_found(relation):
    """The property above can fail: a second record that differs is refused."""
    strategy = neighbouring_arrays(relation, min_records=3, special_values=False)

    @settings(database=None, max_examples=20)
    @given(strategy)
    def refused(pair):
        d, d_prime = pair
        d = d.copy()
        d[[0, -1]] += 1.0
        with pytest.raises(InputError):
            require_neighbours(d, d_prime, relation)

    refused()


@pytest.mark.parametrize("relation", RELATIONS)
@given(data=st.data())
def test_bounds_on_the_number_of_records_hold(relation, data):
    least = data.draw(st.integers(1, 5))
    most = data.draw(st.integers(least, 7))
    d, d_prime = data.draw(neighbouring_lists(relation, st.integers(1), min_records=least, max_records=most))
    assert least <= max(len(d), len(d_prime)) <= most
    assert abs(len(d) - len(d_prime)) == (relation == "add-remove")


def simplest(strategy, condition=lambda pair: True):
    quick = settings(database=None, phases=[Phase.generate, Phase.shrink], max_examples=500)
    return find(strategy, condition, settings=quick, random=random.Random(0))  # noqa: S311  a fixed search


@pytest.mark.parametrize(
    ("name", "relation"),
    [
        pytest.param(name, relation, marks=[pytest.mark.long] * ((i + j) % 3 > 0))
        for i, name in enumerate(["arrays", "lists", "tables", "own"])
        for j, relation in enumerate(RELATIONS)
    ],
)
def test_pairs_shrink_to_one_record(name, relation):
    d, d_prime = simplest(strategy_of(name, relation))
    assert max(len(d), len(d_prime)) == 1


def test_records_shrink_to_simple_values():
    d, d_prime = simplest(
        neighbouring_arrays("replace-one", record_shape=2), lambda pair: abs(pair[0] - pair[1]).max() > 7
    )
    assert sorted([*d.flat, *d_prime.flat]) in ([0.0, 0.0, 0.0, 8.0], [0.0, 0.0, 8.0, 8.0])
    d, d_prime = simplest(
        neighbouring_lists("add-remove", st.integers(0)), lambda pair: sum(pair[0]) > sum(pair[1]) + 9
    )
    assert (d, d_prime) == ([10], [])


@pytest.mark.parametrize("relation", ["add-remove", "zero-out"])
def test_either_data_set_may_be_the_larger(relation):
    strategy = neighbouring_arrays(relation, elements=st.floats(1, 2))
    assert simplest(strategy, lambda pair: pair[0].sum() > pair[1].sum())
    assert simplest(strategy, lambda pair: pair[0].sum() < pair[1].sum())


def test_the_record_that_differs_may_stand_anywhere():
    strategy = neighbouring_lists("replace-one", st.integers(), min_records=3, max_records=3)
    for position in range(3):
        assert simplest(strategy, lambda pair, at=position: pair[0][at] != pair[1][at])


def test_numbers_are_finite_and_moderate_unless_asked_for():
    largest = {"f8": 1e6, "f2": 65504.0, "i8": 1e6, "i1": 128.0, "c16": 1e6}
    for dtype, bound in largest.items():

        @settings(database=None, max_examples=30)
        @given(neighbouring_arrays("add-remove", dtype=dtype, special_values=False), st.just(bound))
        def moderate(pair, bound):
            for data in pair:
                assert np.isfinite(data).all()
                assert (np.abs(data.astype(complex)) <= bound * (1 + 1e-12)).all()

        moderate()
    d, d_prime = simplest(neighbouring_arrays("replace-one", elements=st.sampled_from([np.inf, np.nan])))
    assert {str(d[0]), str(d_prime[0])} == {"inf", "nan"}


def test_tables_of_a_pair_have_one_dtype_and_a_plain_index():
    @settings(database=None)
    @given(neighbouring_tables("add-remove", {"x": st.none() | st.integers(0, 3)}))
    def alike(pair):
        assert (pair[0].dtypes == pair[1].dtypes).all()
        assert all(list(table.index) == list(range(len(table))) for table in pair)

    alike()


def test_own_tables_keep_their_index():
    d, d_prime = simplest(
        neighbours_of("add-remove", indexed_tables()), lambda pair: len(pair[0]) > len(pair[1])
    )
    assert list(d.index) == ["i0"]
    assert list(d_prime.index) == []


def test_draws_leave_a_shared_data_set_alone():
    shared = np.ones((2, 2))
    for relation in RELATIONS:

        @settings(database=None, max_examples=10)
        @given(neighbours_of(relation, st.just(shared) | st.just(2 * shared)))
        def drawn(pair):
            for data in pair:
                data[...] = 7.0

        drawn()
    assert same_data(shared, np.ones((2, 2)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: neighbouring_arrays("replace-all"), "relation='replace-all' is unknown"),
        (lambda: neighbours_of("swap", st.lists(st.integers())), "relation='swap' is unknown"),
        (lambda: neighbouring_arrays("zero-out", min_records=0), "min_records=0 is too small"),
        (
            lambda: neighbouring_lists("zero-out", st.text(), min_records=3, max_records=2),
            "max_records=2 is below",
        ),
        (lambda: neighbouring_tables("zero-out", {}), "columns={} is empty"),
        (lambda: neighbouring_tables("zero-out", {"a": st.text()}, dtypes={"b": int}), r"dtypes has \['b'\]"),
        (lambda: simplest(neighbours_of("add-remove", st.just({"a": 1}))), "data_sets drew a dict"),
        (lambda: simplest(neighbouring_lists("zero-out", st.text(), zero=3)), "on neither side is it zeros"),
    ],
)
def test_what_makes_no_pairs_is_refused(make, said):
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.parametrize(
    "source", [np.ones((1, 2), "f4"), np.ones((1, 2), "c16"), np.ones((1, 3)), np.ones(1)]
)
def test_a_row_replaces_one_of_its_own_kind_only(source):
    with pytest.raises(Unsatisfiable):
        simplest(st.builds(replaced, st.just(np.zeros((2, 2))), st.just(0), st.just(source), st.just(0)))


def test_special_values_are_those_at_which_mechanisms_go_wrong():
    assert special_values(np.dtype("i1")) == [0, 1, -1, 127, -128]
    assert special_values(np.dtype("u1"), [254.6]) == [0, 1, 255, 254, 253]
    found = special_values(np.dtype("f8"), [0.5])
    below, above = np.nextafter(0.5, [-1, 1])
    assert [x for x in found if not np.isnan(x)] == [
        *(0.0, 1.0, -1.0, np.inf, -np.inf, -0.0, np.finfo(float).max, np.finfo(float).min, 5e-324),
        *(0.5, below, above),
    ]
    assert np.isnan(found).sum() == 1
    assert [bool(np.signbit(x)) for x in found if x == 0.0] == [False, True]
    assert special_values(np.dtype("U3")) == []


def test_records_of_one_value_have_no_replacement():
    with pytest.raises(Unsatisfiable):
        simplest(neighbouring_lists("replace-one", st.just(1)))


def test_tables_say_when_pandas_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="neighbouring_tables needs pandas; install it with"):
        neighbouring_tables("add-remove", {"a": st.integers()})
