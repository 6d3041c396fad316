"""Which data sets are neighbours, what is said of those that are not, and what the guard against mutation sees."""

from __future__ import annotations

import collections
import dataclasses
import threading
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from dpsco_verify.auditing.pairs import (
    Relation,
    _is_null,
    describe_pair,
    equal_data,
    recognised,
    require_neighbours,
    require_pair,
)
from dpsco_verify.auditing.records import same_data, snapshot
from dpsco_verify.errors import InputError

NAN = float("nan")
ROWS = np.arange(12.0).reshape(4, 3)
PEOPLE = np.array([("ada", 36, 1.5), ("bob", 41, 2.5), ("cyd", 29, NAN)], dtype="U5,i4,f8")
LETTERS = pd.CategoricalDtype(["x", "y"])
TABLE = pd.DataFrame({"age": [36, 41, 29], "name": ["ada", "bob", None], "income": [1.5, NAN, 2.5]})


def with_row(data, position, value):
    changed = data.copy()
    changed[position] = value
    return changed


def with_line(table, position, **entries):
    changed = table.copy()
    for name, value in entries.items():
        changed[name] = [value if i == position else x for i, x in enumerate(table[name])]
    return changed.astype(table.dtypes)


NEIGHBOURS = [
    ("replace-one", ROWS, with_row(ROWS, 2, [1.0, 2.0, 3.0])),
    ("replace-one", ROWS, with_row(ROWS, (2, 0), NAN)),
    ("replace-one", np.array([NAN, 1.0]), np.array([NAN, 2.0])),
    ("replace-one", np.array(["a", "bb"]), np.array(["a", "bbb"])),
    ("replace-one", PEOPLE, with_row(PEOPLE, 2, ("cyd", 29, 2.5))),
    ("replace-one", [1, "a", None], [1, "b", None]),
    ("replace-one", [[1.0, NAN], ROWS], [[1.0, NAN], ROWS + 1]),
    ("replace-one", ({"a": NAN}, 2), ({"a": NAN}, 3)),
    ("replace-one", TABLE, with_line(TABLE, 1, age=42, name="eve")),
    ("replace-one", TABLE["income"], TABLE["income"].fillna(0.0)),
    ("replace-one", np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array([3.0, 2.0], mask=[False, True])),
    ("replace-one", np.ma.array([1.0, 2.0], mask=[False, True]), np.ma.array([1.0, 2.0])),
    ("add-remove", ROWS, ROWS[:-1]),
    ("add-remove", ROWS, ROWS[1:]),
    ("add-remove", ROWS[[0, 2, 3]], ROWS),
    ("add-remove", np.zeros(5), np.zeros(4)),
    ("add-remove", np.array([NAN]), np.zeros(0)),
    ("add-remove", np.array(["a", "bbb"]), np.array(["a"])),
    ("add-remove", PEOPLE, PEOPLE[[0, 2]]),
    ("add-remove", [1, NAN, 3], [1, NAN]),
    ("add-remove", (), (None,)),
    ("add-remove", collections.deque([1, 2]), collections.deque([2])),
    ("add-remove", TABLE, TABLE.drop(1)),
    ("add-remove", TABLE, TABLE.drop(0).reset_index(drop=True)),
    ("add-remove", TABLE["name"], TABLE["name"].iloc[1:]),
    ("zero-out", ROWS, with_row(ROWS, 3, 0.0)),
    ("zero-out", with_row(ROWS, 1, 0.0), ROWS),
    ("zero-out", np.array([2, 3]), np.array([2, 0])),
    ("zero-out", np.array([True, True]), np.array([True, False])),
    ("zero-out", np.array(["a", "b"]), np.array(["a", ""])),
    ("zero-out", PEOPLE, with_row(PEOPLE, 1, ("", 0, 0.0))),
    ("zero-out", np.array([1, "a"], dtype=object), np.array([1, None], dtype=object)),
    ("zero-out", np.array(["2020-01-01"], "M8[D]"), np.array(["NaT"], "M8[D]")),
    ("zero-out", [5, 2**80], [5, 0]),
    ("zero-out", [{"a": 1}], [None]),
    ("zero-out", [{"a": 1, "b": [2.0, "x"]}], [{"a": 0, "b": [0.0, ""]}]),
    ("zero-out", [(1, True)], [(0, False)]),
    ("zero-out", [np.ones(2)], [np.zeros(2)]),
    ("zero-out", TABLE, with_line(TABLE, 0, age=0, name="", income=0.0)),
    ("zero-out", TABLE, with_line(TABLE, 0, age=0, name=None, income=0.0)),
    ("zero-out", pd.Series(["x", "y"], dtype=LETTERS), pd.Series([None, "y"], dtype=LETTERS)),
    ("zero-out", pd.Series([1, 2], dtype="Int64"), pd.Series([1, None], dtype="Int64")),
]  # fmt: skip


@pytest.mark.parametrize(("relation", "d", "d_prime"), NEIGHBOURS)
def test_neighbours_are_accepted_in_either_order(relation, d, d_prime):
    require_neighbours(d, d_prime, relation)
    require_neighbours(d_prime, d, Relation(relation))
    assert len(describe_pair(d, d_prime)) <= 200
    words, none = recognised(d, d_prime)
    assert words.startswith("no relation was given; the pair seems to be ")
    assert relation in words.removeprefix("no relation was given; the pair seems to be ").split(" and ")
    assert not none
    require_pair(d, d_prime, None)


STRANGERS = [
    ("replace-one", ROWS, ROWS.copy(), r"d and d_prime are identical \(4 records\)"),
    ("replace-one", [NAN], [float("nan")], r"identical \(1 record\)"),
    ("replace-one", [0.0], [-0.0], r"identical \(1 record\)"),
    ("replace-one", ROWS, ROWS + 1, r"differ in 4 records \(0, 1, 2, …\), while replace-one allows 1"),
    ("replace-one", [1, 2, 3], [3, 2, 1], r"differ in 2 records \(0, 2\)"),
    ("replace-one", [1, 2], [1], r"d has 2 records and d_prime 1, .* or give relation='add-remove', which"),
    ("replace-one", [1, 2], (1, 3), "d is of type list and d_prime of type tuple; give both the same"),
    ("replace-one", np.ones(2), [1.0, 2.0], "of type array and d_prime of type list"),
    ("replace-one", np.ones(2), np.ones(2, int), "d has dtype float64 and d_prime int64"),
    ("replace-one", ROWS, ROWS[:, :2], r"d.shape=\(4, 3\) and d_prime.shape=\(4, 2\) differ beyond the first"),
    ("replace-one", TABLE, TABLE.rename(columns={"age": "years"}), r"columns \['age', .* d_prime \['years'"),
    ("replace-one", TABLE.rename(columns={"age": "years"}), TABLE, r"columns \['years', .* d_prime \['age'"),
    ("replace-one", TABLE, TABLE.astype({"age": float}), "column 'age' of d has dtype int64"),
    ("replace-one", TABLE, TABLE["age"], "of type table and d_prime of type series"),
    ("replace-one", 3.0, 4.0, "d of type float is not a sequence of records"),
    ("replace-one", np.float64(3.0), np.float64(4.0), "not a sequence of records"),
    ("replace-one", "abc", "abd", "d of type str is not a sequence of records"),
    ("replace-one", {"a": 1}, {"a": 2}, "d of type dict is not a sequence of records"),
    ("replace-one", [1], np.array(2), "d_prime of type ndarray is not a sequence of records"),
    ("replace-all", [1], [2], "relation='replace-all' is unknown; give one of replace-one, add-remove, zero-out"),
    ("add-remove", [1, 2], [1, 3], "d has 2 records and d_prime 2; remove exactly one .*'replace-one'"),
    ("add-remove", [1, 2, 3], [1], "d has 3 records and d_prime 1"),
    ("add-remove", [1, 2, 3], [3, 1], r"d without its record 0 still differs from d_prime in 2 records"),
    ("add-remove", ROWS[1:], with_row(ROWS, 3, 0.0), "d_prime without its record 0 still differs from d in 1 record"),
    ("add-remove", TABLE, with_line(TABLE, 0, age=1).drop(2), "d without its record 0 still differs"),
    ("zero-out", ROWS, with_row(ROWS, 1, [0.0, 0.0, 1.0]), r"record 1 differs .*neither side.*'replace-one'"),
    ("zero-out", ["a"], [0], "on neither side is it zeros"),
    ("zero-out", [(1, 2)], [(0,)], "on neither side is it zeros"),
    ("zero-out", [1.0], [NAN], "on neither side is it zeros"),
    ("zero-out", PEOPLE, with_row(PEOPLE, 1, ("", 0, 1.0)), "on neither side is it zeros"),
    ("zero-out", TABLE, with_line(TABLE, 0, age=0, name=""), "on neither side is it zeros"),
    ("zero-out", ROWS, 0 * ROWS, "differ in 4 records"),
]  # fmt: skip


@pytest.mark.parametrize(("relation", "d", "d_prime", "said"), STRANGERS)
def test_strangers_are_refused_and_told_how_they_differ(relation, d, d_prime, said):
    with pytest.raises(InputError, match=said) as caught:
        require_neighbours(d, d_prime, relation)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) <= 400


DESCRIBED = [
    ([0.0, 0.2], [0.0, 5.0], "replace-one: record 1 of 2: 0.2 -> 5.0"),
    (np.array([[0.2, 1.0]]), np.array([[5.0, 1.0]]), "replace-one: record 0 of 1: [0.2, 1. ] -> [5., 1.]"),
    ([1, 2, 3], [1, 3], "add-remove: record 1 of 3 removed: 2"),
    ([1], [1, "x"], "add-remove: record 1 of 2 added: 'x'"),
    ([1, 2, 3], [4, 2, 4], "2 of 3 records differ: the first, 0: 1 -> 4"),
    ([1, 2, 3], [2, 1], "3 -> 2 records, others of which differ too"),
    ([1, 2, 3], [], "3 -> 0 records"),
    ([1], [1, 2, 3], "1 -> 3 records"),
    ([1], [1], "identical, 1 record"),
    (3.0, 4.0, "3.0 -> 4.0"),
    (TABLE, with_line(TABLE, 0, name="eve"), "replace-one: record 0 of 3: (name='ada', …) -> (name='eve', …)"),
    (PEOPLE, PEOPLE[:2], "add-remove: record 2 of 3 removed: ('cyd', 29, nan)"),
]  # fmt: skip


@pytest.mark.parametrize(("d", "d_prime", "words"), DESCRIBED)
def test_pairs_in_words(d, d_prime, words):
    assert describe_pair(d, d_prime) == words


def test_words_stay_short_for_large_data():
    large = np.arange(2e5).reshape(-1, 1000)
    assert len(describe_pair(large, with_row(large, 150, 0.0))) <= 220
    assert len(describe_pair(["x" * 10_000], ["y" * 10_000, "z"])) <= 220
    assert len(describe_pair(dict.fromkeys(range(1000), "x"), 3)) <= 220


class Plain:
    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("__value",)

    def __init__(self, value):
        self.__value = value


class Listed(list):
    extra = 0


@dataclasses.dataclass
class Record:
    values: np.ndarray


def listed(extra):
    made = Listed([1])
    made.extra = extra
    return made


CHANGED = [
    ([1, 2], [1, 3]),
    ([1.0, NAN], [1.0, 1.0]),
    (np.array([1.0, NAN]), np.array([1.0, 0.0])),
    (np.ones(3), np.ones(3, np.float32)),
    (np.ones((2, 1)), np.ones((1, 2))),
    (np.array([NAN, "a", [1]], dtype=object), np.array([NAN, "a", [2]], dtype=object)),
    (PEOPLE, with_row(PEOPLE, 0, ("ada", 37, 1.5))),
    (list(PEOPLE), list(with_row(PEOPLE, 2, ("cyd", 30, NAN)))),
    (np.ma.array([1, 2], mask=[0, 1]), np.ma.array([1, 2], mask=[0, 0])),
    (TABLE, with_line(TABLE, 0, age=37)),
    (TABLE, TABLE.set_axis([1, 2, 3])),
    (TABLE, TABLE.rename_axis("n")),
    (TABLE, TABLE.astype({"age": "int32"})),
    (TABLE["age"], TABLE["age"].iloc[:2]),
    ({"a": [1], "b": NAN}, {"a": [2], "b": NAN}),
    ({"a": 1}, {"b": 1}),
    ({1, 2}, {1, 3}),
    (Plain([1, NAN]), Plain([1, 2.0])),
    (Slotted(1), Slotted(2)),
    (listed(0), listed(1)),
    (Record(np.array([1.0, NAN])), Record(np.array([2.0, NAN]))),
    (Decimal("NaN"), Decimal(1)),
    ([np.ones(2)], [1.0]),
    ([1.0], [np.ones(1)]),
    (collections.deque([1]), collections.deque([2])),
    ("a", "b"),
    (None, 0),
]  # fmt: skip


@pytest.mark.parametrize(("data", "changed"), CHANGED)
def test_the_guard_sees_changes_and_only_those(data, changed):
    kept = snapshot(data)
    assert same_data(kept, data)
    assert same_data(data, kept)
    assert not same_data(kept, changed)
    assert not same_data(changed, kept)


@pytest.mark.parametrize(
    ("data", "change"),
    [
        ([[1.0, 2.0]], lambda d: d[0].append(3.0)),
        (ROWS.copy(), lambda d: d.sort(axis=0, kind="stable") or d.__setitem__((0, 0), -1.0)),
        (np.array([[1], None], dtype=object), lambda d: d[0].append(1)),
        (TABLE.copy(), lambda d: d.pop("name")),
        (TABLE.copy(), lambda d: d.insert(0, "new", 1)),
        (Plain({"a": {1}}), lambda d: d.value["a"].add(2)),
    ],
)
def test_a_snapshot_does_not_follow_a_change(data, change):
    kept = snapshot(data)
    change(data)
    assert not same_data(kept, data)


def test_data_that_hold_themselves_are_compared():
    cycle = [1]
    cycle.append(cycle)
    kept = snapshot(cycle)
    assert same_data(kept, cycle)
    cycle[0] = 2
    assert not same_data(kept, cycle)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (threading.Lock(), "data set of type lock cannot be copied"),
        ((i for i in range(3)), "data set of type generator cannot be copied"),
        ([object()], "data set of type list does not equal its own copy"),
    ],
)
def test_what_cannot_be_guarded_is_refused(data, said):
    with pytest.raises(InputError, match=said):
        snapshot(data)


def test_a_copy_of_a_read_only_array_is_guarded_too():
    data = np.ones(3)
    data.flags.writeable = False
    kept = snapshot(data)
    kept[0] = 2.0
    assert not same_data(kept, data)


# --- equal data sets ------------------------------------------------------------------------------------------------

EQUAL = [
    (3, 3),
    (None, None),
    (NAN, float("nan")),
    ("text", "text"),
    ({"a": [1.0, NAN]}, {"a": [1.0, float("nan")]}),
    ([], []),
    ([0.0], [0.0]),
    ([[1.0, NAN], ROWS], [[1.0, float("nan")], ROWS.copy()]),
    (ROWS, ROWS.copy()),
    (np.array([NAN, 1.0]), np.array([NAN, 1.0])),
    (PEOPLE, PEOPLE.copy()),
    (np.array(["a"], "U1"), np.array(["a"], "U5")),
    (TABLE, TABLE.copy()),
    (TABLE, TABLE.set_index(np.array([7, 8, 9]))),
    (TABLE["name"], TABLE["name"].copy()),
]


@pytest.mark.parametrize(("d", "d_prime"), EQUAL)
def test_equal_data_sets_are_no_pair(d, d_prime):
    assert equal_data(d, d_prime)
    with pytest.raises(InputError, match="d and d_prime are the same data set.* differ in one record"):
        require_pair(d, d_prime, None)
    with pytest.raises(InputError, match=r"^pairs\[3\]: d and d_prime"):
        require_pair(d, d_prime, None, name="pairs[3]")


@pytest.mark.parametrize(
    ("d", "d_prime"),
    [
        (3, 4),
        (None, 0),
        ([1], [1, 1]),
        ([], None),
        ([[1.0], [2.0]], [[1.0], [2.5]]),
        (ROWS, with_row(ROWS, (0, 0), NAN)),
        (ROWS, ROWS.tolist()),
        (TABLE, with_line(TABLE, 0, age=0)),
        ({"a": 1}, {"a": 2}),
    ],
)
def test_different_data_sets_are_not_taken_for_equal(d, d_prime):
    assert not equal_data(d, d_prime)
    require_pair(d, d_prime, None)


# --- what a pair seems to be where no relation is given -------------------------------------------------------------

STRANGERS = [
    ([0, 0, 0, 0], [1, 2, 3, 4], "all 4 records differ"),
    (ROWS, with_row(ROWS, slice(1, 3), 7.0), "2 of 4 records differ"),
    ([1, 2, 3], [1], "they have 3 and 1 record"),
    ([1], [1, 2, 3], "they have 1 and 3 records"),
    ([1, 2, 3], [4, 5], "they have 3 and 2 records, and differ in more than the one"),
    ([1, 2], (1, 3), "d is of type list and d_prime of type tuple"),
    (np.array([1, 2]), np.array([1.0, 3.0]), "d has dtype int64 and d_prime float64"),
]


@pytest.mark.parametrize(("d", "d_prime", "difference"), STRANGERS)
def test_strangers_are_called_so(d, d_prime, difference):
    assert recognised(d, d_prime) == (
        "no relation was given, and the data sets are not neighbours under replace-one, add-remove or zero-out: "
        + difference,
        True,
    )


@pytest.mark.parametrize(
    ("d", "d_prime", "words"),
    [
        ([1, 2], [1, 3], "no relation was given; the pair seems to be replace-one"),
        ([1, 2], [1, 0], "no relation was given; the pair seems to be replace-one and zero-out"),
        ([1, 2], [1], "no relation was given; the pair seems to be add-remove"),
        (0.0, 1.0, "no relation was given, and none can be seen in data sets of type float"),
        (None, [1], "no relation was given, and none can be seen in data sets of type NoneType and list"),
    ],
)
def test_what_a_pair_seems_to_be(d, d_prime, words):
    assert recognised(d, d_prime) == (words, False)


TABLE = np.array([(0, 0.0)], dtype=[("a", "i4"), ("b", "f8")])
OTHER = np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")])
DAYS = np.array(["2020-01-01"], dtype="datetime64[D]")


@pytest.mark.parametrize(
    ("x", "like"),
    [
        (0, 5),
        (0.0, np.float64(5)),
        (float("nan"), "text"),
        (None, "text"),
        (pd.NaT, 5),
        ("", "text"),
        ([0, 0.0], [1, 2.0]),
        ({"a": 0}, {"a": 5}),
        (np.zeros(2), np.ones(2)),
        (np.zeros(2, dtype=bool), np.ones(2)),
        (TABLE, OTHER),
        (np.array([0, None], dtype=object), np.array([1, "x"], dtype=object)),
        (np.array(["", ""]), np.array(["a", "b"])),
        (np.array(["1970-01-01"], dtype="datetime64[D]"), DAYS),
        (np.array(["NaT"], dtype="datetime64[D]"), DAYS),
    ],
)
def test_what_is_a_zero_of_its_kind(x, like):
    assert _is_null(x, like) is True


@pytest.mark.parametrize(
    ("x", "like"),
    [
        (1, 5),
        (0, "text"),
        (float("nan"), 5),
        ("a", "text"),
        ("", 5),
        ("", [1]),
        ([0], [1, 2]),
        ((0, 0), [1, 2]),
        ([0, 1], [1, 2]),
        ({"a": 0}, 5),
        ({"a": 0}, {"b": 5}),
        ({"a": 1}, {"a": 5}),
        ({0}, {"a": 5}),
        (np.zeros(3), np.ones(2)),
        (np.array([0, 1]), np.ones(2)),
        (OTHER, TABLE),
        (TABLE, OTHER[["b", "a"]]),
        (TABLE, np.ones(1)),
        (np.array([0, 1], dtype=object), np.array([1, 1], dtype=object)),
        (np.array(["", "a"]), np.array(["a", "b"])),
        (np.zeros(1), np.array(["a"])),
        (DAYS, DAYS),
        (np.array(["", ""]), np.ones(2)),
    ],
)
def test_what_is_no_zero_of_its_kind(x, like):
    assert _is_null(x, like) is False
