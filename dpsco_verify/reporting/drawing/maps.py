"""Maps over two parameters: where a claim holds, where it fails, and by how much.

Cells are drawn as cells, and the line between "holds" and "fails" runs along their edges: nothing is known
between the points of the grid, and a smooth contour would say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import matplotlib as mpl
import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch, Rectangle
from matplotlib.path import Path
from matplotlib.ticker import NullLocator
from scipy import ndimage

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.evidence import MapPlot
from dpsco_verify.reporting.drawing.grid import Grid, grid_of
from dpsco_verify.reporting.drawing.style import (
    MUTED,
    WIDTH,
    as_is,
    at_inches,
    axes_at,
    drawable,
    label_axes,
    new_figure,
)
from dpsco_verify.reporting.drawing.svg import CRISP
from dpsco_verify.reporting.numbers import count, format_scalar

_ON_COLOUR = "#16181d"
_UNKNOWN = "#d5d8dd"
_UNKNOWN_HATCH = "#8b9099"

_BANDS = 5
"""Bands of colour on either side of the level."""

_SPANS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0)
"""How far from the level the scale may reach, in decades; beyond the last, the end colours stand."""

_LARGE_ENOUGH = 0.05
"""The part of a panel that a region must fill to be labelled in words."""

_MOST_NAMES = 10

# Inches.
_LEFT = 0.7
_GAP_X = 0.75
_GAP_Y = 0.72


def draw_map(plot: MapPlot) -> Figure:
    """Return the figure of `plot`, one scale of colours for all its panels."""
    columns = 1 if len(plot.panels) <= 1 else 2
    rows = max(1, -(-len(plot.panels) // columns))
    whole = WIDTH + 0.5
    width = (whole - (columns - 1) * _GAP_X) / columns
    height = min(width, 2.9)
    figure = new_figure(whole + 1.0, rows * (height + _GAP_Y) + 1.6)
    top = figure.get_figheight() - 0.6
    grids = [grid_of(panel, plot) for panel in plot.panels]
    edges, colours = _bands(grids)
    for position, (panel, grid) in enumerate(zip(plot.panels, grids, strict=True)):
        row, column = divmod(position, columns)
        axes = axes_at(
            figure, _LEFT + column * (width + _GAP_X), top - height - row * (height + _GAP_Y), width, height
        )
        label_axes(axes, plot.x_axis, plot.y_axis, width=38)
        if column:
            axes.set_ylabel("")
        if position + columns < len(plot.panels):
            axes.set_xlabel("")
        _draw_panel(axes, grid, edges, colours)
        as_is(axes.set_title(drawable(panel.title, width=36, lines=2), fontsize=9, loc="left", y=1.02))
    bottom = top - rows * height - (rows - 1) * _GAP_Y
    bar = axes_at(figure, _LEFT, bottom - 1.0, whole, 0.15)
    _draw_scale(bar, plot, edges, colours)
    _draw_notes(bar, grids)
    title = drawable(plot.title, width=66)
    as_is(figure.text(*at_inches(figure, _LEFT, top + 0.45), title, fontsize=10, va="bottom", ha="left"))
    return figure


def _bands(grids: Sequence[Grid]) -> tuple[FloatArray, list[tuple[float, float, float, float]]]:
    """Return the edges of the colour bands, in decades from the level, and the colour of each band."""
    finite = [g.distance[np.isfinite(g.distance)] for g in grids]
    furthest = max((float(np.abs(f).max()) for f in finite if f.size), default=0.0)
    span = next((s for s in _SPANS if s >= furthest), _SPANS[-1])
    colour_map = mpl.colormaps["RdBu_r"]
    # The middle of the colour map is left out: the two sides of the level must not meet in the same white.
    places = [*np.linspace(0.06, 0.42, _BANDS), *np.linspace(0.58, 0.94, _BANDS)]
    return np.linspace(-span, span, 2 * _BANDS + 1), [colour_map(place) for place in places]


def _draw_panel(
    axes: Axes, grid: Grid, edges: FloatArray, colours: Sequence[tuple[float, float, float, float]]
) -> None:
    axes.grid(visible=False)
    for spine in axes.spines.values():
        spine.set_visible(True)
    if not grid.distance.size:
        axes.set_xlim(1, 10)
        axes.set_ylim(1, 10)
        axes.text(0.5, 0.5, "no cell can be drawn", transform=axes.transAxes, ha="center", va="center")
        return
    axes.set_xlim(grid.x_edges[0], grid.x_edges[-1])
    axes.set_ylim(grid.y_edges[0], grid.y_edges[-1])
    for axis, ends in ((axes.xaxis, grid.x_edges), (axes.yaxis, grid.y_edges)):
        # In a small panel that spans decades the ticks between them are a crowd, and each costs time.
        if axis.get_scale() == "log" and ends[-1] >= 100 * ends[0]:
            axis.set_minor_locator(NullLocator())
    # A cell on an inner edge belongs to the band below it: at the level itself the claim holds.
    band = np.searchsorted(edges[1:-1], grid.distance, side="left")
    for number, colour in enumerate(colours):
        _fill(axes, grid, grid.known & (band == number), facecolor=colour, edgecolor="none")
    _fill(axes, grid, ~grid.known, facecolor=_UNKNOWN, edgecolor=_UNKNOWN_HATCH, hatch="////", linewidth=0)
    segments = list(_border(grid))
    if segments:
        axes.add_collection(LineCollection(segments, colors=_ON_COLOUR, linewidths=1.5), autolim=False)
    _name_regions(axes, grid, grid.fails, "fails", "×")
    _name_regions(axes, grid, grid.known & ~grid.fails, "holds", "○")


def _fill(axes: Axes, grid: Grid, mask: BoolArray, **style: object) -> None:
    """Fill all cells of `mask` as one path, the neighbours in a row as one rectangle."""
    rectangles = []
    for i, row in enumerate(mask):
        steps = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(np.int8), [0]])))
        for start, end in zip(steps[::2], steps[1::2], strict=True):
            (left, right), (low, high) = grid.x_edges[[start, end]], grid.y_edges[[i, i + 1]]
            rectangles.append([(left, low), (right, low), (right, high), (left, high), (left, low)])
    if not rectangles:
        return
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(rectangles)
    patch = PathPatch(Path(np.concatenate(rectangles), codes), gid=CRISP, **style)
    axes.add_artist(patch)


def _border(grid: Grid) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the edges between a known cell that holds and a known cell that fails."""
    x, y, fails, known = grid.x_edges, grid.y_edges, grid.fails, grid.known
    for i, j in np.argwhere((fails[:, 1:] != fails[:, :-1]) & known[:, 1:] & known[:, :-1]):
        yield (float(x[j + 1]), float(y[i])), (float(x[j + 1]), float(y[i + 1]))
    for i, j in np.argwhere((fails[1:] != fails[:-1]) & known[1:] & known[:-1]):
        yield (float(x[j]), float(y[i + 1])), (float(x[j + 1]), float(y[i + 1]))


def _name_regions(axes: Axes, grid: Grid, mask: BoolArray, word: str, mark: str) -> None:
    """Name each connected region of `mask`, where it is furthest from its edge: large ones in a word."""
    labels, number = ndimage.label(mask)
    sizes = np.bincount(labels.ravel(), minlength=number + 1)[1:]
    # The largest first; where regions are many the border alone must do.
    for region in np.argsort(-sizes, kind="stable")[:_MOST_NAMES]:
        depth = ndimage.distance_transform_edt(np.pad(labels == region + 1, 1))[1:-1, 1:-1]
        i, j = np.unravel_index(int(np.argmax(depth)), depth.shape)
        axes.text(
            grid.x[j],
            grid.y[i],
            word if sizes[region] >= _LARGE_ENOUGH * mask.size else mark,
            ha="center",
            va="center",
            color=_ON_COLOUR,
            fontsize=9,
            path_effects=[patheffects.withStroke(linewidth=2.4, foreground="#ffffff")],
        )


def _draw_scale(
    axes: Axes, plot: MapPlot, edges: FloatArray, colours: Sequence[tuple[float, float, float, float]]
) -> None:
    scale = ScalarMappable(BoundaryNorm(edges, len(colours)), ListedColormap(colours))
    bar = axes.figure.colorbar(scale, cax=axes, orientation="horizontal", extend="both", extendfrac=0.03)
    span = float(edges[-1])
    ticks = [-span, -span / 2, 0.0, span / 2, span]
    bar.set_ticks(ticks, labels=[format_scalar(plot.level * 10**tick, digits=3) for tick in ticks])
    bar.ax.axvline(0.0, color=_ON_COLOUR, linewidth=1.5)
    as_is(axes.set_xlabel(drawable(plot.value_label, width=70, lines=2)))
    axes.text(0, 1.35, "← holds (○)", transform=axes.transAxes, ha="left", va="bottom", fontsize=8.5)
    axes.text(1, 1.35, "fails (×) →", transform=axes.transAxes, ha="right", va="bottom", fontsize=8.5)


def _draw_notes(axes: Axes, grids: Sequence[Grid]) -> None:
    below = -4.6
    if any(not g.known.all() for g in grids):
        key = Rectangle(
            (0, below),
            0.05,
            1,
            transform=axes.transAxes,
            clip_on=False,
            facecolor=_UNKNOWN,
            edgecolor=_UNKNOWN_HATCH,
            hatch="////",
            linewidth=0,
        )
        axes.add_artist(key)
        axes.text(0.065, below + 0.5, "nothing known", transform=axes.transAxes, va="center", fontsize=8)
    dropped = sum(g.dropped for g in grids)
    if dropped:
        note = f"{count(dropped, 'row or column', 'rows or columns')} at or below 0 or beyond the scale not drawn."
        axes.text(
            1, below + 0.5, note, transform=axes.transAxes, va="center", ha="right", fontsize=7.5, color=MUTED
        )
