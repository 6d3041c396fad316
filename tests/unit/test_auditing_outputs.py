"""What a mechanism returned, coded: entries, lengths, kinds, fingerprints."""

import json
import math

import numpy as np
import pytest

from dpsco_verify.auditing import AuditVerdict, audit
from dpsco_verify.auditing.floating_point import lowest_bit, trailing_zeros
from dpsco_verify.auditing.outputs import encode, in_order, join
from dpsco_verify.errors import InputError


def test_an_array_of_numbers_is_taken_as_it_is():
    outputs = encode(np.arange(6.0).reshape(3, 2), 3)
    assert outputs.numbers.tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    assert outputs.lengths.tolist() == [2, 2, 2]
    assert outputs.width == 2


def test_outputs_of_many_kinds_are_coded():
    outputs = encode([None, "a", (1.0, None), [2.0, 3.0, 4.0], math.nan, np.array([5.0]), True, 10**400], 8)
    assert outputs.lengths.tolist() == [1, 1, 2, 3, 1, 1, 1, 1]
    assert np.isnan(outputs.numbers[:2, 0]).all()
    assert outputs.numbers[3].tolist() == [2.0, 3.0, 4.0]
    assert math.isinf(outputs.numbers[7, 0])
    assert len(set(outputs.kinds.tolist())) == 8
    assert len(set(outputs.fingerprints.tolist())) == 8


def test_fingerprints_tell_what_is_not_equal_to_the_bit():
    zeros = encode(np.array([0.0, -0.0, np.nextafter(0.0, 1.0), 0.0]), 4).fingerprints
    assert zeros[0] == zeros[3]
    assert len(set(zeros.tolist())) == 3
    rows = encode(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]), 3).fingerprints
    assert rows[0] == rows[2]
    assert rows[0] != rows[1]
    mixed = encode(["1", 1, 1.0, True, b"1", None], 6).fingerprints
    assert len(set(mixed.tolist())) == 6
    nested = encode([(1.0, (2.0,)), ((1.0, 2.0),), (1.0, 2.0)], 3).fingerprints
    assert len(set(nested.tolist())) == 3


def test_fingerprints_do_not_depend_on_the_call():
    whole = encode(np.arange(10.0), 10)
    parts = join(encode(np.arange(4.0), 4), encode(np.arange(4.0, 10.0), 6))
    assert np.array_equal(whole.fingerprints, parts.fingerprints)
    # A list of floats is what the array of these is.
    assert np.array_equal(encode([0.5, 1.5], 2).fingerprints, encode(np.array([0.5, 1.5]), 2).fingerprints)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint64, np.bool_])
def test_fingerprints_are_those_of_the_time_of_the_call_and_of_the_place(dtype):
    buffer = np.arange(12).reshape(6, 2).astype(dtype)
    if dtype in (np.int64, np.uint64):
        buffer[3] = 2**53 + 1  # which no double is
    at_once = encode(buffer.copy(), 6).fingerprints
    parts = [encode(buffer, 6)]
    parts.append(parts[0].take(slice(2, 5)))
    parts.append(join(encode(buffer, 6), encode(np.ones((1, 3)), 1)))
    parts.append(in_order(parts[0], np.array([4, 0])))
    buffer[:] = 0  # a mechanism may use its array again
    for part, rows in zip(parts, (np.arange(6), [2, 3, 4], np.arange(6), [4, 0]), strict=True):
        np.testing.assert_array_equal(part.fingerprints[: len(rows)], at_once[rows])


def test_a_fingerprint_depends_on_no_other_output_of_the_call():
    """Else "some output of this call is None" would be an event, which holds far likelier than a single None."""
    alone = encode([0.5, -0.0], 2).fingerprints
    for beside in (None, "x", True, (1.0,), np.float64(2.0)):
        assert np.array_equal(encode([0.5, -0.0, beside], 3).fingerprints[:2], alone), beside
    # The type of an array is that of its least simple entry.
    assert np.array_equal(
        encode(np.array([3, 2**53]), 2).fingerprints, encode([3.0, 2.0**53], 2).fingerprints
    )
    large = encode(np.array([2**53, 2**53 + 1, -(2**53), -(2**53) - 1]), 4).fingerprints
    assert len(set(large.tolist())) == 4
    assert (
        encode(np.array([7, 2**64 - 1], dtype=np.uint64), 2).fingerprints[0]
        == encode([7.0], 1).fingerprints[0]
    )


def test_an_array_without_axes_is_the_number_that_it_holds():
    numbers = encode([np.array(0.5), np.array(3), np.array(1, dtype=bool), np.array("x"), None], 5)
    plain = encode([0.5, 3, True, "x", None], 5)
    assert np.array_equal(numbers.fingerprints, plain.fingerprints)
    assert numbers.kind_names == plain.kind_names
    assert np.array_equal(numbers.numbers, plain.numbers, equal_nan=True)


def test_join_brings_kinds_and_widths_together():
    joined = join(encode([None, (1.0, 2.0)], 2), encode(["x"], 1))
    assert joined.size == 3
    assert joined.width == 2
    assert [joined.kind_names[k] for k in joined.kinds] == ["None", "tuple of 2 (number)", "string"]
    assert joined.take(slice(2, None)).shown(0) == "'x'"


@pytest.mark.parametrize(
    ("returned", "reason"),
    [
        (np.zeros(3), "shape"),
        (np.float64(1.0), "type"),
        (np.array(1.0), "shape"),
        ([1.0], "returned 1 outputs"),
        ({1: 2}, "type dict"),
        (iter([1.0, 2.0]), "type list_iterator"),
        ([object(), 1.0], "type object"),
        (None, "type NoneType"),
    ],
)
def test_what_is_no_batch_of_outputs_is_refused(returned, reason):
    with pytest.raises(InputError, match=reason):
        encode(returned, 2)


def test_an_output_that_is_too_deep_is_refused():
    deep = 1.0
    for _ in range(20):
        deep = (deep,)
    with pytest.raises(InputError, match="nested"):
        encode([deep], 1)


def test_the_grid_of_a_double_is_seen():
    x = np.array([1.0, 0.5, 3.0, 0.1, 2.0**-1074, 0.0, np.inf, np.nan, -6.0])
    assert lowest_bit(x).tolist()[:5] == [0.0, -1.0, 0.0, -55.0, -1074.0]
    assert np.isnan(lowest_bit(x)[5:8]).all()
    assert lowest_bit(x)[8] == 1.0
    assert trailing_zeros(x).tolist()[:4] == [52.0, 52.0, 51.0, 1.0]
    assert trailing_zeros(x)[5] == 53.0
    assert np.isnan(trailing_zeros(x)[6:8]).all()


def test_the_lowest_bit_agrees_with_exact_rationals():
    from fractions import Fraction

    rng = np.random.default_rng(5)
    x = rng.standard_normal(200) * 2.0 ** rng.integers(-40, 40, size=200)
    for value, bit in zip(x, lowest_bit(x), strict=True):
        multiple = Fraction(value) / Fraction(2) ** int(bit)
        assert multiple.denominator == 1
        assert multiple.numerator % 2 == 1


def test_wide_outputs_are_told_apart_by_every_entry_and_its_place():
    rows = np.tile(np.arange(1000.0), (6, 1))
    rows[1, 500] = np.nextafter(500.0, 501.0)
    rows[2, [3, 900]] = rows[2, [900, 3]]
    rows[3, 0] = -0.0
    rows[4, 999] = np.nan
    prints = encode(rows, 6).fingerprints
    assert len(set(prints.tolist())) == 5
    assert prints[5] == prints[0] == encode(rows[5:].astype(np.float32), 1).fingerprints[0]


@pytest.mark.parametrize(
    ("text", "numbers", "form"),
    [
        ("about -12.5 people, 3 of 4", [-12.5, 3.0, 4.0], "about # people, # of #"),
        ('{"a": 1.5e3, "b": [2, .5]}', [1500.0, 2.0, 0.5], '{"a": #, "b": [#, #]}'),
        ("2024-01-02 03:04", [2024.0, 1.0, 2.0, 3.0, 4.0], "#-#-# #:#"),
        ("2024-01-02T03:04", [2024.0, 1.0, 2.0, 3.0, 4.0], "#-#-#T#:#"),
        ("A total of 12.5. Of 3.", [12.5, 3.0], "A total of #. Of #"),
        ("2.5kg in 10ms, the 3rd, −4 °C", [2.5, 10.0, 3.0, -4.0], "#kg in #ms, the #rd, # °C"),
        ("count_7 १२ １.５", [7.0, 12.0, 1.5], "count_# # #"),
        ("1e400 -1e400 1e-400", [math.inf, -math.inf, 0.0], "# # #"),
        ("user7, version 1.2.3, 3f9e1a, v1.5, nan, inf, 127.0.0.1", [math.nan], None),
    ],
)
def test_numbers_that_are_written_in_a_text_are_entries(text, numbers, form):
    outputs = encode([text], 1)
    np.testing.assert_array_equal(outputs.numbers, [numbers])
    assert outputs.kind_names == ("string" if form is None else f"string {form!r}",)


@pytest.mark.slow
def test_a_number_of_any_length_is_read_at_once():
    """It takes steps in proportion to its length, also where it turns out to be none."""
    digits = "1" * 200_000
    outputs = encode([f"{digits} people", f"{digits}st5", int("1" * 4000) ** 2], 3)
    assert outputs.numbers[:, 0].tolist() == pytest.approx([math.inf, math.nan, math.inf], nan_ok=True)
    assert outputs.shown(2) == "<int, too long to be shown>"


def test_long_forms_are_told_apart():
    first, second = (f"{'so it is ' * 200}{word}: 7" for word in ("yes", "no"))
    outputs = encode([first, second, first], 3)
    assert outputs.kinds[0] == outputs.kinds[2] != outputs.kinds[1]
    assert all(len(name) < 120 for name in outputs.kind_names)


def test_texts_with_the_same_numbers_are_different_outputs():
    outputs = encode(["7", "007", "7.0"], 3)
    assert len(set(outputs.fingerprints.tolist())) == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "form", [lambda x: json.dumps({"count": x, "status": "ok"}), "about {} people".format]
)
def test_too_little_noise_shows_in_a_text_too(form):
    def told(scale):
        def mechanism(data, size, rng):
            return [form(x) for x in (len(data) + rng.laplace(scale=scale, size=size)).tolist()]

        return audit(mechanism, [1.0, 2.0], [1.0], epsilon=1.0, samples=2500).verdict

    assert told(0.4) is AuditVerdict.VIOLATED
    assert told(1.0) is not AuditVerdict.VIOLATED
