"""The comparison as units of work, alone or as a part of an audit."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dpsco_verify.choices import ERROR_BUDGET
from dpsco_verify.comparison.audits import SystemAudit, audit_system
from dpsco_verify.comparison.measure import measure_system
from dpsco_verify.comparison.plan import ComparisonPlan
from dpsco_verify.comparison.questions import (
    noise_of_schedules,
    potentials_on_the_simplex,
    question_tables,
)
from dpsco_verify.comparison.record import comparison_record
from dpsco_verify.evidence.comparison import ComparisonRecord
from dpsco_verify.execution import ExecutorChoice, Outcome, Progress, WorkUnit, execute, make_executor
from dpsco_verify.inference.budget import ErrorBudget
from dpsco_verify.related.catalogue import SYSTEMS
from dpsco_verify.store import RunMemory

_SCHEDULES, _POTENTIALS = "comparison/section-6", "comparison/section-7"


def comparison_units(plan: ComparisonPlan, *, seed: int) -> tuple[WorkUnit, ...]:
    """Return one unit for each system on each problem, and one for each open question that the plan looks at."""
    units = [
        WorkUnit(
            name=_name(problem, system),
            function=measure_system,
            arguments={
                "system": system,
                "problem": problem,
                "places": plan.places(problem),
                "delta": plan.delta,
                "runs": plan.runs,
                "most_seconds": plan.seconds_of(problem),
                "seed": seed,
            },
            cost=plan.seconds_of(problem),
        )
        for problem in plan.problems
        for system in plan.systems
    ]
    if plan.schedules is not None:
        units.append(
            WorkUnit(
                name=_SCHEDULES,
                function=noise_of_schedules,
                arguments={"study": plan.schedules, "delta": plan.delta},
            )
        )
    if plan.potentials is not None:
        units.append(
            WorkUnit(
                name=_POTENTIALS,
                function=potentials_on_the_simplex,
                arguments={
                    "study": plan.potentials,
                    "delta": plan.delta,
                    "runs": plan.runs,
                    "seed": seed,
                },
                cost=10.0,
            )
        )
    return tuple(units)


def audit_units(
    plan: ComparisonPlan,
    *,
    seed: int,
    error_budget: float = ERROR_BUDGET,
    audited: Collection[str] = (),
) -> tuple[WorkUnit, ...]:
    """Return a unit for the audit of each private system that is not `audited` elsewhere.

    Together they alarm falsely with a probability of at most `error_budget`.
    """
    private = [name for name in plan.systems if SYSTEMS[name].is_private and name not in audited]
    if not private:
        return ()
    budget = ErrorBudget.split(error_budget, dict.fromkeys(private, 1.0))
    return tuple(
        WorkUnit(
            name=f"comparison/audit/{name}",
            function=audit_system,
            arguments={
                "system": name,
                "epsilon": plan.epsilon,
                "delta": plan.delta,
                "alpha": budget.share(name).alpha,
                "samples": plan.audit_samples,
                "seed": seed,
                "name": f"comparison/audit/{name}",
            },
        )
        for name in private
    )


def conclude_comparison(
    plan: ComparisonPlan,
    outcomes: Mapping[str, Outcome],
    audits: Mapping[str, SystemAudit],
    *,
    error_budget: float,
) -> ComparisonRecord:
    """Return the record from the outcomes of :func:`comparison_units` and the audits by system."""
    cells = {
        (problem, system): outcomes[_name(problem, system)].value
        for problem in plan.problems
        for system in plan.systems
    }
    tables = question_tables(
        *(outcomes[name].value if name in outcomes else () for name in (_SCHEDULES, _POTENTIALS))
    )
    return comparison_record(plan, cells, audits, tables=tables, error_budget=error_budget)


def run_comparison(
    plan: ComparisonPlan,
    *,
    seed: int,
    executor: ExecutorChoice,
    memory: RunMemory | None = None,
    progress: Progress | None = None,
) -> ComparisonRecord:
    """Run a comparison by itself, the audits of its systems included."""
    auditing = audit_units(plan, seed=seed)
    units = [*comparison_units(plan, seed=seed), *auditing]
    with make_executor(executor) as workers:
        outcomes = execute(units, workers, progress, memory=memory)
    audits = {str(unit.arguments["system"]): outcomes[unit.name].value for unit in auditing}
    return conclude_comparison(plan, outcomes, audits, error_budget=ERROR_BUDGET)


def _name(problem: str, system: str) -> str:
    return f"comparison/{problem}/{system}"
