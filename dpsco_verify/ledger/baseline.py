"""The committed baseline ``claims.toml``: which verdict each reading is expected to get, and why."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.records import Verdict


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
    source = path if path is not None else resources.files("dpsco_verify.ledger") / "claims.toml"
    try:
        tree: dict[str, Any] = tomllib.loads(source.read_text(encoding="utf-8"))
        baseline = msgspec.convert(tree, type=_Baseline, strict=True)
    except OSError as error:
        raise InputError(
            f"baseline={str(source)!r} cannot be read ({error.strerror}); give a readable file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise InputError(
            f"baseline={str(source)!r} is no baseline ({error}); see dpsco_verify/ledger/claims.toml"
        ) from None
    expectations: dict[str, Expectation] = {}
    for entry in baseline.claim:
        if entry.key in expectations:
            raise InputError(f"baseline={str(source)!r} names {entry.key!r} twice; keep one entry")
        expectations[entry.key] = entry
    return expectations
