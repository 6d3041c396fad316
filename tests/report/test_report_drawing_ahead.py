"""Figures that were drawn ahead, as other processes do it for a large report, are the same bytes."""

from __future__ import annotations

import pytest

from dpsco_verify.cli import audit as command
from dpsco_verify.reporting.drawing import draw, render
from dpsco_verify.reporting.write import render_all

pytestmark = pytest.mark.slow  # the everyday part has two minutes


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_what_is_drawn_ahead_is_shown_as_if_drawn_here(monkeypatch, nasty, jobs):
    formats = ["html", "figures"]
    monkeypatch.setattr(render, "_DRAWN", {})
    here = render_all(nasty, formats)
    monkeypatch.setattr(render, "_DRAWN", {})
    monkeypatch.setattr(command, "_WORTH_A_POOL", 1)
    command._draw_ahead(nasty, jobs)
    plots = {plot for finding in nasty.claims for plot in finding.plots}
    assert plots
    assert set(render._DRAWN) == plots
    monkeypatch.setattr(render, "draw", lambda plot: 1 / 0)
    assert render_all(nasty, formats) == here


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
