"""The guarantees of a gate: load the functions that they name, and check them at their shares of the budget."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from dpsco_verify import guarantees
from dpsco_verify.auditing.program import Program
from dpsco_verify.errors import InputError
from dpsco_verify.gating.entries import GuaranteeEntry
from dpsco_verify.gating.load import load_object
from dpsco_verify.guarantees import GuaranteeResult
from dpsco_verify.guarantees.optimiser import OptimiserReport, check_optimiser

GUARANTEES: Mapping[str, Callable[..., GuaranteeResult | OptimiserReport]] = MappingProxyType(
    {
        **{
            name: getattr(guarantees, name)
            for name in guarantees.__all__
            if inspect.isfunction(getattr(guarantees, name))
        },
        "check_optimiser": check_optimiser,
    }
)
"""All guarantees by their names."""

_OF_THE_GATE = ("alpha", "seed", "time_limit", "name", "progress")
_DRAWS = ("mean_at_most", "mean_at_least", "tail_at_most", "quantile_at_most")
"""What a program can be asked: it draws observations, for the data set null."""


@dataclass(frozen=True, kw_only=True)
class PlannedGuarantee:
    """A guarantee with what it names, loaded before anything is drawn; `alpha` is None where no level is spent."""

    entry: GuaranteeEntry
    id: str
    reading: str
    subject: Any
    arguments: Mapping[str, Any]
    alpha: float | None
    seed: int

    @property
    def key(self) -> str:
        """Its name."""
        return f"{self.id}/{self.reading}"

    def check(self) -> GuaranteeResult | OptimiserReport:
        """Check it.

        Raises
        ------
        InputError
            For an argument that it refuses, and for a function that cannot be judged.
        """
        options = dict(self.arguments)
        if self.alpha is not None:
            options["alpha"] = self.alpha
        subject = self.subject
        with ExitStack() as stack:
            if isinstance(subject, Program):
                stack.enter_context(subject)
                if self.entry.kind in _DRAWS:
                    subject = _drawn_by(subject)
            try:
                return GUARANTEES[self.entry.kind](
                    subject,
                    **options,
                    seed=self.seed,
                    time_limit=self.entry.time_limit,
                    name=self.entry.title,
                )
            except InputError as error:
                raise type(error)(f"{self.entry.kind} of {self.entry.title!r}: {error}") from None


def spends_level(entry: GuaranteeEntry) -> bool:
    """Return whether a guarantee is judged by a test with a level."""
    return "alpha" in inspect.signature(_guarantee(entry)).parameters


def load_guarantee(
    entry: GuaranteeEntry, *, id_: str, reading: str, alpha: float | None, seed: int
) -> PlannedGuarantee:
    """Return a guarantee with its function and its arguments, of which ``module:name`` stands for an object.

    Raises
    ------
    InputError
        If it names nothing, or an argument that the guarantee does not take.
    """
    if (entry.function is None) == (entry.command is None):
        raise InputError(
            f"function={entry.function!r} and command={entry.command!r} of {entry.kind} do not name one function; give "
            "one of the two"
        )
    parameters = list(inspect.signature(_guarantee(entry)).parameters.values())[1:]
    known = [one.name for one in parameters if one.name not in _OF_THE_GATE]
    for name in entry.arguments:
        if name not in known:
            raise InputError(
                f"arguments.{name}={entry.arguments[name]!r} is not an argument of {entry.kind}; give some of "
                f"{', '.join(known)}"
            )
    missing = [one.name for one in parameters if one.default is one.empty and one.name not in entry.arguments]
    if missing:
        raise InputError(
            f"arguments={entry.arguments!r} of {entry.kind} lack {', '.join(missing)}; give all of these"
        )
    if entry.command is None:
        subject: Any = load_object("function", entry.function or "")
    elif entry.kind in (*_DRAWS, "check_optimiser"):
        subject = Program(entry.command, time_limit=entry.time_limit, seeded=entry.seeded)
    else:
        raise InputError(
            f"command={entry.command!r} cannot be asked for {entry.kind}; name a Python function, or check one of "
            f"{', '.join((*_DRAWS, 'check_optimiser'))}"
        )
    return PlannedGuarantee(
        entry=entry,
        id=id_,
        reading=reading,
        subject=subject,
        arguments={name: _loaded(name, value) for name, value in entry.arguments.items()},
        alpha=alpha,
        seed=seed,
    )


def _guarantee(entry: GuaranteeEntry) -> Callable[..., Any]:
    if entry.kind not in GUARANTEES:
        raise InputError(f"kind={entry.kind!r} is unknown; give one of {', '.join(sorted(GUARANTEES))}")
    return GUARANTEES[entry.kind]


def _loaded(name: str, value: Any) -> Any:
    if isinstance(value, str) and ":" in value:
        return load_object(name, value)
    if name == "inputs" and isinstance(value, list):
        return tuple(value)
    return value


def _drawn_by(program: Program) -> Callable[[int, np.random.Generator], Any]:
    def draw(size: int, rng: np.random.Generator) -> Any:
        return program(None, size, rng)

    return draw
