from __future__ import annotations

import json

import jsonschema
import msgspec
import pytest

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import SCHEMA_VERSION, Verdict
from dpsco_verify.evidence.records_codec import decode, encode
from dpsco_verify.evidence.schema import results_schema, schema_bytes, shipped_schema


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(shipped_schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_shipped_file_is_what_the_records_demand():
    assert shipped_schema() == schema_bytes()


def test_the_comparison_with_the_records_can_fail(monkeypatch):
    monkeypatch.setattr("dpsco_verify.evidence.schema.SCHEMA_VERSION", SCHEMA_VERSION + 1)
    assert shipped_schema() != schema_bytes()


def test_the_schema_names_its_dialect():
    assert results_schema()["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.slow
def test_results_are_valid(validator, plain, nasty):
    for record in (plain, nasty):
        validator.validate(json.loads(encode(record)))


def test_the_top_level_is_the_documented_one(plain):
    document = json.loads(encode(plain))
    assert set(document) >= {
        "schema_version",
        "papers",
        "profile",
        "seed",
        "versions",
        "error_budget",
        "claims",
        "exit_code",
    }
    assert set(document["error_budget"]) == {"total", "spent", "by_claim"}
    assert set(document["papers"][0]) == {"id", "title", "authors", "identifier", "unconfirmed"}
    assert set(document["claims"][0]) >= {
        "paper",
        "id",
        "reference",
        "label",
        "reading",
        "stance",
        "statement",
        "verdict",
        "expected",
        "method",
        "evidence",
        "proof_steps",
        "certificate",
        "seconds",
    }


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(schema_version=SCHEMA_VERSION + 1),
        lambda d: d.update(surprise=1),
        lambda d: d.pop("seed"),
        lambda d: d["claims"][0].update(verdict="proved"),
        lambda d: d["claims"][0].update(seconds=-1),
        lambda d: d["claims"][0]["evidence"]["worst_n"].update(value=[1]),
        lambda d: d["claims"][0]["plots"][0].update(kind="pie"),
    ],
)
def test_what_is_not_a_result_is_invalid(validator, nasty, spoil):
    document = json.loads(encode(nasty))
    spoil(document)
    assert not validator.is_valid(document)


def of_own_mechanisms(record):
    """The record with its findings as those of no paper, one with each verdict that such have."""
    kinds = (Verdict.REFUTED, Verdict.NOT_REFUTED, Verdict.INCONCLUSIVE)
    claims = [
        msgspec.structs.replace(
            record.claims[0],
            paper="",
            reading=f"r{i}",
            verdict=kind,
            expected=Verdict.NOT_REFUTED,
            sharpness=(),
            certificate=None,
        )
        for i, kind in enumerate(kinds)
    ]
    return msgspec.structs.replace(record, papers=(), errata=(), claims=tuple(claims), exit_code=1)


def test_what_is_no_papers_has_the_words_of_audits(validator, plain):
    record = of_own_mechanisms(plain)
    data = encode(record)
    document = json.loads(data)
    validator.validate(document)
    assert [claim["verdict"] for claim in document["claims"]] == ["violated", "not_violated", "undecided"]
    assert {claim["expected"] for claim in document["claims"]} == {"not_violated"}
    assert decode(data) == record
    assert encode(decode(data)) == data
    assert {claim["verdict"] for claim in json.loads(encode(plain))["claims"]}.isdisjoint(
        {"violated", "undecided"}
    )


def test_a_record_of_the_version_before_is_read(plain):
    record = of_own_mechanisms(plain)
    document = json.loads(encode(record)) | {"schema_version": 4}
    for claim, verdict in zip(document["claims"], ("refuted", "not_refuted", "inconclusive"), strict=True):
        claim.update(verdict=verdict, expected="not_refuted")
    assert decode(json.dumps(document).encode()) == record
    for version in (3, SCHEMA_VERSION + 1):
        with pytest.raises(
            InputError, match=f"schema_version={version} is not a version that this program reads"
        ):
            decode(json.dumps(document | {"schema_version": version}).encode())


def test_where_a_constant_of_the_version_before_needs_what_it_does_is_told_in_its_prose(plain):
    document = json.loads(encode(plain)) | {"schema_version": 4}
    constants = [sharpness for claim in document["claims"] for sharpness in claim["sharpness"]]
    constants += [each["sharpness"] for erratum in document["errata"] for each in erratum["constants"]]
    places = {sharpness.pop("at") for sharpness in constants}
    assert len(places) > 1
    read = decode(json.dumps(document).encode())
    found = [sharpness for claim in read.claims for sharpness in claim.sharpness]
    found += [each.sharpness for erratum in read.errata for each in erratum.constants]
    assert {sharpness.at for sharpness in found} <= {"the place told beside it", None}
    assert all((sharpness.at is None) == (sharpness.needed is None) for sharpness in found)
