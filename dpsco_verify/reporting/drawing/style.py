"""The style of all figures: one size, one font, colours that colour-blind readers can tell apart.

Series differ in marker and line style too, so that a figure survives a grey printer. The ink and the series
colours are names that a page can restate for a dark background (see :mod:`.svg`); colours on a map cannot be
restated, because a scale explains them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font
from matplotlib.text import Text
from matplotlib.ticker import LogFormatterSciNotation

from dpsco_verify.evidence import Axis, Scale
from dpsco_verify.reporting.text import one_line, shorten

FONT = "DejaVu Sans"
"""It comes with the plotting library, so the layout does not depend on the machine. Text stays text, which readers can
find, copy and have read out, in a quarter of the bytes of drawn glyphs."""

INK = "#1f2430"
MUTED = "#6b7280"
SERIES = ("#0072b2", "#d55e00", "#009e73", "#b0529a", "#3a9bd1", "#c98a00", "#5b5f69")
"""The palette of Okabe and Ito, its lighter tones darkened to a contrast of 3:1 on white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")

RESTATED = {INK: "--fig-ink", MUTED: "--fig-muted"} | {c: f"--fig-{i + 1}" for i, c in enumerate(SERIES)}
"""The colours that a page may restate, and the names of its custom properties."""

WIDTH = 4.6
"""The width of the plotting area in inches; text is set at 9 points, legible from a phone to a projector."""

_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_RC: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.formatter.useoffset": False,
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.unicode_minus": True,
    "font.family": [FONT],
    "font.size": 9,
    "grid.alpha": 0.22,
    "grid.color": MUTED,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.7,
    "legend.fontsize": 8.5,
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "none",
    "svg.hashsalt": "dpsco-verify",
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw in the style of the house, whatever the user's own configuration says."""
    settings: dict[Any, Any] = {k: v for k, v in mpl.rcParamsDefault.items() if not k.startswith("backend")}
    with mpl.rc_context(settings | _RC):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of the given size in inches; margins are added where text needs them."""
    figure = Figure(figsize=(width, height))
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    return figure


def at_inches(figure: Figure, x: float, y: float) -> tuple[float, float]:
    """Return a place or a size in inches as parts of the figure."""
    return x / figure.get_figwidth(), y / figure.get_figheight()


def axes_at(figure: Figure, left: float, bottom: float, width: float, height: float) -> Axes:
    """Return new axes at this place, in inches."""
    return figure.add_axes((*at_inches(figure, left, bottom), *at_inches(figure, width, height)))


@cache
def _has_glyph(character: str) -> bool:
    return bool(get_font(findfont(FONT)).get_char_index(ord(character)))


def drawable(text: str, *, width: int, lines: int = 3) -> str:
    """Return `text` wrapped to `width` characters and `lines` lines, with the glyphs that the font has."""
    known = "".join(c if _has_glyph(c) else "\ufffd" for c in one_line(text))
    return textwrap.fill(shorten(known, width * lines), width=width, max_lines=lines, placeholder=" …")


def legend_name(name: str) -> str:
    """Return `name` so that a legend takes it: one that starts with an underscore is left out."""
    # A space of no width makes it a plain name.
    return f"\u200b{name}" if name.startswith("_") else name


def as_is(text: Text) -> Text:
    """Draw `text` as it stands: a dollar sign in it starts no formula."""
    text.set_parse_math(False)
    return text


def plain_number(place: float) -> str:
    """Return a number as a digit and a power of ten, or in full if that is short."""
    if 1e-4 <= place < 1e5:
        return f"{place:g}"
    digit, exponent = f"{place:.0e}".split("e")
    power = f"10{str(int(exponent)).translate(_RAISED)}"
    return power if digit == "1" else f"{digit}·{power}"


class _PlainLogFormatter(LogFormatterSciNotation):
    """Label the ticks that the library would label, in characters and not in pieces of a formula."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the label of the tick at `x`, which may be empty."""
        return plain_number(x) if super().__call__(x, pos) else ""


def label_axes(axes: Axes, x_axis: Axis, y_axis: Axis, *, width: int) -> None:
    """Set the scales and the labels of both axes."""
    axes.set_xscale("log" if x_axis.scale is Scale.LOG else "linear")
    axes.set_yscale("log" if y_axis.scale is Scale.LOG else "linear")
    for axis, scale in ((axes.xaxis, x_axis.scale), (axes.yaxis, y_axis.scale)):
        if scale is Scale.LOG:
            axis.set_major_formatter(_PlainLogFormatter())
            axis.set_minor_formatter(_PlainLogFormatter(labelOnlyBase=False, minor_thresholds=(1, 0.4)))
    label_x(axes, x_axis, width=width)
    label_y(axes, y_axis, width=width)


def label_x(axes: Axes, axis: Axis, *, width: int) -> None:
    """Label the x axis."""
    as_is(axes.set_xlabel(drawable(axis.label, width=width, lines=2)))


def label_y(axes: Axes, axis: Axis, *, width: int) -> None:
    """Label the y axis."""
    as_is(axes.set_ylabel(drawable(axis.label, width=width, lines=2)))
