"""Curves, points with intervals, and bounds over one axis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpsco_verify.arrays import FloatArray
from dpsco_verify.evidence import LinePlot, Scale, Series, SeriesStyle
from dpsco_verify.reporting.drawing.style import MUTED, SERIES, WIDTH, as_is, drawable, label_axes, new_figure
from dpsco_verify.reporting.numbers import count

_HEIGHT = 2.9
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_LINES = ("-", "-.", ":", (0, (7, 1.5, 1, 1.5, 1, 1.5)), (0, (1, 3)))
_BOUNDS = ((0, (5, 2)), (0, (2.5, 1.5)), (0, (9, 2)), (0, (5, 1.5, 2.5, 1.5)))
_MOST_MARKERS = 12
_STEP_ASIDE = 0.008
"""How far series of points stand apart, as a part of the axis."""

_DRAWABLE = (1e-250, 1e250)
"""Beyond these sizes the arithmetic of a plot's axes overflows."""


@dataclass(frozen=True)
class _Curve:
    """The part of a series that the scales can show."""

    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    has_interval: bool
    dropped: int
    clipped: int


def draw_lines(plot: LinePlot) -> Figure:
    """Return the figure of `plot`; what a logarithmic axis cannot show is left out, and a note says so."""
    figure = new_figure(WIDTH + 1.2, _HEIGHT + 1.2)
    axes = figure.add_axes((0.15, 0.25, WIDTH / (WIDTH + 1.2), _HEIGHT / (_HEIGHT + 1.2)))
    label_axes(axes, plot.x_axis, plot.y_axis, width=60)
    as_is(axes.set_title(drawable(plot.title, width=62), loc="left", fontsize=10, y=1.04))
    curves = [_visible(series, plot) for series in plot.series]
    _set_limits(axes, curves, plot)
    if plot.x_axis.scale is Scale.LOG:
        _plain_ticks(axes, curves)
    handles: list[Artist] = []
    styles = dict.fromkeys(SeriesStyle, 0)
    clouds = sum(series.style is SeriesStyle.POINTS for series in plot.series)
    for position, (series, curve) in enumerate(zip(plot.series, curves, strict=True)):
        if series.style is SeriesStyle.POINTS:
            curve = _beside(axes, curve, plot.x_axis.scale, styles[series.style] - (clouds - 1) / 2)  # noqa: PLW2901  the same curve, moved
        colour = SERIES[position % len(SERIES)]
        handles.append(_draw(axes, series.style, curve, colour, position, styles[series.style]))
        styles[series.style] += 1
    _legend(axes, plot, handles, _notes(curves, plot))
    return figure


def _plain_ticks(axes: Axes, curves: list[_Curve]) -> None:
    """Label a logarithmic axis at the points' own places where these are few and of a readable size."""
    places = np.unique(np.concatenate([curve.x for curve in curves])) if curves else np.array([])
    if 1 < places.size <= _MOST_MARKERS and places[0] >= 1e-3 and places[-1] < 1e5:
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.set_xticks([], minor=True)


def _beside(axes: Axes, curve: _Curve, scale: Scale, steps: float) -> _Curve:
    """Move points aside by some hundredths of the axis, so that intervals at the same x stay apart."""
    low, high = axes.get_xlim()
    if scale is Scale.LOG:
        moved = curve.x * (high / low) ** (_STEP_ASIDE * steps)
    else:
        moved = curve.x + (high - low) * _STEP_ASIDE * steps
    return replace(curve, x=np.clip(moved, low, high))


def _visible(series: Series, plot: LinePlot) -> _Curve:
    x, y = np.array(series.x, dtype=np.float64), np.array(series.y, dtype=np.float64)
    low = y if series.low is None else np.array(series.low, dtype=np.float64)
    high = y if series.high is None else np.array(series.high, dtype=np.float64)
    keep = _shown(x, plot.x_axis.scale) & _shown(y, plot.y_axis.scale)
    x, y, low, high = x[keep], y[keep], low[keep], high[keep]
    open_below = ~_shown(low, plot.y_axis.scale)
    open_above = ~_shown(high, plot.y_axis.scale)
    # An interval whose end cannot be shown runs to the edge; the edge is set before anything is drawn.
    low = np.where(open_below, -np.inf, np.minimum(low, y))
    high = np.where(open_above, np.inf, np.maximum(high, y))
    return _Curve(
        x=x,
        y=y,
        low=low,
        high=high,
        has_interval=series.low is not None or series.high is not None,
        dropped=int((~keep).sum()),
        clipped=int((open_below | open_above).sum()),
    )


def _shown(values: FloatArray, scale: Scale) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    smallest, largest = _DRAWABLE
    if scale is Scale.LOG:
        return (values >= smallest) & (values <= largest)
    return np.abs(values) <= largest


def _set_limits(axes: Axes, curves: list[_Curve], plot: LinePlot) -> None:
    everything = [np.concatenate([c.x for c in curves])] if curves else [np.array([])]
    heights = [part[np.isfinite(part)] for c in curves for part in (c.y, c.low, c.high)]
    everything.append(np.concatenate(heights) if heights else np.array([]))
    for values, axis, set_limits in (
        (everything[0], plot.x_axis, axes.set_xlim),
        (everything[1], plot.y_axis, axes.set_ylim),
    ):
        low, high = limits(values, axis.scale)
        set_limits(low, high)


def limits(values: FloatArray, scale: Scale) -> tuple[float, float]:
    """Return the ends of an axis that shows `values` with a margin of 5 %, also where all are equal or none."""
    if scale is Scale.LOG:
        logs = np.log10(values) if values.size else np.zeros(1)
        low, high = _margin(float(logs.min()), float(logs.max()), least=0.1)
        return 10**low, 10**high
    if not values.size:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    # A spread far below the size of the numbers is rounding, which no axis can label.
    return _margin(low, high, least=max(1e-9 * max(abs(low), abs(high)), 1e-200))


def _margin(low: float, high: float, *, least: float) -> tuple[float, float]:
    spread = high - low
    if spread < least:
        return low - max(abs(low) * 0.05, least), high + max(abs(high) * 0.05, least)
    return low - 0.05 * spread, high + 0.05 * spread


def _draw(axes: Axes, style: SeriesStyle, curve: _Curve, colour: str, position: int, number: int) -> Artist:
    bottom, top = axes.get_ylim()
    low, high = np.maximum(curve.low, bottom), np.minimum(curve.high, top)
    # Another marker each time the colours begin anew, so that no two series look the same.
    marker = _MARKERS[(position + position // len(SERIES)) % len(_MARKERS)]
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
    step = max(1, -(-len(curve.x) // _MOST_MARKERS))
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


def _notes(curves: list[_Curve], plot: LinePlot) -> list[str]:
    dropped, clipped = sum(c.dropped for c in curves), sum(c.clipped for c in curves)
    logarithmic = Scale.LOG in (plot.x_axis.scale, plot.y_axis.scale)
    why = "at or below 0 or beyond the scale" if logarithmic else "beyond the scale"
    notes = []
    if not any(c.x.size for c in curves):
        notes.append("No point can be drawn.")
    if dropped:
        notes.append(f"{count(dropped, 'point')} {why} not drawn.")
    if clipped:
        notes.append(f"{count(clipped, 'interval')} drawn to the edge: the end is {why}.")
    return notes


def _legend(axes: Axes, plot: LinePlot, handles: list[Artist], notes: list[str]) -> None:
    below = -0.62 if "\n" in axes.get_xlabel() else -0.48
    if notes:
        text = drawable(" ".join(notes), width=80, lines=2)
        axes.text(0, below / _HEIGHT, text, transform=axes.transAxes, va="top", fontsize=7.5, color=MUTED)
        below -= 0.15 * (1 + text.count("\n")) + 0.03
    if not handles:
        return
    names = [drawable(series.name, width=60, lines=2) for series in plot.series]
    narrow = all(len(name) <= 32 for name in names)
    legend = axes.legend(
        handles,
        # A name that starts with an underscore would be left out; a space of no width makes it a plain name.
        [f"\u200b{name}" if name.startswith("_") else name for name in names],
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
