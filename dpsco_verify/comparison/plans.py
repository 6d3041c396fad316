"""The plan of each profile, and a user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dpsco_verify.comparison.plan import ComparisonPlan, Study
from dpsco_verify.comparison.problems import PROBLEMS
from dpsco_verify.errors import InputError
from dpsco_verify.related import PrivacyBudget
from dpsco_verify.validation import require_integer, require_positive

_SIZES = (100, 200, 300, 1000, 3000, 10_000)
_THOROUGH = ("linear-signs-5", "hinge", "breast-cancer-logistic")

_SCHEDULES = Study(sizes=(1000, 10_000, 100_000), dimensions=(5, 20), epsilons=(1.0,))

_PLANS = {
    "quick": ComparisonPlan(
        problems=_THOROUGH,
        sizes=(50, 200, 1000),
        epsilons=(0.25, 4.0),
        epsilon_size=200,
        runs=8,
        most_seconds=0.25,
        audit_samples=2000,
        schedules=Study(sizes=(1000,), dimensions=(5, 20), epsilons=(1.0,)),
        potentials=Study(sizes=(1000,), dimensions=(256,), epsilons=(8.0,)),
    ),
    "standard": ComparisonPlan(
        problems=tuple(PROBLEMS),
        sizes=_SIZES,
        epsilons=(0.125, 0.5, 2.0, 8.0),
        epsilon_size=1000,
        runs=8,
        most_seconds=2.0,
        thorough=_THOROUGH,
        large_sizes=(100_000,),
        thorough_seconds=9.0,
        schedules=_SCHEDULES,
        potentials=Study(sizes=(1000, 10_000), dimensions=(16, 256), epsilons=(1.0, 8.0)),
    ),
    "deep": ComparisonPlan(
        problems=tuple(PROBLEMS),
        sizes=_SIZES,
        epsilons=(0.125, 0.25, 0.5, 2.0, 4.0, 8.0),
        epsilon_size=1000,
        runs=32,
        most_seconds=12.0,
        thorough=_THOROUGH,
        large_sizes=(30_000, 100_000),
        thorough_seconds=60.0,
        schedules=_SCHEDULES,
        potentials=Study(sizes=(1000, 10_000, 100_000), dimensions=(16, 64, 256), epsilons=(1.0, 8.0)),
    ),
}


def plan_for(
    profile: str,
    *,
    problems: Sequence[str] = (),
    sizes: Sequence[int] = (),
    epsilons: Sequence[float] = (),
    delta: float | None = None,
    runs: int | None = None,
    most_seconds: float | None = None,
) -> ComparisonPlan:
    """Return the plan of a profile, with what is given in the place of its own.

    Raises
    ------
    InputError
        For a problem that is none, or a number out of range.
    """
    plan = _PLANS[profile]
    for problem in problems:
        if problem not in PROBLEMS:
            raise InputError(f"problem={problem!r} is not a problem; give one of {', '.join(PROBLEMS)}")
    checked = tuple(dict.fromkeys(PrivacyBudget(epsilon, 0.0).epsilon for epsilon in epsilons))
    plan = plan.narrowed(
        problems=tuple(dict.fromkeys(problems)),
        sizes=tuple(sorted({require_integer("n", n, minimum=2) for n in sizes})),
        epsilons=checked,
    )
    if delta is not None:
        plan = replace(plan, delta=PrivacyBudget(1.0, delta).delta)
    if runs is not None:
        plan = replace(plan, runs=require_integer("runs", runs, minimum=2))
    if most_seconds is not None:
        plan = replace(plan, most_seconds=require_positive("most_seconds", most_seconds))
    return plan
