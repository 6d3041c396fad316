"""Expectations: which verdict each reading of a paper is expected to get, and why; a committed file for each paper."""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Finding, Verdict

_FILE = "expectations.toml"
_HEADER = """\
# Which verdict each reading of each claim is expected to get, and why.
# `dpsco-verify audit` fails when a verdict differs from its entry here, in either direction.
"""


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The verdict that one reading is expected to get."""

    id: str
    reading: str
    expected: Verdict
    why: str

    @property
    def key(self) -> str:
        """The claim's name, ``id/reading``."""
        return f"{self.id}/{self.reading}"


class _Expectations(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    claim: tuple[Expectation, ...]


def package_expectations(package: str) -> Mapping[str, Expectation]:
    """Return the expectations by claim key that a paper's package ships in ``expectations.toml``."""
    return load_expectations(Path(str(resources.files(package) / _FILE)))


def load_expectations(path: Path) -> Mapping[str, Expectation]:
    """Return the expectations in a file, by claim key.

    Raises
    ------
    InputError
        For a file that cannot be read, is not TOML, has unknown fields or verdicts, or names a reading twice.
    """
    try:
        found = _parse(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"expectations={str(path)!r} cannot be read ({error.strerror}); give a readable file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise InputError(
            f"expectations={str(path)!r} is not a valid file of expectations ({error}); give [[claim]] tables of id, "
            "reading, expected and why"
        ) from None
    expectations: dict[str, Expectation] = {}
    for entry in found.claim:
        if entry.key in expectations:
            raise InputError(f"expectations={str(path)!r} names {entry.key!r} twice; keep one entry")
        expectations[entry.key] = entry
    return expectations


def require_complete(
    expectations: Mapping[str, Expectation], keys: Sequence[str], *, where: str
) -> Mapping[str, Expectation]:
    """Return `expectations` if they name all the claims `keys` and no other.

    Raises
    ------
    InputError
        In one sentence that names `where` and the first reading that is unknown or missing.
    """
    if unknown := [key for key in expectations if key not in keys]:
        raise InputError(
            f"expectations={where!r} names {unknown[0]!r}, which is not a reading of these papers; remove the entry"
        )
    if missing := [key for key in keys if key not in expectations]:
        raise InputError(f"expectations={where!r} says nothing about {missing[0]!r}; add an entry")
    return expectations


def updated(
    expectations: Mapping[str, Expectation], findings: Iterable[Finding], order: Sequence[str]
) -> dict[str, Expectation]:
    """Return the expectations with the verdicts of `findings`, in the order of the claim keys `order`.

    An entry whose verdict stays keeps its reason; a new or changed one gets the finding's summary for one. Entries of
    readings that were not verified stay, unless `order` does not know them any more.
    """
    new = dict(expectations)
    for finding in findings:
        old = expectations.get(finding.key)
        if old is None or old.expected is not finding.verdict:
            why = " ".join(finding.summary.split())
            new[finding.key] = Expectation(
                id=finding.id, reading=finding.reading, expected=finding.verdict, why=why
            )
    return {key: new[key] for key in order if key in new}


def save_expectations(expectations: Mapping[str, Expectation], path: Path) -> None:
    """Write `expectations` to `path`, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    entries = (
        "\n[[claim]]\n"
        + "".join(f"{name} = {_string(value)}\n" for name, value in msgspec.to_builtins(e).items())
        for e in expectations.values()
    )
    text = _HEADER + "".join(entries)
    if _parse(text).claim != tuple(expectations.values()):
        raise InputError(
            f"expectations={str(path)!r} would not read back as it was written; nothing was written"
        )
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".expectations-", suffix=".toml")
        os.close(handle)
        beside = Path(name)
        try:
            beside.write_text(text, encoding="utf-8")
            beside.chmod(path.stat().st_mode if path.exists() else 0o644)
            beside.replace(path)
        except OSError:
            beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(
            f"expectations={str(path)!r} cannot be written ({error.strerror}); give a writable file"
        ) from None


def _parse(text: str) -> _Expectations:
    tree: dict[str, Any] = tomllib.loads(text)
    return msgspec.convert(tree, type=_Expectations, strict=True)


def _string(value: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped as well.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
