"""The part of a series that a plot's scales can show, and the ends of its axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis

from dpsco_verify.arrays import FloatArray
from dpsco_verify.evidence import Axis, Scale, Series
from dpsco_verify.reporting.drawing.style import plain_number
from dpsco_verify.reporting.numbers import count

MOST_MARKERS = 12

_STEP_ASIDE = 0.008
"""How far series of points stand apart, as a part of the axis."""

_CHARACTER = 0.075
"""The width of a digit of a tick's label in inches."""

_MOST_DECADES = 6
_FEW_DECADES = 1.7
_FEWER_DECADES = 0.5
"""How many decades of an axis have a tick each, have ticks at 1, 2 and 5, and at every digit."""

_DRAWABLE = (1e-250, 1e250)
"""Beyond these sizes the arithmetic of a plot's axes overflows."""


@dataclass(frozen=True)
class Curve:
    """The part of a series that the scales can show."""

    x: FloatArray
    y: FloatArray
    low: FloatArray
    high: FloatArray
    has_interval: bool
    dropped: int
    clipped: int


def visible(series: Series, x_axis: Axis, y_axis: Axis) -> Curve:
    """Return the part of `series` that the scales of these axes can show."""
    x, y = np.array(series.x, dtype=np.float64), np.array(series.y, dtype=np.float64)
    low = y if series.low is None else np.array(series.low, dtype=np.float64)
    high = y if series.high is None else np.array(series.high, dtype=np.float64)
    keep = _shown(x, x_axis.scale) & _shown(y, y_axis.scale)
    x, y, low, high = x[keep], y[keep], low[keep], high[keep]
    open_below = ~_shown(low, y_axis.scale)
    open_above = ~_shown(high, y_axis.scale)
    # An interval whose end cannot be shown runs to the edge; the edge is set before anything is drawn.
    low = np.where(open_below, -np.inf, np.minimum(low, y))
    high = np.where(open_above, np.inf, np.maximum(high, y))
    return Curve(
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


def plain_ticks(axes: Axes, curves: Sequence[Curve]) -> None:
    """Label a logarithmic axis at the points' own places where these are few and of a readable size."""
    places = np.unique(np.concatenate([curve.x for curve in curves])) if curves else np.array([])
    if 1 < places.size <= MOST_MARKERS and places[0] >= 1e-3 and places[-1] < 1e5:
        axes.set_xticks(places, _apart(axes, places))
        axes.set_xticks([], minor=True)


def decade_ticks(axis: XAxis | YAxis, ends: tuple[float, float]) -> None:
    """Put ticks at the powers of ten of a logarithmic axis, or closer where it has few, and none between them."""
    low, high = (math.log10(end) for end in ends)
    step = max(1, math.ceil((high - low) / _MOST_DECADES))
    first = math.ceil(low / step) * step
    exponents = range(first, math.floor(high) + 1, step)
    digits = (1,) if high - low > _FEW_DECADES else (1, 2, 5) if high - low > _FEWER_DECADES else range(1, 10)
    # One decade more on each side, for the ticks between.
    places = [
        digit * 10.0**exponent
        for exponent in (exponents if step > 1 else range(first - 1, math.floor(high) + 1))
        for digit in digits
        if ends[0] <= digit * 10.0**exponent <= ends[1]
    ]
    axis.set_ticks(places, [plain_number(place) for place in places])
    axis.set_ticks([], minor=True)


def _apart(axes: Axes, places: FloatArray) -> list[str]:
    """Return the labels of ticks at these places; one that would touch the label before it is empty."""
    left, right = axes.get_xlim()
    inches = axes.get_window_extent().width / axes.figure.dpi
    at = (np.log(places) - math.log(left)) / (math.log(right) - math.log(left)) * inches
    labels: list[str] = []
    end = -np.inf
    for place, middle in zip(places, at, strict=True):
        text = f"{place:g}"
        half = _CHARACTER * (len(text) + 1) / 2
        labels.append(text if middle - half >= end else "")
        end = middle + half if labels[-1] else end
    return labels


def beside(axes: Axes, curve: Curve, scale: Scale, steps: float) -> Curve:
    """Move points aside by some hundredths of the axis, so that intervals at the same x stay apart."""
    low, high = axes.get_xlim()
    if scale is Scale.LOG:
        # Not by the ratio of the ends, which may be beyond any number.
        moved = curve.x * np.exp((math.log(high) - math.log(low)) * _STEP_ASIDE * steps)
    else:
        moved = curve.x + (high - low) * _STEP_ASIDE * steps
    return replace(curve, x=np.clip(moved, low, high))


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


def notes(curves: Sequence[Curve], x_axis: Axis, y_axis: Axis) -> list[str]:
    """Return sentences on what the scales of these axes do not show."""
    dropped, clipped = sum(c.dropped for c in curves), sum(c.clipped for c in curves)
    logarithmic = Scale.LOG in (x_axis.scale, y_axis.scale)
    why = "at or below 0 or beyond the scale" if logarithmic else "beyond the scale"
    found = []
    if not any(c.x.size for c in curves):
        found.append("No point can be drawn.")
    if dropped:
        found.append(f"{count(dropped, 'point')} {why} not drawn.")
    if clipped:
        found.append(f"{count(clipped, 'interval')} drawn to the edge: the end is {why}.")
    return found
