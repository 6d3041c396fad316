"""The cells of a map's panel: where they lie, and how far each value is from the level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsco_verify.arrays import BoolArray, FloatArray
from dpsco_verify.errors import InputError
from dpsco_verify.evidence import MapPanel, MapPlot, Scale

LARGEST = 1e120
"""Beyond this size, or below its inverse on a logarithmic axis, edges beyond the last cell could overflow."""


@dataclass(frozen=True)
class Grid:
    """A panel as its axes can show it, in ascending order.

    `distance` has the shape (len(y), len(x)): log₁₀(value/level), −inf where the value is 0 or less, NaN where
    nothing is known. `dropped` counts the rows and columns that the axes cannot show.
    """

    x: FloatArray
    y: FloatArray
    x_edges: FloatArray
    y_edges: FloatArray
    distance: FloatArray
    dropped: int

    @property
    def known(self) -> BoolArray:
        """Where a value is known."""
        return ~np.isnan(self.distance)

    @property
    def fails(self) -> BoolArray:
        """Where the value is above the level."""
        return self.known & (self.distance > 0)


def grid_of(panel: MapPanel, plot: MapPlot) -> Grid:
    """Return the cells of `panel`.

    Raises
    ------
    InputError
        If the level is not positive: the scale of colours is logarithmic.
    """
    if plot.level <= 0:
        raise InputError(f"level={plot.level!r} of map {plot.id!r} is not positive; give a level above 0")
    x, y = np.array(panel.x, dtype=np.float64), np.array(panel.y, dtype=np.float64)
    values = np.array(panel.values, dtype=np.float64).reshape(len(y), len(x))  # None becomes NaN
    columns, rows = _order(x, plot.x_axis.scale), _order(y, plot.y_axis.scale)
    values = values[np.ix_(rows, columns)]
    distance = np.full(values.shape, -np.inf)
    distance[np.isnan(values)] = np.nan
    positive = values > 0
    # A difference of logarithms, because the quotient may overflow.
    distance[positive] = np.log10(values[positive]) - np.log10(plot.level)
    # Rounding of the logarithms must not decide which side of the level a value is on.
    distance[(values > plot.level) & (distance <= 0)] = np.finfo(np.float64).tiny
    distance[(values <= plot.level) & (distance > 0)] = 0.0
    return Grid(
        x=x[columns],
        y=y[rows],
        x_edges=_edges(x[columns], plot.x_axis.scale),
        y_edges=_edges(y[rows], plot.y_axis.scale),
        distance=distance,
        dropped=len(x) - len(columns) + len(y) - len(rows),
    )


def _order(centres: FloatArray, scale: Scale) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    order = np.argsort(centres, kind="stable")
    shown = np.abs(centres[order]) <= LARGEST
    if scale is Scale.LOG:
        shown &= centres[order] >= 1 / LARGEST
    return order[shown]


def _edges(centres: FloatArray, scale: Scale) -> FloatArray:
    """Return the edges between neighbouring centres, half-way on the scale, and one beyond each end."""
    if not centres.size:
        return np.zeros(0)
    places = np.log10(centres) if scale is Scale.LOG else centres
    middle = (places[1:] + places[:-1]) / 2
    if places.size == 1 or places[0] == places[-1]:
        half = 0.5 if scale is Scale.LOG else max(abs(float(places[0])) / 2, 0.5)
        first, last = places[0] - half, places[-1] + half
    else:
        first, last = 2 * places[0] - middle[0], 2 * places[-1] - middle[-1]
    edges = np.concatenate([[first], middle, [last]])
    return np.asarray(10**edges if scale is Scale.LOG else edges, dtype=np.float64)
