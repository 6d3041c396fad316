"""``dpsco-verify gate --optimiser``: its options, and the gate that they describe."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpsco_verify.cli.completion import problem_ids

if TYPE_CHECKING:
    from dpsco_verify.gating.entries import GuaranteeEntry, OptimiserEntry

C = TypeVar("C", bound=Callable[..., Any])

OF_AN_OPTIMISER = ("risk", "losses", "problems", "sizes")
"""The options that no other audit takes."""

_ALSO = ("command", "epsilon", "delta", "samples", "time_limit", "expect", "name", "unseeded")
_REPEATED = ("losses", "problems", "sizes")


def optimiser_options(command: C) -> C:
    """Add the options of an optimiser to a command."""
    for option in reversed(
        (
            click.option(
                "--optimiser",
                is_flag=True,
                help="Hold a private optimiser to its claims on the bank of hard problems instead (see below).",
            ),
            click.option("--risk", metavar="MODULE:BOUND", help="The excess risk that an optimiser claims."),
            click.option(
                "--losses", multiple=True, metavar="LOSS", help="A loss that it is for; repeatable."
            ),
            click.option(
                "--problems",
                multiple=True,
                metavar="ID",
                shell_complete=problem_ids,
                help="A problem of the bank for it; repeatable.",
            ),
            click.option(
                "--sizes", multiple=True, type=click.IntRange(min=1), help="A number of points; repeatable."
            ),
        )
    ):
        command = option(command)
    return command


def optimiser_of(
    function: str | None, settings: Mapping[str, Any], of_the_run: tuple[str, ...]
) -> OptimiserEntry:
    """Return the optimiser that the options describe.

    Raises
    ------
    UsageError
        If an option does not fit.
    """
    from dpsco_verify.gating.entries import OptimiserEntry

    known = {*OF_AN_OPTIMISER, *_ALSO}
    for name, value in settings.items():
        if name not in {*known, *of_the_run} and value not in (None, False, ()):
            raise click.UsageError(f"--{name.replace('_', '-')} does not fit --optimiser")
    given = {name: settings[name] for name in known if settings[name] not in (None, ())}
    return OptimiserEntry(function=function, seeded=not given.pop("unseeded"), **given)


def words_of(entry: GuaranteeEntry) -> Iterator[str]:
    """Yield the words of the command that checks an optimiser again, but for the settings of the run."""
    if entry.function is not None:
        yield entry.function
    yield "--optimiser"
    options = {
        "command": entry.command,
        **entry.arguments,
        "name": entry.name,
        "time-limit": entry.time_limit,
        "expect": entry.expect,
    }
    for name, value in options.items():
        for one in value if name in _REPEATED else (value,):
            if one is not None:
                yield from (f"--{name}", str(one))
    if not entry.seeded:
        yield "--unseeded"
