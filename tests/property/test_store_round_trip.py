"""Any nesting of plain data comes back from the store as it was; any bytes are a value or told to be damaged."""

from __future__ import annotations

import contextlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dpsco_verify.store.codec import DamagedValueError, decode, encode

pytestmark = pytest.mark.slow  # the everyday part has two minutes


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(2**300), max_value=2**300)
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters(codec="utf-8"))
    | st.binary()
    | st.fractions()
)
HASHABLE = st.recursive(
    SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=4), max_leaves=6
)
ARRAYS = arrays.arrays(
    dtype=arrays.boolean_dtypes()
    | arrays.integer_dtypes(endianness="?")
    | arrays.floating_dtypes(endianness="?")
    | arrays.complex_number_dtypes(),
    shape=arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
VALUES = st.recursive(
    HASHABLE | ARRAYS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=4)
    ),
    max_leaves=20,
)


def same(a, b):
    """Tell whether two values are the same, NaN being NaN of the same bits."""
    if type(a) is not type(b):
        return False
    match a:
        case np.ndarray():
            return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        case float():
            alike = struct.pack("d", a) == struct.pack("d", b)
        case complex():
            alike = same((a.real, a.imag), (b.real, b.imag))
        case tuple() | list():
            alike = len(a) == len(b) and all(map(same, a, b))
        case dict():
            alike = same(list(a.items()), list(b.items()))
        case frozenset():
            alike = encode(a) == encode(b) and len(a) == len(b)
        case _:
            alike = a == b
    return alike


@given(VALUES)
def test_a_value_comes_back_as_it_was(value):
    data = encode(value)
    back = decode(data)
    assert same(back, value)
    assert encode(back) == data


@given(VALUES, st.data())
def test_a_changed_byte_is_another_value_or_told(value, data):
    """The checksum of a row finds it; here nothing but the error for damaged bytes may come of it."""
    content = bytearray(encode(value))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(DamagedValueError):
        decode(bytes(content))


@given(st.binary())
def test_any_bytes_are_a_value_or_told(content):
    with contextlib.suppress(DamagedValueError):
        encode(decode(content))
