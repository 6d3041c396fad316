from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import matplotlib as mpl
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsco_verify.errors import InputError
from dpsco_verify.evidence import Axis, LinePanel, LinePlot, MapPanel, PanelPlot, Scale, Series, SeriesStyle
from dpsco_verify.reporting.drawing import inline, render, standalone
from dpsco_verify.reporting.drawing.grid import grid_of
from dpsco_verify.reporting.drawing.lines import draw_lines
from dpsco_verify.reporting.drawing.maps import draw_map
from dpsco_verify.reporting.drawing.style import SERIES, house_style
from dpsco_verify.reporting.drawing.svg import describe
from dpsco_verify.reporting.figures import FiguresReport

SVG = "{http://www.w3.org/2000/svg}"


def drawn_afresh(plot):
    render.forget()
    return standalone(plot)


def parsed(text):
    return ET.fromstring(text)  # noqa: S314  we wrote it


def references(text):
    return set(re.findall(r'href="#([^"]+)"', text)) | set(re.findall(r"url\(#([^)]+)\)", text))


def ids(text):
    return re.findall(r'\bid="([^"]+)"', text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    [
        "make_line_plot",
        *(pytest.param(f"make_{kind}_plot", marks=pytest.mark.long) for kind in ("map", "panel")),
    ],
)
def test_the_same_plot_gives_the_same_bytes(request, kind):
    make = request.getfixturevalue(kind)
    first = drawn_afresh(make())
    with mpl.rc_context({"font.size": 30, "lines.linewidth": 9, "svg.fonttype": "path"}):
        assert drawn_afresh(make()) == first
    assert drawn_afresh(make("other")) != first


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["make_line_plot", "make_map_plot", "make_panel_plot"])
def test_a_file_stands_by_itself(request, kind, nasty_text):
    text = standalone(request.getfixturevalue(kind)(nasty_text)).decode()
    root = parsed(text.encode())
    assert root.tag == f"{SVG}svg"
    assert root.find(f"{SVG}title").text.startswith(("Tail", "Region", "Risk"))
    assert "<script>" in root.find(f"{SVG}desc").text
    assert references(text) <= set(ids(text))
    assert len(ids(text)) == len(set(ids(text)))
    assert not re.search(r"(href|src)=\"(?!#)", text)
    assert "<style" not in text
    assert "<metadata" not in text
    # Text is text, whole: powers of ten are characters, not pieces on raised lines.
    assert root.find(f".//{SVG}text") is not None
    assert root.find(f".//{SVG}tspan") is None


@pytest.mark.slow
def test_figures_in_one_page_share_no_id(make_line_plot, make_map_plot):
    first, second = inline(make_line_plot(), prefix="f0-"), inline(make_map_plot(), prefix="f1-")
    assert not set(ids(first)) & set(ids(second))
    assert references(first) <= set(ids(first))
    # With one prefix they would: the prefixes are what keeps them apart.
    assert set(ids(first)) & set(ids(inline(make_map_plot(), prefix="f0-")))


@pytest.mark.slow
def test_a_page_can_restate_the_ink_but_not_the_colours_of_a_map(make_line_plot, make_map_plot):
    line, area = inline(make_line_plot(), prefix="a-"), inline(make_map_plot(), prefix="b-")
    assert "var(--fig-1)" in line
    assert SERIES[0] not in line
    assert "var(--fig-ink)" in area
    assert "var(--fig-1" not in area
    assert "var(" not in standalone(make_line_plot()).decode()
    assert "xmlns" not in line


def test_series_differ_without_colour(make_line_plot):
    x, y = (1.0, 2.0, 3.0), (1.0, 4.0, 9.0)
    styles = [SeriesStyle.LINE] * 4 + [SeriesStyle.BOUND] * 3 + [SeriesStyle.POINTS]
    series = tuple(Series(name=f"s{i}", x=x, y=y, style=style) for i, style in enumerate(styles))
    with house_style():
        axes = draw_lines(msgspec.structs.replace(make_line_plot(), series=series)).axes[0]
    looks = [
        (line.get_marker(), line.get_linestyle(), str(line._dash_pattern), line.get_linewidth())
        for line in axes.lines[:8]
    ]
    assert len(set(looks)) == len(looks)
    widths = [line.get_linewidth() for line in axes.lines[:7]]
    assert min(widths[4:]) > max(widths[:4])


def test_every_series_is_in_the_legend_and_dollars_start_no_formula(make_line_plot):
    plot = make_line_plot("costs $x^2$")
    with house_style():
        axes = draw_lines(plot).axes[0]
    entries = axes.get_legend().get_texts()
    assert [e.get_text().lstrip("\u200b") for e in entries] == [s.name for s in plot.series]
    assert not any(
        t.get_parse_math() for t in (*entries, axes.xaxis.label, axes.yaxis.label, axes._left_title)
    )


def test_what_a_logarithmic_axis_cannot_show_is_counted_in_a_note(make_line_plot):
    with house_style():
        notes = [t.get_text() for t in draw_lines(make_line_plot()).axes[0].texts]
    # x = 0 in each of three series, y = 0 at the end of the first; one interval starts at 0.
    assert len(notes) == 1
    assert (
        notes[0]
        .replace("\n", " ")
        .startswith("4 points at or below 0 or beyond the scale not drawn. 1 interval")
    )
    linear = msgspec.structs.replace(
        make_line_plot(), x_axis=Axis(label="x"), y_axis=Axis(label="y", scale=Scale.LINEAR)
    )
    with house_style():
        assert [t.get_text() for t in draw_lines(linear).axes[0].texts] == []


def test_error_bars_end_where_the_record_says(make_line_plot):
    series = Series(
        name="s", x=(1.0, 2.0), y=(10.0, 20.0), low=(5.0, 25.0), high=(12.0, 30.0), style=SeriesStyle.POINTS
    )
    with house_style():
        axes = draw_lines(msgspec.structs.replace(make_line_plot(), series=(series,))).axes[0]
    (bars,) = [c for c in axes.collections if c.get_segments()]
    # An interval that misses its point (25 to 30 around 20) is drawn from the point on.
    assert [tuple(s[:, 1]) for s in bars.get_segments()] == [(5.0, 12.0), (20.0, 30.0)]


@pytest.mark.parametrize(("names", "columns"), [(("a",), 1), (("a", "b"), 2), (("a", "b" * 40), 1)])
def test_the_legend_has_two_columns_where_the_names_are_short(make_line_plot, names, columns):
    series = tuple(Series(name=name, x=(1.0, 2.0), y=(1.0, 2.0)) for name in names)
    with house_style():
        legend = draw_lines(msgspec.structs.replace(make_line_plot(), series=series)).axes[0].get_legend()
    assert legend._ncols == columns


@pytest.mark.slow
def test_the_border_runs_where_the_claim_turns(make_map_plot):
    panel = MapPanel(title="p", x=(1.0, 3.0), y=(1.0, 3.0), values=((0.5, 2.0), (1.0, None)))
    plot = msgspec.structs.replace(
        make_map_plot(), x_axis=Axis(label="x"), y_axis=Axis(label="y"), panels=(panel,)
    )
    grid = grid_of(panel, plot)
    # A value at the level holds; nothing is known of the last cell.
    assert grid.fails.tolist() == [[False, True], [False, False]]
    assert grid.known.tolist() == [[True, True], [True, False]]
    with house_style():
        axes = draw_map(plot).axes[0]
    segments = [s.tolist() for c in axes.collections for s in c.get_segments()]
    assert segments == [[[2.0, 0.0], [2.0, 2.0]]]
    assert {t.get_text() for t in axes.texts} == {"holds", "fails"}


@pytest.mark.slow
def test_a_map_says_in_words_where_it_fails(make_map_plot):
    def said(values):
        panel = MapPanel(title="p", x=(1.0, 2.0, 4.0), y=(1.0, 2.0), values=values)
        with house_style():
            return {
                t.get_text()
                for t in draw_map(msgspec.structs.replace(make_map_plot(), panels=(panel,))).axes[0].texts
            }

    assert said(((0.1, 0.2, 0.3), (0.1, 0.2, 0.3))) == {"holds"}
    assert said(((1.1, 2.0, 3.0), (1.1, 2.0, 3.0))) == {"fails"}
    assert said(((0.0, 2.0, 3.0), (-1.0, 2.0, 3.0))) == {"holds", "fails"}
    assert said(((None, None, None), (None, None, None))) == set()


def test_small_regions_get_a_mark(make_map_plot):
    values = np.full((20, 20), 0.5)
    values[3, 4] = 2.0
    axis = tuple(float(v) for v in np.geomspace(1, 100, 20))
    panel = MapPanel(title="p", x=axis, y=axis, values=tuple(map(tuple, values.tolist())))
    with house_style():
        axes = draw_map(msgspec.structs.replace(make_map_plot(), panels=(panel,))).axes[0]
    assert sorted(t.get_text() for t in axes.texts) == ["holds", "×"]


@pytest.mark.slow
def test_the_notes_of_a_map_stand_below_its_scale_and_inside_the_figure(make_map_plot):
    panel = MapPanel(title="p", x=(-1.0, 1.0, 4.0), y=(1.0, 2.0), values=((1.0, 0.5, None), (1.0, 2.0, 3.0)))
    with house_style():
        figure = draw_map(msgspec.structs.replace(make_map_plot(), panels=(panel,)))
        figure.canvas.draw()
        scale = next(axes for axes in figure.axes if any("nothing known" in t.get_text() for t in axes.texts))
        boxes = {text.get_text(): text.get_window_extent() for text in [*scale.texts, scale.xaxis.label]}
        label = boxes.pop(scale.get_xlabel())
        known, dropped = (box for words, box in boxes.items() if "known" in words or "not drawn" in words)
        (key,) = (artist.get_window_extent() for artist in scale.patches if artist.get_hatch())
    for box in (known, dropped, key):
        assert figure.bbox.y0 <= box.y0 < box.y1 < label.y0
    assert key.x1 < known.x0 < known.x1 < dropped.x0


def test_values_next_to_the_level_are_on_their_side_of_it(make_map_plot):
    level = 0.1
    values = ((np.nextafter(level, 1), level, np.nextafter(level, 0)),)
    panel = MapPanel(
        title="p", x=(1.0, 2.0, 3.0), y=(1.0,), values=tuple(tuple(map(float, r)) for r in values)
    )
    grid = grid_of(panel, msgspec.structs.replace(make_map_plot(), level=level, panels=(panel,)))
    assert grid.fails.tolist() == [[True, False, False]]


def test_cells_are_put_in_order(make_map_plot):
    panel = MapPanel(title="p", x=(4.0, -1.0, 1.0), y=(2.0, 1.0), values=((1.0, 2.0, 3.0), (4.0, 5.0, 6.0)))
    grid = grid_of(panel, msgspec.structs.replace(make_map_plot(), panels=(panel,)))
    assert grid.x.tolist() == [1.0, 4.0]
    assert grid.dropped == 1
    np.testing.assert_allclose(10**grid.distance, [[6.0, 4.0], [3.0, 1.0]])
    np.testing.assert_allclose(grid.x_edges, [0.5, 2.0, 8.0])


@pytest.mark.parametrize(
    ("centre", "scale", "edges"),
    [
        (4.0, Scale.LINEAR, (2.0, 6.0)),
        (-4.0, Scale.LINEAR, (-6.0, -2.0)),
        (0.5, Scale.LINEAR, (0.0, 1.0)),
        (10.0, Scale.LOG, (10**0.5, 10**1.5)),
    ],
)
def test_a_single_cell_has_a_width(make_map_plot, centre, scale, edges):
    panel = MapPanel(title="p", x=(centre,), y=(1.0, 2.0), values=((1.0,), (2.0,)))
    axis = Axis(label="x", scale=scale)
    grid = grid_of(panel, msgspec.structs.replace(make_map_plot(), x_axis=axis, panels=(panel,)))
    assert grid.x_edges == pytest.approx(edges)


def test_a_level_that_no_logarithm_has_is_refused(make_map_plot):
    with pytest.raises(InputError, match=r"level=0\.0"):
        standalone(msgspec.structs.replace(make_map_plot(), level=0.0))


_floats = st.floats(allow_nan=False, allow_infinity=False)
_scales = st.sampled_from(Scale)


@st.composite
def _series(draw):
    size = draw(st.integers(0, 4))
    values = st.lists(_floats, min_size=size, max_size=size).map(tuple)
    return Series(
        name=draw(st.text(max_size=20)),
        x=draw(values),
        y=draw(values),
        low=draw(st.none() | values),
        high=draw(st.none() | values),
        style=draw(st.sampled_from(SeriesStyle)),
    )


# A figure takes a quarter of a second, a map half of one.
_few = settings(max_examples=max(settings.default.max_examples // 8, 3))


@pytest.mark.slow
@_few
@given(st.lists(_series(), max_size=3), _scales, _scales, st.text(max_size=30))
def test_any_series_can_be_drawn_without_a_warning(series, x_scale, y_scale, text):
    plot = LinePlot(
        id="p",
        title=text,
        caption=text,
        x_axis=Axis(label=text, scale=x_scale),
        y_axis=Axis(label=text, scale=y_scale),
        series=tuple(series),
    )
    parsed(standalone(plot))


@st.composite
def _panel(draw):
    rows, columns = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    cells = st.lists(st.none() | _floats, min_size=columns, max_size=columns).map(tuple)
    return MapPanel(
        title=draw(st.text(max_size=10)),
        x=tuple(draw(st.lists(_floats, min_size=columns, max_size=columns))),
        y=tuple(draw(st.lists(_floats, min_size=rows, max_size=rows))),
        values=tuple(draw(st.lists(cells, min_size=rows, max_size=rows))),
    )


@pytest.mark.slow
@_few
@given(st.lists(_panel(), max_size=2), _scales, _scales, st.floats(1e-300, 1e300))
def test_any_map_can_be_drawn_without_a_warning(make_map_plot, panels, x_scale, y_scale, level):
    plot = msgspec.structs.replace(
        make_map_plot(),
        x_axis=Axis(label="x", scale=x_scale),
        y_axis=Axis(label="y", scale=y_scale),
        level=level,
        panels=tuple(panels),
    )
    parsed(standalone(plot))


@pytest.mark.slow
def test_long_texts_are_cut_and_the_figure_stays_in_shape(make_line_plot):
    root = parsed(standalone(make_line_plot("long words " * 100)))
    _, _, width, height = map(float, root.get("viewBox").split())
    assert width < 460
    assert height < 420


@pytest.mark.slow
def test_the_format_writes_one_file_a_plot(nasty):
    files = FiguresReport().render(nasty, beside=frozenset())
    assert tuple(files) == FiguresReport().filenames(nasty)
    assert len(files) == sum(len(f.plots) for f in nasty.claims)
    for content in files.values():
        parsed(content)


_line_panels = st.lists(
    st.builds(LinePanel, title=st.text(max_size=10), series=st.lists(_series(), max_size=3).map(tuple)),
    max_size=3,
)


@pytest.mark.slow
@_few
@given(
    _line_panels,
    st.lists(_series(), max_size=2),
    st.sampled_from(Scale),
    st.sampled_from(Scale),
    st.text(max_size=30),
)
def test_any_panels_can_be_drawn_without_a_warning(panels, references, x_scale, y_scale, text):
    plot = PanelPlot(
        id="p",
        title=text,
        caption=text,
        x_axis=Axis(label=text, scale=x_scale),
        y_axis=Axis(label=text, scale=y_scale),
        panels=tuple(panels),
        references=tuple(references),
    )
    parsed(standalone(plot))


def test_lines_lose_their_letters_and_curves_keep_theirs():
    drawn = (
        f'<svg xmlns="{SVG[1:-1]}" width="9pt" height="9pt"><path d="M 1.26 2 L 3 4 L -5.04 6 z '
        'M 1 1 L 2 2 C 1 2 3 4 5 6 L 7 8 L 9 9"/></svg>'
    )
    text = describe(drawn, prefix="a-", title="t", description="d", page=True)
    assert 'd="M 1.3 2 3 4 -5 6 z M 1 1 2 2 C 1 2 3 4 5 6 L 7 8 9 9"' in text
