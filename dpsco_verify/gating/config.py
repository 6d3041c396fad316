"""The configuration of a gate: its settings and its audits, from a file or from the command line.

The file is ``dpsco.toml``, with the table ``[gate]`` and one ``[[gate.audit]]`` an audit; in ``pyproject.toml`` the
same stands under ``[tool.dpsco-verify]``. Both are read strictly: an unknown key is an error, and never a setting
without effect.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from dpsco_verify.choices import DEFAULT_PROFILE, ERROR_BUDGET, SAMPLES, Profile
from dpsco_verify.errors import InputError
from dpsco_verify.gating.entries import AuditEntry, CanaryEntry, GuaranteeEntry, OptimiserEntry


class GateConfig(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A gate: the error budget of all that it judges, the seed, the profile, the audits and the other guarantees."""

    error_budget: Annotated[float, Meta(gt=0, lt=1)] = ERROR_BUDGET
    seed: Annotated[int, Meta(ge=0)] = 0
    profile: Profile = DEFAULT_PROFILE
    audit: tuple[AuditEntry, ...] = ()
    canaries: tuple[CanaryEntry, ...] = ()
    guarantee: tuple[GuaranteeEntry, ...] = ()
    optimiser: tuple[OptimiserEntry, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a gate that judges nothing."""
        if not (self.audit or self.canaries or self.guarantee or self.optimiser):
            raise InputError(
                "audit=[], canaries=[], guarantee=[] and optimiser=[]: the gate has no audits; give at least one"
            )

    @property
    def guarantees(self) -> tuple[GuaranteeEntry, ...]:
        """The guarantees of other kinds than privacy, and after them the optimisers."""
        return (*self.guarantee, *(entry.as_guarantee() for entry in self.optimiser))

    def samples(self, entry: AuditEntry) -> int:
        """Return how many outputs a data set the audit may draw."""
        return entry.samples if entry.samples is not None else SAMPLES[self.profile]


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    gate: GateConfig


def load_config(path: Path) -> GateConfig:
    """Return the gate that a file describes.

    Raises
    ------
    InputError
        If it cannot be read, is not valid TOML, or has unknown, missing or unusable keys.
    """
    try:
        tree: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(
            f"config={str(path)!r} cannot be read ({error.strerror}); give a TOML file"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise InputError(f"config={str(path)!r} is not valid TOML ({_line(error)}); fix it") from None
    where = ""
    if path.name == "pyproject.toml":
        where = " under [tool.dpsco-verify]"
        tools = tree.get("tool")
        tree = tools.get("dpsco-verify", {}) if isinstance(tools, dict) else {}
    try:
        config = msgspec.convert(tree, type=_File, strict=True).gate
    except msgspec.ValidationError as error:
        raise InputError(
            f"config={str(path)!r} does not describe a gate{where}: {_line(error)}; see `dpsco-verify gate --help`"
        ) from None
    return config


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
