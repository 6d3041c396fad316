"""Figures that were drawn ahead, as other processes do it for a large report, are the same bytes."""

from __future__ import annotations

import msgspec
import pytest

from dpsco_verify.cli import audit as command
from dpsco_verify.evidence import LinePlot
from dpsco_verify.reporting.drawing import draw, render
from dpsco_verify.reporting.write import render_all

pytestmark = pytest.mark.slow  # the everyday part has two minutes


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_what_is_drawn_ahead_is_shown_as_if_drawn_here(monkeypatch, nasty, jobs):
    shown = nasty if jobs > 1 else with_two_figures(nasty)
    formats = ["html", "figures"]
    monkeypatch.setattr(render, "_DRAWN", {})
    here = render_all(shown, formats)
    monkeypatch.setattr(render, "_DRAWN", {})
    monkeypatch.setattr(command, "_WORTH_A_POOL", 1)
    command._draw_ahead(shown, jobs)
    plots = {plot for finding in shown.claims for plot in finding.plots}
    assert plots
    assert set(render._DRAWN) == plots
    monkeypatch.setattr(render, "draw", lambda plot: 1 / 0)
    assert render_all(shown, formats) == here


def with_two_figures(record):
    kept = [f for f in record.claims if any(isinstance(plot, LinePlot) for plot in f.plots)][:2]
    kept = [msgspec.structs.replace(f, plots=f.plots[:1]) for f in kept]
    return msgspec.structs.replace(record, claims=tuple(kept))


def test_few_figures_are_drawn_here(monkeypatch, nasty):
    monkeypatch.setattr(render, "_DRAWN", {})
    command._draw_ahead(nasty, 2)
    assert not render._DRAWN


def test_what_is_remembered_is_what_is_shown(monkeypatch, nasty):
    plot = next(plot for finding in nasty.claims for plot in finding.plots)
    other = draw(plot).replace("<svg", "<svg data-remembered='1'", 1)
    monkeypatch.setattr(render, "_DRAWN", {})
    render.remember({plot: other})
    assert render._drawn(plot) == other
