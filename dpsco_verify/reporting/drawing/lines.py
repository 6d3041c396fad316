"""Curves, points with intervals, and bounds over one axis."""

from __future__ import annotations

from itertools import cycle, islice
from typing import cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_verify.evidence import LinePlot, Scale, SeriesStyle
from dpsco_verify.reporting.drawing.curves import (
    MOST_MARKERS,
    Curve,
    beside,
    limits,
    notes,
    plain_ticks,
    visible,
)
from dpsco_verify.reporting.drawing.style import (
    MARKERS,
    MUTED,
    SERIES,
    WIDTH,
    as_is,
    drawable,
    label_axes,
    legend_name,
    new_figure,
)

_HEIGHT = 2.9
_LINES = ("-", "-.", ":", (0, (7, 1.5, 1, 1.5, 1, 1.5)), (0, (1, 3)))
_BOUNDS = ((0, (5, 2)), (0, (2.5, 1.5)), (0, (9, 2)), (0, (5, 1.5, 2.5, 1.5)))


def draw_lines(plot: LinePlot) -> Figure:
    """Return the figure of `plot`; what a logarithmic axis cannot show is left out, and a note says so."""
    figure = new_figure(WIDTH + 1.2, _HEIGHT + 1.2)
    axes = figure.add_axes((0.15, 0.25, WIDTH / (WIDTH + 1.2), _HEIGHT / (_HEIGHT + 1.2)))
    label_axes(axes, plot.x_axis, plot.y_axis, width=60)
    as_is(axes.set_title(drawable(plot.title, width=62), loc="left", fontsize=10, y=1.04))
    curves = [visible(series, plot.x_axis, plot.y_axis) for series in plot.series]
    _set_limits(axes, curves, plot)
    if plot.x_axis.scale is Scale.LOG:
        plain_ticks(axes, curves)
    handles: list[Artist] = []
    styles = dict.fromkeys(SeriesStyle, 0)
    clouds = sum(series.style is SeriesStyle.POINTS for series in plot.series)
    for position, (series, curve) in enumerate(zip(plot.series, curves, strict=True)):
        if series.style is SeriesStyle.POINTS:
            curve = beside(axes, curve, plot.x_axis.scale, styles[series.style] - (clouds - 1) / 2)  # noqa: PLW2901  the same curve, moved
        colour = SERIES[position % len(SERIES)]
        handles.append(_draw(axes, series.style, curve, colour, position, styles[series.style]))
        styles[series.style] += 1
    _legend(axes, plot, handles, notes(curves, plot.x_axis, plot.y_axis))
    return figure


def _set_limits(axes: Axes, curves: list[Curve], plot: LinePlot) -> None:
    everything = [np.concatenate([c.x for c in curves])] if curves else [np.array([])]
    heights = [part[np.isfinite(part)] for c in curves for part in (c.y, c.low, c.high)]
    everything.append(np.concatenate(heights) if heights else np.array([]))
    for values, axis, set_limits in (
        (everything[0], plot.x_axis, axes.set_xlim),
        (everything[1], plot.y_axis, axes.set_ylim),
    ):
        low, high = limits(values, axis.scale)
        set_limits(low, high)


def _draw(axes: Axes, style: SeriesStyle, curve: Curve, colour: str, position: int, number: int) -> Artist:
    bottom, top = axes.get_ylim()
    low, high = np.maximum(curve.low, bottom), np.minimum(curve.high, top)
    # Another marker each time the colours begin anew, so that no two series look the same.
    marker = MARKERS[(position + position // len(SERIES)) % len(MARKERS)]
    if style is SeriesStyle.POINTS:
        intervals = np.vstack([curve.y - low, high - curve.y]) if curve.has_interval else None
        container = axes.errorbar(
            curve.x,
            curve.y,
            yerr=intervals,
            fmt=marker,
            color=colour,
            markersize=5,
            elinewidth=1.2,
            capsize=3,
        )
        # A legend takes containers too; its annotations know artists only.
        return cast("Artist", container)
    if curve.has_interval:
        axes.fill_between(curve.x, low, high, color=colour, alpha=0.16, linewidth=0)
    if style is SeriesStyle.BOUND:
        dashes = _BOUNDS[number % len(_BOUNDS)]
        return axes.plot(curve.x, curve.y, color=colour, linewidth=2.4, linestyle=dashes)[0]
    # Markers name the curve; a staggered few are enough, and only as many as there are points.
    step = max(1, -(-len(curve.x) // MOST_MARKERS))
    return axes.plot(
        curve.x,
        curve.y,
        color=colour,
        linewidth=1.5,
        linestyle=next(islice(cycle(_LINES), number, None)),
        marker=marker,
        markersize=4.5,
        markerfacecolor="none",
        markevery=(position % step, step),
    )[0]


def _legend(axes: Axes, plot: LinePlot, handles: list[Artist], remarks: list[str]) -> None:
    below = -0.62 if "\n" in axes.get_xlabel() else -0.48
    if remarks:
        text = drawable(" ".join(remarks), width=80, lines=2)
        axes.text(0, below / _HEIGHT, text, transform=axes.transAxes, va="top", fontsize=7.5, color=MUTED)
        below -= 0.15 * (1 + text.count("\n")) + 0.03
    if not handles:
        return
    names = [drawable(series.name, width=60, lines=2) for series in plot.series]
    narrow = all(len(name) <= 32 for name in names)
    legend = axes.legend(
        handles,
        [legend_name(name) for name in names],
        loc="upper left",
        bbox_to_anchor=(0, below / _HEIGHT),
        ncols=2 if narrow and len(names) > 1 else 1,
        frameon=False,
        borderaxespad=0,
        borderpad=0,
        handlelength=3.4,
    )
    for entry in legend.get_texts():
        as_is(entry)
