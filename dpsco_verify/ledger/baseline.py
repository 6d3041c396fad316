"""The committed baseline ``claims.toml``: which verdict each reading is expected to get, and why."""

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

_HEADER = """\
# The baseline: which verdict each reading of each claim is expected to get, and why.
# The gate (`dpsco-verify audit`) fails when a verdict differs from its entry here, in either direction.
"""


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry of the baseline."""

    id: str
    reading: str
    expected: Verdict
    why: str

    @property
    def key(self) -> str:
        """The claim's name, ``id/reading``."""
        return f"{self.id}/{self.reading}"


class _Baseline(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    claim: tuple[Expectation, ...]


def load_baseline(path: Path | None = None) -> Mapping[str, Expectation]:
    """Return the expectations by claim key, from `path` or from the package's own ``claims.toml``.

    Raises
    ------
    InputError
        For a file that cannot be read, is no TOML, has unknown fields or verdicts, or names a reading twice.
    """
    source = path if path is not None else package_baseline()
    try:
        baseline = _parse(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"baseline={str(source)!r} cannot be read ({error.strerror}); give a readable file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError, RecursionError) as error:
        raise InputError(
            f"baseline={str(source)!r} is no baseline ({error}); see dpsco_verify/ledger/claims.toml"
        ) from None
    expectations: dict[str, Expectation] = {}
    for entry in baseline.claim:
        if entry.key in expectations:
            raise InputError(f"baseline={str(source)!r} names {entry.key!r} twice; keep one entry")
        expectations[entry.key] = entry
    return expectations


def package_baseline() -> Path:
    """Return the path of the package's own ``claims.toml``."""
    return Path(str(resources.files("dpsco_verify.ledger") / "claims.toml"))


def updated(
    baseline: Mapping[str, Expectation], findings: Iterable[Finding], order: Sequence[str]
) -> dict[str, Expectation]:
    """Return the baseline with the verdicts of `findings`, in the order of the claim keys `order`.

    An entry whose verdict stays keeps its reason; a new or changed one gets the finding's summary for one. Entries of
    readings that were not verified stay, unless `order` does not know them any more.
    """
    new = dict(baseline)
    for finding in findings:
        old = baseline.get(finding.key)
        if old is None or old.expected is not finding.verdict:
            why = " ".join(finding.summary.split())
            new[finding.key] = Expectation(
                id=finding.id, reading=finding.reading, expected=finding.verdict, why=why
            )
    return {key: new[key] for key in order if key in new}


def save_baseline(baseline: Mapping[str, Expectation], path: Path) -> None:
    """Write `baseline` to `path`, whole or not at all.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    entries = (
        "\n[[claim]]\n"
        + "".join(f"{name} = {_string(value)}\n" for name, value in msgspec.to_builtins(e).items())
        for e in baseline.values()
    )
    text = _HEADER + "".join(entries)
    if _parse(text).claim != tuple(baseline.values()):
        raise InputError(f"baseline={str(path)!r} would not read back as it was written; nothing was written")
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".claims-", suffix=".toml")
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
            f"baseline={str(path)!r} cannot be written ({error.strerror}); give a writable file"
        ) from None


def _parse(text: str) -> _Baseline:
    tree: dict[str, Any] = tomllib.loads(text)
    return msgspec.convert(tree, type=_Baseline, strict=True)


def _string(value: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped as well.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
