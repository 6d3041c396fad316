"""The record of the comparison, from what its units of work returned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dpsco_verify.comparison.audits import SystemAudit
from dpsco_verify.comparison.drawings import comparison_plots
from dpsco_verify.comparison.measure import Cell, DesignPoint
from dpsco_verify.comparison.plan import ComparisonPlan
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.comparison.statistics import changes, exponent, mean_interval
from dpsco_verify.comparison.systems import RATES
from dpsco_verify.evidence import AuditVerdict
from dpsco_verify.evidence.comparison import (
    CellRecord,
    CellState,
    ComparisonRecord,
    CrossoverRecord,
    ExponentRecord,
    ProblemRecord,
    SystemAuditRecord,
    SystemRecord,
)
from dpsco_verify.evidence.values import Table, rounded_up
from dpsco_verify.related.catalogue import SYSTEMS

REFERENCE = "algorithm-1"
"""The system that crossovers are told of."""

Cells = Mapping[tuple[str, str], Sequence[Cell]]
"""By problem and system, one cell for each place of the plan."""


def comparison_record(
    plan: ComparisonPlan,
    cells: Cells,
    audits: Mapping[str, SystemAudit],
    *,
    tables: Sequence[Table],
    error_budget: float,
) -> ComparisonRecord:
    """Return the record from the cells and the audits by system, whose level together is `error_budget`."""
    records = tuple(_cell(*key, cell) for key, found in cells.items() for cell in found)
    problems = tuple(_problem(name) for name in plan.problems)
    systems = tuple(_system(name, audits) for name in plan.systems)
    return ComparisonRecord(
        epsilon=plan.epsilon,
        delta=plan.delta,
        runs=plan.runs,
        error_budget=error_budget,
        systems=systems,
        problems=problems,
        cells=records,
        exponents=tuple(_exponents(plan, cells)),
        crossovers=tuple(_crossovers(plan, cells)),
        tables=tuple(table for table in tables if table.rows),
        plots=comparison_plots(plan, records),
    )


def _cell(problem: str, system: str, cell: Cell) -> CellRecord:
    measured = cell.state is CellState.MEASURED
    risk = mean_interval(cell.excess, least=0.0) if measured else None
    return CellRecord(
        system=system,
        problem=problem,
        n=cell.place.n,
        epsilon=cell.place.epsilon,
        state=cell.state,
        runs=int(cell.excess.size),
        excess_risk=risk.value if risk else None,
        low=risk.low if risk else None,
        high=risk.high if risk else None,
        bound=cell.bound,
        gradient_queries=cell.gradient_queries,
        reason=cell.reason,
        seconds=cell.seconds / max(1, cell.excess.size),
    )


def _problem(name: str) -> ProblemRecord:
    problem = PROBLEMS[name]
    return ProblemRecord(
        id=name,
        title=problem.title,
        kind=problem.kind,
        dimension=problem.population.dimension,
        lipschitz=problem.population.lipschitz,
        diameter=problem.convex_set.diameter,
        minimum=problem.minimum.value,
        # A bound between two nearly equal numbers, whose rounding is in its sixth digit.
        gap=rounded_up(problem.minimum.gap, 2),
    )


def _system(name: str, audits: Mapping[str, SystemAudit]) -> SystemRecord:
    system, audit = SYSTEMS[name], audits.get(name)
    return SystemRecord(
        id=name,
        title=system.title,
        source=system.source,
        section=system.section,
        is_private=system.is_private,
        rate=RATES[name].risk,
        query_rate=RATES[name].queries,
        audits=(_audit(audit, audit.verdict),) if audit is not None and audit.verdict is not None else (),
        not_audited=audit.summary if audit is not None and audit.verdict is None else "",
    )


def _audit(audit: SystemAudit, verdict: AuditVerdict) -> SystemAuditRecord:
    return SystemAuditRecord(
        verdict=verdict,
        pair=audit.pair,
        claim=audit.claim,
        samples=audit.samples,
        detectable_epsilon=audit.detectable_epsilon,
        event=audit.event,
    )


def _along(
    plan: ComparisonPlan, problem: str, found: Sequence[Cell], variable: str
) -> list[tuple[float, Cell]]:
    """Return the measured cells of one sweep, by its variable in rising order."""
    if variable == "n":
        chosen = {DesignPoint(n=n, epsilon=plan.epsilon): float(n) for n in plan.sizes_of(problem)}
    else:
        chosen = {DesignPoint(n=plan.epsilon_size, epsilon=e): e for e in (*plan.epsilons, plan.epsilon)}
    cells = [
        (chosen[cell.place], cell)
        for cell in found
        if cell.place in chosen and cell.state is CellState.MEASURED
    ]
    return sorted(cells, key=lambda pair: pair[0])


def _exponents(plan: ComparisonPlan, cells: Cells) -> Iterator[ExponentRecord]:
    for (problem, system), found in cells.items():
        for variable in ("n", "epsilon"):
            along = _along(plan, problem, found, variable)
            sizes = [size for size, _ in along]
            series = {"risk": [float(cell.excess.mean()) for _, cell in along]}
            if variable == "n":
                series["queries"] = [cell.gradient_queries or 0.0 for _, cell in along]
            for quantity, values in series.items():
                fitted = exponent(sizes, values) if values else None
                if fitted is not None:
                    rates = RATES[system]
                    stated = rates.queries if quantity == "queries" else rates.risk
                    yield ExponentRecord(
                        system=system,
                        problem=problem,
                        quantity=quantity,
                        variable=variable,
                        exponent=fitted.value,
                        low=fitted.low,
                        high=fitted.high,
                        sizes=tuple(sizes),
                        stated=stated,
                    )


def _crossovers(plan: ComparisonPlan, cells: Cells) -> Iterator[CrossoverRecord]:
    for (problem, system), found in cells.items():
        if system == REFERENCE or (problem, REFERENCE) not in cells:
            continue
        for variable in ("n", "epsilon"):
            ours = dict(_along(plan, problem, cells[problem, REFERENCE], variable))
            theirs = dict(_along(plan, problem, found, variable))
            sizes = sorted(ours.keys() & theirs.keys())
            for change in changes(sizes, [ours[s].excess for s in sizes], [theirs[s].excess for s in sizes]):
                before, after = (REFERENCE, system) if change.first_before else (system, REFERENCE)
                yield CrossoverRecord(
                    problem=problem,
                    variable=variable,
                    before=before,
                    after=after,
                    above=change.above,
                    at_most=change.at_most,
                )
