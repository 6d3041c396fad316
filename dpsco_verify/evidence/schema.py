"""The JSON Schema of ``results.json``, generated from the records and shipped beside this file.

Any program can validate a report with the shipped file alone. A test holds the file and the records together;
``python -m dpsco_verify.evidence.schema`` prints what the file must hold.
"""

from __future__ import annotations

import importlib.resources
import sys
from typing import Any

import msgspec

from dpsco_verify.evidence.records import SCHEMA_VERSION, AuditRecord
from dpsco_verify.evidence.records_codec import OWN_WORDS
from dpsco_verify.evidence.values import Verdict

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_FILE = "results.schema.json"


def results_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of an encoded :class:`AuditRecord`."""
    generated = msgspec.json.schema(AuditRecord)
    _take_own_words(generated["$defs"])
    # A validator that knows version n must refuse version n + 1, so the version is a constant of the schema.
    generated["$defs"]["AuditRecord"]["properties"]["schema_version"] = {"const": SCHEMA_VERSION}
    return {
        "$schema": DIALECT,
        "$id": f"urn:dpsco-verify:results:{SCHEMA_VERSION}",
        "title": "Results of a run of dpsco-verify",
        **generated,
    }


def _take_own_words(definitions: dict[str, Any]) -> None:
    """Let verdicts of findings be also what they are called of what is no paper's."""
    words = [verdict.value for verdict in Verdict] + [word.value for word in OWN_WORDS.values()]
    definitions["FindingVerdict"] = {"title": "FindingVerdict", "enum": sorted(words)}
    plain, own = ({"$ref": f"#/$defs/{name}"} for name in ("Verdict", "FindingVerdict"))
    properties = definitions["Finding"]["properties"]
    for name in ("verdict", "expected"):
        kept = properties[name]
        alternatives = [own if one == plain else one for one in kept.get("anyOf", [kept])]
        properties[name] = kept | {"anyOf": alternatives} if "anyOf" in kept else own


def schema_bytes() -> bytes:
    """Return the content of the shipped schema file as the records demand it now."""
    return msgspec.json.format(msgspec.json.encode(results_schema()), indent=2) + b"\n"


def shipped_schema() -> bytes:
    """Return the content of the schema file that the package ships."""
    return importlib.resources.files("dpsco_verify.evidence").joinpath(SCHEMA_FILE).read_bytes()


if __name__ == "__main__":
    sys.stdout.buffer.write(schema_bytes())
