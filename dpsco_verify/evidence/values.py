"""The parts of evidence: verdicts, quantities and tables.

The records are frozen and strict: a quantity that is not finite (JSON has no word for it), or a table whose rows do
not fit its columns, is refused where it is built. There its figures are rounded as well: the digits beyond the tenth
differ from one kind of processor to another and mean nothing (:mod:`dpsco_verify.evidence.agreement`).
"""

from __future__ import annotations

import decimal
import enum
import math
from typing import Any

import msgspec

from dpsco_verify.errors import InputError, no_truth_value

Scalar = bool | int | float | str | None
"""A cell of a table or the value of a quantity; floats are finite. None stands for "there is none"."""


class Verdict(enum.StrEnum):
    """What a check has shown about one reading of a claim."""

    CERTIFIED = "certified"
    HOLDS_ON_GRID = "holds_on_grid"
    NOT_REFUTED = "not_refuted"
    REFUTED = "refuted"
    ILL_POSED = "ill_posed"
    INCONCLUSIVE = "inconclusive"

    __bool__ = no_truth_value("verdict is Verdict.CERTIFIED")


class AuditVerdict(enum.StrEnum):
    """What an audit from samples has shown about a privacy claim.

    Examples
    --------
    >>> [verdict.value for verdict in AuditVerdict]
    ['violated', 'not_violated', 'undecided']
    >>> AuditVerdict.NOT_VIOLATED.words
    'not violated'
    """

    VIOLATED = "violated"
    NOT_VIOLATED = "not_violated"
    UNDECIDED = "undecided"

    __bool__ = no_truth_value("verdict is AuditVerdict.NOT_VIOLATED")

    @property
    def words(self) -> str:
        """The verdict as a sentence has it."""
        return self.value.replace("_", " ")


class Stance(enum.StrEnum):
    """Where a reading comes from."""

    PRINTED = "printed"
    REPAIR = "repair"
    EXTENSION = "extension"


STANCE_MEANING: dict[Stance, str] = {
    Stance.PRINTED: "the source's words allow it",
    Stance.REPAIR: "the nearest true or well-posed statement, with the smallest change",
    Stance.EXTENSION: "nobody claims it; it shows where the edge is",
}


VERDICT_MEANING: dict[Verdict, str] = {
    Verdict.CERTIFIED: "holds over the whole range that it names: exact or interval arithmetic, with a "
    "closed-form argument where no finite computation reaches",
    Verdict.HOLDS_ON_GRID: "holds, exactly or rigorously, at every point of the stated grid; nothing is said "
    "between the points",
    Verdict.NOT_REFUTED: "a statistical test found no violation; the smallest that it would have found is "
    "stated",
    Verdict.REFUTED: "false: there is a concrete counterexample, with a certificate that an independent "
    "checker accepts",
    Verdict.ILL_POSED: "the text has no meaning in a case that does occur",
    Verdict.INCONCLUSIVE: "not enough evidence either way within this profile's budget",
}


def require_finite(where: str, value: object) -> None:
    """Refuse a float that is not finite; `where` names it in the message."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(
            f"{where}={value!r} is not finite; record finite numbers, or None with a note that says why"
        )


DIGITS = 10
"""The significant digits of a figure in a record."""


def rounded(value: float) -> float:
    """Return the double next to `value` rounded to :data:`DIGITS` significant digits.

    What is rounded stays as it is; so does what would round beyond the largest double.
    """
    shorter = float(f"{value:.{DIGITS - 1}e}")
    return value if math.isinf(shorter) else shorter


def rounded_up(value: float, digits: int) -> float:
    """Return the double next to the least number of so many significant digits that is not below `value`.

    For an upper bound whose last digits are rounding's. The result is not below `value`, which is a double itself.
    """
    context = decimal.Context(prec=digits, rounding=decimal.ROUND_CEILING)
    return float(context.create_decimal_from_float(value))


def _with_rounded_figures(value: Any) -> Any:
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, tuple):
        return tuple(map(_with_rounded_figures, value))
    if isinstance(value, dict):
        return {key: _with_rounded_figures(item) for key, item in value.items()}
    return value


class Figures(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What holds figures of a run: every float in it is rounded to :data:`DIGITS` significant digits."""

    def __post_init__(self) -> None:
        """Round the figures; whoever has more to check does so afterwards."""
        for name in self.__struct_fields__:
            msgspec.structs.force_setattr(self, name, _with_rounded_figures(getattr(self, name)))


class Quantity(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of the evidence: its value, its unit where it has one, and a note where it needs one."""

    value: Scalar
    unit: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        """Refuse a value that is not finite."""
        super().__post_init__()
        require_finite("value", self.value)


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column of a table."""

    name: str
    unit: str | None = None


def columns(*names: str | tuple[str, str]) -> tuple[Column, ...]:
    """Return the columns of a table: names, or pairs of a name and its unit."""
    pairs = (name if isinstance(name, tuple) else (name, None) for name in names)
    return tuple(Column(name=name, unit=unit) for name, unit in pairs)


class Table(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of evidence; each row has one cell a column."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    def __post_init__(self) -> None:
        """Refuse rows that do not fit and cells that are not finite."""
        super().__post_init__()
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"rows[{number}] of table {self.id!r} has {len(row)} cells; it needs {len(self.columns)}"
                )
            for column, cell in zip(self.columns, row, strict=True):
                require_finite(f"rows[{number}][{column.name}] of table {self.id!r}", cell)
