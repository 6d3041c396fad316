"""The figures of the comparison: one problem each, risk against n, ε and gradient queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpsco_verify.comparison.plan import ComparisonPlan
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.comparison.systems import FAMILIES, REFERENCES
from dpsco_verify.evidence.comparison import CellRecord, CellState
from dpsco_verify.evidence.plots import Axis, LinePanel, PanelPlot, Scale, Series
from dpsco_verify.related.catalogue import SYSTEMS

_FEWEST_POINTS = 2


def comparison_plots(plan: ComparisonPlan, cells: Sequence[CellRecord]) -> tuple[PanelPlot, ...]:
    """Return the plots of each problem that have something to show."""
    plots = []
    for problem in plan.problems:
        own = [c for c in cells if c.problem == problem and c.state is CellState.MEASURED]
        along_n = [c for c in own if c.epsilon == plan.epsilon and c.n in plan.sizes_of(problem)]
        along_epsilon = [c for c in own if c.n == plan.epsilon_size]
        title = PROBLEMS[problem].title
        at = f"ε = {plan.epsilon:g}, δ = {plan.delta:g}"
        plots += [
            _plot(
                f"{problem}-n", f"{title}: excess risk against n", "n (points)", along_n, lambda c: c.n, at
            ),
            _plot(
                f"{problem}-queries",
                f"{title}: excess risk against gradient queries",
                "gradient queries a run",
                along_n,
                lambda c: c.gradient_queries,
                at,
            ),
            _plot(
                f"{problem}-epsilon",
                f"{title}: excess risk against ε",
                "ε",
                along_epsilon,
                lambda c: c.epsilon,
                f"n = {plan.epsilon_size}, δ = {plan.delta:g}",
            ),
        ]
    return tuple(plot for plot in plots if _shows_a_course(plot))


def _plot(
    plot_id: str,
    title: str,
    label: str,
    cells: Sequence[CellRecord],
    place: Callable[[CellRecord], float | None],
    at: str,
) -> PanelPlot:
    def series_of(systems: Sequence[str]) -> tuple[Series, ...]:
        found = (_series(system, [c for c in cells if c.system == system], place) for system in systems)
        return tuple(series for series in found if series is not None)

    panels = (LinePanel(title=name, series=series_of(systems)) for name, systems in FAMILIES.items())
    return PanelPlot(
        id=plot_id,
        title=title,
        caption=f"{at}. Mean over independent runs, with 95 % intervals; all systems had the same samples.",
        x_axis=Axis(label=label, scale=Scale.LOG),
        y_axis=Axis(label="excess risk F(w) − min F", scale=Scale.LOG),
        panels=tuple(panel for panel in panels if panel.series),
        references=series_of(REFERENCES),
    )


def _series(
    system: str, cells: Sequence[CellRecord], place: Callable[[CellRecord], float | None]
) -> Series | None:
    points = sorted(
        (float(x), c.excess_risk, c.low, c.high)
        for c in cells
        if (x := place(c)) is not None
        and x > 0
        and c.excess_risk is not None
        and c.low is not None
        and c.high is not None
    )
    if not points:
        return None
    columns = np.array(points, dtype=np.float64).T.tolist()
    places, risks, lows, highs = (tuple(column) for column in columns)
    return Series(name=SYSTEMS[system].title, x=places, y=risks, low=lows, high=highs)


def _shows_a_course(plot: PanelPlot) -> bool:
    """Whether any curve has more than one point."""
    every = [*plot.references, *(series for panel in plot.panels for series in panel.series)]
    return any(len(series.x) >= _FEWEST_POINTS for series in every)
