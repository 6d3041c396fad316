"""Values to bytes and back: exact, and harmless whatever the bytes."""

from __future__ import annotations

import enum
import functools
import math
import pickle
import struct
import sys
import types
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import msgspec
import numpy as np
import pytest

from dpsco_verify.store import codec
from dpsco_verify.store.codec import DamagedValueError, decode, encode
from dpsco_verify.store.tree import NotDataError, to_bytes

PLACE = "dpsco_verify.test_store_records"


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Number(enum.IntEnum):
    ONE = 1


class Sides(enum.Flag):
    LEFT = 1
    RIGHT = 2


class Pair(NamedTuple):
    first: int
    second: str


class Record(msgspec.Struct, frozen=True):
    x: float
    y: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Point:
    x: float
    colour: Colour = Colour.RED
    rest: tuple[object, ...] = ()
    hidden: int = field(default=3, init=False)

    def __post_init__(self):
        if math.isnan(self.x):
            raise ValueError("made with NaN")

    @functools.cached_property
    def double(self):
        return 2 * self.x


@dataclass(frozen=True, slots=True)
class Slotted:
    x: int


class Plain:
    x = 1


CLASSES = (Colour, Number, Sides, Pair, Record, Point, Slotted, Plain)


@pytest.fixture(autouse=True)
def records(monkeypatch):
    """Put the classes of this file where the reader looks for records: into a module of the package."""
    module = types.ModuleType(PLACE)
    for kind in CLASSES:
        monkeypatch.setattr(kind, "__module__", PLACE)
        setattr(module, kind.__name__, kind)
    module.borrowed = Fraction
    monkeypatch.setitem(sys.modules, PLACE, module)
    codec._class.cache_clear()
    yield module
    codec._class.cache_clear()


def same(a, b):
    """Tell whether two values are the same down to the bits of their doubles and the types of everything."""
    if type(a) is not type(b):
        return False
    if isinstance(a, float) and not isinstance(a, np.generic):
        return struct.pack("d", a) == struct.pack("d", b)
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return a == b


NAN_WITH_A_MESSAGE = struct.unpack("d", struct.pack("Q", 0x7FF8_0000_DEAD_BEEF))[0]

VALUES = [
    *(None, True, False, 0, -1, 2**63 - 1, -(2**63), 2**63, -(2**200), 10**5000),
    *(0.0, -0.0, 0.1, 5e-324, math.inf, -math.inf, math.nan, NAN_WITH_A_MESSAGE),
    *("", "δ\u0000\U0001f600", b"", b"\x00\xff", complex(-0.0, math.inf)),
    *((), (1, (2.0, "x")), [], [[1], (1,)], {}, {(1, "a"): [1.0], 2: None, "z": {}, "a": 1}),
    *(set(), {1, 2, "x"}, frozenset({(1, 2), 3.0}), Fraction(-7, 3), Fraction(2**100, 3)),
    *(Colour.BLUE, Number.ONE, Sides.LEFT, Sides.LEFT | Sides.RIGHT, Pair(1, "b"), Slotted(4)),
    *(Record(0.1, (1, 2)), Point(x=-0.0, rest=(Point(x=1.0),)), [Point(x=2.0, colour=Colour.BLUE)] * 2),
    *(
        np.float64(0.1),
        np.float32(0.1),
        np.int64(-3),
        np.uint8(3),
        np.bool_(1),
        np.complex128(1j),
        np.str_("ab"),
    ),
    *(np.datetime64("2026-01-01"), np.zeros(0), np.zeros((3, 0, 2)), np.array(1.5), np.array(["a", "bc"])),
    *(np.arange(6, dtype=np.int32).reshape(2, 3), np.arange(4, dtype=">f8"), np.array([b"x", b"yz"])),
    *(
        np.array([math.nan, -0.0, NAN_WITH_A_MESSAGE]),
        np.ones((2, 2), dtype=bool),
        np.array(["2026"], dtype="M8[D]"),
    ),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_comes_back_as_it_was(value):
    data = encode(value)
    back = decode(data)
    assert same(back, value)
    assert encode(back) == data


def test_arrays_keep_their_order_in_memory_and_can_be_written_to():
    for array in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3))):
        back = decode(encode(array))
        assert np.array_equal(back, array)
        assert back.flags.f_contiguous == array.flags.f_contiguous
        assert back.flags.writeable
    strided = np.arange(12.0).reshape(3, 4)[:, ::2]
    assert np.array_equal(decode(encode(strided)), strided)


def test_the_order_of_a_mapping_is_kept_and_that_of_a_set_does_not_matter():
    assert encode({"b": 1, "a": 2}) != encode({"a": 2, "b": 1})
    assert encode({"b", "a", "c"}) == encode({"c", "b", "a"})


def test_types_that_compare_equal_are_told_apart():
    values = [1, 1.0, True, np.int64(1), np.float64(1.0), Fraction(1), Number.ONE, "1", b"1", (1,), [1]]
    assert len({encode(value) for value in values}) == len(values)


def test_what_a_cached_property_has_kept_is_no_part_of_a_record():
    point = Point(x=1.5)
    before = encode(point)
    assert point.double == 3.0
    assert encode(point) == before
    assert decode(before) == point


def itself():
    value = []
    value.append(value)
    return value


def with_more():
    point = Point(x=1.0)
    object.__setattr__(point, "more", 1)
    return point


UNFIT = {
    "a function": len,
    "a lambda": lambda: 1,
    "a class": Point,
    "an object": object(),
    "an instance of a plain class": Plain(),
    "a generator": np.random.default_rng(0),
    "an array of objects": np.array([1, None]),
    "a structured array": np.zeros(2, dtype=[("a", "f8")]),
    "a subclass of a number": type("Length", (float,), {})(1.0),
    "a partial": functools.partial(max, 1),
    "a file": sys.stdout,
    "itself": itself(),
    "a record with more than its fields": with_more(),
    "text that is none": "\ud800",
    "a function in a record": Point(x=1.0, rest=(len,)),
}


@pytest.mark.parametrize("what", UNFIT)
def test_what_is_no_data_is_refused(what):
    with pytest.raises(NotDataError):
        encode([UNFIT[what]])


def test_the_refusal_says_where():
    with pytest.raises(NotDataError, match=r"builtin_function_or_method is not plain data, in Point\.rest"):
        encode({"a": [Point(x=1.0, rest=(len,))]})


def test_a_record_of_another_package_is_refused(monkeypatch):
    monkeypatch.setattr(Point, "__module__", "elsewhere")
    with pytest.raises(NotDataError, match="cannot be found again"):
        encode(Point(x=1.0))


def test_a_record_that_is_not_found_under_its_name_is_refused(records):
    del records.Slotted
    with pytest.raises(NotDataError, match="cannot be found again"):
        encode(Slotted(1))


DAMAGED = {
    "nothing": b"",
    "no MessagePack": b"\xc1",
    "more than one value": encode(1) + encode(2),
    "a map": msgspec.msgpack.encode({"a": 1}),
    "an unknown tag": to_bytes(["evil", 1]),
    "no tag": to_bytes([1]),
    "an empty list": to_bytes([]),
    "a tag that is a tree": to_bytes([["list"], 1]),
    "a pickle": pickle.dumps(1),
    "a class of another package": to_bytes(["dataclass", "fractions:Fraction", ["_numerator", 1]]),
    "a function of the system": to_bytes(["dataclass", "os:system", ["command", "true"]]),
    "a module of the package that there is not": to_bytes(["dataclass", "dpsco_verify.nothing:X"]),
    "a borrowed name": to_bytes(["dataclass", f"{PLACE}:borrowed"]),
    "a name with a way out": to_bytes(["dataclass", f"{PLACE}.os:system"]),
    "a class that is no record": to_bytes(["dataclass", f"{PLACE}:Plain"]),
    "an enumeration as a record": to_bytes(["dataclass", f"{PLACE}:Colour"]),
    "a record without a field": to_bytes(["dataclass", f"{PLACE}:Slotted"]),
    "a record with another field": to_bytes(["dataclass", f"{PLACE}:Slotted", ["y", 1]]),
    "a member that there is not": to_bytes(["enum", f"{PLACE}:Colour", "GREEN", "green"]),
    "a member with another value": to_bytes(["enum", f"{PLACE}:Colour", "RED", "blue"]),
    "a member with a value of another type": to_bytes(["enum", f"{PLACE}:Number", "ONE", True]),
    "a pair of three": to_bytes(["namedtuple", f"{PLACE}:Pair", 1, "a", 2]),
    "a fraction over nothing": to_bytes(["fraction", 1, 0]),
    "a fraction of text": to_bytes(["fraction", "1", "2"]),
    "an array of objects": to_bytes(["array", "|O", [1], "C", b"\x00" * 8]),
    "an array of another size": to_bytes(["array", "<f8", [3], "C", b"\x00" * 8]),
    "an array of a negative size": to_bytes(["array", "<f8", [-1], "C", b"\x00" * 8]),
    "an enormous array": to_bytes(["array", "<f8", [2**40], "C", b""]),
    "an array in no order": to_bytes(["array", "<f8", [1], "A", b"\x00" * 8]),
    "an array of text bytes": to_bytes(["array", "<f8", [1], "C", "00000000"]),
    "two scalars": to_bytes(["scalar", "<f8", b"\x00" * 16]),
    "an unhashable key": to_bytes(["dict", [["list"], 1]]),
    "an unhashable member": to_bytes(["set", ["list"]]),
    "a key alone": to_bytes(["dict", [1]]),
    "an integer that is none": to_bytes(["int", "one"]),
    "an integer of the wrong type": to_bytes(["int", 1]),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_bytes_are_told(what):
    with pytest.raises(DamagedValueError):
        decode(DAMAGED[what])


def test_a_cut_is_told_wherever_it_is():
    data = encode([Point(x=1.0), np.arange(3.0), {"a": Fraction(1, 3)}])
    for end in range(len(data)):
        with pytest.raises(DamagedValueError):
            decode(data[:end])


def test_deep_nesting_is_told_and_does_not_break_anything():
    with pytest.raises(DamagedValueError):
        decode(b"\x92\xa4list" * 100_000)


def test_reading_runs_no_code_of_the_record():
    """A record's own checks ran when it was made; the reader sets its fields and calls nothing."""
    data = to_bytes(
        ["dataclass", f"{PLACE}:Point", ["x", math.nan], ["colour", None], ["rest", ["tuple"]], ["hidden", 0]]
    )
    assert math.isnan(decode(data).x)
