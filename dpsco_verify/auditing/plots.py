"""The figures of an audit: the claimed curve δ(ε) with what was shown against it, and the evidence as it grew."""

from __future__ import annotations

import math

import numpy as np

from dpsco_verify.auditing.result import AuditResult
from dpsco_verify.evidence import Axis, LinePlot, Scale, Series, SeriesStyle

_POINTS = 49


def curve_plot(result: AuditResult) -> LinePlot:
    """Return the plot of the claim with the lower bounds and the smallest violation that would have been found."""
    # A bound of 0 says nothing.
    found = [
        point
        for point, bound in (
            ((result.order, result.delta_lower), result.delta_lower),
            ((result.epsilon_lower, result.delta_at_order), result.epsilon_lower),
        )
        if bound > 0
    ]
    mdv = []
    if result.mdv is not None:
        mdv = [(result.order, result.mdv.delta), (result.mdv.epsilon, result.delta_at_order)]
    found, mdv = ([p for p in points if all(map(math.isfinite, p))] for points in (found, mdv))
    largest = max([result.order, *(e for e, _ in (*found, *mdv))])
    grid = np.linspace(0.0, 1.25 * largest if largest > 0 else 1.0, _POINTS)
    # The order itself is a corner of many claims.
    grid = np.unique(np.append(grid, result.order))
    series = [
        Series(
            name="claimed",
            x=tuple(float(e) for e in grid),
            y=tuple(float(result.claim.delta(float(e))) for e in grid),
            style=SeriesStyle.BOUND,
        ),
        *([_points("at least (lower confidence bounds)", found)] if found else []),
        *([_points("would have been found (power 0.9)", mdv)] if mdv else []),
    ]
    return LinePlot(
        id="curve",
        title=f"{result.mechanism}: what is claimed, and what was shown",
        caption="Points above the claimed curve violate it. Lower bounds hold with the confidence of the audit; "
        "neither they nor what would have been found speak of other events or other pairs.",
        x_axis=Axis(label="ε"),
        y_axis=Axis(label="δ"),
        series=tuple(series),
    )


def growth_plot(result: AuditResult) -> LinePlot:
    """Return the plot of the log e-value of the test that decided, or was the last, as fresh outputs came in."""
    drawn = tuple(float(n) for n, _ in result.growth)
    threshold = math.log(1.0 / result.witness.alpha)
    return LinePlot(
        id="evidence",
        title=f"{result.mechanism}: the evidence against {result.claim}",
        caption="The log of an e-value, which seldom grows if the claim is true. The claim is violated where "
        "it reaches the level of this test, at any time."
        + (
            " Here it does not: the violation was found by the test of all outputs, at the end, whose level is shown."
            if result.witness.weights is not None
            else ""
        ),
        x_axis=Axis(label="fresh outputs a data set", scale=Scale.LOG),
        y_axis=Axis(label="log e-value"),
        series=(
            Series(name="evidence", x=drawn, y=tuple(wealth for _, wealth in result.growth)),
            Series(
                name="violated from here on",
                x=drawn,
                y=(threshold,) * len(drawn),
                style=SeriesStyle.BOUND,
            ),
        ),
    )


def _points(name: str, points: list[tuple[float, float]]) -> Series:
    return Series(
        name=name,
        x=tuple(e for e, _ in points),
        y=tuple(d for _, d in points),
        style=SeriesStyle.POINTS,
    )
