"""Records to bytes and back: the content of ``results.json``.

One record has one encoding: UTF-8, two spaces a level, the fields in the order of the records, the keys of every
mapping sorted, a newline at the end. ``encode(decode(data)) == data`` for all `data` that :func:`encode` gave.
"""

from __future__ import annotations

import msgspec
import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.comparison import ComparisonRecord
from dpsco_verify.evidence.records import SCHEMA_VERSION, AuditRecord


def _plain(value: object) -> bool | int | float:
    """Return the Python number that equals a NumPy scalar; a run must not be lost for one that slipped in."""
    if isinstance(value, np.bool_ | np.integer | np.float64):
        return value.item()
    # Other floats are refused: the records could not check at construction that they are finite.
    raise TypeError(f"a value of type {type(value).__name__} has no place in a record")


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=_plain)
_decoder = msgspec.json.Decoder(AuditRecord, strict=True)


class _VersionOnly(msgspec.Struct, frozen=True):
    """The one field that every version of the record has."""

    schema_version: int


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def encode(record: AuditRecord) -> bytes:
    """Return the one encoding of `record`.

    Raises
    ------
    InputError
        If a field holds a value that its type does not allow (constructors do not check types): no invalid
        ``results.json`` can be written.
    """
    try:
        # Read back under the strict rules: that checks all types, and makes floats of ints where floats belong.
        checked = _decoder.decode(_encoder.encode(record))
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"record={type(record).__name__} cannot be stored: {_one_line(error)}; fix the field that it names"
        ) from error
    _require_version(checked.schema_version)
    return msgspec.json.format(_encoder.encode(checked), indent=2) + b"\n"


def encode_comparison(record: ComparisonRecord) -> bytes:
    """Return a comparison in the same form, for a comparison by itself."""
    return msgspec.json.format(_encoder.encode(record), indent=2) + b"\n"


def decode(data: bytes) -> AuditRecord:
    """Return the record that `data` encodes; unknown fields, wrong types and other versions are refused.

    Raises
    ------
    InputError
        In one line, with the place in the document.
    """
    try:
        # The version first: a record of another version would fail at some field, with a misleading message.
        _require_version(msgspec.json.decode(data, type=_VersionOnly).schema_version)
        return _decoder.decode(data)
    except InputError:
        raise
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(
            f"results={len(data)} bytes are not a record of a run: {_one_line(error)}; give a results.json that an "
            "audit has written"
        ) from error


def _require_version(found: int) -> None:
    if found != SCHEMA_VERSION:
        raise InputError(
            f"schema_version={found} is not the version that this program reads; give a record of version "
            f"{SCHEMA_VERSION}"
        )
