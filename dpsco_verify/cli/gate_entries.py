"""``dpsco-verify gate``: the gate that its options, or a file, describe."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpsco_verify.choices import CANARY_ERROR
from dpsco_verify.cli.gate_optimiser import OF_AN_OPTIMISER, optimiser_of
from dpsco_verify.cli.gate_words import option_name
from dpsco_verify.errors import InputError

if TYPE_CHECKING:
    from dpsco_verify.gating.config import GateConfig

_OF_THE_RUN = ("error_budget", "seed", "profile")
OF_A_VERDICT = (
    "epsilon",
    "rho",
    "mu",
    "renyi_alpha",
    "renyi_epsilon",
    "epsilon_of_interest",
    "multiple_of_interest",
    "expect",
)
OF_CANARIES = ("canaries", "method", "family", "guesses")


def gate_of_options(mechanism: str | None, settings: dict[str, Any]) -> GateConfig:
    """Return the gate that the options describe.

    Raises
    ------
    UsageError
        For options that do not go together.
    """
    from dpsco_verify.gating.config import GateConfig
    from dpsco_verify.gating.entries import AuditEntry

    if settings.pop("optimiser"):
        optimiser = optimiser_of(mechanism, settings, _OF_THE_RUN)
        return GateConfig(optimiser=(optimiser,), **_of_the_run(settings))
    for name in OF_AN_OPTIMISER:
        if settings.pop(name) not in {None, ()}:
            raise click.UsageError(f"--{name} is for --optimiser")
    if settings["canaries"] is not None:
        return _of_canaries(settings)
    for name in OF_CANARIES:
        if settings.pop(name) is not None:
            raise click.UsageError(f"--{name} is for --canaries")
    if not settings["pair"]:
        raise click.UsageError("give at least one --pair")
    given = {name: value for name, value in settings.items() if name not in _OF_THE_RUN and value is not None}
    seeded = not given.pop("unseeded")
    entry = AuditEntry(mechanism=mechanism, seeded=seeded, **given)
    return GateConfig(audit=(entry,), **_of_the_run(settings))


def _of_canaries(settings: dict[str, Any]) -> GateConfig:
    """Return the gate of one audit by canaries."""
    import msgspec

    from dpsco_verify.gating.config import GateConfig
    from dpsco_verify.gating.entries import CanaryEntry

    of_the_entry = {*OF_A_VERDICT, *OF_CANARIES, "delta", "name"} - {"canaries"}
    for name, value in settings.items():
        if name not in {*of_the_entry, *_OF_THE_RUN, "canaries"} and value not in (None, False, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} does not fit --canaries")
    given = {name: settings[name] for name in of_the_entry if settings[name] is not None}
    entry = msgspec.convert({"scores": settings["canaries"], **given}, type=CanaryEntry)
    return GateConfig(canaries=(entry,), **{"error_budget": CANARY_ERROR, **_of_the_run(settings)})


def gate_from_file(path: Path, settings: dict[str, Any]) -> GateConfig:
    """Return the gate that a file describes, with the settings of the run that were given in its place.

    Raises
    ------
    InputError
        For a bad file, or an option that belongs into it.
    """
    import msgspec

    from dpsco_verify.gating.config import load_config

    for name, value in settings.items():
        if name not in _OF_THE_RUN and value not in (None, False, ()):
            raise InputError(
                f"{option_name(name)} cannot be combined with --config={str(path)!r}; set it in that file"
            )
    return msgspec.structs.replace(load_config(path), **_of_the_run(settings))


def _of_the_run(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: settings[name] for name in _OF_THE_RUN if settings[name] is not None}
