from __future__ import annotations

import json

import jsonschema
import pytest

from dpsco_verify.evidence import SCHEMA_VERSION
from dpsco_verify.evidence.records_codec import encode
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
