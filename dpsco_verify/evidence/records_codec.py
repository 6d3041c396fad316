"""Records to bytes and back: the content of ``results.json``.

One record has one encoding: UTF-8, two spaces a level, the fields in the order of the records, the keys of every
mapping sorted, a newline at the end. ``encode(decode(data)) == data`` for all `data` that :func:`encode` gave.

A finding of no paper is an audit or a guarantee of the user's own, whose verdicts are the words that these have
everywhere: ``violated``, ``not_violated``, ``undecided``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
import numpy as np

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.comparison import ComparisonRecord
from dpsco_verify.evidence.records import SCHEMA_VERSION, AuditRecord
from dpsco_verify.evidence.values import AuditVerdict, Verdict

OWN_WORDS: Mapping[Verdict, AuditVerdict] = {
    Verdict.REFUTED: AuditVerdict.VIOLATED,
    Verdict.NOT_REFUTED: AuditVerdict.NOT_VIOLATED,
    Verdict.INCONCLUSIVE: AuditVerdict.UNDECIDED,
}
"""What the verdicts on what is no paper's are called in a record."""

_WRITTEN = {verdict.value: word.value for verdict, word in OWN_WORDS.items()}
_READ = {word: verdict for verdict, word in _WRITTEN.items()}
_OLDEST = 4
"""Version 4 has other words here, and says in prose alone where a constant needs what it does."""


def _plain(value: object) -> bool | int | float:
    """Return the Python number that equals a NumPy scalar; a run must not be lost for one that slipped in."""
    if isinstance(value, np.bool_ | np.integer | np.float64):
        return value.item()
    # Other floats are refused: the records could not check at construction that they are finite.
    raise TypeError(f"a value of type {type(value).__name__} has no place in a record")


_encoder = msgspec.json.Encoder(order="deterministic", enc_hook=_plain)
_decoder = msgspec.json.Decoder(AuditRecord, strict=True)


class _Head(msgspec.Struct, frozen=True):
    """The one field that every version of the record has; and whether it is about papers."""

    schema_version: int
    papers: list[msgspec.Raw] = []


def _in_words(data: bytes, words: Mapping[str, str]) -> bytes:
    """Return a record with other words for the verdicts of findings of no paper."""
    tree: dict[str, Any] = msgspec.json.decode(data)
    for finding in tree.get("claims", ()):
        if isinstance(finding, dict) and finding.get("paper") == "":
            said = {name: finding.get(name) for name in ("verdict", "expected")}
            finding |= {name: words.get(word, word) for name, word in said.items() if isinstance(word, str)}
    return msgspec.json.encode(tree)


def _give_places(item: object) -> None:
    """Let what a constant needs have a place in a record of version 4: where its prose says."""
    if isinstance(item, dict):
        if {"holds_with", "needed"} <= item.keys():
            item.setdefault("at", "the place told beside it")
        for value in item.values():
            _give_places(value)
    elif isinstance(item, list):
        for value in item:
            _give_places(value)


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
    _require_version(checked.schema_version, oldest=SCHEMA_VERSION)
    encoded = _encoder.encode(checked)
    if not checked.papers:
        encoded = _in_words(encoded, _WRITTEN)
    return msgspec.json.format(encoded, indent=2) + b"\n"


def encode_comparison(record: ComparisonRecord) -> bytes:
    """Return a comparison in the same form, for a comparison by itself."""
    return msgspec.json.format(_encoder.encode(record), indent=2) + b"\n"


def decode(data: bytes) -> AuditRecord:
    """Return the record that `data` encodes, as one of this version; unknown fields and wrong types are refused.

    Raises
    ------
    InputError
        In one line, with the place in the document.
    """
    try:
        # The version first: a record of another version would fail at some field, with a misleading message.
        head = msgspec.json.decode(data, type=_Head)
        _require_version(head.schema_version, oldest=_OLDEST)
        if head.schema_version == _OLDEST:
            tree = msgspec.json.decode(data)
            _give_places(tree)
            data = msgspec.json.encode(tree)
        record = _decoder.decode(data if head.papers else _in_words(data, _READ))
        return msgspec.structs.replace(record, schema_version=SCHEMA_VERSION)
    except InputError:
        raise
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise InputError(
            f"results={len(data)} bytes are not a record of a run: {_one_line(error)}; give a results.json that an "
            "audit has written"
        ) from error


def _require_version(found: int, *, oldest: int) -> None:
    if not oldest <= found <= SCHEMA_VERSION:
        versions = " or ".join(str(version) for version in range(oldest, SCHEMA_VERSION + 1))
        raise InputError(
            f"schema_version={found} is not a version that this program reads; give a record of version {versions}"
        )
