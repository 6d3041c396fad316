"""What the figures of the comparison show: one problem each, risk against n, ε and gradient queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpsco_verify.comparison.plan import ComparisonPlan
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.evidence.comparison import CellRecord, CellState
from dpsco_verify.evidence.plots import Axis, LinePlot, Scale, Series
from dpsco_verify.related.catalogue import SYSTEMS

_FEWEST_POINTS = 2


def comparison_plots(plan: ComparisonPlan, cells: Sequence[CellRecord]) -> tuple[LinePlot, ...]:
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
    return tuple(plot for plot in plots if any(len(series.x) >= _FEWEST_POINTS for series in plot.series))


def _plot(
    plot_id: str,
    title: str,
    label: str,
    cells: Sequence[CellRecord],
    place: Callable[[CellRecord], float | None],
    at: str,
) -> LinePlot:
    series = []
    for system in SYSTEMS:
        own = sorted(
            (float(x), c.excess_risk, c.low, c.high)
            for c in cells
            if c.system == system
            and (x := place(c)) is not None
            and x > 0
            and c.excess_risk is not None
            and c.low is not None
            and c.high is not None
        )
        if own:
            columns = np.array(own, dtype=np.float64).T.tolist()
            places, risks, lows, highs = (tuple(column) for column in columns)
            series.append(Series(name=SYSTEMS[system].title, x=places, y=risks, low=lows, high=highs))
    return LinePlot(
        id=plot_id,
        title=title,
        caption=f"{at}. Mean over independent runs, with 95 % intervals; all systems had the same samples.",
        x_axis=Axis(label=label, scale=Scale.LOG),
        y_axis=Axis(label="excess risk F(w) − min F", scale=Scale.LOG),
        series=tuple(series),
    )
