"""Many curves in small panels with the same axes, so that each can be told from its neighbours and compared."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_verify.evidence import Axis, PanelPlot, Scale, Series, SeriesStyle
from dpsco_verify.reporting.drawing.curves import (
    Curve,
    beside,
    decade_ticks,
    limits,
    notes,
    plain_ticks,
    visible,
)
from dpsco_verify.reporting.drawing.style import (
    INK,
    MARKERS,
    MUTED,
    SERIES,
    WIDTH,
    as_is,
    at_inches,
    axes_at,
    drawable,
    label_axes,
    legend_name,
    new_figure,
)
from dpsco_verify.reporting.numbers import count

_COLUMNS = 2
_REFERENCE_LINES = ("-", (0, (4, 2)), (0, (1, 2)), (0, (6, 1.5, 1, 1.5)))

_Ends = tuple[tuple[float, float], tuple[float, float]]

# Inches.
_WHOLE = WIDTH + 1.4
_LEFT = 0.7
_GAP_X = 0.6
_HEIGHT = 1.75
_TITLE = 0.3
_TICKS = 0.3
_LABEL = 0.22
_ENTRY = 0.17


def draw_panels(plot: PanelPlot) -> Figure:
    """Return the figure of `plot`, its panels two beside each other, the names of the curves below each."""
    width = (_WHOLE - (_COLUMNS - 1) * _GAP_X) / _COLUMNS
    rows = [plot.panels[k : k + _COLUMNS] for k in range(0, len(plot.panels), _COLUMNS)]
    entries = [max(sum(1 + _name(s).count("\n") for s in panel.series) for panel in row) for row in rows]
    heights = [_TITLE + _HEIGHT + _TICKS + _LABEL + _ENTRY * number for number in entries]
    figure = new_figure(_WHOLE + 1.0, sum(heights) + 1.4)
    top = figure.get_figheight() - 0.5
    as_is(
        figure.text(
            *at_inches(figure, _LEFT, top),
            drawable(plot.title, width=76),
            fontsize=10,
            va="bottom",
            ha="left",
        )
    )
    references = [visible(series, plot.x_axis, plot.y_axis) for series in plot.references]
    curves = [[visible(series, plot.x_axis, plot.y_axis) for series in panel.series] for panel in plot.panels]
    shown = [curve for panel in curves for curve in panel] or references
    x_ends, y_ends = _ends(shown, plot.x_axis, plot.y_axis)
    handles: list[Artist] = []
    for number, panel in enumerate(plot.panels):
        row, column = divmod(number, _COLUMNS)
        bottom = top - sum(heights[:row]) - _TITLE - _HEIGHT
        axes = axes_at(figure, _LEFT + column * (width + _GAP_X), bottom, width, _HEIGHT)
        label_axes(axes, plot.x_axis, plot.y_axis, width=34)
        axes.set_xlim(*x_ends)
        axes.set_ylim(*y_ends)
        # Ticks are most of what a small panel costs, in time and in bytes.
        if plot.y_axis.scale is Scale.LOG:
            decade_ticks(axes.yaxis, y_ends)
        if plot.x_axis.scale is Scale.LOG:
            decade_ticks(axes.xaxis, x_ends)
            plain_ticks(axes, shown)
        if column:
            axes.set_ylabel("")
            axes.tick_params(labelleft=False)
        as_is(axes.set_title(drawable(panel.title, width=38), fontsize=9, loc="left", y=1.01))
        handles = [_draw_reference(axes, curve, k) for k, curve in enumerate(references)]
        steps = np.arange(len(panel.series)) - (len(panel.series) - 1) / 2
        own = [
            _draw(axes, beside(axes, curve, plot.x_axis.scale, 1.5 * steps[k]), series.style, k)
            for k, (series, curve) in enumerate(zip(panel.series, curves[number], strict=True))
        ]
        _legend(axes, own, [_name(series) for series in panel.series], below=_TICKS + _LABEL, font=8.0)
    _foot(figure, top - sum(heights), plot, references, handles, curves, (x_ends, y_ends))
    return figure


def _name(series: Series) -> str:
    return drawable(series.name, width=42, lines=2)


def _ends(curves: Sequence[Curve], x_axis: Axis, y_axis: Axis) -> _Ends:
    """Return the ends of both axes: all points are shown; an interval may run to the edge."""
    everything: list[tuple[float, float]] = []
    for values, axis in (([c.x for c in curves], x_axis), ([c.y for c in curves], y_axis)):
        everything.append(limits(np.concatenate(values) if values else np.array([]), axis.scale))
    return everything[0], everything[1]


def _outside(curve: Curve, ends: _Ends) -> int:
    inside = [(low <= v) & (v <= high) for v, (low, high) in zip((curve.x, curve.y), ends, strict=True)]
    return int((~(inside[0] & inside[1])).sum())


def _draw(axes: Axes, curve: Curve, style: SeriesStyle, number: int) -> Artist:
    colour, marker = SERIES[number % len(SERIES)], MARKERS[number % len(MARKERS)]
    _bars(axes, curve, colour)
    return axes.plot(
        curve.x,
        curve.y,
        color=colour,
        linewidth=2.2 if style is SeriesStyle.BOUND else 1.4,
        linestyle="none" if style is SeriesStyle.POINTS else "-",
        marker=marker,
        markersize=4.2,
        markerfacecolor="none",
    )[0]


def _draw_reference(axes: Axes, curve: Curve, number: int) -> Artist:
    colour = (INK, MUTED)[number % 2]
    _bars(axes, curve, colour)
    line = _REFERENCE_LINES[number % len(_REFERENCE_LINES)]
    return axes.plot(curve.x, curve.y, color=colour, linewidth=1.2, linestyle=line, zorder=1.5)[0]


def _bars(axes: Axes, curve: Curve, colour: str) -> None:
    if curve.has_interval:
        bottom, top = axes.get_ylim()
        low, high = np.maximum(curve.low, bottom), np.minimum(curve.high, top)
        axes.vlines(curve.x, low, high, color=colour, linewidth=1.0, alpha=0.6)


def _legend(
    axes: Axes, handles: Sequence[Artist], names: Sequence[str], *, below: float, font: float
) -> None:
    if not handles:
        return
    height = axes.get_window_extent().height / axes.figure.dpi
    legend = axes.legend(
        handles,
        [legend_name(name) for name in names],
        loc="upper left",
        bbox_to_anchor=(0, -below / height),
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        labelspacing=0.3,
        handlelength=2.6,
        fontsize=font,
    )
    for entry in legend.get_texts():
        as_is(entry)


def _foot(
    figure: Figure,
    top: float,
    plot: PanelPlot,
    references: Sequence[Curve],
    handles: Sequence[Artist],
    curves: Sequence[Sequence[Curve]],
    ends: _Ends,
) -> None:
    """Say which curves are in every panel, and what the axes do not show."""
    axes = axes_at(figure, _LEFT, top - 0.1, _WHOLE, 0.1)
    axes.set_axis_off()
    every = [*references, *(curve for panel in curves for curve in panel)]
    names = [drawable(f"{series.name} (in every panel)", width=80, lines=1) for series in plot.references]
    _legend(axes, handles, names, below=0.05, font=8.5)
    remarks = notes(every, plot.x_axis, plot.y_axis)
    if outside := sum(_outside(curve, ends) for curve in references):
        remarks.append(f"{count(outside, 'point')} of the curves in every panel outside the axes.")
    if remarks:
        below = 0.2 + 0.19 * len(handles)
        text = drawable(" ".join(remarks), width=96, lines=2)
        axes.text(0, -below / 0.1, text, transform=axes.transAxes, va="top", fontsize=7.5, color=MUTED)
