"""The base of every kind of witness: strict fields, a tag, the two sides of an inequality, and what they decide."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, ClassVar

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Rejected

Sides = tuple[flint.arb, flint.arb, str]
"""The greater side, the smaller one, and the inequality in words."""

ByReading = str | Mapping[str, str]
"""Words about a kind: the same for all its readings, or by reading."""


class Shows(enum.StrEnum):
    """What an accepted certificate does for its reading."""

    CERTIFIES = "certifies"
    REFUTES = "refutes"
    SUPPORTS = "supports"
    """It backs a verdict that proves nothing by itself."""


class Scope(enum.StrEnum):
    """How much of what a verdict needs is in its certificate."""

    COMPUTATION = "computation"
    """The checker computes all of it, over the range that the reading states."""
    ARGUMENT = "argument"
    """The checker computes an inequality; an argument in words leads from it to the reading."""
    SAMPLES = "samples"
    """The checker computes an e-value; that the observations were drawn is shown by drawing them again."""


def kind_of(name: str) -> str:
    """Return the word for a kind of witness: ``StoppingTailViolation`` is ``stopping-tail-violation``."""
    return "".join(f"-{c.lower()}" if c.isupper() else c for c in name).removeprefix("-")


class Witness(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag=kind_of
):
    """A kind of witness: a strict record from which the checker computes what it proves.

    Attributes
    ----------
    claim_id
        The statement that the kind speaks of; empty for evidence, which a statement admits by its null hypotheses.
    readings
        The readings that it speaks of, each with what the kind has to know of it, among it the constant and the end of
        the range that the reading claims: what is weaker is refused. Empty for evidence.
    shows
        What it does for them.
    over
        The range that it covers, for a kind that certifies.
    argument
        What leads in words from the inequality to the reading; empty where there is nothing left to argue.
    """

    claim_id: ClassVar[str] = ""
    readings: ClassVar[Mapping[str, Any]] = {}
    shows: ClassVar[Shows | Mapping[str, Shows]]
    over: ClassVar[ByReading] = ""
    argument: ClassVar[ByReading]

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words, or raise :class:`Rejected`."""
        raise Rejected(
            f"kind={kind_of(type(self).__name__)!r} has no checker; reading={reading!r} stays open"
        )


def shown_by(kind: type[Witness], reading: str) -> Shows:
    """Return what `kind` does for a reading."""
    return kind.shows if isinstance(kind.shows, Shows) else kind.shows[reading]


def in_words(words: ByReading, reading: str) -> str:
    """Return the words about a reading."""
    return words if isinstance(words, str) else words[reading]


def require_declared(kind: type[Witness]) -> None:
    """Refuse a kind that has no checker, or does not say what it shows, over which range, and by which argument.

    Raises
    ------
    Rejected
        In one sentence that names the kind and what it lacks.
    """
    name = f"kind={kind_of(kind.__name__)!r}"
    if kind.sides is Witness.sides:
        raise Rejected(f"{name} has no checker; give {kind.__name__} a method sides")
    for attribute, what in (("shows", "what it shows"), ("argument", "which argument it needs")):
        if not hasattr(kind, attribute):
            raise Rejected(f"{name} does not say {what}; give {kind.__name__} {attribute!r}")
    if not kind.readings or not kind.claim_id:
        raise Rejected(f"{name} speaks of no reading; give {kind.__name__} 'claim_id' and 'readings'")
    for reading in kind.readings:
        try:
            shows, over, _ = (
                shown_by(kind, reading),
                in_words(kind.over, reading),
                in_words(kind.argument, reading),
            )
        except KeyError as missing:
            raise Rejected(
                f"{name} says nothing about reading={missing.args[0]!r} in one of its tables"
            ) from None
        if shows is Shows.CERTIFIES and not over:
            raise Rejected(f"{name} does not say over which range it certifies {reading!r}; give 'over'")
