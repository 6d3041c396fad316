from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import SCHEMA_VERSION, Quantity, Series, Verdict
from dpsco_verify.evidence.records_codec import decode, encode


def test_decoding_undoes_encoding(plain, nasty):
    for record in (plain, nasty):
        data = encode(record)
        assert decode(data) == record
        assert encode(decode(data)) == data


def test_the_encoding_is_readable_and_the_same_for_every_order_of_keys(plain):
    data = encode(plain)
    assert data.endswith(b"}\n")
    assert data.count(b"\n") > 50
    versions = dict(reversed(plain.versions.items()))
    assert list(versions) != list(plain.versions)
    assert encode(msgspec.structs.replace(plain, versions=versions)) == data
    # The comparison sees a difference where there is one.
    assert encode(msgspec.structs.replace(plain, versions=versions | {"python": "4"})) != data


def test_text_is_utf8_and_not_escaped(nasty):
    assert "ε̃ ‖·‖".encode() in encode(nasty)


def test_numpy_scalars_that_slip_in_are_stored_exactly(make_finding, make_record):
    evidence = {
        "float": Quantity(value=np.float64(0.1)),
        "int": Quantity(value=np.int64(3)),
        "bool": Quantity(value=np.bool_(True)),  # noqa: FBT003  the value is the point
        "whole": Quantity(value=1.0),
    }
    found = make_finding("a", "b", Verdict.CERTIFIED, None, evidence=evidence)
    stored = decode(encode(make_record([found]))).claims[0].evidence
    assert [stored[k].value for k in ("float", "int", "bool", "whole")] == [0.1, 3, True, 1.0]
    assert [type(stored[k].value) for k in ("float", "int", "bool", "whole")] == [float, int, bool, float]


def test_integers_in_the_place_of_floats_have_one_encoding(make_finding, make_record, make_line_plot):
    series = Series(name="s", x=(1, 2), y=(3, 4))
    plot = msgspec.structs.replace(make_line_plot(), series=(series,))
    data = encode(make_record([make_finding("a", "b", Verdict.CERTIFIED, None, plots=(plot,))]))
    assert encode(decode(data)) == data


@pytest.mark.parametrize("value", [np.float32(0.1), [1], object(), 1j])
def test_a_value_of_a_wrong_type_is_refused_before_anything_is_written(make_finding, make_record, value):
    found = make_finding("a", "b", Verdict.CERTIFIED, None, evidence={"x": Quantity(value=value)})
    with pytest.raises(InputError, match=r"^record=[^\n]*$"):
        encode(make_record([found]))


def test_a_lone_surrogate_is_refused(make_finding, make_record):
    with pytest.raises(InputError, match=r"^[^\n]*surrogates[^\n]*$"):
        encode(make_record([make_finding("a", "b", Verdict.CERTIFIED, None, summary="\ud800")]))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(schema_version=SCHEMA_VERSION + 1),
        lambda d: d.update(schema_version="1"),
        lambda d: d.update(surprise=1),
        lambda d: d.pop("seed"),
        lambda d: d["claims"][0].update(verdict="proved"),
        lambda d: d["claims"][0].update(seconds=-1.0),
        lambda d: d["claims"][0]["tables"][0]["rows"][0].pop(),
        lambda d: d["claims"][0]["evidence"]["worst_n"].update(value=[1]),
    ],
)
def test_what_is_not_a_record_is_refused_in_one_line(plain, spoil):
    document = json.loads(encode(plain))
    spoil(document)
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        decode(json.dumps(document).encode())


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"schema_version": 1}'])
def test_what_is_not_json_or_no_object_is_refused_in_one_line(data):
    with pytest.raises(InputError, match=r"^[^\n]+$"):
        decode(data)


def test_another_version_is_named(plain):
    with pytest.raises(InputError, match=f"schema_version={SCHEMA_VERSION + 1}"):
        decode(
            encode(plain).replace(
                b'"schema_version": %d' % SCHEMA_VERSION, b'"schema_version": %d' % (SCHEMA_VERSION + 1), 1
            )
        )
