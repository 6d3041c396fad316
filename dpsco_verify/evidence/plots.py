"""Plots as data: what is drawn, without a word on how. A number that is not finite is refused where it is built."""

from __future__ import annotations

import enum

import msgspec

from dpsco_verify.errors import InputError
from dpsco_verify.evidence.values import Figures, require_finite, rounded


class SeriesStyle(enum.StrEnum):
    """How a series is drawn."""

    LINE = "line"
    BOUND = "bound"
    POINTS = "points"


class Series(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One curve: equally long x and y, and an interval [low, high] at each point where there is one."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] | None = None
    high: tuple[float, ...] | None = None
    style: SeriesStyle = SeriesStyle.LINE

    def __post_init__(self) -> None:
        """Refuse lengths that differ and numbers that are not finite."""
        super().__post_init__()
        for name, values in (("y", self.y), ("low", self.low), ("high", self.high)):
            if values is not None and len(values) != len(self.x):
                raise InputError(
                    f"len({name})={len(values)} of series {self.name!r} differs from len(x)={len(self.x)}; "
                    "make them equal"
                )
        for name, values in (("x", self.x), ("y", self.y), ("low", self.low), ("high", self.high)):
            for value in values or ():
                require_finite(f"{name} of series {self.name!r}", value)


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
    """One panel of a map: ``values[i][j]`` belongs to ``y[i]`` and ``x[j]``; None where nothing is known.

    The plot rounds the figures, as it knows the level.
    """

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
                require_finite(f"values of panel {self.title!r}", value)


class MapPlot(Figures, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="map"):
    """A map over two parameters, one panel for each value of a third.

    `level` is the value at which the claim turns: above it the claim fails, below it holds. Colours are
    drawn on a logarithmic scale around the level, with the level as a contour line. A value that would be rounded to
    the level, or beyond it, keeps all its digits: on which side it lies is what the map says.
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
        super().__post_init__()
        require_finite(f"level of plot {self.id!r}", self.level)
        if self.level <= 0:
            raise InputError(
                f"level={self.level!r} of plot {self.id!r} is not positive; give a level above 0"
            )
        panels = (
            msgspec.structs.replace(
                panel,
                x=tuple(map(rounded, panel.x)),
                y=tuple(map(rounded, panel.y)),
                values=tuple(tuple(map(self._on_its_side, row)) for row in panel.values),
            )
            for panel in self.panels
        )
        msgspec.structs.force_setattr(self, "panels", tuple(panels))

    def _on_its_side(self, value: float | None) -> float | None:
        if value is None:
            return None
        shorter = rounded(value)
        return (
            shorter
            if (shorter > self.level, shorter < self.level) == (value > self.level, value < self.level)
            else value
        )


class LinePanel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One panel of curves."""

    title: str
    series: tuple[Series, ...]


class PanelPlot(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind", tag="panels"
):
    """Many curves in panels with the same axes; the `references` are drawn in each, so that panels compare.

    The axes show the points of the panels' own series; a reference may leave them.
    """

    id: str
    title: str
    caption: str
    x_axis: Axis
    y_axis: Axis
    panels: tuple[LinePanel, ...]
    references: tuple[Series, ...] = ()


Plot = LinePlot | MapPlot | PanelPlot
