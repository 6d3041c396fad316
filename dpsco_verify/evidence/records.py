"""The record of a run: what was claimed, what was computed, what follows.

``results.json`` is the encoding of :class:`AuditRecord`, and every other report format is made from it alone.
The records are frozen and strict: a quantity that is not finite (JSON has no word for it), or a table whose
rows do not fit its columns, is refused where it is built.
"""

from __future__ import annotations

import enum
import math
from typing import Annotated

import msgspec

from dpsco_verify.errors import InputError

SCHEMA_VERSION = 1

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


def _require_finite(where: str, value: object) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(
            f"{where}={value!r} is not finite; record finite numbers, or None with a note that says why"
        )


class Quantity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure of the evidence: its value, its unit where it has one, and a note where it needs one."""

    value: Scalar
    unit: str | None = None
    note: str | None = None

    def __post_init__(self) -> None:
        """Refuse a value that is not finite."""
        _require_finite("value", self.value)


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column of a table."""

    name: str
    unit: str | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of evidence; each row has one cell a column."""

    id: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Scalar, ...], ...]

    def __post_init__(self) -> None:
        """Refuse rows that do not fit and cells that are not finite."""
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"rows[{number}] of table {self.id!r} has {len(row)} cells; it needs {len(self.columns)}"
                )
            for column, cell in zip(self.columns, row, strict=True):
                _require_finite(f"rows[{number}][{column.name}] of table {self.id!r}", cell)


class SeriesStyle(enum.StrEnum):
    """How a series is drawn."""

    LINE = "line"
    BOUND = "bound"
    POINTS = "points"


class Series(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One curve: equally long x and y, and an interval [low, high] at each point where there is one."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    style: SeriesStyle = SeriesStyle.LINE

    def __post_init__(self) -> None:
        """Refuse lengths that differ and numbers that are not finite."""
        for name, values in (("y", self.y), ("low", self.low), ("high", self.high)):
            if values is not None and len(values) != len(self.x):
                raise InputError(
                    f"len({name})={len(values)} of series {self.name!r} differs from len(x)={len(self.x)}; "
                    "make them equal"
                )
        for name, values in (("x", self.x), ("y", self.y), ("low", self.low), ("high", self.high)):
            for value in values or ():
                _require_finite(f"{name} of series {self.name!r}", value)


class Scale(enum.StrEnum):
    """The scale of an axis."""

    LINEAR = "linear"
    LOG = "log"


class Axis(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An axis: its label (with the unit) and its scale."""

    label: str
    scale: Scale = Scale.LINEAR


class LinePlot(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="lines"
):
    """Curves, points with intervals, and bounds over one x axis."""

    id: str
    title: str
    caption: str
    x_axis: Axis
    y_axis: Axis
    series: tuple[Series, ...]


class MapPanel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One panel of a map: ``values[i][j]`` belongs to ``y[i]`` and ``x[j]``; None where nothing is known."""

    title: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    values: tuple[tuple[float | None, ...], ...]

    def __post_init__(self) -> None:
        """Refuse a shape that does not fit and numbers that are not finite."""
        if len(self.values) != len(self.y) or any(len(row) != len(self.x) for row in self.values):
            raise InputError(
                f"values of panel {self.title!r} do not fit; give {len(self.y)} rows of {len(self.x)} values"
            )
        for row in self.values:
            for value in row:
                _require_finite(f"values of panel {self.title!r}", value)


class MapPlot(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="map"
):
    """A map over two parameters, one panel for each value of a third.

    `level` is the value at which the claim turns: above it the claim fails, below it holds. Colours are
    drawn on a logarithmic scale around the level, with the level as a contour line.
    """

    id: str
    title: str
    caption: str
    x_axis: Axis
    y_axis: Axis
    value_label: str
    level: float
    panels: tuple[MapPanel, ...]

    def __post_init__(self) -> None:
        """Refuse a level that a logarithmic scale cannot show."""
        _require_finite(f"level of plot {self.id!r}", self.level)
        if self.level <= 0:
            raise InputError(
                f"level={self.level!r} of plot {self.id!r} is not positive; give a level above 0"
            )


Plot = LinePlot | MapPlot


class ProofStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One inequality that a proof uses, checked by itself."""

    id: str
    statement: str
    verdict: Verdict
    evidence: dict[str, Quantity] = msgspec.field(default_factory=dict)


class Finding(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the ledger found about one reading of one claim; ``expected`` comes from the baseline."""

    id: str
    title: str
    reference: str
    label: str
    reading: str
    reading_text: str
    statement: str
    verdict: Verdict
    expected: Verdict | None
    summary: str
    method: str
    evidence: dict[str, Quantity]
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()
    counterexample: str | None = None
    proof_steps: tuple[ProofStep, ...] = ()
    certificate: str | None = None
    reproduce: str
    seconds: Annotated[float, msgspec.Meta(ge=0)]

    @property
    def key(self) -> str:
        """The name of the claim and its reading, as the command line takes it: ``id/reading``."""
        return f"{self.id}/{self.reading}"

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the baseline's (a reading without a baseline is not)."""
        return self.verdict == self.expected


class BudgetRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The error budget: the probability that anything in the run alarms falsely, and where it was spent."""

    total: float
    spent: float
    by_claim: dict[str, float]

    def __post_init__(self) -> None:
        """Refuse levels that are not finite, and a budget that is overspent."""
        for name, value in (("total", self.total), ("spent", self.spent), *self.by_claim.items()):
            _require_finite(f"error budget {name}", value)
        if self.spent > self.total:
            raise InputError(
                f"spent={self.spent!r} exceeds total={self.total!r}; an error budget is not overdrawn"
            )


class Paper(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document under verification."""

    title: str
    authors: tuple[str, ...]
    identifier: str


class AuditRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole run."""

    schema_version: int
    paper: Paper
    profile: str
    seed: int
    versions: dict[str, str]
    error_budget: BudgetRecord
    claims: tuple[Finding, ...]
    exit_code: int
    seconds: float
