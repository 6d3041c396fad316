"""Figures of many curves in panels: the same axes, every curve once, what is not shown is said."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from dpsco_verify.comparison.systems import FAMILIES, REFERENCES
from dpsco_verify.evidence import Axis, LinePanel, Series
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.reporting.drawing.curves import decade_ticks, plain_ticks, visible
from dpsco_verify.reporting.drawing.panels import draw_panels
from dpsco_verify.reporting.drawing.render import in_words
from dpsco_verify.reporting.drawing.style import house_style


def drawn(plot):
    with house_style():
        figure = draw_panels(plot)
    # The last axes have no frame: they hold what is said of all panels.
    return figure.axes[: len(plot.panels)], figure.axes[-1]


def names(axes):
    legend = axes.get_legend()
    return (
        []
        if legend is None
        else [t.get_text().lstrip("\u200b").replace("\n", " ") for t in legend.get_texts()]
    )


def test_every_system_is_in_one_family_or_in_every_panel():
    shown = [*REFERENCES, *(system for family in FAMILIES.values() for system in family)]
    assert sorted(shown) == sorted(SYSTEMS)


@pytest.mark.slow
def test_every_panel_has_the_same_axes_and_its_own_names(make_panel_plot):
    plot = make_panel_plot()
    panels, foot = drawn(plot)
    assert len({axes.get_xlim() for axes in panels}) == len({axes.get_ylim() for axes in panels}) == 1
    for axes, panel in zip(panels, plot.panels, strict=True):
        assert axes.get_title(loc="left") == panel.title
        assert names(axes) == [series.name for series in panel.series]
        # The references are drawn in each, and named once.
        assert len(axes.lines) == len(panel.series) + len(plot.references)
    assert names(foot) == [f"{series.name} (in every panel)" for series in plot.references]


@pytest.mark.slow
def test_the_axes_show_every_point_of_the_panels_and_a_reference_may_leave_them(make_panel_plot):
    plot = make_panel_plot()
    (first, *_), foot = drawn(plot)
    low, high = first.get_ylim()
    points = [y for panel in plot.panels for series in panel.series for y in series.y]
    assert low < min(points)
    assert max(points) < high
    assert max(plot.references[1].y) < low
    (note,) = [text.get_text().replace("\n", " ") for text in foot.texts]
    # Three intervals of a series reach 0 in each of three panels; the optimum is far below, our first point above.
    assert note.startswith("9 intervals drawn to the edge")
    assert note.endswith("4 points of the curves in every panel outside the axes.")


def test_an_interval_ends_where_the_record_says(make_panel_plot):
    series = Series(name="s", x=(1.0, 10.0), y=(1.0, 2.0), low=(0.5, 1.9), high=(1.5, 2.1))
    plot = msgspec.structs.replace(
        make_panel_plot(),
        panels=(LinePanel(title="p", series=(series,)),),
        references=(),
        y_axis=Axis(label="y"),
    )
    (axes,), _ = drawn(plot)
    bottom, top = axes.get_ylim()
    (bars,) = axes.collections
    assert [tuple(segment[:, 1]) for segment in bars.get_segments()] == [
        (max(0.5, bottom), min(1.5, top)),
        (1.9, min(2.1, top)),
    ]


def test_the_description_names_every_curve(make_panel_plot):
    words = in_words(make_panel_plot())
    assert "In every panel: ours neighbours (line); optimum (line)." in words
    assert "family 2 neighbours: one neighbours (line); _two (line)" in words


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((0.9e-3, 1.1e2), ["0.001", "0.01", "0.1", "1", "10", "100"]),
        ((0.0021, 0.07), ["0.005", "0.01", "0.02", "0.05"]),
        ((1.9, 4.1), ["2", "3", "4"]),
        ((7.9, 11.1), ["8", "9", "10"]),
        ((1e-13, 1e7), ["10⁻¹²", "10⁻⁸", "0.0001", "1", "10000"]),
        ((2.1e6, 3e7), ["5·10⁶", "10⁷", "2·10⁷"]),
    ],
)
def test_a_logarithmic_axis_has_few_ticks_in_plain_words(make_panel_plot, ends, expected):
    (axes, *_), _ = drawn(make_panel_plot())
    axes.set_ylim(*ends)
    decade_ticks(axes.yaxis, ends)
    assert ticks(axes.yaxis) == expected


@pytest.mark.slow
def test_labels_that_would_touch_are_left_out(make_panel_plot):
    plot = make_panel_plot()
    (axes, *_), _ = drawn(plot)
    x = (100.0, 200.0, 210.0, 10000.0)
    plain_ticks(axes, [visible(Series(name="s", x=x, y=x), plot.x_axis, plot.y_axis)])
    assert ticks(axes.xaxis) == ["100", "200", "", "10000"]
    assert np.allclose(axes.get_xticks(), x)


@pytest.mark.parametrize(
    "ends", [{}, {"low": (0.5, 1.0)}, {"high": (2.0, 3.0)}, {"low": (0.5, 1.0), "high": (2.0, 3.0)}]
)
def test_an_interval_has_one_end_or_both(make_panel_plot, ends):
    plot = make_panel_plot()
    curve = visible(Series(name="s", x=(1.0, 2.0), y=(1.0, 2.0), **ends), plot.x_axis, plot.y_axis)
    assert curve.has_interval == bool(ends)
    assert tuple(curve.low) == ends.get("low", (1.0, 2.0))
    assert tuple(curve.high) == ends.get("high", (1.0, 2.0))


def test_an_axis_may_be_longer_than_any_ratio(make_panel_plot):
    ends = Series(name="s", x=(1e-225, 1e190), y=(1.0, 2.0))
    panel = LinePanel(title="p", series=(ends, ends))
    (axes,), _ = drawn(msgspec.structs.replace(make_panel_plot(), panels=(panel,), references=()))
    assert all(np.isfinite(line.get_xdata()).all() for line in axes.lines)
