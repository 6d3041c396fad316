"""A plot to SVG text: the same plot gives the same bytes, run after run.

matplotlib is imported with the first plot: it takes half as long to load as all else, and many records hold none.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping

from dpsco_verify.evidence import LinePlot, MapPlot, Plot, Series

_DRAWN: dict[Plot, str] = {}
"""A page and the files beside it show the same plots; each is drawn once."""


def draw(plot: Plot) -> str:
    """Return `plot` as the SVG text that :func:`standalone` and :func:`inline` are made from."""
    from dpsco_verify.reporting.drawing.lines import draw_lines
    from dpsco_verify.reporting.drawing.maps import draw_map
    from dpsco_verify.reporting.drawing.panels import draw_panels
    from dpsco_verify.reporting.drawing.style import house_style

    with house_style():
        if isinstance(plot, LinePlot):
            figure = draw_lines(plot)
        elif isinstance(plot, MapPlot):
            figure = draw_map(plot)
        else:
            figure = draw_panels(plot)
        buffer = io.StringIO()
        figure.savefig(
            buffer,
            format="svg",
            # Not "tight", which lays everything out twice.
            bbox_inches=figure.get_tightbbox().padded(0.06),
            transparent=True,
            metadata={"Date": None, "Creator": None, "Format": None, "Type": None},
        )
    return buffer.getvalue()


def remember(drawn: Mapping[Plot, str]) -> None:
    """Take what :func:`draw` gave for these plots, in whatever process, in place of drawing them here."""
    _DRAWN.update(drawn)


def forget() -> None:
    """Forget what was drawn, so that all is drawn anew."""
    _DRAWN.clear()


def _drawn(plot: Plot) -> str:
    if plot not in _DRAWN:
        _DRAWN[plot] = draw(plot)
    return _DRAWN[plot]


def in_words(plot: Plot) -> str:
    """Return what a reader who cannot see the figure needs: the caption, the axes, what is drawn."""
    axes = f"Horizontal axis: {plot.x_axis.label} ({plot.x_axis.scale}). Vertical axis: {plot.y_axis.label} "
    axes += f"({plot.y_axis.scale})."
    if isinstance(plot, MapPlot):
        drawn = f"Colour: {plot.value_label}; the claim fails above {plot.level:g}. Panels: " + "; ".join(
            panel.title for panel in plot.panels
        )
    elif isinstance(plot, LinePlot):
        drawn = f"Drawn: {_names(plot.series)}"
    else:
        panels = [f"{panel.title}: {_names(panel.series)}" for panel in plot.panels]
        drawn = f"In every panel: {_names(plot.references)}. Panels: " + ". ".join(panels)
    return f"{plot.caption} {axes} {drawn}."


def _names(series: Iterable[Series]) -> str:
    return "; ".join(f"{one.name} ({one.style})" for one in series)


def standalone(plot: Plot) -> bytes:
    """Return `plot` as an SVG file on white."""
    return _described(plot, prefix="f-", page=False).encode()


def inline(plot: Plot, *, prefix: str) -> str:
    """Return `plot` as an element of an HTML page; `prefix` starts all its ids, so give each figure its own."""
    return _described(plot, prefix=prefix, page=True)


def _described(plot: Plot, *, prefix: str, page: bool) -> str:
    from dpsco_verify.reporting.drawing.svg import describe

    return describe(_drawn(plot), prefix=prefix, title=plot.title, description=in_words(plot), page=page)
