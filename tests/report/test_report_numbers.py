from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsco_verify.evidence import Quantity
from dpsco_verify.reporting.numbers import GROUP, count, format_quantity, format_scalar, format_seconds

_DIGITS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")


def read_back(text):
    mantissa, _, exponent = text.replace(GROUP, "").partition("×10")
    return float(mantissa.translate(_DIGITS)) * 10.0 ** int(exponent.translate(_DIGITS) or "0")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (True, "yes"),
        (False, "no"),
        ("a|b", "a|b"),
        (0, "0"),
        (9999, "9999"),
        (12345, "12\u202f345"),
        (-1234567, "−1\u202f234\u202f567"),
        (2**200, "1.6069×10⁶⁰"),
        (10**20, "1×10²⁰"),
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.5, "0.5"),
        (1 / 3, "0.33333"),
        (0.9999999, "1.0000"),
        (1.2564312086, "1.2564"),
        (123456.789, "123\u202f457"),
        (-2.5, "−2.5"),
        (1e-6, "1×10⁻⁶"),
        (0.1, "0.1"),
        (0.0001, "0.0001"),
        (3.2123456e-7, "3.2123×10⁻⁷"),
        (1e6, "1×10⁶"),
        (999999.7, "1.0000×10⁶"),
        (5e-324, "4.9407×10⁻³²⁴"),
        (1.7976931348623157e308, "1.7977×10³⁰⁸"),
    ],
)
def test_numbers_read_as_people_write_them(value, text):
    assert format_scalar(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(2, 9))
def test_the_text_is_the_number_to_its_digits(value, digits):
    text = format_scalar(value, digits=digits)
    if 1e-300 < abs(value) < 1e300:
        assert read_back(text) == pytest.approx(value, rel=0.6 * 10.0 ** (1 - digits))
    assert len(re.findall(r"\d", text.partition("×")[0].replace("0.", "").lstrip("0"))) <= max(digits + 4, 7)


@given(st.floats(1e-4, 1e5))
def test_a_rounded_number_never_looks_exact(value):
    text = format_scalar(value)
    if read_back(text) != value:
        shown = text.replace(GROUP, "").replace(".", "").lstrip("0")
        assert len(shown) >= 5


@given(st.integers(-(10**15) + 1, 10**15 - 1))
def test_integers_are_whole(value):
    assert int(format_scalar(value).replace(GROUP, "").translate(_DIGITS)) == value


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "< 0.01 s"),
        (0.04, "0.04 s"),
        (9.999, "10.0 s"),
        (12.34, "12.3 s"),
        (59.99, "1 min 00 s"),
        (245.0, "4 min 05 s"),
        (3599.6, "1 h 00 min"),
        (7800.0, "2 h 10 min"),
    ],
)
def test_durations(seconds, text):
    assert format_seconds(seconds) == text


def test_units_and_plurals():
    assert format_quantity(Quantity(value=2, unit="nats")) == "2 nats"
    assert format_quantity(Quantity(value=None)) == "—"
    assert (count(1, "claim"), count(2, "claim"), count(0, "is", "are")) == ("1 claim", "2 claims", "0 are")
