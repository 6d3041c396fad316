"""The base of every kind of witness: strict fields, a tag, and the two sides of an inequality."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import flint
import msgspec

from dpsco_verify.evidence.checker.arithmetic import Rejected

Sides = tuple[flint.arb, flint.arb, str]
"""The greater side, the smaller one, and the inequality in words."""


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
        The statement that the kind speaks of; empty for evidence that can speak of any.
    readings
        The readings that it speaks of, each with what the kind has to know of it; empty for any.
    """

    claim_id: ClassVar[str] = ""
    readings: ClassVar[Mapping[str, Any]] = {}

    def sides(self, reading: str) -> Sides:
        """Return the two sides and the inequality in words, or raise :class:`Rejected`."""
        raise Rejected(
            f"kind={kind_of(type(self).__name__)!r} has no checker; reading={reading!r} stays open"
        )
