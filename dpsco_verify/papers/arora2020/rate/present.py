"""The table and the figure of the measured exponents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri

from dpsco_verify.evidence import Axis, LinePlot, Scale, Series, SeriesStyle, Table, columns
from dpsco_verify.papers.arora2020.rate.measure import Measured
from dpsco_verify.papers.arora2020.rate.plan import Plan, Variable
from dpsco_verify.papers.arora2020.rate.regression import Fit

_POINTWISE = 0.99


@dataclass(frozen=True, eq=False, kw_only=True)
class Results:
    """What was measured and computed at the cells of a plan."""

    plan: Plan
    measured: Sequence[Measured]
    exact: Sequence[float]
    fit: Fit

    def means(self) -> list[float]:
        """Return the mean excess risk at each cell, in LD."""
        return [float(m.risks.mean()) for m in self.measured]

    def standard_errors(self) -> list[float]:
        """Return their standard errors, in LD."""
        return [float(m.risks.std(ddof=1)) / math.sqrt(m.risks.size) for m in self.measured]

    def local_exponents(self) -> list[float | None]:
        """Return the slope of the exact risks from each size to the next; None at the last."""
        sizes = self.plan.sizes()
        slopes: list[float | None] = [
            math.log(self.exact[i + 1] / self.exact[i]) / math.log(sizes[i + 1] / sizes[i])
            for i in range(len(sizes) - 1)
        ]
        return [*slopes, None]


def measured_table(results: Results) -> Table:
    """Return what was measured beside what was computed."""
    reach = float(ndtri(0.5 + _POINTWISE / 2.0))
    rows = tuple(
        (
            cell.n,
            cell.dimension,
            cell.noise,
            measured.risks.size,
            mean,
            mean - reach * error,
            mean + reach * error,
            exact,
            slope,
            measured.bound,
        )
        for cell, measured, mean, error, exact, slope in zip(
            results.plan.cells,
            results.measured,
            results.means(),
            results.standard_errors(),
            results.exact,
            results.local_exponents(),
            strict=True,
        )
    )
    return Table(
        id="measured",
        title=f"Excess risk at ε = 1/(2√n), δ = {results.plan.cells[0].delta:g}",
        columns=columns(
            ("n", "points"),
            "d",
            ("σ√d", "L"),
            "runs",
            ("measured mean", "LD"),
            ("99 % interval, from", "LD"),
            ("to", "LD"),
            ("exact mean", "LD"),
            "exact exponent to the next size",
            ("bound of Theorem 5.3", "LD"),
        ),
        rows=rows,
    )


def exponent_plot(results: Results, claimed: float) -> LinePlot:
    """Return the mean excess risk in double logarithms: measured, fitted, exact, and with the claimed slope."""
    sizes = tuple(float(size) for size in results.plan.sizes())
    means, errors = results.means(), results.standard_errors()
    reach = float(ndtri(0.5 + _POINTWISE / 2.0))
    centre = math.exp(sum(math.log(size) for size in sizes) / len(sizes))

    def line(exponent: float) -> tuple[float, ...]:
        return tuple(math.exp(results.fit.level.value) * (size / centre) ** exponent for size in sizes)

    variable = results.plan.variable
    fixed = results.plan.cells[0]
    where = f"d = {fixed.dimension}" if variable is Variable.POINTS else f"n = {fixed.n}"
    return LinePlot(
        id=f"exponent-{variable}",
        title=f"Excess risk against {variable}, {where}, ε = 1/(2√n), δ = {fixed.delta:g}",
        caption="Mean excess risk of the implementation on a cube with a linear loss, with pointwise 99 % intervals; "
        "the power law fitted to the runs; the exact expectation; and, through the middle of the fit, the slope that "
        "the paper claims.",
        x_axis=Axis(label="n (points)" if variable is Variable.POINTS else "d", scale=Scale.LOG),
        y_axis=Axis(label="excess risk (LD)", scale=Scale.LOG),
        series=(
            Series(
                name="measured",
                x=sizes,
                y=tuple(means),
                low=tuple(m - reach * e for m, e in zip(means, errors, strict=True)),
                high=tuple(m + reach * e for m, e in zip(means, errors, strict=True)),
                style=SeriesStyle.POINTS,
            ),
            Series(
                name=f"fit, exponent {results.fit.exponent.value:.3f}",
                x=sizes,
                y=line(results.fit.exponent.value),
            ),
            Series(name="exact expectation", x=sizes, y=tuple(results.exact)),
            Series(name=f"claimed exponent {claimed:g}", x=sizes, y=line(claimed), style=SeriesStyle.BOUND),
        ),
    )
