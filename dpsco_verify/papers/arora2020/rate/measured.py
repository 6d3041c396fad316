"""The measured exponents, and whether the claimed ones are within what the runs and the finite sizes leave open.

At finite sizes the risk is no exact power, so the regression estimates the projected exponent of the exact expected
risks (:mod:`dpsco_verify.papers.arora2020.rate.exact`), which differs from the exponent of the limit by a *shift*. The
hypothesis is that the exponent lies within the shift of the claimed one. The shift is computed from the exact risks
alone, so neither the claim nor the runs have a say in it. Where the exact exponent from one size to the next (the
*local* one) is far from the limit, the sizes are not in the asymptotic range and nothing is concluded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtri

from dpsco_verify.evidence import Quantity, Verdict
from dpsco_verify.ledger import Context, Decision, Handle, Outcomes, Units
from dpsco_verify.papers.arora2020.rate.exact import limit_coefficient
from dpsco_verify.papers.arora2020.rate.measure import Measured, exact, measure
from dpsco_verify.papers.arora2020.rate.plan import PLANS, Cell, Plan, PowerLaw, Variable
from dpsco_verify.papers.arora2020.rate.present import Results, exponent_plot, measured_table
from dpsco_verify.papers.arora2020.rate.regression import (
    Estimate,
    Projection,
    critical_value,
    project,
    regress,
)

LIMITS = {Variable.POINTS: -0.5, Variable.DIMENSION: 0.5}
"""The exponents of the exact expected risk as ``n/(σ²d/L²) → ∞`` (and, in d, ``σ√d/L → ∞``)."""

LARGEST_BEND = 0.1
"""Sizes between which the exact exponent is further than this from the limit are not in the asymptotic range."""

VIOLATION = 0.25
"""The deviation that has to be found: it separates ``√d`` from the ``d^(1/4)`` of earlier work."""

POWER = 0.9

_TESTS = ("exponent", "level")

_TOO_FEW = "too few runs for an interval at the level of the error budget"


@dataclass(frozen=True, kw_only=True)
class Work:
    """The claim, the plan, and by its cells the handles of the runs and of the exact expectations."""

    claimed: PowerLaw
    plan: Plan
    runs: dict[Cell, Handle[Measured]]
    exact: dict[Cell, Handle[float]]


def plan_units(claimed: PowerLaw, context: Context, units: Units) -> Work:
    """Plan the runs and the exact expectation of each cell."""
    plan = PLANS[claimed.variable][context.profile]
    work = Work(claimed=claimed, plan=plan, runs={}, exact={})
    for cell in plan.cells:
        work.runs[cell] = units.add(
            f"runs/{cell.name}",
            measure,
            {"cell": cell, "runs": plan.runs},
            cost=cell.n * (2e-4 + 2e-8 * plan.runs * cell.dimension),
            random=True,
        )
        work.exact[cell] = units.add(f"exact/{cell.name}", exact, {"cell": cell}, cost=3e-5 * cell.n)
    return work


@dataclass(frozen=True, kw_only=True)
class _Test:
    """An estimate against what it should be; `reach` is the half-width of its interval, None if there is none."""

    estimate: Estimate
    reach: float | None
    centre: float
    slack: float

    @property
    def meets(self) -> bool:
        return self.reach is not None and abs(self.estimate.value - self.centre) <= self.slack + self.reach


def conclude(work: Work, context: Context, outcomes: Outcomes) -> Decision:
    """Decide whether the interval of the measured exponent meets the claimed one, give or take the shift."""
    claimed, plan = work.claimed.exponent, work.plan
    measured = [outcomes[work.runs[cell]] for cell in plan.cells]
    expected = [outcomes[work.exact[cell]] for cell in plan.cells]
    results = Results(
        plan=plan,
        measured=measured,
        exact=expected,
        fit=regress(plan.sizes(), [m.risks for m in measured]),
    )
    projection = project(plan.sizes(), expected)
    limit = LIMITS[plan.variable]
    shift = abs(projection.exponent - limit)
    bend = max(abs(local - limit) for local in results.local_exponents() if local is not None)
    levels = context.levels(_TESTS)
    exponent = _test(results.fit.exponent, levels["exponent"], centre=claimed, slack=shift)
    level = _test(results.fit.level, levels["level"], centre=projection.level, slack=0.0)
    mdv = (
        None
        if exponent.reach is None
        else shift + exponent.reach + float(ndtri(POWER)) * exponent.estimate.standard_error
    )
    verdict, summary = _decide(plan.variable, exponent, level, bend=bend, mdv=mdv)
    return Decision(
        verdict=verdict,
        summary=summary,
        evidence=_evidence(results, projection, exponent, level, mdv=mdv),
        tables=(measured_table(results),),
        plots=(exponent_plot(results, claimed),),
        spent=levels,
    )


def _test(estimate: Estimate, alpha: float, *, centre: float, slack: float) -> _Test:
    z = critical_value(alpha, estimate.skewness)
    return _Test(
        estimate=estimate,
        reach=None if z is None else z * estimate.standard_error,
        centre=centre,
        slack=slack,
    )


def _decide(
    variable: Variable, exponent: _Test, level: _Test, *, bend: float, mdv: float | None
) -> tuple[Verdict, str]:
    """Return the verdict and why. A departure is no refutation: no witness certifies an exponent."""
    obstacle = _obstacle(variable, exponent, level, bend=bend, mdv=mdv)
    if obstacle is not None or mdv is None:
        return Verdict.INCONCLUSIVE, obstacle or _TOO_FEW
    return Verdict.NOT_REFUTED, (
        f"the measured exponent in {variable} is {_shown(exponent)}, claimed is {exponent.centre:g}, and the finite "
        f"sizes explain {exponent.slack:.2g}; a deviation of {mdv:.2g} would have been found with power {POWER:g}"
    )


def _shown(test: _Test) -> str:
    return f"{test.estimate.value:.4f} ± {test.reach:.2g}"


def _obstacle(
    variable: Variable, exponent: _Test, level: _Test, *, bend: float, mdv: float | None
) -> str | None:
    """Return what keeps the claim from passing, None if nothing does."""
    if bend > LARGEST_BEND:
        return (
            "the sizes are not in the asymptotic range: between two of them the exact exponent is off the limit, "
            f"{LIMITS[variable]:g}, by {bend:.3g}"
        )
    if exponent.reach is None or mdv is None:
        return _TOO_FEW
    if not exponent.meets:
        return (
            f"the measured exponent in {variable}, {_shown(exponent)}, departs from the claimed {exponent.centre:g} by "
            f"more than the {exponent.slack:.2g} that the finite sizes explain"
        )
    if level.reach is not None and not level.meets:
        distance = level.estimate.value - level.centre
        return (
            f"the implementation's mean risk is not the exact expectation: {math.exp(distance):.4f} times as large, by "
            f"{abs(distance) / level.estimate.standard_error:.1f} standard errors"
        )
    if mdv > VIOLATION:
        return f"the runs would find a deviation of {mdv:.2g} in the exponent, not one of {VIOLATION:g}"
    return _TOO_FEW if level.reach is None else None


def _evidence(
    results: Results, projection: Projection, exponent: _Test, level: _Test, *, mdv: float | None
) -> dict[str, Quantity]:
    plan, fit = results.plan, results.fit.exponent
    wide = float(ndtri(0.975)) * fit.standard_error
    deviations = [
        (mean - exact) / error
        for mean, exact, error in zip(results.means(), results.exact, results.standard_errors(), strict=True)
    ]
    last = plan.cells[-1]
    return {
        f"measured exponent in {plan.variable}": Quantity(
            value=fit.value,
            note=f"{len(plan.cells)} sizes, {plan.runs} runs each; log-link regression of the runs, robust "
            f"standard error {fit.standard_error:.3g}",
        ),
        "95 % interval, from": Quantity(value=fit.value - wide, note="robust and asymptotic"),
        "95 % interval, to": Quantity(value=fit.value + wide),
        "half-width of the interval that decides": Quantity(
            value=exponent.reach,
            note="at the level of the error budget; asymptotic, with the critical value raised for a skewness of "
            f"{fit.skewness:.2g}",
        ),
        f"claimed exponent in {plan.variable}": Quantity(value=exponent.centre),
        "exponent of the exact expected risks at these sizes": Quantity(
            value=projection.exponent,
            note=f"of the same regression; {LIMITS[plan.variable]:g} in the limit",
        ),
        "deviation explained by the finite sizes": Quantity(
            value=exponent.slack, note="of the exponent above from the limit; computed, without the runs"
        ),
        "minimum detectable violation": Quantity(
            value=mdv, note=f"deviation from the claimed exponent that is found with power {POWER:g}"
        ),
        "measured over exact risk": Quantity(
            value=math.exp(level.estimate.value - level.centre),
            note=f"at the middle size; standard error {level.estimate.standard_error:.2g}; size by size the means "
            f"are off by at most {max(map(abs, deviations)):.2g} standard errors",
        ),
        "exact risk over its limit law, last size": Quantity(
            value=results.exact[-1] * math.sqrt(last.n) / limit_coefficient(last.noise),
            note="the law is (1/4 + ln 2) LD σ√(d/n) to first order in L/(σ√d)",
        ),
        "n over σ²d/L², smallest": Quantity(
            value=min(cell.n / cell.noise**2 for cell in plan.cells),
            note="the asymptotic range begins at some tens; at δ = 10⁻⁶ the same takes "
            f"{math.log(1e-6) / math.log(plan.cells[0].delta):.3g} times as many points",
        ),
        "risk against ε": Quantity(
            value=None,
            note="here the risk depends on d, ε and δ through √(d log(1/δ))/(√n ε) alone, so at fixed n its exponent "
            "in 1/ε is exactly twice that in d",
        ),
    }
